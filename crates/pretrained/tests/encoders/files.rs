//! What is written is what was trained, and comes back.

use crate::support::{SMALL, Scratch, Squares, device, filled, folder, small, values};
use safetensors::tensor::SafeTensors;
use std::collections::BTreeMap;
use std::fs;
use tacita_pretrained::save::{Named, PeftTask, merged, save, save_peft, trained};
use tacita_pretrained::{EncoderFolder, Weights};

/// Moves every number that LoRA trains away from where it began.
fn moved(model: Squares) -> Squares {
    use burn::module::{Module, ModuleMapper, Param};
    use burn::tensor::Tensor;
    struct Move;
    impl ModuleMapper for Move {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            match param.is_require_grad() {
                true => param.map(|values| (values.inner() + 0.05).autodiff().require_grad()),
                false => param,
            }
        }
    }
    model.map(&mut Move)
}

fn tensors(path: &std::path::Path) -> BTreeMap<String, Vec<usize>> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    file.iter()
        .map(|(name, view)| (name.to_string(), view.shape().to_vec()))
        .collect()
}

#[test]
fn merged_weights_in_the_hubs_layout_compute_what_the_adapted_network_does() {
    for name in SMALL {
        for adapt in ["full", "lora:2"] {
            let (opened, inner) = small(name, Some(adapt.parse().unwrap()));
            let model = moved(Squares { inner }).inner;
            let copy = Scratch::copy_of(name, &format!("merged-{name}-{}", adapt.replace(':', "")));
            let file = copy.0.join("model.safetensors");
            let before = tensors(&file);
            save(&merged(&model), &file).unwrap();
            // The pooler of a classifier that has none is not among them.
            let after = tensors(&file);
            assert_eq!(after, before, "{name}");
            let mut weights = Weights::read(&copy.0).unwrap();
            let again = EncoderFolder::open(&copy.0).unwrap();
            let again = again
                .classifier_with_head(&mut weights, 3, &device())
                .unwrap();
            let tokens = || filled(&[vec![2, 9, 30, 11, 9]], 12, opened.sizes.padding);
            let (seen, expected) = (
                values(again.forward(tokens())),
                values(model.forward(tokens())),
            );
            for (seen, expected) in seen.iter().zip(&expected) {
                assert!(
                    (seen - expected).abs() < 1e-5,
                    "{name} {adapt}: {seen} {expected}"
                );
            }
        }
    }
}

#[test]
fn only_what_was_trained_is_among_the_trained_tensors() {
    let names = |adapt: &str| -> Vec<String> {
        let (_, model) = small("distilbert", Some(adapt.parse().unwrap()));
        trained(&model)
            .into_iter()
            .map(|tensor: Named| tensor.name)
            .collect()
    };
    let head = [
        "pre_classifier.weight",
        "pre_classifier.bias",
        "classifier.weight",
        "classifier.bias",
    ];
    assert_eq!(names("head"), head);
    assert_eq!(names("lora:2"), head);
    let last = names("last:1");
    assert!(
        last[..last.len() - 4]
            .iter()
            .all(|name| name.starts_with("distilbert.transformer.layer.1."))
    );
    assert!(
        names("bias")[..10]
            .iter()
            .all(|name| name.ends_with(".bias"))
    );
    let all = tensors(&folder("distilbert").join("model.safetensors"));
    assert_eq!(names("full").len(), all.len());
}

#[test]
fn low_rank_adapters_are_written_as_peft_lays_them_out() {
    let (_, inner) = small("roberta", Some("lora:2".parse().unwrap()));
    let model = moved(Squares { inner }).inner;
    let scratch = Scratch::new("peft");
    let task = PeftTask {
        task_type: "SEQ_CLS",
        without_prefix: "",
        base: "small-roberta",
    };
    save_peft(&model, task, &scratch.0).unwrap();
    let config = fs::read_to_string(scratch.0.join("adapter_config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["r"], 2);
    assert_eq!(config["lora_alpha"], 2.0);
    assert_eq!(config["fan_in_fan_out"], false);
    assert_eq!(config["modules_to_save"], serde_json::json!(["classifier"]));
    let seen = tensors(&scratch.0.join("adapter_model.safetensors"));
    let layer = "base_model.model.roberta.encoder.layer.1";
    assert_eq!(
        seen[&format!("{layer}.intermediate.dense.lora_A.weight")],
        [2, 8]
    );
    assert_eq!(
        seen[&format!("{layer}.intermediate.dense.lora_B.weight")],
        [16, 2]
    );
    assert_eq!(seen["base_model.model.classifier.out_proj.weight"], [3, 8]);
    assert_eq!(seen.len(), 2 * 2 * 6 + 4);
}
