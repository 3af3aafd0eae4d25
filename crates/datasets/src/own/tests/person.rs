use super::*;
use crate::testkit::png;
use ::tacita::Units;

fn by_person(more: &str) -> Options {
    options(&format!("person = \"patient\"\n{more}{SCHEMA}"))
}

const VISITS: &str = "patient,age,ward,outcome\n7,50,north,well\nb,25,south,ill\n7 ,100,north,ill\n,1,north,ill\n\
                      NA,2,north,ill\nb,30,south,well\n07,31,south,well\n";

fn units(data: &DataSet) -> Vec<Vec<usize>> {
    all(data.training.people().unwrap())
}

fn all(units: &Units) -> Vec<Vec<usize>> {
    (0..units.count())
        .map(|unit| units.records(unit).to_vec())
        .collect()
}

#[test]
fn rows_with_one_identifier_belong_together_and_nothing_is_learned_from_it() {
    let data = ready(csv(VISITS, &by_person("")));
    // The two rows that name nobody are left out; blanks around an identifier do not count, zeros before it do.
    assert_eq!(units(&data), [vec![0, 2], vec![1, 3], vec![4]]);
    let (rows, _) = rows(&data.training);
    assert_eq!(rows.len(), 5 * 3, "age and two wards");
    assert!(!format!("{data:?}").contains("07"), "an identifier is kept");
}

#[test]
fn rows_that_name_nobody_are_listed_and_those_alone() {
    let schema = format!("person = \"patient\"\n{SCHEMA}");
    let (data, bad) = listed(|options| csv(VISITS, options), &schema);
    assert_eq!(data.training.count(), 5);
    let lines: Vec<Option<u64>> = bad.iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [Some(5), Some(6)]);
    assert!(bad[0].problem.contains("no person in `patient`"));
}

#[test]
fn a_column_that_is_not_there_is_an_error() {
    let error = message(csv(PATIENTS, &by_person("")));
    assert!(error.contains("there is no column `patient`"), "{error}");
    let error = message(csv(
        PATIENTS,
        &options(&format!("person = \"outcome\"\n{SCHEMA}")),
    ));
    assert!(error.contains("be learned from"), "{error}");
    let error = message(csv(PATIENTS, &options(&format!("persons = 5\n{SCHEMA}"))));
    assert!(error.contains("--person COLUMN"), "{error}");
}

/// All different, all equal, nobody at all: nothing is refused.
#[test]
fn odd_identifiers_are_not_refused() {
    for (identifiers, expected) in [
        (["a", "b", "c"], 3),
        (["a", "a", "a"], 1),
        (["", " ", "NA"], 0),
    ] {
        let rows: String = identifiers
            .iter()
            .map(|person| format!("{person},50,north,well\n"))
            .collect();
        let content = format!("patient,age,ward,outcome\n{rows}");
        let data = ready(csv(content, &by_person("persons = 2\n")));
        assert_eq!(units(&data).len(), expected);
        assert_eq!(data.public_count, Some(2));
    }
}

#[test]
fn a_person_is_never_on_both_sides_and_a_share_of_people_is_held_out() {
    let rows: String = (0..3000)
        .map(|row| format!("p{},{},north,well\n", row % 1000, row % 90))
        .collect();
    let mut options = by_person("persons = 1000\n");
    options.test = TestChoice::Share {
        share: 0.25,
        public: false,
    };
    let data = ready(csv(format!("patient,age,ward,outcome\n{rows}"), &options));
    let test = data.test.as_ref().unwrap();
    let (training, held_out) = (units(&data), all(test.records.people().unwrap()));
    assert_eq!(training.len() + held_out.len(), 1000);
    assert!(
        training
            .iter()
            .chain(&held_out)
            .all(|records| records.len() == 3)
    );
    // Five standard deviations of 13.7.
    assert!(
        (held_out.len() as f64 - 250.0).abs() < 70.0,
        "{}",
        held_out.len()
    );
    assert_eq!(data.public_count, Some(750));
}

#[test]
fn texts_and_tables_in_json_have_people() {
    let folder = Folder::new();
    let lines = "{\"note\": \"a\", \"mood\": 1, \"who\": 5}\n{\"note\": \"b\", \"mood\": 0, \"who\": \"5\"}\n\
                 {\"note\": \"c\", \"mood\": 0}\n{\"note\": \"d\", \"mood\": 0, \"who\": [5]}\n\
                 {\"note\": \"e\", \"mood\": 0, \"who\": \"x\"}\n";
    let file = folder.write("notes.jsonl", lines);
    let schema = "person = \"who\"\n[label]\ncolumn = \"mood\"\nclasses = [\"0\", \"1\"]\n";
    let source = Source::Jsonl {
        file,
        text: "note".into(),
    };
    let data = ready(open(&source, &options(schema)));
    assert_eq!(units(&data), [vec![0, 1], vec![2]]);

    let rows = "{\"patient\": 1, \"age\": 5, \"ward\": \"north\", \"outcome\": \"well\"}\n\
                {\"patient\": 1, \"age\": 6, \"ward\": \"north\", \"outcome\": \"ill\"}\n";
    let file = folder.write("visits.jsonl", rows);
    let data = ready(open(&Source::JsonTable { file }, &by_person("")));
    assert_eq!(units(&data), [vec![0, 1]]);
}

#[test]
fn images_belong_to_the_folder_in_that_of_their_class() {
    let folder = Folder::new();
    let image = || png(4, 4, [9; 3]);
    folder.write("cat/tom/1.png", image());
    folder.write("cat/tom/2024/2.png", image());
    folder.write("dog/tom/1.png", image());
    folder.write("dog/rex/1.png", image());
    folder.write("dog/stray.png", image());
    let schema = |person: &str| {
        format!(
            "person = \"{person}\"\nimage = {{ width = 4, height = 4, channels = 1 }}\nlabel.classes = [\"cat\", \"dog\"]"
        )
    };
    let source = || Source::Images {
        folder: folder.path().into(),
    };
    let data = ready(open(&source(), &options(&schema("folder"))));
    assert_eq!(data.training.labels(), [0, 0, 1, 1]);
    let mut people = units(&data);
    people.sort();
    assert_eq!(people, [vec![0, 1, 3], vec![2]]);
    let error = message(open(&source(), &options(&schema("patient"))));
    assert!(error.contains("--person folder"), "{error}");
}

/// Where records are drawn, the first few of each person are kept, each a unit of its own.
#[test]
fn only_the_first_records_of_a_person_are_kept_where_records_are_drawn() {
    let mut options = by_person("records = 4\n");
    options.kept_of_a_person = Some(1);
    let data = ready(csv(VISITS, &options));
    assert!(data.training.people().is_none());
    let (values, labels) = rows(&data.training);
    assert_eq!((values.len(), labels), (3 * 3, vec![0, 1, 0]));
    assert_eq!(data.public_count, Some(4));
}

/// The mean of a person's vectors is no longer than the longest of them.
#[test]
fn private_statistics_have_one_vector_for_each_person() {
    let data = ready(csv(VISITS, &by_person("")));
    let moments: Vec<Vec<f64>> = data.moments().unwrap().map(Result::unwrap).collect();
    assert_eq!(moments.len(), 3);
    let norm = |vector: &Vec<f64>| vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    assert!(moments.iter().all(|vector| norm(vector) <= 1.0 + 1e-12));
    let records = ready(csv(
        VISITS,
        &options(&format!("{SCHEMA}[columns.patient]\nkind = \"ignored\"\n")),
    ));
    let alone: Vec<Vec<f64>> = records.moments().unwrap().map(Result::unwrap).collect();
    let mean: Vec<f64> = alone[0]
        .iter()
        .zip(&alone[2])
        .map(|(a, b)| 0.5 * (a + b))
        .collect();
    let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-12;
    assert!(!moments[0].iter().zip(&mean).any(far));
}
