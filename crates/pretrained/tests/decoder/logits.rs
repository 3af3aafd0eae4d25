//! Logits equal those of `transformers`.

use crate::{MODELS, checkpoint, decoder, fixture};
use burn::tensor::{Device, Int, Tensor, TensorData};
use safetensors::SafeTensors;
use tacita::testkit::device;
use tacita_pretrained::config::Config;
use tacita_pretrained::decoder::{Cache, Decoder};
use tacita_pretrained::{PretrainedError, Weights};

/// Tokens `[2, 12]` and their logits.
fn expected(model: &str) -> (Tensor<2, Int>, Vec<f32>) {
    let bytes = std::fs::read(fixture(&format!("{model}.expected.safetensors"))).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let tokens = tensors.tensor("tokens").unwrap();
    let ids = tokens.data().as_chunks::<8>().0.iter();
    let ids: Vec<i64> = ids.map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let logits = tensors.tensor("logits").unwrap();
    let logits = logits.data().as_chunks::<4>().0.iter();
    let shape: [usize; 2] = tokens.shape().try_into().unwrap();
    let tokens = Tensor::from_data(TensorData::new(ids, shape), &device());
    (
        tokens,
        logits.map(|bytes| f32::from_le_bytes(*bytes)).collect(),
    )
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

/// Equal up to a share of the largest.
fn assert_close(seen: &[f32], expected: &[f32], share: f32) {
    assert_eq!(seen.len(), expected.len());
    let largest = expected
        .iter()
        .fold(0.0_f32, |most, value| most.max(value.abs()));
    assert!(
        largest > 0.1,
        "the expected values are too small to tell anything"
    );
    for (seen, expected) in seen.iter().zip(expected) {
        assert!(
            (seen - expected).abs() <= share * largest,
            "{seen} for {expected}"
        );
    }
}

#[test]
fn logits_equal_those_of_transformers() {
    for model in MODELS {
        let (tokens, logits) = expected(model);
        let seen = decoder(model, &device()).logits(tokens);
        assert_close(&values(seen), &logits, 1e-5);
    }
}

#[test]
fn tokens_read_one_by_one_give_the_same_logits() {
    for model in MODELS {
        let (tokens, logits) = expected(model);
        let decoder = decoder(model, &device());
        let mut cache = Cache::default();
        let read = |first: usize, count: usize, cache: &mut Cache| {
            let some = tokens.clone().narrow(1, first, count);
            decoder.scores(decoder.hidden_after(some, cache))
        };
        let mut seen = vec![read(0, 5, &mut cache)];
        seen.extend((5..12).map(|position| read(position, 1, &mut cache)));
        assert_eq!(cache.length(), 12);
        assert_close(&values(Tensor::cat(seen, 1)), &logits, 1e-5);
    }
}

#[test]
fn windows_of_a_row_see_nothing_of_each_other() {
    for model in MODELS {
        let (tokens, _) = expected(model);
        let decoder = decoder(model, &device());
        let apart = decoder.hidden(tokens.clone(), 12);
        let together = decoder.hidden(tokens.reshape([1, 24]), 12);
        assert_eq!(values(apart), values(together));
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_its_config_is_refused_by_the_tensor() {
    let refused = |model: &str, change: &dyn Fn(&mut Weights)| {
        let (config, mut weights) = checkpoint(model).unwrap();
        change(&mut weights);
        Decoder::load(&config, weights, &Device::default()).expect_err("refused")
    };
    for (model, name) in [
        ("llama", "model.layers.1.mlp.up_proj.weight"),
        ("llama", "lm_head.weight"),
        ("gpt2", "transformer.h.0.attn.c_attn.bias"),
        ("llama-gguf", "model.norm.weight"),
    ] {
        let missing = refused(model, &|weights| weights.discard(|other| other == name));
        let short = name.trim_start_matches("transformer.");
        assert!(
            matches!(&missing, PretrainedError::Missing { name, .. } if name == short),
            "{missing}"
        );
    }
    let (config, _) = checkpoint("llama").unwrap();
    let (_, other) = checkpoint("gpt2").unwrap();
    assert!(Decoder::load(&config, other, &Device::default()).is_err());
}

#[test]
fn a_network_of_another_kind_is_refused_by_the_setting() {
    for (config, says) in [
        (r#"{"model_type": "mamba"}"#, "mamba"),
        (
            r#"{"model_type": "llama", "hidden_act": "gelu"}"#,
            "hidden_act",
        ),
        (
            r#"{"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8,
                "vocab_size": 4, "rope_scaling": {"rope_type": "llama3"}}"#,
            "rope_parameters",
        ),
        (
            r#"{"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8,
                "num_key_value_heads": 3}"#,
            "num_key_value_heads",
        ),
        (
            r#"{"model_type": "gpt2", "activation_function": "relu"}"#,
            "activation_function",
        ),
        (
            r#"{"model_type": "gpt2", "n_embd": 10, "n_head": 3}"#,
            "n_head",
        ),
    ] {
        let config = Config::parse(config).unwrap();
        let error = Decoder::load(&config, Weights::default(), &Device::default());
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(says), "{error}");
    }
}
