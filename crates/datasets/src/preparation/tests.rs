#![allow(clippy::unwrap_used)]

use super::words::bucket;
use super::*;
use crate::records::{ImageSize, chunks};
use crate::testkit::{Folder, message, png, webp};
use proptest::prelude::*;
use tacita::Records;

fn with(input: InputPreparation) -> Preparation {
    Preparation {
        input,
        classes: vec!["a".into(), "b".into()],
    }
}

fn tokens(preparation: &Preparation, text: &str) -> Vec<i64> {
    let RecordSet::Tokens(tokens) = preparation.unlabelled([Input::Text(text)], None).unwrap()
    else {
        panic!("tokens");
    };
    let batch = tokens.batch(&[0], &Default::default());
    batch.inputs.into_data().iter::<i64>().collect()
}

/// A row of names and values, in any order.
fn unlabelled(preparation: &Preparation, row: &[(&str, &str)]) -> Result<RecordSet> {
    let InputPreparation::Table(table) = &preparation.input else {
        panic!("a table");
    };
    let header: Vec<String> = row.iter().map(|(name, _)| (*name).to_string()).collect();
    let values: Vec<_> = row
        .iter()
        .map(|(_, value)| Value::Text(value.trim()))
        .collect();
    let places = table.places(&header)?;
    preparation.unlabelled([Input::Row(&values, &places)], None)
}

fn row(preparation: &Preparation, row: &[(&str, &str)]) -> Vec<f32> {
    let RecordSet::Rows(rows) = unlabelled(preparation, row).unwrap() else {
        panic!("rows");
    };
    let batch = rows.batch(&[0], &Default::default());
    batch.inputs.into_data().iter::<f32>().collect()
}

/// The numbers are part of every saved model: they must never change. The empty text is the offset
/// basis of FNV-1a, finished by SplitMix64; the values were computed by an independent program in
/// Python.
#[test]
fn hashes_of_words_are_for_ever() {
    let hashes = ["", "a", "film", "großartig"].map(|word| bucket(word, 9999));
    assert_eq!(hashes, [3045, 7249, 9896, 9347]);
}

#[test]
fn texts_become_lower_case_words_cut_and_padded() {
    let words = with(InputPreparation::Words(
        HashedWords::new(10_000, 4).unwrap(),
    ));
    let short = tokens(&words, "A  film!");
    assert_eq!(short, tokens(&words, "a<br />FILM"));
    assert_eq!(short[2..], [0, 0]);
    assert!(short[..2].iter().all(|token| (1..10_000).contains(token)));
    assert_eq!(tokens(&words, "a film, a film, again")[..2], short[..2]);
}

#[test]
fn characters_lose_their_marks() {
    let characters = with(InputPreparation::Characters(Characters {
        alphabet: "abcdefghijklmnopqrstuvwxyz".into(),
        length: 6,
    }));
    assert_eq!(tokens(&characters, " ßłé日a "), [19, 19, 12, 5, 1, 0]);
}

fn table() -> Preparation {
    let column = |name: &str, encoding| Column::new(name, encoding);
    let age = Encoding::Numeric {
        min: 20.0,
        max: 60.0,
        basis: Basis::Declared,
    };
    let ward = Encoding::Categorical {
        categories: vec!["north".into(), "south".into(), "?".into()],
        other: false,
    };
    with(InputPreparation::Table(TablePreparation {
        columns: vec![
            column("age", age),
            column("ward", ward),
            column("postcode", Encoding::Hashed { buckets: 3 }),
        ],
        ..TablePreparation::default()
    }))
}

#[test]
fn rows_are_clamped_scaled_and_one_hot() {
    let prepared = row(
        &table(),
        &[("ward", "?"), ("age", " 30 "), ("postcode", "AB1")],
    );
    assert_eq!(prepared[..4], [0.25, 0.0, 0.0, 1.0]);
    assert_eq!(prepared[4..].iter().sum::<f32>(), 1.0);
    for (age, scaled) in [("-1e300", 0.0), ("1e300", 1.0), ("20", 0.0), ("60", 1.0)] {
        let prepared = row(
            &table(),
            &[("age", age), ("ward", "north"), ("postcode", "")],
        );
        assert_eq!(prepared[0], scaled);
    }
}

#[test]
fn errors_of_new_input_name_the_column_and_not_the_value() {
    let error = |row: &[(&str, &str)]| message(unlabelled(&table(), row));
    let message_of = error(&[("age", "x"), ("ward", "north"), ("postcode", "")]);
    assert_eq!(message_of, "input 1: column `age` is not a number");
    let age = |age| error(&[("age", age), ("ward", "north"), ("postcode", "")]);
    assert!(age("inf").contains("`age` is not finite"));
    assert!(age("NaN").contains("`age` is missing"));
    assert!(age(" ").contains("`age` is empty"));
    let unknown = error(&[("age", "1"), ("ward", "nord"), ("postcode", "")]);
    assert!(
        unknown.ends_with("`ward` is not one of the declared categories"),
        "{unknown}"
    );
    let missing = error(&[("Age", "1")]);
    assert!(
        missing.contains("no column `age`; did you mean “Age”?"),
        "{missing}"
    );
    assert!(age(&"x".repeat(10_000)).len() < 200);
    let text = message(table().unlabelled([Input::Text("a")], None));
    assert!(text.contains("the model takes rows of a table"));
}

#[test]
fn images_are_resized_and_made_grey() {
    let size = ImageSize {
        channels: 1,
        height: 2,
        width: 3,
    };
    let grey = Picture::new(size).unwrap();
    let colour = Picture::new(ImageSize {
        channels: 3,
        ..size
    })
    .unwrap();
    for file in [png(7, 5, [100; 3]), webp(7, 5, &[100; 3 * 35])] {
        assert_eq!(grey.prepare(&file).unwrap(), [100; 6]);
    }
    let file = png(7, 5, [10, 20, 30]);
    let planes = [[10; 6], [20; 6], [30; 6]].concat();
    assert_eq!(colour.prepare(&file).unwrap(), planes);
    // A canvas of rgb(200, 100, 50) saved by Chromium; compression moves a level or two.
    let jpeg = colour
        .prepare(include_bytes!("fixtures/orange.jpg"))
        .unwrap();
    assert!(
        jpeg.iter()
            .zip([[200; 6], [100; 6], [50; 6]].concat())
            .all(|(a, b)| a.abs_diff(b) <= 2)
    );
    let digits = Picture { white: 16, ..grey };
    assert_eq!(digits.prepare(&png(3, 2, [255; 3])).unwrap(), [16; 6]);
    assert_eq!(digits.prepare(&png(3, 2, [0; 3])).unwrap(), [0; 6]);
    let error = message(grey.prepare(b"\x89PNG\r\n\x1a\nrest"));
    let expected = "not a readable image: a damaged PNG image";
    assert!(error.contains(expected), "{error}");
    let error = message(grey.prepare(b"GIF89a"));
    assert!(
        error.contains("not a PNG, JPEG, WebP, TIFF, BMP or DICOM image"),
        "{error}"
    );
}

#[test]
fn impossible_sizes_are_refused() {
    let size = |channels, height, width| {
        Picture::new(ImageSize {
            channels,
            height,
            width,
        })
    };
    assert!(message(size(2, 8, 8)).contains("1 channel (grey) or 3 (colour), got 2"));
    assert!(message(size(1, 0, 8)).contains("got 8 × 0"));
    assert!(message(HashedWords::new(1, 8)).contains("between 2 and 65535"));
    assert!(message(HashedWords::new(100_000, 8)).contains("got 100000"));
    assert!(message(HashedWords::new(10, 0)).contains("got 0"));
}

#[test]
fn a_saved_preparation_prepares_alike() {
    for preparation in [
        table(),
        with(InputPreparation::Words(HashedWords::new(500, 7).unwrap())),
        with(InputPreparation::Characters(Characters {
            alphabet: "abc".into(),
            length: 5,
        })),
    ] {
        let saved = serde_json::to_string(&preparation).unwrap();
        assert_eq!(
            serde_json::from_str::<Preparation>(&saved).unwrap(),
            preparation
        );
        assert!(preparation.facts().len() >= 2);
    }
    let unknown =
        r#"{"input": {"kind": "words", "vocabulary": 9, "length": 2, "x": 1}, "classes": []}"#;
    assert!(serde_json::from_str::<Preparation>(unknown).is_err());
}

/// Vectors of two words, the more frequent one first.
fn vectors(first: f32) -> Arc<WordVectors> {
    let folder = Folder::new();
    folder.write("words.txt", "the\ncat\n");
    let halves = [first, 2.0, -0.5, 0.25].map(half::f16::from_f32);
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    folder.write(
        "vectors.f16le.zst",
        zstd::encode_all(&bytes[..], 1).unwrap(),
    );
    Arc::new(WordVectors::read(folder.path()).unwrap())
}

/// By hand: the frequencies are 2/3 and 1/3, so the centre is (1/2, 17/12) and the words are (1/2, 7/12)
/// and −2 times that from it. “the” weighs 0.0014978 and “cat” 0.002991, so that three of the former weigh
/// less than one of the latter and four weigh more.
#[test]
fn word_means_weigh_rare_words_more_and_have_one_length() {
    let public = vectors(1.0);
    let preparation = with(InputPreparation::WordMeans(WordMeans::new(&public)));
    let texts = ["Cat", "the the, the cat", "the the the the cat", "dog", ""].map(Input::Text);
    let prepared = |vectors| preparation.unlabelled(texts, vectors);
    let RecordSet::Rows(rows) = prepared(Some(public)).unwrap() else {
        panic!("rows");
    };
    let batch = rows.batch(&[0, 1, 2, 3, 4], &Default::default());
    let got: Vec<f32> = batch.inputs.into_data().iter::<f32>().collect();
    let scale = 2f64.sqrt() / (0.25f64 + 49.0 / 144.0).sqrt();
    let (x, y) = (0.5 * scale, 7.0 / 12.0 * scale);
    let wanted = [-x, -y, -x, -y, x, y, 0.0, 0.0, 0.0, 0.0];
    for (got, wanted) in got.iter().zip(wanted) {
        assert!((f64::from(*got) - wanted).abs() < 1e-5, "{got} {wanted}");
    }
    assert!(message(prepared(None)).contains("which were not loaded"));
    assert!(message(prepared(Some(vectors(3.0)))).contains("checksum"));
}

#[test]
fn first_words_become_their_public_vectors() {
    let public = vectors(1.0);
    let preparation = with(InputPreparation::FirstWords(
        FirstWords::new(&public, 3).unwrap(),
    ));
    let prepared = |vectors| preparation.unlabelled([Input::Text("Cat, or THE")], vectors);
    let RecordSet::Rows(rows) = prepared(Some(public)).unwrap() else {
        panic!("rows");
    };
    let batch = rows.batch(&[0], &Default::default()).inputs.into_data();
    assert_eq!(
        batch.iter::<f32>().collect::<Vec<_>>(),
        [-0.5, 0.25, 1.0, 2.0, 0.0, 0.0]
    );
    assert!(message(prepared(None)).contains("which were not loaded"));
    assert!(
        message(prepared(Some(vectors(3.0))))
            .contains("not the word vectors the model was trained with")
    );
}

#[test]
fn only_estimated_bounds_count_as_estimated() {
    let mut preparation = table();
    let estimated = |preparation: &Preparation| {
        let facts = preparation.facts();
        facts
            .iter()
            .filter(|fact| fact.basis == Basis::PrivatelyEstimated)
            .count()
    };
    assert_eq!(estimated(&preparation), 0);
    let InputPreparation::Table(table) = &mut preparation.input else {
        panic!("a table");
    };
    table.columns[0].encoding = Encoding::Numeric {
        min: 0.0,
        max: 1.0,
        basis: Basis::PrivatelyEstimated,
    };
    assert_eq!(estimated(&preparation), 1);
}

#[test]
fn synthetic_records_ignore_the_data() {
    let device = Default::default();
    let rows = |values: &[&str]| {
        let inputs: Vec<_> = values
            .iter()
            .map(|age| [*age, "north", "x"].map(Value::Text))
            .collect();
        let inputs = inputs.iter().map(|row| Input::Row(row, &[0, 1, 2]));
        match table().unlabelled(inputs, None).unwrap() {
            RecordSet::Rows(rows) => rows.synthetic(&[1, 2], &device).inputs.into_data(),
            _ => panic!("rows"),
        }
    };
    assert_eq!(rows(&[]), rows(&["30", "40", "50"]));
    let values: Vec<f32> = rows(&[]).iter().collect();
    assert_ne!(values[..7], values[7..]);
}

#[test]
fn chunks_hold_every_record_once_and_in_order() {
    let ages: Vec<String> = (20..31).map(|age| age.to_string()).collect();
    let inputs: Vec<_> = ages
        .iter()
        .map(|age| [age.as_str(), "north", "x"].map(Value::Text))
        .collect();
    let records = table()
        .unlabelled(inputs.iter().map(|row| Input::Row(row, &[0, 1, 2])), None)
        .unwrap();
    let RecordSet::Rows(rows) = records else {
        panic!("rows");
    };
    let device = Default::default();
    let sizes: Vec<usize> = chunks(&rows, 4, &device)
        .map(|batch| batch.unwrap().inputs.dims()[0])
        .collect();
    assert_eq!(sizes, [4, 4, 3]);
    let first: Vec<f32> = chunks(&rows, 4, &device)
        .flat_map(|batch| {
            batch
                .unwrap()
                .inputs
                .narrow(1, 0, 1)
                .into_data()
                .iter::<f32>()
                .collect::<Vec<_>>()
        })
        .collect();
    let expected: Vec<f32> = (0..11).map(|age| age as f32 / 40.0).collect();
    assert_eq!(first, expected);
}

proptest! {
    #[test]
    fn no_input_panics(text in ".{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let words = with(InputPreparation::Words(HashedWords { vocabulary: 0, length: 3 }));
        let _ = words.unlabelled([Input::Text(&text)], None);
        let row = [Value::Text(&text); 3];
        let _ = table().unlabelled([Input::Row(&row, &[0, 1, 2])], None);
        let grams = with(InputPreparation::NGrams(NGrams::default()));
        let _ = grams.unlabelled([Input::Text(&text)], None);
        let picture = Picture::new(ImageSize { channels: 1, height: 4, width: 4 }).unwrap();
        let _ = picture.prepare(&bytes);
        for start in [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff\xe0", b"RIFF\x40\0\0\0WEBPVP8L"] {
            let _ = picture.prepare(&[start, &bytes].concat());
        }
    }
}
