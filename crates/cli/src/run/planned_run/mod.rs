//! A run that is certified and ready to begin.

mod draft;
mod plan;

pub use draft::DraftRun;
pub use plan::BOUNDS_NOISE;

use crate::models::ModelSpec;
use crate::run::public_facts::PublicFacts;
use crate::run::settings::Settings;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tacita::ops::Precision;
use tacita::optim::{LearningRate, Optimizer, OptimizerRule};
use tacita::{CheckedPlan, Keys, SessionOptions, Trainer};
use tacita_accounting::decimal::{count, up};
use tacita_accounting::{Ledger, Sampling};
use tacita_datasets::InputKind;

/// Above this ε the tail that the noise generator cannot reach voids the guarantee, which would be
/// worth nothing anyway.
const MOST_EPSILON: f64 = 40.0;

/// A run whose every setting is known and whose plan is certified. Nothing in it depends on the records.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// Settings with defaults filled in.
    pub settings: Settings,
    /// What is public of the data.
    pub facts: PublicFacts,
    /// The model.
    pub model: ModelSpec,
    /// The optimiser.
    pub optimizer: OptimizerRule,
    /// The learning rate.
    pub learning_rate: LearningRate,
    /// What will be released, certified.
    pub plan: CheckedPlan,
}

/// What a run that is resumed has committed to, as its folder says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Committed {
    /// The scale of its noise.
    pub scale: f64,
    /// Rounds of its ledger's plan.
    pub rounds: u64,
    /// How many of them are scores, which come last.
    pub scores: u64,
}

impl Committed {
    /// What a run has committed to by its ledger, with the scale of its noise.
    pub fn to(plan: &Ledger, scale: f64) -> Self {
        let rounds = plan.rounds_made();
        // Steps draw their records; a score takes all.
        let is_score = |back: &u64| {
            let round = rounds
                .checked_sub(back + 1)
                .and_then(|at| plan.round_at(at));
            round.is_some_and(|round| round.sampling == Sampling::Full {})
        };
        Self {
            scale,
            rounds,
            scores: (0..rounds).take_while(is_score).count() as u64,
        }
    }
}

impl PlannedRun {
    /// Fills in defaults, checks every policy and certifies the plan.
    pub fn new(settings: Settings, facts: PublicFacts) -> Result<Self> {
        Self::of(settings, facts, None)
    }

    /// The same for a run that has begun: its noise and its length are those it has committed to.
    pub fn resumed(settings: Settings, facts: PublicFacts, committed: Committed) -> Result<Self> {
        Self::of(settings, facts, Some(committed))
    }

    fn of(settings: Settings, facts: PublicFacts, committed: Option<Committed>) -> Result<Self> {
        let draft = DraftRun::of(settings, facts, committed)?;
        let model = draft.model();
        let DraftRun { settings, plan, .. } = draft;
        let plan = plan.calibrate().context("no plan; nothing was spent")?;
        let epsilon = plan.epsilon().upper_bound().unwrap_or(f64::INFINITY);
        ensure!(
            epsilon <= MOST_EPSILON || settings.seed.is_some(),
            "noise multiplier {} gives ε ≤ {} at δ = {:e}, and above {MOST_EPSILON} nothing is \
             promised; use more noise, a smaller --epsilon, or --seed for an experiment that is not \
             private. Nothing was spent",
            plan.noise_multipliers(0)[0],
            up(epsilon, 3),
            plan.delta()
        );
        if settings.noise.is_none() {
            let multiplier = plan.noise_multipliers(0)[0];
            check_noise_leaves_a_signal(
                &settings,
                multiplier,
                plan.steps(),
                plan.expected_batch(),
            )?;
        }
        let optimizer = settings.optimizer.unwrap_or(OptimizerRule::Sgd);
        let (schedule, rate) = (settings.rate_schedule, settings.learning_rate);
        let rate = rate.unwrap_or(f64::NAN);
        Ok(Self {
            learning_rate: schedule.unwrap_or_default().starting_at(rate, optimizer),
            settings,
            facts,
            model,
            optimizer,
            plan,
        })
    }

    /// A new optimiser.
    pub fn new_optimizer(&self) -> Optimizer {
        let weight_decay = self.settings.weight_decay.unwrap_or(0.0);
        Optimizer::from(self.optimizer).with_weight_decay(weight_decay)
    }

    /// Why the model is the one it is, if nobody named it.
    pub fn because(&self) -> Option<String> {
        let kind = match self.facts.kind {
            InputKind::Table => "a table",
            InputKind::Counts => "counts of words",
            InputKind::Other => return None,
        };
        (self.settings.model.is_none()).then(|| {
            let scaled = match self.settings.standardises() {
                Some(_) => "; a part of the budget scales its columns",
                None => "",
            };
            format!(
                "linear, which suits {kind} of {} records under noise{scaled}",
                count(self.facts.records)
            )
        })
    }

    /// Steps between two checkpoints.
    pub fn checkpoint_every(&self) -> u64 {
        let hundredth = self.plan.steps() / 100;
        self.settings.checkpoint_every.unwrap_or(hundredth).max(1)
    }

    /// In which precision a GPU multiplies.
    pub fn precision(&self) -> Precision {
        self.settings.precision.unwrap_or_default()
    }

    /// Keys from the operating system, or from the seed of an experiment.
    pub fn keys(&self) -> Result<Keys> {
        Ok(match self.settings.seed {
            Some(seed) => Keys::fixed_seed(seed),
            None => Keys::from_os()?,
        })
    }

    /// A trainer by the plan and its policies.
    pub fn trainer<'a, M>(&self) -> Trainer<'a, M> {
        let plan = self.plan.clone();
        let options = SessionOptions {
            precision: self.precision(),
            ..SessionOptions::default()
        };
        let trainer = Trainer::new(plan, self.new_optimizer(), self.learning_rate).options(options);
        match self.settings.average {
            Some(decay) => trainer.average(decay),
            None => trainer,
        }
    }
}

/// Refuses a budget so small that nothing can be learned: the sum of all steps' gradients is at most
/// steps · batch sensitivities long, and the noise on it in any one direction √steps · multiplier.
pub fn check_noise_leaves_a_signal(
    settings: &Settings,
    multiplier: f64,
    steps: u64,
    batch: f64,
) -> Result<()> {
    ensure!(
        multiplier < (steps as f64).sqrt() * batch,
        "the budget ε = {} at δ = {:e} is too small for any step: the noise would be {multiplier:.0} times \
         what a record can add, more than {steps} steps of {batch} records can add up to. Raise --epsilon or \
         --batch. Nothing was spent",
        settings.epsilon.unwrap_or(f64::NAN),
        settings.delta.unwrap_or(f64::NAN),
    );
    Ok(())
}
