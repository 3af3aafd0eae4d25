//! `tacita train`: a private classifier of the embedded digits.

mod folder;
mod outcome;
mod progress;
mod spending;

use crate::datasets::Digits;
use crate::models::{Cnn, CnnConfig, ConvolutionConfig, Labelled};
use anyhow::{Result, ensure};
use burn::module::Module;
use burn::nn::activation::ActivationConfig;
use burn::optim::{SgdConfig, momentum::MomentumConfig};
use burn::tensor::{Device, Int, Tensor};
use folder::RunFolder;
use outcome::Outcome;
use progress::ProgressLine;
use spending::Spending;
use std::path::PathBuf;
use std::time::Instant;
use tacita::{Budget, CheckedPlan, Clipping, Keys, Plan, Records, Trainer};

/// Arguments of `tacita train`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Trains on 3,823 images of handwritten digits (UCI, CC BY 4.0) as if they were private, and tests on \
1,797 public ones by other writers.

Examples:
  tacita train
  tacita train --epsilon 1 --epochs 20
  tacita train --noise 4 --out runs/quiet --json")]
pub struct Args {
    /// Budget ε: the noise is the least that keeps it
    #[arg(
        long,
        value_name = "E",
        default_value_t = 8.0,
        allow_negative_numbers = true
    )]
    epsilon: f64,
    /// Budget δ [default: 1 / (10 · records), rounded down: 2.6e-5]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    delta: Option<f64>,
    /// Noise multiplier (noise std / sensitivity) instead of a budget
    #[arg(
        long,
        value_name = "Z",
        conflicts_with = "epsilon",
        allow_negative_numbers = true
    )]
    noise: Option<f64>,
    /// Passes over the records, on average
    #[arg(
        long,
        value_name = "K",
        default_value_t = 20.0,
        allow_negative_numbers = true
    )]
    epochs: f64,
    /// Expected records per step
    #[arg(long, value_name = "B", default_value_t = 512)]
    batch: u64,
    /// Learning rate of gradient descent with momentum 0.9
    #[arg(
        long,
        value_name = "R",
        default_value_t = 0.5,
        allow_negative_numbers = true
    )]
    learning_rate: f64,
    /// Repeat exactly, for experiments: anyone can subtract the noise, so the run is NOT PRIVATE
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Folder to make for the run [default: the first free one of runs/digits-1, -2, ...]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print a summary in JSON
    #[arg(long)]
    json: bool,
    /// No progress bar and no words but the summary
    #[arg(long)]
    quiet: bool,
}

/// Runs `tacita train`.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        args.learning_rate > 0.0 && args.learning_rate.is_finite(),
        "--learning-rate must be a finite number above 0, got {}",
        args.learning_rate
    );
    let training = Digits::training()?;
    // The size of the official training set is public knowledge.
    let plan = plan(args, training.count() as u64)?;
    let spending = Spending::forecast(&plan)?;
    let folder = RunFolder::create(args.out.as_deref())?;

    let device = Device::default();
    let keys = match args.seed {
        Some(seed) => {
            device.seed(seed);
            Keys::fixed_seed(seed)
        }
        None => Keys::from_os()?,
    };
    let model = model().init(&device.clone().autodiff());
    let progress = ProgressLine::start(args, &plan, model.num_params(), spending);
    let start = Instant::now();
    let trained = Trainer::new(plan, optimizer(), args.learning_rate)
        .keys(keys)
        .ledger(folder.ledger())
        .on_step(|at, _| progress.show(at))
        .fit(model, &training, &device)?;
    let seconds = start.elapsed().as_secs_f64();
    progress.finish();

    let outcome = Outcome {
        accuracy: accuracy(&trained.model, &Digits::test()?.all(&device)),
        report: trained.report,
        seconds,
    };
    folder.write(trained.model, &outcome, args)?;
    if args.json {
        println!("{}", outcome.summary(folder.path()));
    } else {
        print!("{}", outcome.text(&folder));
    }
    Ok(())
}

fn plan(args: &Args, records: u64) -> Result<CheckedPlan> {
    let delta = args.delta.unwrap_or_else(|| default_delta(records));
    let plan = match args.noise {
        Some(noise_multiplier) => Plan::with_noise(noise_multiplier, delta),
        None => Plan::new(Budget::new(args.epsilon, delta)),
    };
    let plan = plan
        .public_record_count(records)
        .expected_batch(args.batch)
        .epochs(args.epochs)
        .clipping(Clipping::auto())
        .calibrate()?;
    let epsilon = plan.epsilon().upper_bound();
    ensure!(
        epsilon.is_some_and(f64::is_finite),
        "noise multiplier {} gives no finite ε at δ = {delta:e}; use more noise. Nothing was spent",
        plan.noise_multipliers(0)[0]
    );
    Ok(plan)
}

/// A tenth of 1 / records, rounded down to two digits: well below the probability at which one
/// record in the set would be expected to be exposed.
fn default_delta(records: u64) -> f64 {
    let tenth = 0.1 / records as f64;
    let scale = 10f64.powi(1 - tenth.log10().floor() as i32);
    (tenth * scale).floor() / scale
}

/// Bounded activations keep gradients small, which noise rewards (Papernot et al. 2021,
/// arXiv:2007.14191).
fn model() -> CnnConfig {
    let convolutions = vec![ConvolutionConfig::new(16, 3, 1, 1)];
    CnnConfig::new([1, Digits::WIDTH], convolutions, 1, 64, Digits::CLASSES)
        .with_activation(ActivationConfig::Tanh)
}

fn optimizer() -> burn::optim::ModuleOptimizer {
    let momentum = MomentumConfig::new().with_momentum(0.9);
    SgdConfig::new().with_momentum(Some(momentum)).init()
}

/// The share of records whose class gets the highest score.
fn accuracy(model: &Cnn, test: &Labelled<Tensor<4>>) -> f64 {
    let [count] = test.labels.dims();
    let guesses = model.forward(test.inputs.clone()).argmax(1);
    let labels: Tensor<2, Int> = test.labels.clone().reshape([count, 1]);
    let right = guesses
        .inner()
        .equal(labels)
        .int()
        .sum()
        .into_scalar::<i64>();
    right as f64 / count as f64
}
