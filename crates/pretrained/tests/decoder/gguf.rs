//! GGUF files are read as the reference reads them, and broken ones are refused.

use crate::fixture;
use proptest::prelude::*;
use safetensors::SafeTensors;
use std::io::Cursor;
use tacita_pretrained::gguf::{Encoding, Gguf, GgufError, Value, tokenizer};

#[test]
fn every_encoding_is_decoded_as_by_the_reference() {
    let bytes = std::fs::read(fixture("encodings.safetensors")).unwrap();
    let expected = SafeTensors::deserialize(&bytes).unwrap();
    let mut file = Gguf::open(fixture("encodings.gguf")).unwrap();
    assert_eq!(file.tensors().len(), 11);
    for (name, tensor) in expected.iter() {
        assert_eq!(file.tensors()[name].shape, tensor.shape(), "{name}");
        let seen = file.values(name).unwrap();
        let expected = tensor.data().as_chunks::<4>().0.iter();
        let expected: Vec<f32> = expected.map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(seen.len(), expected.len(), "{name}");
        // The scale may be multiplied in another order.
        let largest = expected
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        for (seen, expected) in seen.iter().zip(&expected) {
            assert!(
                (seen - expected).abs() <= 1e-6 * largest,
                "{name}: {seen} for {expected}"
            );
        }
    }
}

#[test]
fn metadata_of_every_type_is_read() {
    let file = Gguf::open(fixture("encodings.gguf")).unwrap();
    let metadata = file.metadata();
    assert_eq!(metadata["general.architecture"], Value::Text("none".into()));
    assert_eq!(metadata["a.large.number"], Value::Integer(i64::MAX));
    assert_eq!(metadata["a.negative.number"], Value::Integer(-3));
    assert_eq!(metadata["a.real.number"], Value::Real(0.1));
    assert_eq!(metadata["a.flag"], Value::Flag(true));
    assert_eq!(metadata["some.numbers"], Value::Integers(vec![1, 2, -3]));
    assert_eq!(metadata["some.flags"], Value::Flags(vec![true, false]));
    assert_eq!(metadata["some.reals"], Value::Reals(vec![0.5, -2.0]));
}

/// The beginning of a file: version, tensors, metadata entries.
fn header(version: u32, tensors: u64, entries: u64) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(tensors.to_le_bytes());
    bytes.extend(entries.to_le_bytes());
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// One tensor of a file without metadata.
fn tensor(shape: &[u64], code: u32, offset: u64, data: usize) -> Vec<u8> {
    let mut bytes = header(3, 1, 0);
    bytes.extend(text("weights"));
    bytes.extend((shape.len() as u32).to_le_bytes());
    bytes.extend(shape.iter().flat_map(|size| size.to_le_bytes()));
    bytes.extend(code.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32) + data, 0);
    bytes
}

fn refusal(bytes: Vec<u8>) -> GgufError {
    Gguf::read(Cursor::new(bytes)).expect_err("refused")
}

#[test]
fn other_files_are_refused_by_what_they_are() {
    for (bytes, says) in [
        (b"PK\x03\x04".to_vec(), "pickle"),
        (b"\x80\x02}".to_vec(), "pickle"),
        (b"GGML".to_vec(), "not a GGUF file"),
        (Vec::new(), "not a GGUF file"),
        (header(1, 0, 0), "version 1"),
        (header(3_u32.swap_bytes(), 0, 0), "big-endian"),
    ] {
        let error = refusal(bytes).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_tensor_that_cannot_be_read_is_refused_by_name() {
    assert!(Gguf::read(Cursor::new(tensor(&[2], 0, 0, 8))).is_ok());
    assert!(matches!(
        refusal(tensor(&[3], 0, 0, 8)),
        GgufError::Truncated {
            needed: 12,
            left: 8,
            ..
        }
    ));
    assert!(matches!(
        refusal(tensor(&[2], 0, 64, 8)),
        GgufError::Truncated { left: 0, .. }
    ));
    assert!(matches!(
        refusal(tensor(&[2], 0, u64::MAX - 31, 8)),
        GgufError::Truncated { .. }
    ));
    assert!(matches!(
        refusal(tensor(&[2], 0, 8, 64)),
        GgufError::Misaligned {
            offset: 8,
            alignment: 32,
            ..
        }
    ));
    assert!(matches!(
        refusal(tensor(&[u64::MAX, u64::MAX], 0, 0, 8)),
        GgufError::Shape { .. }
    ));
    assert!(matches!(
        refusal(tensor(&[1 << 62], 0, 0, 8)),
        GgufError::Shape { .. }
    ));
    assert!(matches!(
        refusal(tensor(&[48], 3, 0, 64)),
        GgufError::Shape { .. }
    ));
    assert!(matches!(
        refusal(tensor(&[], 0, 0, 8)),
        GgufError::Shape { .. }
    ));
    assert!(matches!(
        refusal(tensor(&[1; 5], 0, 0, 8)),
        GgufError::Shape { .. }
    ));
    let error = refusal(tensor(&[256], 16, 0, 64)).to_string();
    assert!(
        error.contains("`weights`") && error.contains("IQ2_XXS"),
        "{error}"
    );
    assert!(
        refusal(tensor(&[256], 99, 0, 64))
            .to_string()
            .contains("type 99")
    );
}

#[test]
fn counts_larger_than_the_file_are_refused_before_anything_is_allocated() {
    for count in [1 << 32, 1 << 60, u64::MAX] {
        assert!(matches!(
            refusal(header(3, count, 0)),
            GgufError::Truncated { .. }
        ));
        assert!(matches!(
            refusal(header(3, 0, count)),
            GgufError::Truncated { .. }
        ));
        let mut bytes = header(3, 0, 1);
        bytes.extend(count.to_le_bytes());
        bytes.resize(bytes.len() + 64, 0);
        assert!(
            matches!(refusal(bytes), GgufError::Truncated { .. }),
            "a long key"
        );
        for code in [0_u32, 6, 8, 12] {
            let mut bytes = header(3, 0, 1);
            bytes.extend(text("key"));
            bytes.extend(9_u32.to_le_bytes());
            bytes.extend(code.to_le_bytes());
            bytes.extend(count.to_le_bytes());
            bytes.resize(bytes.len() + 64, 0);
            assert!(
                matches!(refusal(bytes), GgufError::Truncated { .. }),
                "a long list"
            );
        }
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let whole = std::fs::read(fixture("llama.gguf")).unwrap();
    // The last bytes fill up the alignment.
    for length in (0..whole.len() - 32).step_by(41) {
        let cut = Cursor::new(whole[..length].to_vec());
        assert!(Gguf::read(cut).is_err(), "{length} bytes");
    }
}

proptest! {
    #[test]
    fn damaged_files_are_read_or_refused_and_never_panic(
        small: bool, places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        number in any::<prop::sample::Index>(), value: u64,
    ) {
        let name = if small { "encodings.gguf" } else { "llama.gguf" };
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        let header = bytes.len() / 3;
        for (place, value) in places {
            bytes[place.index(header)] = value;
        }
        let number = number.index(header);
        bytes[number..number + 8].copy_from_slice(&value.to_le_bytes());
        if let Ok(mut file) = Gguf::read(Cursor::new(bytes)) {
            let names: Vec<String> = file.tensors().keys().cloned().collect();
            for name in names {
                let _ = file.values(&name);
            }
            let _ = tokenizer(&file);
            let _ = tacita_pretrained::decoder::llama_checkpoint(&mut file);
        }
    }

    #[test]
    fn random_bytes_are_decoded_without_panic(bytes: Vec<u8>) {
        for code in [
            Encoding::F32, Encoding::F16, Encoding::BF16, Encoding::Q4_0, Encoding::Q4_1, Encoding::Q5_0,
            Encoding::Q5_1, Encoding::Q8_0, Encoding::Q4_K, Encoding::Q5_K, Encoding::Q6_K,
        ] {
            let blocks = bytes.len() / code.block_bytes();
            prop_assert_eq!(code.decode(&bytes).len(), blocks * code.block_values());
        }
    }
}
