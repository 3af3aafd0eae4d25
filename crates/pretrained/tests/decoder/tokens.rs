//! The vocabulary of a GGUF file gives the tokens of the Python tokenizer.

use crate::fixture;
use serde_json::Value;
use std::io::Cursor;
use tacita_pretrained::TextTokenizer;
use tacita_pretrained::gguf::{Gguf, tokenizer};

#[test]
fn tokens_equal_those_of_the_python_tokenizer() {
    let file = Gguf::open(fixture("llama.gguf")).unwrap();
    let tokenizer = TextTokenizer::of(tokenizer(&file).unwrap()).unwrap();
    assert_eq!(tokenizer.tokens(), 320);
    let lines = std::fs::read_to_string(fixture("tokens.json")).unwrap();
    let lines: Vec<Value> = serde_json::from_str(&lines).unwrap();
    for line in &lines {
        let text = line["text"].as_str().unwrap();
        let expected: Vec<u64> = line["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_u64().unwrap())
            .collect();
        let seen = tokenizer.encode(text, true).unwrap();
        assert_eq!(
            seen.iter().map(|id| u64::from(*id)).collect::<Vec<_>>(),
            expected,
            "{text:?}"
        );
        if !text.contains("<|") {
            assert_eq!(tokenizer.decode(&seen).unwrap(), text);
        }
    }
    assert_eq!(lines.len(), 16);
}

/// The bytes of the file with one text in place of another of the same length.
fn changed(from: &str, to: &str) -> String {
    let mut bytes = std::fs::read(fixture("llama.gguf")).unwrap();
    let place = bytes
        .windows(from.len())
        .position(|window| window == from.as_bytes())
        .unwrap();
    bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    let file = Gguf::read(Cursor::new(bytes)).unwrap();
    tokenizer(&file).expect_err("refused").to_string()
}

#[test]
fn a_vocabulary_that_does_not_hold_together_is_refused() {
    assert!(changed("smollm", "whoami").contains("whoami"));
    assert!(changed("gpt2", "bert").contains("byte-pair"));
    assert!(
        changed("tokenizer.ggml.merges", "tokenizer.ggml.merged").contains("tokenizer.ggml.merges")
    );
}
