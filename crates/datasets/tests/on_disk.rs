//! Records on a disk beside the same ones in memory.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../src/testkit.rs"]
#[allow(dead_code)]
mod testkit;

use anyhow::Result;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use tacita::{Records, UnreadableRecords};
use tacita_datasets::random::SplitMix;
use tacita_datasets::{
    Canaries, DataSet, Features, Labelled, Labels, OnDisk, Opened, Options, RecordSet, Source,
    Target, TestChoice, chunks, open,
};
use testkit::{Folder, message, png};

const TABLE: &str = r#"
[label]
column = "outcome"
classes = ["well", "ill"]
class-weights = [1.0, 0.25]
[columns.age]
min = 0
max = 100
[columns.ward]
categories = ["north", "south"]
"#;

fn options(schema: &str, on_disk: Option<&Path>) -> Options {
    Options {
        schema: toml::from_str(schema).unwrap(),
        on_disk: on_disk.map(|folder| OnDisk {
            folder: folder.into(),
            again: false,
        }),
        quiet: true,
        ..Options::default()
    }
}

fn ready(opened: Result<Opened>) -> DataSet {
    match opened.unwrap() {
        Opened::Ready(data) => *data,
        Opened::NeedsBounds(_) => panic!("all bounds are declared"),
    }
}

/// Rows of two shards, some of which cannot be used.
fn shards(folder: &Folder, rows: usize) -> Source {
    let shard = |from: usize, to: usize| -> String {
        let row = |at: usize| match at % 17 {
            5 => format!("{at},west,ill\n"),
            _ => format!(
                "{},{},{}\n",
                at * 37 % 101,
                ["north", "south"][at % 2],
                ["well", "ill"][at % 3 % 2]
            ),
        };
        std::iter::once("age,ward,outcome\n".to_string())
            .chain((from..to).map(row))
            .collect()
    };
    folder.write("shards/part-1.csv", shard(rows / 3, rows));
    folder.write("shards/part-0.csv", shard(0, rows / 3));
    folder.write("shards/_SUCCESS", "");
    Source::Csv {
        file: folder.path().join("shards"),
    }
}

/// Inputs, targets and weights of some records.
fn seen(set: &RecordSet, indices: &[usize]) -> Result<[Vec<f32>; 3], UnreadableRecords> {
    fn of<R: Records>(
        records: &R,
        indices: &[usize],
        values: impl Fn(R::Batch) -> [Vec<f32>; 2],
    ) -> Result<[Vec<f32>; 3], UnreadableRecords> {
        let read = records.read(indices, &Default::default())?;
        let [inputs, labels] = values(read.batch);
        Ok([inputs, labels, read.weights])
    }
    fn labels(labels: Labels) -> Vec<f32> {
        match labels {
            Labels::Classes(classes) => classes.into_data().iter().collect(),
            Labels::Numbers(numbers, _) => numbers.into_data().iter().collect(),
            Labels::Sets(sets) => sets.into_data().iter().collect(),
        }
    }
    match set {
        RecordSet::Images(set) => of(set, indices, |batch| {
            [
                batch.inputs.into_data().iter().collect(),
                labels(batch.labels),
            ]
        }),
        RecordSet::Tokens(set) => of(set, indices, |batch| {
            [
                batch.inputs.into_data().iter().collect(),
                labels(batch.labels),
            ]
        }),
        RecordSet::Rows(set) => of(set, indices, |batch| {
            [
                batch.inputs.into_data().iter().collect(),
                labels(batch.labels),
            ]
        }),
    }
}

fn read_ahead(set: &RecordSet, indices: &[usize]) {
    let mut next = || indices.to_vec();
    match set {
        RecordSet::Images(set) => set.read_ahead(&mut next),
        RecordSet::Tokens(set) => set.read_ahead(&mut next),
        RecordSet::Rows(set) => set.read_ahead(&mut next),
    }
}

/// Any records in any order, some twice, read ahead or not.
fn assert_same(disk: &RecordSet, memory: &RecordSet) {
    assert_eq!(disk.count(), memory.count());
    assert_eq!(disk.targets().unwrap(), memory.targets().unwrap());
    assert_eq!(disk.shape(), memory.shape());
    let count = memory.count() as u64;
    let mut random = SplitMix(9);
    let mut before: Vec<usize> = Vec::new();
    for round in 0..20 {
        let indices: Vec<usize> = (0..random.below(count + 9))
            .map(|_| random.below(count) as usize)
            .collect();
        let mut sample = indices.clone();
        sample.sort_unstable();
        sample.dedup();
        if round % 3 > 0 {
            read_ahead(disk, &sample);
        }
        for wanted in [&before, &indices] {
            assert_eq!(seen(disk, wanted), seen(memory, wanted), "round {round}");
        }
        before = sample;
    }
}

/// Opens the same source in memory, on a disk, and on the disk again.
fn assert_same_sets(source: &Source, change: impl Fn(&mut Options), schema: &str) {
    let folder = Folder::new();
    let open = |on_disk: Option<&Path>| {
        let mut options = options(schema, on_disk);
        change(&mut options);
        ready(open(source, &options))
    };
    let memory = open(None);
    for _ in 0..2 {
        let disk = open(Some(folder.path()));
        assert_eq!(disk.preparation, memory.preparation);
        assert_same(&disk.training, &memory.training);
        match (&disk.test, &memory.test) {
            (Some(disk), Some(memory)) => assert_same(&disk.records, &memory.records),
            (None, None) => {}
            _ => panic!("one of them has a test set"),
        }
    }
}

#[test]
fn records_of_every_kind_on_a_disk_are_those_in_memory() {
    let folder = Folder::new();
    let table = shards(&folder, 9000);
    let share = |options: &mut Options| {
        options.test = TestChoice::Share {
            share: 0.3,
            public: false,
        };
    };
    assert_same_sets(&table, share, TABLE);

    let text = |at: usize| {
        let words = ["good film", "poor", "long and dull", "wonderful", ""][at % 5];
        let (mark, other) = (at % 2, at % 3 % 2);
        format!("{{\"body\": \"{words} {at}\", \"mark\": \"{mark}\", \"other\": \"{other}\"}}\n")
    };
    let file = folder.write("texts.jsonl", (0..300).map(text).collect::<String>());
    let texts = Source::Jsonl {
        file,
        text: "body".into(),
    };
    let label = "[label]\ncolumn = \"mark\"\nclasses = [\"0\", \"1\"]\n";
    let counts = |options: &mut Options| options.features = Some(Features::Counts);
    assert_same_sets(&texts, counts, label);
    assert_same_sets(&texts, |_| {}, &format!("{label}[text]\nlength = 8\n"));
    let number = "[label]\ncolumn = \"mark\"\nkind = \"number\"\nmin = 0\nmax = 4\n";
    assert_same_sets(&texts, counts, number);
    assert_same_sets(&texts, counts, "[label]\ncolumns = [\"mark\", \"other\"]\n");

    for at in 0..9 {
        let class = ["cat", "dog"][at % 2];
        folder.write(
            &format!("images/{class}/{at}.png"),
            png(4, 4, [7 * at as u8; 3]),
        );
    }
    folder.write("images/cat/none.png", "no image");
    let images = Source::Images {
        folder: folder.path().join("images"),
    };
    let schema = "image = { width = 8, height = 8, channels = 1 }";
    let public = |options: &mut Options| options.classes_are_public = true;
    assert_same_sets(&images, public, schema);
    let features = |options: &mut Options| {
        public(options);
        options.features = Some(Features::Scattering);
    };
    assert_same_sets(&images, features, schema);
}

#[test]
fn bounds_and_spreads_that_are_estimated_later_apply_to_records_on_a_disk() {
    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 700);
    let schema = TABLE.replace("min = 0\nmax = 100", "kind = \"numeric\"");
    let opened = |on_disk: Option<&Path>| {
        let mut options = options(&schema, on_disk);
        options.estimate_bounds = true;
        let Opened::NeedsBounds(table) = open(&source, &options).unwrap() else {
            panic!("bounds are wanting");
        };
        let mut sum = vec![0.0; table.histogram_length()];
        for added in table.contributions() {
            for (total, entry) in sum.iter_mut().zip(added.unwrap()) {
                *total += entry;
            }
        }
        let data = table.estimated(&sum, 0.5).unwrap();
        let moments: Vec<Vec<f64>> = data.moments().unwrap().map(Result::unwrap).collect();
        let length = data.moments_length().unwrap();
        let sums: Vec<f64> = (0..length)
            .map(|at| moments.iter().map(|moments| moments[at]).sum())
            .collect();
        let standard = data.standard(&sums, 0.1).unwrap();
        (sum, moments, data.standardised(standard).unwrap())
    };
    let memory = opened(None);
    for _ in 0..2 {
        let disk = opened(Some(indices.path()));
        assert_eq!((&disk.0, &disk.1), (&memory.0, &memory.1));
        assert_same(&disk.2.training, &memory.2.training);
    }
}

#[test]
fn canaries_follow_records_on_a_disk() {
    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 90);
    let with = |on_disk: Option<&Path>| {
        let data = ready(open(&source, &options(TABLE, on_disk)));
        let canaries = Canaries {
            preparation: &data.preparation,
            target: &Target::Classes(data.preparation.classes.clone()),
            secret: &[7; 32],
        };
        let canaries = canaries.records(&[2, 3, 5], None).unwrap();
        data.training.followed_by(&canaries).unwrap()
    };
    assert_same(&with(Some(indices.path())), &with(None));
}

/// Every file of an index, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

fn index(folder: &Folder) -> PathBuf {
    let manifest = files(folder.path()).into_iter();
    let mut manifest = manifest.filter(|path| path.ends_with("index.json"));
    manifest.next().unwrap().parent().unwrap().into()
}

fn rows(data: &DataSet) -> usize {
    data.training.count()
}

#[test]
fn an_index_is_used_again_and_made_again_if_the_data_changed() {
    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 90);
    let open = || ready(open(&source, &options(TABLE, Some(indices.path()))));
    let first = open();
    let made = || {
        fs::metadata(index(&indices).join("index.json"))
            .unwrap()
            .modified()
    };
    let when = made().unwrap();
    assert_eq!(rows(&open()), rows(&first));
    assert_eq!(made().unwrap(), when);
    folder.write("shards/part-2.csv", "age,ward,outcome\n1,north,ill\n");
    assert_eq!(rows(&open()), rows(&first) + 1);
    // The open one is still what it was.
    assert!(seen(&first.training, &[0, 7, 80]).is_ok());
    // Half an index is no index, and what an interrupted one left is no obstacle.
    let training = index(&indices).join("training.rows");
    let whole = fs::metadata(&training).unwrap().len();
    OpenOptions::new()
        .write(true)
        .open(&training)
        .unwrap()
        .set_len(whole - 1)
        .unwrap();
    let partial = index(&indices).with_extension("partial");
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("training.rows"), "half").unwrap();
    assert_eq!(rows(&open()), rows(&first) + 1);
    assert!(!partial.exists());
    // One that is not there any more is an error, before anything is spent.
    fs::remove_file(folder.path().join("shards/part-2.csv")).unwrap();
    let options = options(TABLE, Some(indices.path()));
    let refused = message(tacita_datasets::open(&source, &options));
    for part in ["part-2.csv", "not any more", "Nothing was spent"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    fs::remove_dir_all(index(&indices)).unwrap();
    assert_eq!(rows(&open()), rows(&first));
}

#[test]
#[cfg(unix)]
fn an_index_is_for_its_owner_alone_and_names_itself_private() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, indices) = (Folder::new(), Folder::new());
    let place = indices.path().join("new/indices");
    let source = shards(&folder, 90);
    ready(open(&source, &options(TABLE, Some(&place))));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for file in files(&place) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!((mode(&place), mode(&index(&indices))), (0o700, 0o700));
    let manifest = fs::read_to_string(index(&indices).join("index.json")).unwrap();
    assert!(manifest.contains("PRIVATE DATA AT REST"));
    // The folder of a run may be published.
    folder.write("run/ledger.jsonl", "");
    let run = folder.path().join("run/below");
    let refused = message(open(&source, &options(TABLE, Some(&run))));
    assert!(
        refused.contains("folder of a run") && !run.exists(),
        "{refused}"
    );
}

#[test]
fn processes_that_make_the_same_index_at_once_do_not_disturb_each_other() {
    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 3000);
    let memory = ready(open(&source, &options(TABLE, None)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let disk = ready(open(&source, &options(TABLE, Some(indices.path()))));
                assert_same(&disk.training, &memory.training);
            });
        }
    });
}

/// A disk that fails is an error that says so: no panic, and no batch of something else.
#[test]
fn records_that_cannot_be_read_are_an_error() {
    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 900);
    let data = ready(open(&source, &options(TABLE, Some(indices.path()))));
    let training = index(&indices).join("training.rows");
    let file = OpenOptions::new().write(true).open(&training).unwrap();
    file.set_len(1000).unwrap();
    read_ahead(&data.training, &[0, 800]);
    read_ahead(&data.training, &[]);
    assert!(seen(&data.training, &[0, 1]).is_ok());
    let error = seen(&data.training, &[0, 800]).unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
    let RecordSet::Rows(set) = &data.training else {
        panic!("rows");
    };
    let device = Default::default();
    assert!(chunks(set, 100, &device).any(|batch| batch.is_err()));
    // A class that there is not, as a damaged disk would give.
    file.set_len(0).unwrap();
    file.set_len(1 << 16).unwrap();
    fs::write(&training, vec![0xff; 1 << 16]).unwrap();
    let error = seen(&data.training, &[0]).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
}

/// A step whose records cannot be read releases nothing, and is not spent.
#[test]
fn a_step_whose_records_cannot_be_read_is_not_spent() {
    use burn::module::Module;
    use burn::tensor::{Device, Tensor};
    use tacita::layers::{Linear, LinearConfig};
    use tacita::{Keys, Plan, PrivateModel, Session, SessionError, SessionOptions};

    #[derive(Module, Debug)]
    struct Model {
        linear: Linear,
    }
    impl PrivateModel<Labelled<Tensor<2>>> for Model {
        fn losses(&self, batch: Labelled<Tensor<2>>) -> Tensor<1> {
            self.linear.forward(batch.inputs).sum_dim(1).squeeze_dim(1)
        }
    }

    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 900);
    let data = ready(open(&source, &options(TABLE, Some(indices.path()))));
    let RecordSet::Rows(records) = &data.training else {
        panic!("rows");
    };
    let device = Device::default();
    let model = Model {
        linear: LinearConfig::new(3, 2).init(&device.clone().autodiff()),
    };
    let plan = Plan::with_noise(2.0, 1e-5)
        .public_record_count(900)
        .expected_batch(450)
        .steps(3)
        .calibrate()
        .unwrap();
    let (keys, options) = (Keys::fixed_seed(1), SessionOptions::default());
    let mut session = Session::open_in_memory(plan, keys, &model, records, options).unwrap();
    let round = session.open_round().unwrap();
    let bounded = round.clip(&model, records, &device).unwrap();
    round.release(bounded).unwrap();
    let file = index(&indices).join("training.rows");
    // The second step is in memory already, the third is not.
    let file = OpenOptions::new().write(true).open(file).unwrap();
    file.set_len(0).unwrap();
    let mut failed = false;
    for _ in 0..2 {
        let made = session.ledger().rounds_made();
        let round = session.open_round().unwrap();
        match round.clip(&model, records, &device) {
            Ok(bounded) => drop(round.release(bounded).unwrap()),
            Err(error) => {
                assert!(matches!(error, SessionError::Records(_)), "{error}");
                assert!(error.to_string().contains("nothing more was released"));
                drop(round);
                assert_eq!(session.ledger().rounds_made(), made);
                failed = true;
            }
        }
    }
    assert!(failed);
}

/// All records of a person belong together, also those that a step does not read.
#[test]
fn records_of_people_are_kept_in_memory() {
    let (folder, indices) = (Folder::new(), Folder::new());
    let source = shards(&folder, 90);
    let schema = format!("person = \"age\"\npersons = 90\n{TABLE}");
    let schema = schema.replace("[columns.age]\nmin = 0\nmax = 100\n", "");
    ready(open(&source, &options(&schema, None)));
    let refused = message(open(&source, &options(&schema, Some(indices.path()))));
    assert!(
        refused.contains("--person") && refused.contains("Nothing was spent"),
        "{refused}"
    );
}
