//! The noise of all runs of a search, found together.

use super::draw::SearchDraw;
use super::error::SearchError;
use crate::mechanism::noise::missing_tail_delta;
use crate::mechanism::plan::{Budget, TAIL_SHARE};
use tacita_accounting::calibrate::{self, Shape, smallest_noise};
use tacita_accounting::{AccountError, Accountant, Ledger, Pld, RandomRuns, Rdp, Reading};

/// Normals that all runs of a search draw, at most: 10⁸ parameters for 10⁷ steps.
pub(in crate::mechanism) const MOST_NORMALS: u64 = 1_000_000_000_000_000;
/// What the rounding of the drawn number of runs may add to ε; see [`SearchDraw::number_of_runs`].
const ROUNDING: f64 = 1e-9;

/// The noise of every candidate of a search, and what the whole search costs.
///
/// ```
/// use tacita::{Budget, Plan, SearchCertificate};
///
/// let budget = Budget::new(3.0, 1e-5);
/// let plan = |steps| {
///     let plan = Plan::new(budget).public_record_count(1000).expected_batch(50);
///     plan.steps(steps).shape()
/// };
/// let certificate = SearchCertificate::grid(&[plan(10)?, plan(20)?], budget)?;
/// assert!(certificate.epsilon().upper_bound().is_some_and(|epsilon| epsilon <= 3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SearchCertificate {
    scales: Vec<f64>,
    ledgers: Vec<Ledger>,
    epsilon: Reading,
}

impl SearchCertificate {
    /// The least noise with which every candidate may run once and everything be published.
    ///
    /// # Guarantee
    /// The upper bound of [`epsilon`](Self::epsilon) is at most the budget's, at its δ, for all runs together. Checked by
    /// `grid_keeps_the_budget_as_one_ledger`.
    pub fn grid(shapes: &[Shape], budget: Budget) -> Result<Self, SearchError> {
        let budget = without_tails(budget)?;
        let found = smallest_noise(&whole(shapes), budget, &Pld::default())?;
        Self::of(
            shapes,
            vec![found.noise_multiplier; shapes.len()],
            found.epsilon,
        )
    }

    /// A grid with a given scale of the noise; only its cost is found.
    pub fn grid_with_noise(shapes: &[Shape], scale: f64, delta: f64) -> Result<Self, SearchError> {
        let ledger = whole(shapes).ledger(scale).map_err(AccountError::from)?;
        let epsilon = Pld::default().epsilon(&ledger, delta * (1.0 - TAIL_SHARE))?;
        Self::of(shapes, vec![scale; shapes.len()], epsilon)
    }

    /// The least noise with which a secret number of runs, each of a candidate drawn anew, may be made and the best of them
    /// be published (Papernot and Steinke 2022, Theorems 2 and 6).
    ///
    /// Each kind of run gets a scale at which it would keep the budget were all runs of its kind; then one factor on all
    /// of them, since the best order differs between kinds.
    ///
    /// # Guarantee
    /// The upper bound of [`epsilon`](Self::epsilon) is at most the budget's, at its δ, for what is published. Checked by
    /// `random_search_keeps_the_budget`.
    pub fn random(
        shapes: &[Shape],
        distribution: RandomRuns,
        budget: Budget,
    ) -> Result<Self, SearchError> {
        SearchDraw::check(distribution)?;
        let within = without_tails(budget)?;
        let goal = within.epsilon() - ROUNDING;
        let within = calibrate::Budget::new(goal, within.delta())?;
        let (kinds, kind_of) = kinds(shapes);
        let scales = (kinds.iter())
            .map(|kind| Ok(smallest_noise(kind, within, &BestOf(distribution))?.noise_multiplier))
            .collect::<Result<Vec<f64>, AccountError>>()?;
        let cost = |factor: f64| -> Result<f64, AccountError> {
            let ledgers = (kinds.iter().zip(&scales))
                .map(|(kind, scale)| kind.ledger(scale * factor))
                .collect::<Result<Vec<_>, _>>()?;
            let reading = distribution.epsilon_of_any(&ledgers, within.delta())?;
            Ok(reading.upper_bound().unwrap_or(f64::INFINITY))
        };
        let (factor, epsilon) =
            least_factor(goal, cost)?.ok_or(SearchError::NoNoiseSuffices { epsilon: goal })?;
        let scales = kind_of.iter().map(|kind| scales[*kind] * factor).collect();
        Self::of(shapes, scales, Reading::UpperBound(epsilon + ROUNDING))
    }

    fn of(shapes: &[Shape], scales: Vec<f64>, epsilon: Reading) -> Result<Self, SearchError> {
        let ledgers = (shapes.iter().zip(&scales))
            .map(|(shape, scale)| shape.ledger(*scale))
            .collect::<Result<Vec<_>, _>>()
            .map_err(AccountError::from)?;
        Ok(Self {
            scales,
            ledgers,
            epsilon,
        })
    }

    /// The scale of the noise of each candidate.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// What a run of each candidate will release.
    pub fn ledgers(&self) -> &[Ledger] {
        &self.ledgers
    }

    /// ε of everything that is published, proved.
    pub fn epsilon(&self) -> Reading {
        self.epsilon
    }
}

/// The budget without the part of δ that pays for tails the noise generator cannot reach, in all runs together.
fn without_tails(budget: Budget) -> Result<calibrate::Budget, SearchError> {
    let Budget { epsilon, delta } = budget;
    // What is no budget is refused as such, not as one that is too large.
    calibrate::Budget::new(epsilon, delta)?;
    if missing_tail_delta(MOST_NORMALS, epsilon) > TAIL_SHARE * delta {
        return Err(SearchError::TooLarge { epsilon, delta });
    }
    Ok(calibrate::Budget::new(epsilon, delta * (1.0 - TAIL_SHARE))?)
}

/// All runs one after the other.
fn whole(shapes: &[Shape]) -> Shape {
    (shapes.iter()).fold(Shape::new(), |whole, shape| whole.followed_by(shape))
}

/// The distinct shapes, and which of them each is.
fn kinds(shapes: &[Shape]) -> (Vec<&Shape>, Vec<usize>) {
    let mut kinds: Vec<&Shape> = Vec::new();
    let kind_of = (shapes.iter())
        .map(|shape| {
            let known = kinds.iter().position(|kind| *kind == shape);
            known.unwrap_or_else(|| {
                kinds.push(shape);
                kinds.len() - 1
            })
        })
        .collect();
    (kinds, kind_of)
}

/// About the least factor at which the cost is at most `goal`, and that cost. None if no factor up to a million will do.
fn least_factor(
    goal: f64,
    cost: impl Fn(f64) -> Result<f64, AccountError>,
) -> Result<Option<(f64, f64)>, AccountError> {
    let (mut low, mut high) = (1.0, 1.0);
    let mut found = cost(high)?;
    while found > goal {
        if high >= 1e6 {
            return Ok(None);
        }
        (low, high) = (high, high * 1.02);
        found = cost(high)?;
    }
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        let at = cost(middle)?;
        if at <= goal {
            (high, found) = (middle, at);
        } else {
            low = middle;
        }
    }
    Ok(Some((high, found)))
}

/// What publishing the best of a random number of runs costs, as an accountant of one run's ledger.
#[derive(Debug, Clone, Copy)]
struct BestOf(RandomRuns);

impl Accountant for BestOf {
    fn name(&self) -> &'static str {
        "best of a random number of runs"
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        Rdp.supports(ledger)
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
