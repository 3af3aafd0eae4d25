//! The noise of all runs of a search, found together and certified before the first of them.

use super::space::{Candidate, Mode, Space};
use crate::device::host;
use crate::report::groups::{self, GroupCost};
use crate::run::{
    DraftRun, InitialWeights, PublicFacts, Settings, begun_workbench, check_noise_leaves_a_signal,
};
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use tacita::{Budget, SearchCertificate, TAIL_SHARE};
use tacita_accounting::calibrate::{self, Shape, estimated_noise};
use tacita_accounting::{Accountant, Ledger, RandomRuns, Rdp, Reading, whole_grid};
use tacita_datasets::hex;

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
                let found =
                    SearchCertificate::random(&runs.shapes, space.distribution()?, runs.budget)?;
                runs.certified(found)
            }
        }
    }

    /// A grid, without a space.
    pub fn of_grid(candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        let runs = Runs::new(candidates, facts)?;
        let found = SearchCertificate::grid(&runs.shapes, runs.budget)?;
        runs.certified(found)
    }

    /// A grid whose noise is found with the moments accountant, as the papers do; what is certified of
    /// it may be less or more than its budget.
    pub fn as_in_paper(candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        let runs = Runs::new(candidates, facts)?;
        let budget = calibrate::Budget::new(runs.budget.epsilon, runs.budget.delta)?;
        let whole =
            (runs.shapes.iter()).fold(Shape::new(), |whole, shape| whole.followed_by(shape));
        let scale = estimated_noise(&whole, budget, &Rdp)?.noise_multiplier;
        let found = SearchCertificate::grid_with_noise(&runs.shapes, scale, runs.budget.delta)?;
        runs.certified(found)
    }

    /// What the moments accountant says of a grid.
    pub fn epsilon_by_moments(&self) -> Result<f64> {
        let whole = whole_grid(&self.ledgers)?;
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
            hash.update(settings.to_toml_for_hash()?);
            hash.update(serde_json::to_vec(ledger)?);
        }
        Ok(hex(&hash.finalize()))
    }

    /// ε of people with several records, proved for the same publication at the same δ; `law` is that of a random search.
    pub fn several_records(&self, law: Option<RandomRuns>) -> Result<Vec<GroupCost>> {
        let mut settings = self.settings.iter();
        if settings.any(|settings| settings.most_records_of_a_person().is_some()) {
            // The guarantee is for people already, however many records they have.
            return Ok(Vec::new());
        }
        let accounted = self.delta * (1.0 - TAIL_SHARE);
        let Some(law) = law else {
            return groups::of_plan(&whole_grid(&self.ledgers)?, accounted);
        };
        groups::of_each(|records| {
            let unit = |plan: &Ledger| plan.clone().with_records_per_unit(records);
            let plans = self
                .ledgers
                .iter()
                .map(unit)
                .collect::<Result<Vec<_>, _>>()?;
            let upper = law.epsilon_of_any(&plans, accounted)?.upper_bound();
            // As of one record, where the drawn number is rounded.
            Ok(upper
                .map(|upper| upper + 1e-9)
                .filter(|upper| *upper <= groups::MEANINGLESS))
        })
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
    budget: Budget,
}

impl Runs {
    fn new(candidates: &[Candidate], facts: PublicFacts) -> Result<Self> {
        let mut settings = Vec::new();
        let mut shapes = Vec::new();
        let mut models = Vec::new();
        // All start from the same weights, whatever becomes of the file.
        let weights = match candidates.first() {
            Some(candidate) => InitialWeights::read(&candidate.settings)?,
            None => None,
        };
        for candidate in candidates {
            // All that could stop a run for its settings must do so now: later others are spent, and in a
            // random search an error would tell what was drawn.
            let mut read = || {
                let mut settings = candidate.settings.clone();
                settings.paper_accountant = None;
                settings.start_sha256 = weights.as_ref().map(|weights| weights.sha256().into());
                let draft = DraftRun::new(settings, facts)?;
                let model = (draft.settings.model, draft.settings.hidden);
                if !models.contains(&model) {
                    begun_workbench(draft.model(), weights.as_ref(), &host())?;
                    models.push(model);
                }
                let shape = draft.plan.shape()?;
                Ok::<_, anyhow::Error>((draft.settings, shape))
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
        Ok(Self {
            settings,
            shapes,
            budget: Budget::new(epsilon, delta),
        })
    }

    fn certified(mut self, found: SearchCertificate) -> Result<Certificate> {
        let ledgers = found.ledgers().to_vec();
        for ((settings, ledger), &scale) in
            self.settings.iter_mut().zip(&ledgers).zip(found.scales())
        {
            let batch = settings.batch.unwrap_or(0) as f64;
            check_noise_leaves_a_signal(settings, scale, ledger.rounds_made(), batch)?;
            settings.epsilon = None;
            settings.noise = Some(scale);
        }
        Ok(Certificate {
            settings: self.settings,
            ledgers,
            epsilon: found.epsilon(),
            budget: self.budget.epsilon,
            delta: self.budget.delta,
        })
    }
}
