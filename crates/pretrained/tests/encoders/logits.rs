//! What the networks compute is what `transformers` computes.

use crate::support::{SMALL, device, filled, folder, small, values};
use serde::Deserialize;
use tacita_pretrained::encoder::Pooling;
use tacita_pretrained::{EncoderFolder, Weights};

#[derive(Deserialize)]
struct Expected {
    text: Vec<String>,
    tokens: Vec<u32>,
    logits: Vec<f32>,
    mean: Vec<f32>,
}

fn expected(name: &str) -> Vec<Expected> {
    let text = std::fs::read_to_string(folder(name).join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The largest difference relative to the largest value.
fn difference(seen: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(seen.len(), expected.len());
    let largest = expected
        .iter()
        .fold(0.0f32, |most, value| most.max(value.abs()));
    let differences = seen
        .iter()
        .zip(expected)
        .map(|(seen, expected)| (seen - expected).abs());
    differences.fold(0.0, f32::max) / largest
}

#[test]
fn tokens_and_logits_are_those_of_transformers_for_every_architecture() {
    for name in SMALL {
        let (opened, model) = small(name, None);
        let padding = opened.sizes.padding;
        for one in expected(name) {
            let second = one.text.get(1).map(String::as_str);
            let tokens = opened
                .tokenizer
                .encode_for_model(&one.text[0], second)
                .unwrap();
            assert_eq!(tokens, one.tokens, "{name}: {:?}", one.text);
            let logits = values(model.forward(filled(&[tokens], 32, padding)));
            let difference = difference(&logits, &one.logits);
            assert!(difference < 1e-4, "{name}: {:?} by {difference}", one.text);
        }
    }
}

/// How far a text is filled up changes nothing: the network does not see it.
#[test]
fn the_mean_over_a_text_is_that_of_transformers_however_far_it_is_filled_up() {
    for name in SMALL {
        let mut opened = EncoderFolder::open(&folder(name)).unwrap();
        (opened.pooling, opened.pairs) = (Pooling::Mean, true);
        let mut weights = Weights::read(&folder(name)).unwrap();
        let model = opened.classifier(&mut weights, 2, &device()).unwrap();
        let padding = opened.sizes.padding;
        for one in expected(name) {
            for length in [one.tokens.len(), 32, 38] {
                let tokens = filled(std::slice::from_ref(&one.tokens), length, padding);
                let mean = values(model.features(tokens));
                let difference = difference(&mean, &one.mean);
                assert!(difference < 1e-4, "{name}, length {length}: {difference}");
            }
        }
    }
}
