//! The public sets, read as published. Sets that are not on this machine are skipped with a message:
//! `TACITA_DATA` names the folder they are in.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::records::{RecordSet, Shape};
use crate::testkit::{Folder, message, png};
use crate::{Opened, Source, open};
use tacita::Records;

fn set(builtin: Builtin) -> Option<DataSet> {
    set_with(builtin, Options::default())
}

fn set_with(builtin: Builtin, options: Options) -> Option<DataSet> {
    let options = Options {
        offline: true,
        quiet: true,
        ..options
    };
    let site = builtin.site();
    if site.is_some() && std::env::var_os("TACITA_DATA").is_none() {
        eprintln!(
            "skipped: TACITA_DATA is not set, so {} is not read",
            builtin.name()
        );
        return None;
    }
    match open(&Source::Builtin(builtin), &options).unwrap() {
        Opened::Ready(data) => Some(*data),
        Opened::NeedsBounds(_) => panic!("bounds of public sets are declared"),
    }
}

fn counts(records: &RecordSet, classes: usize) -> Vec<usize> {
    let mut counts = vec![0; classes];
    for label in records.labels() {
        counts[usize::from(*label)] += 1;
    }
    counts
}

/// Counts of training and test records by class.
fn class_counts(data: &DataSet) -> [Vec<usize>; 2] {
    let test = data.test.as_ref().unwrap();
    assert!(test.declared_public);
    assert_eq!(data.public_count, Some(data.training.count() as u64));
    [
        counts(&data.training, data.classes().len()),
        counts(&test.records, data.classes().len()),
    ]
}

#[test]
fn digits_are_those_of_the_embedded_set() {
    let data = set(Builtin::Digits).unwrap();
    let test = data.test.unwrap();
    assert!(test.declared_public);
    let embedded = [Digits::training().unwrap(), Digits::test().unwrap()];
    for (records, embedded) in [data.training, test.records].into_iter().zip(embedded) {
        let RecordSet::Images(images) = &records else {
            panic!("digits are images");
        };
        let (levels, classes) = embedded.into_parts();
        assert_eq!(records.labels(), classes);
        let last = classes.len() - 1;
        for at in [0, 17, last] {
            let batch = images.batch(&[at], &Default::default()).inputs.into_data();
            let wanted = levels[at * 64..][..64]
                .iter()
                .map(|level| f32::from(*level) / 16.0);
            assert!(batch.iter::<f32>().eq(wanted));
        }
    }
}

/// Class counts of MNIST as its authors' test labels give them (Fashion-MNIST is balanced).
#[test]
fn mnist_and_fashion_mnist_have_the_published_counts() {
    if let Some(data) = set(Builtin::Mnist) {
        let [training, test] = class_counts(&data);
        assert_eq!(training.iter().sum::<usize>(), 60_000);
        assert_eq!(
            test,
            [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
        );
        let RecordSet::Images(images) = &data.training else {
            panic!("images");
        };
        assert_eq!(images.labels()[..10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]);
    }
    if let Some(data) = set(Builtin::FashionMnist) {
        assert_eq!(class_counts(&data), [vec![6000; 10], vec![1000; 10]]);
    }
}

/// The mean of each colour as widely published for the training set: 0.4914, 0.4822, 0.4465.
#[test]
fn cifar10_has_the_published_counts_and_means() {
    let Some(data) = set(Builtin::Cifar10) else {
        return;
    };
    assert_eq!(class_counts(&data), [vec![5000; 10], vec![1000; 10]]);
    let RecordSet::Images(images) = &data.training else {
        panic!("images");
    };
    let every_tenth: Vec<usize> = (0..50_000).step_by(10).collect();
    let batch = images.batch(&every_tenth, &Default::default()).inputs;
    let means = batch
        .swap_dims(0, 1)
        .reshape([3, 5000 * 1024])
        .mean_dim(1)
        .into_data();
    for (mean, published) in means.iter::<f32>().zip([0.4914, 0.4822, 0.4465]) {
        // A tenth of the images: the standard error of their mean is about 0.0022.
        assert!((mean - published).abs() < 0.01, "{mean} {published}");
    }
}

#[test]
fn pneumonia_has_the_published_counts() {
    let Some(data) = set(Builtin::Pneumonia) else {
        return;
    };
    assert_eq!(class_counts(&data), [vec![1341, 3875], vec![234, 390]]);
}

#[test]
fn pneumonia_split_anew_keeps_every_image_and_its_class() {
    let Some(data) = set(Builtin::PneumoniaResplit) else {
        return;
    };
    let [training, test] = class_counts(&data);
    assert_eq!(training[0] + test[0], 1341 + 234);
    assert_eq!(training[1] + test[1], 3875 + 390);
    let known = crate::known(Builtin::PneumoniaResplit).records;
    assert_eq!(data.training.count() as u64, known);
}

#[test]
fn imdb_has_the_published_counts_and_hashed_words() {
    let Some(data) = set(Builtin::Imdb) else {
        return;
    };
    assert_eq!(class_counts(&data), [vec![12_500; 2], vec![12_500; 2]]);
    let shape = Shape::Tokens {
        length: 256,
        vocabulary: 10_000,
    };
    assert_eq!(data.shape(), shape);
}

#[test]
fn ag_news_is_read_as_hashed_words_and_as_word_vectors() {
    let Some(data) = set(Builtin::AgNews) else {
        return;
    };
    let [training, test] = class_counts(&data);
    assert_eq!(test, [1900; 4]);
    let complete = training.iter().sum::<usize>() == 120_000;
    assert_eq!(complete, data.about.caveats.is_empty());

    let mut options = Options::default();
    options.schema.text.word_vectors = Some(15);
    let data = set_with(Builtin::AgNews, options).unwrap();
    assert_eq!(data.shape(), Shape::Rows { width: 1500 });
}

/// 20,050 names; a fifth of them is held out, 3 standard deviations of a fair draw being 170.
#[test]
fn names_are_split_four_to_one() {
    for builtin in [Builtin::Names, Builtin::NamesRandomSplit] {
        let Some(data) = set(builtin) else {
            return;
        };
        let [training, test] = class_counts(&data);
        let held_out: usize = test.iter().sum();
        assert_eq!(training.iter().sum::<usize>() + held_out, 20_050);
        assert!(held_out.abs_diff(4010) < 170, "{held_out}");
        let known = crate::known(builtin).records;
        assert_eq!(data.training.count() as u64, known);
        let RecordSet::Tokens(names) = &data.training else {
            panic!("tokens");
        };
        assert_eq!((names.length(), names.vocabulary()), (15, 59));
    }
}

#[test]
fn adult_has_the_published_counts() {
    let Some(data) = set(Builtin::Adult) else {
        return;
    };
    let [training, test] = class_counts(&data);
    assert_eq!(training, [24_720, 7_841]);
    assert_eq!(test, [12_435, 3_846]);
}

/// Opens a set that the test made in a folder.
fn made(builtin: Builtin, folder: &Folder) -> Result<DataSet> {
    let options = Options {
        data_dir: Some(folder.path().into()),
        offline: true,
        ..Options::default()
    };
    match open(&Source::Builtin(builtin), &options)? {
        Opened::Ready(data) => Ok(*data),
        Opened::NeedsBounds(_) => panic!("bounds of public sets are declared"),
    }
}

fn archive(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive
            .append_data(&mut header, name, content.as_slice())
            .unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

#[test]
fn the_archive_of_cifar10_holds_what_its_folder_holds() {
    let batch = |class: u8| {
        let mut record = vec![class];
        record.extend((0..3072).map(|at| (at % 251) as u8 ^ class));
        record
    };
    let mut files: Vec<(String, Vec<u8>)> = (1..=5u8)
        .map(|number| (format!("data_batch_{number}.bin"), batch(number)))
        .collect();
    files.push(("test_batch.bin".into(), batch(9)));
    let [folder, packed] = [Folder::new(), Folder::new()];
    for (name, content) in &files {
        folder.write(&format!("cifar-10-batches-bin/{name}"), content);
    }
    for (name, _) in &mut files {
        *name = format!("cifar-10-batches-bin/{name}");
    }
    packed.write("cifar10/cifar-10-binary.tar.gz", archive(&files));
    let [plain, unpacked] = [&folder, &packed].map(|place| made(Builtin::Cifar10, place).unwrap());
    assert_eq!(plain.training, unpacked.training);
    assert_eq!(plain.training.labels(), [1, 2, 3, 4, 5]);
    assert_eq!(unpacked.test.unwrap().records.labels(), [9]);

    packed.write("cifar10/cifar-10-binary.tar.gz", archive(&files[1..]));
    let error = message(made(Builtin::Cifar10, &packed));
    assert!(error.contains("holds 5 batches, not 6"), "{error}");
    packed.write("cifar10/cifar-10-binary.tar.gz", &archive(&files)[..90]);
    let error = message(made(Builtin::Cifar10, &packed));
    assert!(
        error.contains("is damaged; remove it and try again"),
        "{error}"
    );
}

#[test]
fn the_forms_of_imdb_hold_the_same() {
    let files = [
        ("train/neg/0_1.txt", "Bad, bad."),
        ("train/pos/0_9.txt", "Good<br />film"),
        ("test/neg/0_2.txt", "no"),
        ("test/pos/0_8.txt", "yes"),
    ];
    let [folder, packed, table] = [Folder::new(), Folder::new(), Folder::new()];
    for (name, text) in files {
        folder.write(&format!("aclImdb/{name}"), text);
    }
    let mut members: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|(name, text)| (format!("aclImdb/{name}"), text.as_bytes().to_vec()))
        .collect();
    members.push(("aclImdb/train/unsup/0_0.txt".into(), b"no class".to_vec()));
    packed.write("imdb/aclImdb_v1.tar.gz", archive(&members));
    table.write(
        "imdb/train.tsv",
        "0\t1\t0\tBad, bad.\n1\t9\t0\tGood<br />film\n",
    );
    table.write("imdb/test.tsv", "0\t2\t0\tno\n1\t8\t0\tyes\n");
    let sets = [&folder, &packed, &table].map(|place| made(Builtin::Imdb, place).unwrap());
    assert_eq!(sets[0].training.labels(), [0, 1]);
    for other in &sets[1..] {
        assert_eq!(other.training, sets[0].training);
        assert_eq!(
            other.test.as_ref().unwrap().records,
            sets[0].test.as_ref().unwrap().records
        );
    }
    table.write("imdb/test.tsv", "0\t2\tno\n");
    let error = message(made(Builtin::Imdb, &table));
    assert!(
        error.contains("test.tsv: line 1: 3 fields, not 4"),
        "{error}"
    );
}

#[test]
fn pneumonia_is_read_from_folders_of_images() {
    let folder = Folder::new();
    for (at, name) in [
        "train/NORMAL",
        "train/PNEUMONIA",
        "test/NORMAL",
        "test/PNEUMONIA",
    ]
    .iter()
    .enumerate()
    {
        folder.write(
            &format!("chest_xray/{name}/a.png"),
            png(80, 70, [50 * at as u8; 3]),
        );
    }
    let data = made(Builtin::Pneumonia, &folder).unwrap();
    assert_eq!(data.training.labels(), [0, 1]);
    let RecordSet::Images(images) = data.test.unwrap().records else {
        panic!("images");
    };
    let batch = images.batch(&[1], &Default::default()).inputs.into_data();
    assert!(batch.iter::<f32>().all(|value| value == 150.0 / 255.0));
}

#[test]
fn another_set_under_the_name_of_mnist_is_refused() {
    let folder = Folder::new();
    for name in mnist::MNIST.forms[0] {
        folder.write(&format!("mnist/{name}"), "something else");
    }
    let error = message(made(Builtin::Mnist, &folder));
    assert!(
        error.contains("is not the published file: the SHA-256 of its content is"),
        "{error}"
    );
}

#[test]
fn public_sets_bring_their_own_test_set() {
    let options = Options {
        test: crate::TestChoice::Share {
            share: 0.5,
            public: true,
        },
        ..Options::default()
    };
    let error = message(open(&Source::Builtin(Builtin::Digits), &options));
    assert!(
        error.contains("digits has a public test set of its own"),
        "{error}"
    );
}

#[test]
fn every_set_says_where_it_comes_from() {
    use clap::ValueEnum;
    for builtin in Builtin::value_variants() {
        let value = builtin.to_possible_value().unwrap();
        assert_eq!(value.get_name(), builtin.name());
        if let Some(site) = builtin.site() {
            // A set that is split anew comes from the site of the set itself.
            assert!(builtin.name().starts_with(site.name));
            assert!(site.home.contains("://"));
            for download in site.downloads {
                assert!(download.url.starts_with("http"));
            }
        }
    }
}
