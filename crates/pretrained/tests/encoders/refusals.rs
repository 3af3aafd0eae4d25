//! Files that cannot be used are refused by name, before anything is made of them.

use crate::support::{Scratch, device, folder};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use std::fs;
use std::path::Path;
use tacita_pretrained::{EncoderFolder, PretrainedError, Weights};

/// Opens a folder all the way and gives the message it is refused with.
fn refused(folder: &Path) -> String {
    let made = || -> Result<(), PretrainedError> {
        let opened = EncoderFolder::open(folder)?;
        let mut weights = Weights::read(folder)?;
        opened.classifier(&mut weights, 2, &device())?;
        Ok(())
    };
    made()
        .expect_err("the folder should be refused")
        .to_string()
}

/// A copy of BERT's checkpoint with other tensors.
fn with_tensors(
    test: &str,
    change: impl Fn(&str, Dtype, Vec<usize>, Vec<u8>) -> Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
) -> Scratch {
    let copy = Scratch::copy_of("bert", test);
    let path = copy.0.join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let changed: Vec<_> = (file.iter())
        .flat_map(|(name, view)| {
            change(
                name,
                view.dtype(),
                view.shape().to_vec(),
                view.data().to_vec(),
            )
        })
        .collect();
    let views = changed.iter().map(|(name, dtype, shape, bytes)| {
        (
            name.clone(),
            TensorView::new(*dtype, shape.clone(), bytes).unwrap(),
        )
    });
    fs::write(&path, serialize(views, None).unwrap()).unwrap();
    copy
}

const WEIGHT: &str = "bert.encoder.layer.1.attention.self.value.weight";

#[test]
fn a_missing_an_extra_and_a_misshapen_tensor_are_named() {
    let same = |name: &str, dtype, shape, bytes| (name.to_owned(), dtype, shape, bytes);
    let missing = with_tensors("missing", |name, dtype, shape, bytes| match name {
        WEIGHT => vec![],
        _ => vec![same(name, dtype, shape, bytes)],
    });
    let message = refused(&missing.0);
    assert!(
        message.contains("lack") && message.contains("layer.1.attention.self.value"),
        "{message}"
    );
    let extra = with_tensors("extra", |name, dtype, shape, bytes| match name {
        WEIGHT => vec![
            same(name, dtype, shape.clone(), bytes.clone()),
            same("bert.encoder.layer.7.gate", dtype, shape, bytes),
        ],
        _ => vec![same(name, dtype, shape, bytes)],
    });
    let message = refused(&extra.0);
    assert!(
        message.contains("no place") && message.contains("layer.7.gate"),
        "{message}"
    );
    let misshapen = with_tensors("misshapen", |name, dtype, shape, bytes| match name {
        WEIGHT => vec![same(name, dtype, vec![4, 16], bytes)],
        _ => vec![same(name, dtype, shape, bytes)],
    });
    let message = refused(&misshapen.0);
    assert!(
        message.contains("[4, 16]") && message.contains("[8, 8]"),
        "{message}"
    );
}

#[test]
fn numbers_of_another_type_and_numbers_that_are_not_finite_are_named() {
    let whole = with_tensors("whole", |name, dtype, shape, bytes| {
        let dtype = if name == WEIGHT { Dtype::I32 } else { dtype };
        vec![(name.into(), dtype, shape, bytes)]
    });
    let message = refused(&whole.0);
    assert!(
        message.contains(WEIGHT) && message.contains("I32"),
        "{message}"
    );
    let nan = with_tensors("nan", |name, dtype, shape, mut bytes| {
        if name == WEIGHT {
            bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        }
        vec![(name.into(), dtype, shape, bytes)]
    });
    let message = refused(&nan.0);
    assert!(
        message.contains("finite") && message.contains("value.weight"),
        "{message}"
    );
}

#[test]
fn half_precision_is_read() {
    let half = with_tensors("half", |name, _, shape, bytes| {
        let numbers = bytes
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        let bytes = numbers
            .flat_map(|number| half::bf16::from_f32(number).to_le_bytes())
            .collect();
        vec![(name.into(), Dtype::BF16, shape, bytes)]
    });
    let opened = EncoderFolder::open(&half.0).unwrap();
    let mut weights = Weights::read(&half.0).unwrap();
    opened.classifier(&mut weights, 2, &device()).unwrap();
}

#[test]
fn a_truncated_file_and_one_of_another_kind_are_refused() {
    let copy = Scratch::copy_of("bert", "truncated");
    let path = copy.0.join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused(&copy.0).contains("damaged"), "{}", refused(&copy.0));
    fs::write(&path, b"PK\x03\x04 no weights").unwrap();
    assert!(
        refused(&copy.0).contains("model.safetensors"),
        "{}",
        refused(&copy.0)
    );
}

#[test]
fn a_pickle_is_refused_and_what_to_do_is_said() {
    let copy = Scratch::copy_of("bert", "pickle");
    let path = copy.0.join("model.safetensors");
    fs::rename(&path, copy.0.join("pytorch_model.bin")).unwrap();
    let message = refused(&copy.0);
    for part in ["pytorch_model.bin", "pickle", "convert", "save_pretrained"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    fs::remove_file(copy.0.join("pytorch_model.bin")).unwrap();
    assert!(refused(&copy.0).contains("no model.safetensors"));
}

/// Replaces a text in a file of a copy of BERT's checkpoint.
fn with_text(test: &str, file: &str, from: &str, to: &str) -> Scratch {
    let copy = Scratch::copy_of("bert", test);
    let path = copy.0.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    copy
}

#[test]
fn a_network_or_a_setting_that_is_not_known_is_named() {
    let config =
        |test: &str, from: &str, to: &str| refused(&with_text(test, "config.json", from, to).0);
    let message = config(
        "other",
        "\"model_type\": \"bert\"",
        "\"model_type\": \"t5\"",
    );
    assert!(
        message.contains("t5") && message.contains("roberta"),
        "{message}"
    );
    let message = config(
        "activation",
        "\"hidden_act\": \"gelu\"",
        "\"hidden_act\": \"silu\"",
    );
    assert!(
        message.contains("hidden_act") && message.contains("silu"),
        "{message}"
    );
    let message = config(
        "heads",
        "\"num_attention_heads\": 2",
        "\"num_attention_heads\": 3",
    );
    assert!(message.contains("num_attention_heads"), "{message}");
    let message = config("zero", "\"hidden_size\": 8", "\"hidden_size\": -8");
    assert!(
        message.contains("hidden_size") && message.contains("-8"),
        "{message}"
    );
    let message = config("huge", "\"vocab_size\": 96", "\"vocab_size\": 99999999999");
    assert!(message.contains("99999999999"), "{message}");
    let message = config("json", "{", "[");
    assert!(message.contains("config.json"), "{message}");
}

#[test]
fn a_tokenizer_that_does_not_fit_the_embedding_is_refused() {
    let copy = Scratch::copy_of("bert", "tokenizer");
    fs::copy(
        folder("roberta").join("tokenizer.json"),
        copy.0.join("tokenizer.json"),
    )
    .unwrap();
    let message = refused(&copy.0);
    assert!(message.contains("96 rows"), "{message}");
    fs::write(copy.0.join("tokenizer.json"), "{}").unwrap();
    assert!(refused(&copy.0).contains("tokenizer.json"));
}

/// RoBERTa's positions begin after that of padding, so two of them are not for texts.
#[test]
fn texts_longer_than_the_positions_are_refused_and_shorter_ones_cut() {
    for (name, longest) in [
        ("bert", 40),
        ("distilbert", 40),
        ("roberta", 38),
        ("mpnet", 38),
    ] {
        let opened = EncoderFolder::open(&folder(name)).unwrap();
        opened.check_length(longest).unwrap();
        let message = opened.check_length(longest + 1).unwrap_err().to_string();
        assert!(message.contains(&longest.to_string()), "{name}: {message}");
        let tokenizer = opened.tokenizer.clone().with_length(8).unwrap();
        let long = "good ".repeat(100);
        let alone = tokenizer.encode_for_model(&long, None).unwrap();
        assert_eq!(alone.len(), 8, "{name}");
        let pair = tokenizer.encode_for_model("x", Some(&long)).unwrap();
        assert_eq!(pair.len(), 8, "{name}");
        let whole = opened.tokenizer.encode_for_model(&long, None).unwrap();
        assert_eq!(alone[0], whole[0], "{name}");
        assert_eq!(alone[7], whole[whole.len() - 1], "{name}");
        let message = opened
            .tokenizer
            .clone()
            .with_length(2)
            .unwrap_err()
            .to_string();
        assert!(message.contains("around"), "{name}: {message}");
    }
}
