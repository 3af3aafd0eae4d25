//! Whole models against other libraries, by hand: `fixtures/by_hand.py` says how.

use burn::tensor::{Device, Int, Tensor, TensorData};
use safetensors::SafeTensors;
use serde_json::Value;
use std::path::PathBuf;
use tacita_pretrained::TextTokenizer;
use tacita_pretrained::decoder::llama_checkpoint;
use tacita_pretrained::decoder::{Decoder, ends_of_text};
use tacita_pretrained::generate::{Generation, Way, generate};
use tacita_pretrained::gguf::{Gguf, tokenizer};

fn path(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("a path in the variable"))
}

fn integers(bytes: &[u8]) -> Vec<i64> {
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|bytes| i64::from_le_bytes(*bytes))
        .collect()
}

#[test]
#[ignore = "needs a model and what Python makes of it"]
fn by_hand_logits_and_text_equal_those_of_transformers() {
    let mut file = Gguf::open(path("TACITA_GGUF")).unwrap();
    let (config, weights) = llama_checkpoint(&mut file).unwrap();
    let device = Device::default();
    let decoder = Decoder::load(&config, weights, &device).unwrap();
    let bytes = std::fs::read(path("TACITA_GGUF_EXPECTED").join("logits.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let tokens = integers(tensors.tensor("tokens").unwrap().data());
    let sizes = [1, tokens.len()];
    let ids = Tensor::<2, Int>::from_data(TensorData::new(tokens.clone(), sizes), &device);
    let seen: Vec<f32> = decoder.logits(ids).into_data().try_to_vec().unwrap();
    let logits = tensors.tensor("logits").unwrap();
    let expected = logits.data().as_chunks::<4>().0.iter();
    let expected: Vec<f32> = expected.map(|bytes| f32::from_le_bytes(*bytes)).collect();
    assert_eq!(seen.len(), expected.len());
    let largest = expected
        .iter()
        .fold(0.0_f32, |most, value| most.max(value.abs()));
    let apart = seen
        .iter()
        .zip(&expected)
        .map(|(seen, expected)| (seen - expected).abs());
    let apart = apart.fold(0.0_f32, f32::max);
    println!(
        "logits: at most {apart:e} apart, the largest is {largest}: {:e} of it",
        apart / largest
    );
    assert!(apart <= 1e-4 * largest);

    let prompt: Vec<u32> = tokens[..20].iter().map(|token| *token as u32).collect();
    let generation = Generation {
        way: Way::Greedy,
        length: 40,
        stop: ends_of_text(&config),
    };
    let text = generate(&decoder, &prompt, &generation).unwrap();
    let text: Vec<i64> = text.into_iter().map(i64::from).collect();
    assert_eq!(text, integers(tensors.tensor("greedy").unwrap().data()));
}

#[test]
#[ignore = "needs a model and what Python makes of it"]
fn by_hand_tokens_equal_those_of_the_python_tokenizer() {
    let file = Gguf::open(path("TACITA_GGUF")).unwrap();
    let tokenizer = TextTokenizer::of(tokenizer(&file).unwrap()).unwrap();
    let lines = std::fs::read_to_string(path("TACITA_GGUF_EXPECTED").join("tokens.jsonl")).unwrap();
    let (mut count, mut characters) = (0, 0);
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        let expected: Vec<u64> = serde_json::from_value(line["tokens"].clone()).unwrap();
        let seen: Vec<u64> = tokenizer
            .encode(text, true)
            .unwrap()
            .into_iter()
            .map(u64::from)
            .collect();
        assert_eq!(seen, expected, "{text:?}");
        count += 1;
        characters += text.chars().filter(|letter| !letter.is_ascii()).count();
    }
    println!("{count} lines, {characters} characters beyond ASCII");
    assert!(count > 0);
}
