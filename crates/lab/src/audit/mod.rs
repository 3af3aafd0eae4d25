//! How often audits are wrong, and how much they find: honest runs by the hundred.
//!
//! Every run trains a small model on ordinary records and on those canaries that coins put in, then is attacked twice: by
//! the released sums of every step (white box), and by the losses of the canaries under the released model (black box).

mod model;

use anyhow::{Context, Result};
use burn::tensor::Device;
use model::{Mixed, Witness};
use serde::Serialize;
use tacita::optim::{Optimizer, OptimizerRule};
use tacita::{CheckedPlan, Clipping, Keys, Plan, Session, SessionOptions};
use tacita_accounting::{Accountant, Ledger, Pld};
use tacita_audit::audit::{FALSE_ALARM_RATE, Question, chance_upper, measure};
use tacita_audit::trade_off::Point;
use tacita_audit::trials::Trials;
use tacita_audit::white_box::Evidence;
use tacita_audit::{Coins, Curve, f_dp};
use tacita_datasets::random::SplitMix;

/// δ of every run.
const DELTA: f64 = 1e-5;
/// ε of every run.
const EPSILON: f64 = 4.0;
/// Error of single bounds that are stated beside all together.
const ERROR: f64 = 0.05;
/// Where certified curves are read.
const EPSILONS: [f64; 14] = [
    0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 1.8, 2.4, 3.2, 4.0, 5.5, 8.0,
];
/// Ordinary records of a run.
const ORDINARY: usize = 500;

/// What a set of runs is made by.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Setting {
    /// How records are drawn: `full batch`, or `Poisson`.
    pub sampling: &'static str,
    /// The probability of a record to take part in a step.
    pub rate: f64,
    /// Steps.
    pub steps: u64,
    /// Canaries, in or out.
    pub canaries: usize,
}

/// What a run was attacked with.
struct Attacked {
    white_box: Vec<f64>,
    black_box: Vec<f64>,
    coins: Vec<bool>,
}

/// How often audits of honest runs were wrong.
#[derive(Debug, Serialize)]
pub struct Honest {
    #[serde(flatten)]
    setting: Setting,
    runs: u64,
    proved_upper: f64,
    white_box: Tally,
    black_box: Tally,
}

/// Of one attack.
#[derive(Debug, Default, Serialize)]
struct Tally {
    /// Runs in which the bound of all methods together, at 95 %, exceeds what is proved.
    bounds_above_proof: u64,
    /// Runs that raised an alarm.
    alarms: u64,
    /// The least chance that an audit was given under the guarantee.
    least_chance: f64,
    /// Mean of what was measured.
    mean_measured: f64,
    /// Most that was measured.
    most_measured: f64,
}

/// How much of what is proved one large audit finds.
#[derive(Debug, Serialize)]
pub struct Power {
    #[serde(flatten)]
    setting: Setting,
    proved_upper: f64,
    /// White box, by independent trials and the shape of the certified curve: the least noise, over the plan's, that is
    /// refuted, as an ε.
    white_box_by_shape: f64,
    /// The same by the shape of a Gaussian, which is that of full batches.
    white_box_by_trials: f64,
    /// White box, by (ε, δ) alone, all methods together.
    white_box_by_point: f64,
    /// Black box, by (ε, δ) alone, all methods together.
    black_box_by_point: f64,
    /// Black box: the ε of a Gaussian that fits, an estimate.
    black_box_estimate: f64,
}

impl Setting {
    fn plan(&self) -> Result<CheckedPlan> {
        let records = ORDINARY as u64 + self.canaries.div_ceil(2) as u64;
        let batch = (self.rate * records as f64).round() as u64;
        let plan = Plan::new(tacita::Budget::new(EPSILON, DELTA))
            .public_record_count(records)
            .expected_batch(batch)
            .steps(self.steps)
            .clipping(Clipping::abadi(1.0));
        Ok(plan.calibrate()?)
    }
}

/// Trains once, and scores every canary.
fn attacked(setting: &Setting, plan: &CheckedPlan, seed: u64) -> Result<Attacked> {
    let mut random = SplitMix(seed);
    let coins: Vec<bool> = (0..setting.canaries)
        .map(|_| random.bits() >> 63 == 1)
        .collect();
    let numbers = coins.iter().enumerate().filter(|(_, coin)| **coin);
    let records = Mixed {
        ordinary: ORDINARY,
        inside: numbers.map(|(number, _)| number).collect(),
        canaries: setting.canaries,
    };
    let keys = Keys::fixed_seed(seed);
    let mut model = keys.initial_weights(|| Witness::new(setting.canaries));
    let device = Device::flex();
    let options = SessionOptions::default();
    let mut session = Session::open_in_memory(plan.clone(), keys, &model, &records, options)?;
    let own = session.parameters().iter();
    let own = own.enumerate().find(|(_, p)| p.path.starts_with("own"));
    let (own, _) = own.context("the model has no canaries")?;
    let mut optimizer = Optimizer::from(OptimizerRule::Sgd);
    let mut evidence = vec![Evidence::default(); setting.canaries];
    for step in 0..plan.steps() {
        let round = session.open_round()?;
        let bounded = round.clip(&model, &records, &device)?;
        let noisy = round.release(bounded)?;
        let noise = plan.noise_multipliers(step)[0];
        let along = noisy.gradient()[own].to_data();
        // Row 0 belongs to no canary.
        let along = along.iter::<f64>().skip(1);
        for (evidence, mean) in evidence.iter_mut().zip(along) {
            evidence.see(mean * plan.expected_batch(), 1.0, noise, plan.rate());
        }
        model = optimizer.step(0.1, model, &noisy);
    }
    let rows = model.own.weight.val().into_data();
    Ok(Attacked {
        white_box: evidence.iter().map(Evidence::score).collect(),
        // The loss of a canary is its row.
        black_box: rows.iter::<f64>().skip(1).map(|row| -row).collect(),
        coins,
    })
}

/// Audits so many honest runs.
pub fn honest(setting: Setting, runs: u64) -> Result<Honest> {
    let plan = setting.plan()?;
    let proved = plan.epsilon().upper_bound().context("no proof")?;
    let certified = curve(plan.ledger(), 1.0)?;
    let mut tallies = [Tally::new(), Tally::new()];
    for seed in 0..runs {
        let seen = attacked(&setting, &plan, 1_000_000 + seed)?;
        for (tally, scores) in tallies.iter_mut().zip([&seen.white_box, &seen.black_box]) {
            let coins = Coins::new(scores, &seen.coins)?;
            let question = Question {
                delta: DELTA,
                confidence: 1.0 - ERROR,
            };
            let measured = measure(&coins, &question).epsilon_lower;
            let chance = chance_upper(&coins, &certified);
            tally.bounds_above_proof += u64::from(measured > proved);
            tally.alarms += u64::from(chance <= FALSE_ALARM_RATE);
            tally.least_chance = tally.least_chance.min(chance);
            tally.mean_measured += measured / runs as f64;
            tally.most_measured = tally.most_measured.max(measured);
        }
    }
    let [white_box, black_box] = tallies;
    Ok(Honest {
        setting,
        runs,
        proved_upper: proved,
        white_box,
        black_box,
    })
}

impl Tally {
    fn new() -> Self {
        Self {
            least_chance: 1.0,
            ..Self::default()
        }
    }
}

/// Audits one run with many canaries.
pub fn power(setting: Setting, seed: u64) -> Result<Power> {
    let plan = setting.plan()?;
    let proved = plan.epsilon().upper_bound().context("no proof")?;
    let seen = attacked(&setting, &plan, seed)?;
    let white = Coins::new(&seen.white_box, &seen.coins)?;
    let black = Coins::new(&seen.black_box, &seen.coins)?;
    let question = Question {
        delta: DELTA,
        confidence: 1.0 - ERROR,
    };
    let trials = Trials::above(0.0, &seen.white_box, &seen.coins);
    Ok(Power {
        setting,
        proved_upper: proved,
        white_box_by_shape: by_shape(&plan, &trials)?,
        white_box_by_trials: f_dp::gaussian_epsilon(trials.mu_lower(ERROR), DELTA)?,
        white_box_by_point: measure(&white, &question).epsilon_lower,
        black_box_by_point: measure(&black, &question).epsilon_lower,
        black_box_estimate: measure(&black, &question).epsilon_estimate,
    })
}

/// ε of the plan with the least noise whose curve is refuted by independent trials. A bound for mechanisms whose curve has
/// the shape of the plan's.
fn by_shape(plan: &CheckedPlan, trials: &Trials) -> Result<f64> {
    let refuted =
        |more: f64| -> Result<bool> { Ok(trials.refutes(&curve(plan.ledger(), more)?, ERROR)) };
    let (mut low, mut high) = (1.0_f64, 16.0_f64);
    if !refuted(high)? {
        return Ok(0.0);
    }
    for _ in 0..10 {
        let middle = (low * high).sqrt();
        match refuted(middle)? {
            true => high = middle,
            false => low = middle,
        }
    }
    let reading = Pld::default().epsilon(&noisier(plan.ledger(), high)?, DELTA)?;
    Ok(reading.lower_bound().unwrap_or(0.0))
}

/// The same plan with so much more noise.
fn noisier(plan: &Ledger, more: f64) -> Result<Ledger> {
    let mut ledger = Ledger::new(plan.neighbours());
    for round in plan.rounds() {
        let mut round = round.clone();
        round.noise_multipliers.iter_mut().for_each(|z| *z *= more);
        ledger.push(round)?;
    }
    Ok(ledger)
}

/// Its certified curve.
fn curve(plan: &Ledger, more: f64) -> Result<Curve> {
    let ledger = noisier(plan, more)?;
    // One by one: a curve of many points is wider about ε = 0, which is where these attacks are.
    let point = |epsilon: &f64| -> Result<Point> {
        let delta = Pld::default().delta(&ledger, *epsilon)?.upper_bound();
        Ok(Point {
            epsilon: *epsilon,
            delta: delta.context("no proof")?,
        })
    };
    let points: Result<Vec<Point>> = EPSILONS.iter().map(point).collect();
    Ok(Curve::of(&points?))
}
