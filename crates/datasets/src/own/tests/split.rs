use super::*;

fn table(rows: impl Iterator<Item = usize>) -> String {
    let lines: String = rows
        .map(|at| {
            format!(
                "{}.{at},{},{}\n",
                at % 90,
                ["north", "south"][at % 3 % 2],
                ["well", "ill"][at % 2]
            )
        })
        .collect();
    format!("age,ward,outcome\n{lines}")
}

fn share(share: f64) -> Options {
    let mut options = options(&format!("records = 2000\n{SCHEMA}"));
    options.test = TestChoice::Share {
        share,
        public: false,
    };
    options
}

fn parts(data: &DataSet) -> [Vec<f32>; 2] {
    [
        rows(&data.training).0,
        rows(&data.test.as_ref().unwrap().records).0,
    ]
}

/// Removing one record takes away that record and moves no other.
#[test]
fn a_record_is_held_out_by_its_content_alone() {
    let [training, test] = parts(&ready(csv(table(0..2000), &share(0.25))));
    for gone in [0, 777, 1999] {
        let less = ready(csv(table((0..2000).filter(|at| *at != gone)), &share(0.25)));
        let [smaller_training, smaller_test] = parts(&less);
        let removed = |all: &[f32], fewer: &[f32]| {
            let mut left = all.as_chunks::<3>().0.to_vec();
            let fewer = fewer.as_chunks::<3>().0;
            left.retain(|row| !fewer.contains(row));
            left.len()
        };
        let moved = removed(&training, &smaller_training) + removed(&test, &smaller_test);
        assert_eq!(moved, 1);
        assert_eq!(
            training.len() + test.len(),
            smaller_training.len() + smaller_test.len() + 3
        );
    }
}

/// 2000 fair draws of a quarter: 4 standard deviations are 78.
#[test]
fn the_share_is_kept() {
    let data = ready(csv(table(0..2000), &share(0.25)));
    let test = data.test.unwrap();
    assert!(test.records.count().abs_diff(500) < 78);
    assert!(!test.declared_public);
    assert_eq!(data.public_count, Some(1500));
}

#[test]
fn a_test_file_is_read_alike() {
    let folder = Folder::new();
    let path = folder.write("test.csv", PATIENTS);
    let mut options = options(SCHEMA);
    options.test = TestChoice::File { path, public: true };
    let data = ready(csv(table(0..10), &options));
    let test = data.test.unwrap();
    assert_eq!((data.training.count(), test.records.count()), (10, 3));
    assert!(test.declared_public);
    assert!(data.about.caveats[0].contains("declared public by the user"));

    let path = folder.write("other.csv", "ward,age,outcome\nnorth,5,ill\n");
    options.test = TestChoice::File { path, public: true };
    let error = message(csv(table(0..10), &options));
    assert!(
        error.contains("other.csv must have the columns of"),
        "{error}"
    );
}

#[test]
fn shares_without_sense_are_refused() {
    for wrong in [0.0, 1.0, -1.0, f64::NAN] {
        let error = message(csv(table(0..10), &share(wrong)));
        assert!(error.contains("above 0 and below 1"), "{error}");
    }
    // Whether any record falls to the test set depends on the records.
    let test = ready(csv(PATIENTS, &share(1e-9))).test;
    assert_eq!(test.unwrap().records.count(), 0);
}
