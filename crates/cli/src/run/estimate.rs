//! How long a run will take and how much memory, measured on synthetic records.

use super::planned_run::PlannedRun;
use crate::memory;
use crate::models::{Bench, Kind, Scored};
use anyhow::{Context, Result};
use std::time::Instant;
use tacita::{Keys, Parameters, Plan, Session, SessionOptions};
use tacita_datasets::{
    Cell, Images, NumberLoss, RecordSet, RowLayout, Rows, Shape, TargetKind, Targets, Tokens, Truth,
};

/// What a dry run measured.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    /// Parameters of the model.
    pub parameters: usize,
    /// Those that are trained; the others are frozen.
    pub trained: usize,
    /// Time before the first step: that of features that are computed once.
    pub seconds_before: f64,
    /// Time of a step.
    pub step_seconds: f64,
    /// Most memory of the process so far.
    pub peak_bytes: Option<u64>,
}

const STEPS: u64 = 3;

/// Makes a few steps of the run's batch size on synthetic records.
pub fn estimate<R: Kind, M: Scored<R::Batch>>(
    bench: Bench<R, M>,
    run: &PlannedRun,
) -> Result<Estimate> {
    let plan = &run.plan;
    let batch = (plan.expected_batch() as u64).max(1);
    let records = synthetic(run, batch as usize)?;
    let records = R::of(&records).context("the records are of another kind than the model")?;
    // Every synthetic record takes part, as many as are expected of the real ones.
    let plan = Plan::with_noise(1e3, 1e-5)
        .public_record_count(batch)
        .expected_batch(batch)
        .steps(STEPS)
        .clipping(plan.clipping().clone())
        .calibrate()?;
    let (keys, options) = (Keys::fixed_seed(0), SessionOptions::default());
    let mut model = bench.model;
    let parameters = model.num_params();
    let trained = Parameters::of(&model)?.elements();
    let mut session = Session::open_in_memory(plan, keys, &model, records, options)?;
    let mut optimizer = run.new_optimizer();
    let mut seconds = f64::INFINITY;
    for _ in 0..STEPS {
        let start = Instant::now();
        let round = session.open_round()?;
        let bounded = round.clip(&model, records, &bench.device)?;
        let noisy = round.release(bounded)?;
        model = optimizer.step(1e-3, model, &noisy);
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(Estimate {
        parameters,
        trained,
        seconds_before: 0.0,
        step_seconds: seconds,
        peak_bytes: memory::peak(),
    })
}

/// So many synthetic records of a shape.
pub(super) fn synthetic(run: &PlannedRun, count: usize) -> Result<RecordSet> {
    let (shape, classes) = (run.model.shape, run.model.classes);
    let mut labels = Targets::none(run.facts.target, classes, NumberLoss::default());
    for index in 0..count {
        let truth = match run.facts.target {
            TargetKind::Class => Truth::Class((index % classes) as u16),
            TargetKind::Number => Truth::Number((index % 11) as f32 / 10.0),
            TargetKind::Labels => Truth::Labels(vec![(index % 2) as u8; classes]),
        };
        labels.push(truth, None)?;
    }
    Ok(match shape {
        Shape::Images(size) => {
            let pixels = (0..count * size.values()).map(|index| (index * 37 % 256) as u8);
            RecordSet::Images(Images::new(size, 255, classes, pixels.collect(), labels)?)
        }
        Shape::Tokens { length, vocabulary } => {
            let tokens = (0..count * length).map(|index| (index * 37 % vocabulary) as u16);
            RecordSet::Tokens(Tokens::new(
                length,
                vocabulary,
                classes,
                tokens.collect(),
                labels,
            )?)
        }
        Shape::Rows { width } => {
            let values = (0..count * width).map(|index| (index * 37 % 101) as f32 / 100.0);
            let layout = RowLayout::Columns(vec![Cell::Number; width]);
            RecordSet::Rows(Rows::new(
                layout,
                classes,
                values.collect::<Vec<f32>>(),
                labels,
            )?)
        }
    })
}
