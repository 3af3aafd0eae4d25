//! How long a run will take and how much memory, measured on made-up records.

use super::{FromSet, Resolved, Visitor, choose_model};
use crate::datasets::{Cell, Images, RecordSet, RowLayout, Rows, Shape, Tokens};
use crate::models::Scored;
use anyhow::{Context, Result};
use burn::tensor::Device;
use std::time::Instant;
use tacita::{Keys, Plan, Session, SessionOptions};

/// What a dry run measured.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    /// Parameters of the model.
    pub parameters: usize,
    /// Time of a step.
    pub step_seconds: f64,
    /// Most memory of the process so far.
    pub peak_bytes: Option<u64>,
}

/// Makes a few steps of the run's batch size on made-up records.
pub fn estimate(run: &Resolved, classes: usize) -> Result<Estimate> {
    let device = super::device(run.settings.device.as_deref().unwrap_or("cpu"))?;
    let hidden = run.settings.hidden;
    let visitor = Measure {
        run,
        classes,
        device: device.clone(),
    };
    choose_model::with_model(
        run.model, run.shape, classes, hidden, None, &device, visitor,
    )
}

struct Measure<'a> {
    run: &'a Resolved,
    classes: usize,
    device: Device,
}

const STEPS: u64 = 3;

impl Visitor for Measure<'_> {
    type Output = Estimate;

    fn visit<R: FromSet, M: Scored<R::Batch>>(self, model: M) -> Result<Estimate> {
        let plan = &self.run.plan;
        let batch = (plan.expected_batch() as u64).max(1);
        let records = R::from_set(blank(self.run.shape, batch as usize, self.classes)?);
        let records = records.context("the records are of another kind than the model")?;
        // Every made-up record takes part, as many as are expected of the real ones.
        let plan = Plan::with_noise(1e3, 1e-5)
            .public_record_count(batch)
            .expected_batch(batch)
            .steps(STEPS)
            .clipping(plan.clipping().clone())
            .calibrate()?;
        let keys = Keys::fixed_seed(0);
        let options = SessionOptions::default();
        let mut session = Session::open_in_memory(plan, keys, &model, &records, options)?;
        let mut optimizer = self.run.new_optimizer();
        let parameters = model.num_params();
        let mut model = model;
        let mut seconds = f64::INFINITY;
        for _ in 0..STEPS {
            let start = Instant::now();
            let round = session.open_round()?;
            let bounded = round.clip(&model, &records, &self.device)?;
            let noisy = round.release(bounded)?;
            model = optimizer.step(1e-3, model, &noisy);
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        Ok(Estimate {
            parameters,
            step_seconds: seconds,
            peak_bytes: peak_bytes(),
        })
    }
}

/// So many made-up records of a shape.
fn blank(shape: Shape, count: usize, classes: usize) -> Result<RecordSet> {
    let labels: Vec<u16> = (0..count).map(|index| (index % classes) as u16).collect();
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

/// The most memory the process has used, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
