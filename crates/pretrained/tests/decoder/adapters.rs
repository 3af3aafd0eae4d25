//! Adapters and whole networks that were saved are read again.

use crate::{MODELS, checkpoint, decoder};
use burn::tensor::{Int, Tensor};
use std::path::{Path, PathBuf};
use tacita::testkit::device;
use tacita_pretrained::adapter::{Kind, Network};
use tacita_pretrained::decoder::Decoder;
use tacita_pretrained::save::{PeftTask, merged, save_peft};
use tacita_pretrained::{Adapt, PretrainedError, Weights, read_peft};

/// A decoder with adapters that are not zero.
fn adapted(model: &str) -> Decoder {
    let mut decoder = decoder(model, &device());
    Adapt::LowRank { rank: 2 }
        .apply(&mut decoder, &device())
        .unwrap();
    for layer in decoder.layers() {
        if let Kind::Projection(projection, _) = layer.kind
            && let Some(low_rank) = &mut projection.low_rank
        {
            let moved = low_rank
                .down
                .weight
                .val()
                .slice([0..2, 0..2])
                .sum()
                .reshape([1, 1]);
            let up = low_rank.up.weight.val() + moved.add_scalar(0.1);
            low_rank.up.weight = burn::module::Param::from_tensor(up);
            low_rank.scale = 1.5;
        }
    }
    decoder
}

fn logits(decoder: &Decoder) -> Vec<f32> {
    let tokens = Tensor::<2, Int>::from_ints([[3, 14, 15, 9, 2, 6]], &device());
    decoder.logits(tokens).into_data().try_to_vec().unwrap()
}

fn assert_close(seen: &[f32], expected: &[f32]) {
    let largest = expected
        .iter()
        .fold(0.0_f32, |most, value| most.max(value.abs()));
    for (seen, expected) in seen.iter().zip(expected) {
        assert!(
            (seen - expected).abs() <= 1e-5 * largest,
            "{seen} for {expected}"
        );
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("decoder")
        .join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn adapters_are_read_as_they_were_saved() {
    for model in MODELS {
        let trained = adapted(model);
        let task = PeftTask {
            task_type: "CAUSAL_LM",
            without_prefix: "",
            base: model,
        };
        let folder = folder(model);
        save_peft(&trained, task, &folder).unwrap();
        let mut read = decoder(model, &device());
        assert_ne!(logits(&read), logits(&trained));
        read_peft(&mut read, &folder, &device()).unwrap();
        assert_eq!(logits(&read), logits(&trained), "{model}");
        // An adapter of another network has layers that this one lacks.
        let other = if model == "gpt2" { "llama" } else { "gpt2" };
        let refused = read_peft(&mut decoder(other, &device()), &folder, &device());
        assert!(
            matches!(refused, Err(PretrainedError::Extra { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn a_network_with_merged_adapters_is_read_as_a_checkpoint() {
    for model in MODELS {
        let trained = adapted(model);
        let (config, _) = checkpoint(model).unwrap();
        let tensors = merged(&trained).into_iter();
        let tensors = tensors.map(|tensor| (tensor.name, tensor.shape, tensor.values));
        let weights = Weights::of(tensors, String::new());
        let read = Decoder::load(&config, weights, &device()).unwrap();
        assert_close(&logits(&read), &logits(&trained));
    }
}
