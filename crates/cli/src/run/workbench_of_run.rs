//! The model of a planned run: a pre-trained one, one started from the weights of a file, or a new one.

use super::cached_features::CachedFeatures;
use super::initial_weights::InitialWeights;
use super::planned_run::PlannedRun;
use super::run_folder::StartedFrom;
use super::workbench::{Workbench, begun_workbench};
use crate::models::{Bench, TextClassifier};
use crate::pretrained::PretrainedBase;
use anyhow::Result;
use burn::module::Module;
use burn::tensor::Device;
use std::path::Path;
use tacita::{Parameter, Parameters};
use tacita_datasets::Tokens;
use tacita_pretrained::Adapt;

/// The model of a planned run, and what it begins with if that is not drawn at random.
pub fn workbench_of(
    run: &PlannedRun,
    weights: Option<&InitialWeights>,
    device: &Device,
) -> Result<(Box<dyn Workbench>, Option<StartedFrom>)> {
    let Some(base) = run.settings.pretrained_base()? else {
        return begun_workbench(run.model, weights, device);
    };
    let pinned = run.settings.pretrained_sha256.as_deref();
    let (classes, seed) = (run.model.classes, run.model.seed);
    let (bench, start) = fine_tuned(&base, classes, seed, pinned, device)?;
    Ok((bench, Some(start)))
}

/// A pre-trained model at work, and what it begins with. Everything that is to be trained has been seen to receive a
/// gradient on synthetic texts.
pub fn fine_tuned(
    base: &PretrainedBase,
    classes: usize,
    seed: Option<u64>,
    pinned: Option<&str>,
    device: &Device,
) -> Result<(Box<dyn Workbench>, StartedFrom)> {
    let (network, sha256) = base.network(classes, seed, pinned, device)?;
    let model = TextClassifier { network };
    base.check_learns(&model, device)?;
    let parameters = Parameters::of(&model)?;
    let is_new = |one: &&Parameter| {
        one.path.contains("low_rank") || one.path.starts_with("network.head.layers")
    };
    let new = parameters.list().iter().filter(is_new);
    let new: usize = new.map(Parameter::elements).sum();
    let all = model.num_params();
    let start = StartedFrom {
        file: name(base.path()),
        sha256,
        numbers: (all - new) as u64,
        of: all as u64,
        // A hundred names of adapters tell nobody anything.
        drawn: match base.adapt() {
            Adapt::LowRank { .. } => vec!["the adapters".into(), "the head".into()],
            _ => vec!["the head".into()],
        },
    };
    let bench: Box<dyn Workbench> = match base.adapt() {
        Adapt::Head => Box::new(CachedFeatures::new(model.network, device)),
        _ => Box::new(Bench::<Tokens, _>::of(model, device)),
    };
    Ok((bench, start))
}

/// The last part of a path, which may be published.
fn name(path: &Path) -> String {
    let whole = path.canonicalize();
    let whole = whole.as_deref().unwrap_or(path);
    whole
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
