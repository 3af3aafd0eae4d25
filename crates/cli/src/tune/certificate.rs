//! The noise of all runs of a search, found together and certified before the first of them.

use super::space::{Candidate, Mode, Space};
use crate::run::{self, PublicFacts, PublicStart, Resolved, Settings};
use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};
use tacita_accounting::calibrate::{Budget, Shape, estimated_noise, smallest_noise};
use tacita_accounting::{AccountError, Accountant, Ledger, Pld, RandomRuns, Rdp, Reading};

/// The part of δ that pays for tails the noise generator cannot reach, in all runs together.
const TAIL_SHARE: f64 = 1e-6;
/// Normals that all runs of a search draw, at most: 10⁸ parameters for 10⁷ steps.
const MOST_NORMALS: u64 = 1_000_000_000_000_000;
/// What the rounding of the drawn number of runs may add to ε; see `draw.rs`.
const ROUNDING: f64 = 1e-9;

/// The noise of every candidate and what the whole search costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// All settings of a run of each candidate, its noise included.
    pub settings: Vec<Settings>,
    /// What a run of each candidate will release.
    pub ledgers: Vec<Ledger>,
    /// ε of everything that is published, proved.
    pub epsilon: Reading,
    /// The budget's ε.
    pub budget: f64,
    /// The budget's δ.
    pub delta: f64,
}

impl Certificate {
    /// Finds the least noise with which the whole search keeps its budget.
    ///
    /// # Guarantee
    /// The upper bound of `epsilon` is at most `budget`, at `delta`. Checked by
    /// `grid_keeps_the_budget_as_one_ledger` and `random_search_keeps_the_budget`.
    pub fn new(space: &Space, candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        match space.mode {
            Mode::Grid => Self::of_grid(candidates, facts),
            Mode::Random => {
                let runs = Runs::new(candidates, facts)?;
                let (scales, epsilon) = random(&runs.shapes, space.law()?, runs.budget()?)?;
                runs.certified(scales, epsilon)
            }
        }
    }

    /// A grid, without a space.
    pub fn of_grid(candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        let runs = Runs::new(candidates, facts)?;
        let (scales, epsilon) = grid(&runs.shapes, runs.budget()?)?;
        runs.certified(scales, epsilon)
    }

    /// A grid whose noise is found with the moments accountant, as the papers do; what is certified of
    /// it may be less or more than its budget.
    pub fn as_in_paper(candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        let runs = Runs::new(candidates, facts)?;
        let budget = Budget::new(runs.epsilon, runs.delta)?;
        let whole = whole(&runs.shapes);
        let scale = estimated_noise(&whole, budget, &Rdp)?.noise_multiplier;
        let delta = runs.delta * (1.0 - TAIL_SHARE);
        let epsilon = Pld::default().epsilon(&whole.ledger(scale)?, delta)?;
        let scales = vec![scale; runs.shapes.len()];
        runs.certified(scales, epsilon)
    }

    /// What the moments accountant says of a grid.
    pub fn epsilon_by_moments(&self) -> Result<f64> {
        let whole = tacita_accounting::whole_grid(&self.ledgers)?;
        let reading = Rdp.epsilon(&whole, self.delta)?;
        Ok(reading.upper_bound().unwrap_or(f64::INFINITY))
    }

    /// A hash of every run's settings and of what it will release, wherever it is computed.
    pub fn hash(&self) -> Result<String> {
        let mut hash = Sha256::new();
        for (settings, ledger) in self.settings.iter().zip(&self.ledgers) {
            // Nor where the data lie: they may move, and a hash would confirm a guess.
            let settings = Settings {
                device: None,
                ..settings.without_paths()
            };
            hash.update(settings.to_toml()?);
            hash.update(serde_json::to_vec(ledger)?);
        }
        let digest = hash.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The proved ε.
    pub fn epsilon_upper(&self) -> f64 {
        self.epsilon.upper_bound().unwrap_or(f64::INFINITY)
    }
}

/// The runs of a search before their noise is known.
struct Runs {
    settings: Vec<Settings>,
    shapes: Vec<Shape>,
    epsilon: f64,
    delta: f64,
}

impl Runs {
    fn new(candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        let mut settings = Vec::new();
        let mut shapes = Vec::new();
        let mut models = Vec::new();
        // All start from the same weights, whatever becomes of the file.
        let weights = match candidates.first() {
            Some(candidate) => PublicStart::read(&candidate.settings)?,
            None => None,
        };
        for candidate in candidates {
            // All that could stop a run for its settings must do so now: later others are spent, and in a
            // random search an error would tell what was drawn.
            let mut read = || {
                // The scale is still to be found; any will do for the shape.
                let mut unscaled = candidate.settings.clone();
                unscaled.paper_accountant = None;
                unscaled.start_sha256 = weights.as_ref().map(|weights| weights.sha256().into());
                let (settings, plan) = Resolved::uncertified(unscaled, facts, Some(1.0))?;
                Resolved::check(&settings, facts)?;
                let model = (settings.model, settings.hidden);
                if !models.contains(&model) {
                    run::check_model(&settings, facts, weights.as_ref())?;
                    models.push(model);
                }
                Ok::<_, anyhow::Error>((settings, plan.shape()?))
            };
            let (filled, shape) = read().with_context(|| candidate.name.clone())?;
            if let Some(known) = settings.iter().position(|known| *known == filled) {
                bail!(
                    "`{}` and `{}` are the same run, which would be paid for twice; leave one of them out",
                    candidates[known].name,
                    candidate.name
                );
            }
            settings.push(filled);
            shapes.push(shape);
        }
        let epsilon = settings[0].epsilon.unwrap_or(f64::NAN);
        let delta = settings[0].delta.unwrap_or(f64::NAN);
        // What is no budget is refused as such, not as one that is too large.
        Budget::new(epsilon, delta)?;
        ensure!(
            tacita::noise::missing_tail_delta(MOST_NORMALS, epsilon) <= TAIL_SHARE * delta,
            "epsilon {epsilon} at delta {delta:e} is too large to promise anything; use a smaller one"
        );
        Ok(Self {
            settings,
            shapes,
            epsilon,
            delta,
        })
    }

    /// The budget without what pays for missing tails.
    fn budget(&self) -> Result<Budget> {
        Ok(Budget::new(self.epsilon, self.delta * (1.0 - TAIL_SHARE))?)
    }

    fn certified(mut self, scales: Vec<f64>, epsilon: Reading) -> Result<Certificate> {
        let ledgers = (self.shapes.iter().zip(&scales))
            .map(|(shape, scale)| shape.ledger(*scale))
            .collect::<Result<Vec<_>, _>>()?;
        for ((settings, ledger), scale) in self.settings.iter_mut().zip(&ledgers).zip(scales) {
            let batch = settings.batch.unwrap_or(0) as f64;
            run::worth_a_step(settings, scale, ledger.steps(), batch)?;
            settings.epsilon = None;
            settings.noise = Some(scale);
        }
        Ok(Certificate {
            settings: self.settings,
            ledgers,
            epsilon,
            budget: self.epsilon,
            delta: self.delta,
        })
    }
}

/// All runs one after the other.
fn whole(shapes: &[Shape]) -> Shape {
    (shapes.iter()).fold(Shape::new(), |whole, shape| whole.followed_by(shape))
}

/// One scale for all runs, searched on their common ledger.
fn grid(shapes: &[Shape], budget: Budget) -> Result<(Vec<f64>, Reading)> {
    let whole = whole(shapes);
    let found = smallest_noise(&whole, budget, &Pld::default())?;
    Ok((vec![found.noise_multiplier; shapes.len()], found.epsilon))
}

/// A scale for each kind of run at which it would keep the budget were all runs of its kind; then one
/// factor on all of them, since the best order differs between kinds.
fn random(shapes: &[Shape], law: RandomRuns, budget: Budget) -> Result<(Vec<f64>, Reading)> {
    let goal = budget.epsilon() - ROUNDING;
    let budget = Budget::new(goal, budget.delta())?;
    let mut kinds: Vec<&Shape> = Vec::new();
    let kind_of: Vec<usize> = (shapes.iter())
        .map(|shape| {
            let known = kinds.iter().position(|kind| *kind == shape);
            known.unwrap_or_else(|| {
                kinds.push(shape);
                kinds.len() - 1
            })
        })
        .collect();
    let scales = (kinds.iter())
        .map(|kind| Ok(smallest_noise(kind, budget, &BestOf(law))?.noise_multiplier))
        .collect::<Result<Vec<f64>>>()?;
    let cost = |factor: f64| -> Result<(f64, Reading)> {
        let ledgers = (kinds.iter().zip(&scales))
            .map(|(kind, scale)| kind.ledger(scale * factor))
            .collect::<Result<Vec<_>, _>>()?;
        let reading = law.epsilon_of_any(&ledgers, budget.delta())?;
        Ok((reading.upper_bound().unwrap_or(f64::INFINITY), reading))
    };
    let (mut low, mut high) = (1.0, 1.0);
    let mut found = cost(high)?;
    while found.0 > goal {
        ensure!(
            high < 1e6,
            "no noise keeps epsilon {}; fixed queries alone may exceed it: raise score-noise",
            budget.epsilon()
        );
        (low, high) = (high, high * 1.02);
        found = cost(high)?;
    }
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        let at = cost(middle)?;
        if at.0 <= goal {
            (high, found) = (middle, at);
        } else {
            low = middle;
        }
    }
    let scales = kind_of.iter().map(|kind| scales[*kind] * high).collect();
    Ok((scales, Reading::UpperBound(found.0 + ROUNDING)))
}

/// What publishing the best of a random number of runs costs, as an accountant of one run's ledger.
#[derive(Debug, Clone, Copy)]
struct BestOf(RandomRuns);

impl Accountant for BestOf {
    fn name(&self) -> &'static str {
        "best of a random number of runs"
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        tacita_accounting::Rdp.supports(ledger)
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        self.0.epsilon(ledger, delta)
    }

    fn delta(&self, _: &Ledger, _: f64) -> Result<Reading, AccountError> {
        Err(AccountError::Unsupported {
            accountant: self.name(),
            what: "δ at a given ε".into(),
            remedy: "ask for ε at a given δ",
        })
    }
}
