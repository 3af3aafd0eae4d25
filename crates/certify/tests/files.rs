//! Histories in files.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use tacita_certify::read_file;

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn safetensors(header: &str) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend([0; 8]);
    bytes
}

#[test]
fn json_and_metadata_of_safetensors_hold_the_same_history() {
    let json = file("history.json", b" \n[[1.0, 0.01, 500]]\n");
    let header = r#"{"__metadata__": {"privacy_history": "[[1.0, 0.01, 500]]"},
        "weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}"#;
    let tensors = file("model.safetensors", &safetensors(header));
    assert_eq!(read_file(&json).unwrap(), read_file(&tensors).unwrap());
    let short = file("short.json", b"[]");
    assert!(read_file(&short).is_ok());
}

#[test]
fn files_of_other_kinds_are_refused_with_what_to_do() {
    for (name, bytes, said) in [
        (
            "checkpoint.pt",
            b"PK\x03\x04rest of it".to_vec(),
            "export_history",
        ),
        (
            "old.pkl",
            b"\x80\x04\x95rest of it".to_vec(),
            "export_history",
        ),
        (
            "bare.safetensors",
            safetensors(r#"{"__metadata__": {}}"#),
            "privacy_history",
        ),
        (
            "broken.safetensors",
            safetensors("{"),
            "neither JSON nor a safetensors",
        ),
        (
            "noise.bin",
            vec![0xff; 64],
            "neither JSON nor a safetensors",
        ),
        (
            "run.jsonl",
            br#"{"tacita_ledger":1}"#.to_vec(),
            "tacita account",
        ),
        (
            "latin.json",
            b"[\"\xe9\xe8 and more\"]".to_vec(),
            "neither JSON",
        ),
    ] {
        let error = read_file(&file(name, &bytes)).unwrap_err().to_string();
        assert!(
            error.contains(said) && error.contains(name),
            "{name}: {error}"
        );
    }
    let missing = read_file(&PathBuf::from("no such file")).unwrap_err();
    assert!(missing.to_string().contains("cannot read no such file"));
}
