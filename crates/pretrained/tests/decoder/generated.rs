//! Text is that of `transformers`' `generate`.

use crate::decoder;
use burn::tensor::Device;
use serde_json::Value;
use tacita_pretrained::generate::{Generation, Way, generate};

/// `STOP` of `make.py`.
const STOP: [u32; 4] = [2, 7, 11, 30];

fn tokens(value: &Value) -> Vec<u32> {
    let tokens = value.as_array().unwrap().iter();
    tokens.map(|token| token.as_u64().unwrap() as u32).collect()
}

#[test]
fn greedy_and_beam_search_give_the_tokens_of_transformers() {
    let cases = std::fs::read_to_string(crate::fixture("generated.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    assert_eq!(cases.len(), 54);
    for case in cases {
        let beams = case["beams"].as_u64().unwrap() as usize;
        let way = match beams {
            1 => Way::Greedy,
            count => Way::Beams {
                count,
                length_penalty: case["penalty"].as_f64().unwrap(),
            },
        };
        let generation = Generation {
            way,
            length: case["length"].as_u64().unwrap() as usize,
            stop: STOP.to_vec(),
        };
        let decoder = decoder(case["model"].as_str().unwrap(), &Device::default());
        let seen = generate(&decoder, &tokens(&case["prompt"]), &generation).unwrap();
        assert_eq!(seen, tokens(&case["tokens"]), "{case}");
    }
}

#[test]
fn the_smallest_share_is_the_likeliest_token() {
    let decoder = decoder("llama", &Device::default());
    let settings = |way| Generation {
        way,
        length: 12,
        stop: Vec::new(),
    };
    let chance = Way::TopP {
        share: 1e-9,
        temperature: 1.0,
    };
    let chance = generate(&decoder, &[5, 6], &settings(chance)).unwrap();
    assert_eq!(
        chance,
        generate(&decoder, &[5, 6], &settings(Way::Greedy)).unwrap()
    );
    assert_eq!(chance.len(), 12);
}

#[test]
fn what_cannot_be_generated_is_refused() {
    let decoder = decoder("gpt2", &Device::default());
    let refused = |prompt: &[u32], way, length| {
        let stop = Vec::new();
        generate(&decoder, prompt, &Generation { way, length, stop })
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(&[], Way::Greedy, 3).contains("empty"));
    assert!(refused(&[48], Way::Greedy, 3).contains("no row"));
    assert!(refused(&[1; 60], Way::Greedy, 5).contains("64 positions"));
    let top = |share, temperature| Way::TopP { share, temperature };
    for way in [
        top(0.0, 1.0),
        top(1.1, 1.0),
        top(f64::NAN, 1.0),
        top(0.5, 0.0),
        top(0.5, f64::NAN),
    ] {
        assert!(refused(&[1], way, 3).contains("cannot generate"));
    }
    let none = Way::Beams {
        count: 0,
        length_penalty: 1.0,
    };
    assert!(refused(&[1], none, 3).contains("beam"));
}
