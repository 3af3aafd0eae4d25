//! The public sets, read as published. Sets that are not on this machine are skipped with a message:
//! `TACITA_DATA` names the folder they are in.

use super::*;
use crate::datasets::records::{RecordSet, Shape};
use crate::datasets::{Opened, Source, open};
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
    let RecordSet::Images(images) = &data.training else {
        panic!("digits are images");
    };
    let device = Default::default();
    let batch = images.batch(&[0, 3822, 17], &device);
    let embedded = Digits::training().unwrap().batch(&[0, 3822, 17], &device);
    assert_eq!(batch.inputs.into_data(), embedded.inputs.into_data());
    assert_eq!(batch.labels.into_data(), embedded.labels.into_data());
    assert_eq!(data.test.unwrap().records.count(), 1797);
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
    let Some(data) = set(Builtin::Names) else {
        return;
    };
    let [training, test] = class_counts(&data);
    let held_out: usize = test.iter().sum();
    assert_eq!(training.iter().sum::<usize>() + held_out, 20_050);
    assert!(held_out.abs_diff(4010) < 170, "{held_out}");
    let RecordSet::Tokens(names) = &data.training else {
        panic!("tokens");
    };
    assert_eq!((names.length(), names.vocabulary()), (15, 59));
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

#[test]
fn every_set_says_where_it_comes_from() {
    use clap::ValueEnum;
    for builtin in Builtin::value_variants() {
        let value = builtin.to_possible_value().unwrap();
        assert_eq!(value.get_name(), builtin.name());
        if let Some(site) = builtin.site() {
            assert_eq!(site.name, builtin.name());
            assert!(site.home.contains("://"));
            for download in site.downloads {
                assert!(download.url.starts_with("http"));
            }
        }
    }
}
