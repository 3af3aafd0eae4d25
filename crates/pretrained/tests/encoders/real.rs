//! Real checkpoints, where they are at hand: `TACITA_PRETRAINED` names a folder of their folders, in each of which
//! `make_expected.py` wrote what Python makes of some thousand texts.

use crate::support::{device, filled, values};
use serde::Deserialize;
use tacita_pretrained::encoder::Pooling;
use tacita_pretrained::{EncoderFolder, Weights};

#[derive(Deserialize)]
struct Line {
    text: String,
    tokens: Vec<u32>,
    mean: Option<Vec<f32>>,
}

#[test]
fn real_checkpoints_give_the_tokens_and_the_states_of_python() {
    let Ok(all) = std::env::var("TACITA_PRETRAINED") else {
        eprintln!("skipped: TACITA_PRETRAINED names no folder of checkpoints");
        return;
    };
    for entry in std::fs::read_dir(all).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(expected) = std::fs::read_to_string(folder.join("expected.jsonl")) else {
            continue;
        };
        let mut opened = EncoderFolder::open(&folder).unwrap();
        opened.pooling = Pooling::Mean;
        let tokenizer = opened.tokenizer.clone().with_length(128).unwrap();
        let mut weights = Weights::read(&folder).unwrap();
        let model = opened.classifier(&mut weights, 2, &device()).unwrap();
        let (mut lines, mut worst) = (0, 0.0f32);
        for line in expected.lines() {
            let Line { text, tokens, mean } = serde_json::from_str(line).unwrap();
            assert_eq!(
                tokenizer.encode_for_model(&text, None).unwrap(),
                tokens,
                "{text:?}"
            );
            lines += 1;
            if let Some(mean) = mean {
                let seen = values(model.features(filled(&[tokens], 128, opened.sizes.padding)));
                let largest = mean
                    .iter()
                    .fold(0.0f32, |most, value| most.max(value.abs()));
                for (seen, mean) in seen.iter().zip(&mean) {
                    worst = worst.max((seen - mean).abs() / largest);
                }
            }
        }
        eprintln!(
            "{}: {lines} texts, states off by {worst:e}",
            folder.display()
        );
        assert!(worst < 1e-4 && lines > 0, "{}: {worst}", folder.display());
    }
}
