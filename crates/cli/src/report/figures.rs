//! Every figure of a report, computed from the plan.

use super::check::rounds_of_phases;
use super::facts::{Facts, PhaseKind, Tuning};
use crate::plot::prefixes;
use anyhow::Result;
use serde::Serialize;
use tacita_accounting::{AccountError, Accountant, Gdp, Ledger, Pld, Rdp, Reading, SharedWork};

/// The curve is computed up to this multiple of ε, or a little more.
pub const CURVE_END: f64 = 1.5;
/// Points of the curve in each of its round steps.
pub const CURVE_DETAIL: usize = 10;
/// Points of the spending chart.
const SPENDING_POINTS: u64 = 24;
/// Relative width of the brackets whose upper ends are the curve. Three digits are shown; where rounds
/// are of many kinds the third would take a minute.
const CURVE_WIDTH: f64 = 1e-3;
const CURVE_WIDTH_MANY_KINDS: f64 = 1e-2;
const MANY_KINDS: usize = 100;
/// Above this ε a plan promises nothing worth drawing, and accountants take long to say so.
pub const MEANINGLESS: f64 = 100.0;
/// Relative width of brackets that are only drawn.
const DRAWN_WIDTH: f64 = 5e-3;

/// The figures of a ledger at one δ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// δ of the guarantee.
    pub delta: f64,
    /// The certified ε at `delta`.
    pub certified: Certified,
    /// What other accountants say of the same plan, at the same δ.
    pub comparison: Vec<Comparison>,
    /// The certified privacy curve, ε growing; empty if ε is too large to mean anything.
    pub curve: Vec<CurvePoint>,
    /// ε of shorter plans, for the chart; empty if ε is too large to mean anything.
    pub spending: Vec<Spent>,
}

/// The guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Certified {
    /// Name of the accountant.
    pub accountant: &'static str,
    /// Proved lower end, if the accountant gives one.
    pub lower: Option<f64>,
    /// Proved upper end; none if no finite ε is certified.
    pub upper: Option<f64>,
}

/// What another accountant says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the accountant.
    pub accountant: &'static str,
    /// ε at the same δ; none if it cannot treat the plan.
    pub epsilon: Option<Reading>,
    /// Why there is none.
    pub refusal: Option<String>,
}

/// A point of the privacy curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// ε.
    pub epsilon: f64,
    /// δ at this ε is certainly not above this.
    pub delta_upper: f64,
    /// Nor below this; 0 if no more is known.
    pub delta_lower: f64,
}

/// ε of a plan that ends after so many rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spent {
    /// Rounds.
    pub rounds: u64,
    /// Certified.
    pub certified: Option<f64>,
    /// Upper bound by Rényi divergences.
    pub rdp: Option<f64>,
    /// Central limit figure: an estimate, unless nothing was sampled.
    pub clt: Option<f64>,
}

/// What one release besides the gradient costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideCost {
    /// The query or phase.
    pub what: String,
    /// Least and greatest noise multiplier.
    pub noise_multipliers: (f64, f64),
    /// How many times it is answered.
    pub times: u64,
    /// Certified ε the same plan would have without it; none if not finite, or if the guarantee is that of
    /// a search.
    pub epsilon_without: Option<f64>,
}

impl Figures {
    /// The figures of a run that was published as a part of a search: the guarantee of the search, and
    /// nothing that the run alone would have: it was chosen, and its own ε does not pay for that.
    pub fn of_search(epsilon_upper: f64, delta: f64) -> Self {
        Self {
            delta,
            certified: Certified {
                accountant: "search",
                lower: None,
                upper: Some(epsilon_upper),
            },
            comparison: Vec::new(),
            curve: Vec::new(),
            spending: Vec::new(),
        }
    }
}

/// The least ε that `ledger` can have at `delta`, as far as that is proved.
pub fn epsilon_lower(ledger: &Ledger, delta: f64) -> Result<f64> {
    Ok(certify(ledger, delta)?.lower.unwrap_or(0.0))
}

/// ε of a ledger for owners of several records; none where it would promise nothing.
pub fn upper_of_group(ledger: &Ledger, delta: f64) -> Result<Option<f64>> {
    let reading = certifier(ledger, CURVE_WIDTH_MANY_KINDS).epsilon(ledger, delta)?;
    Ok(reading.upper_bound().filter(|upper| *upper <= MEANINGLESS))
}

/// Computes the figures of `ledger` at `delta`, of which `delta_reserved` is kept for what the
/// accountant does not see.
pub fn figures(ledger: &Ledger, delta: f64, delta_reserved: f64) -> Result<Figures> {
    let accounted = delta - delta_reserved;
    let certified = certify(ledger, accounted)?;
    let comparison = [&Rdp as &dyn Accountant, &Gdp]
        .map(|accountant| compare(accountant, ledger, accounted))
        .to_vec();
    let (curve, spending) = match certified.upper {
        Some(upper) if upper <= MEANINGLESS => (
            curve(ledger, CURVE_END * upper, delta_reserved)?,
            spending(ledger, accounted)?,
        ),
        _ => (Vec::new(), Vec::new()),
    };
    Ok(Figures {
        delta,
        certified,
        comparison,
        curve,
        spending,
    })
}

/// The accountant whose bound is the guarantee: the tightest that has a proof for this ledger.
fn certifier(ledger: &Ledger, relative_width: f64) -> Box<dyn Accountant> {
    let pld = Pld::default().with_relative_width(relative_width);
    match pld.supports(ledger) {
        Ok(()) => Box::new(pld),
        Err(_) => Box::new(Rdp),
    }
}

fn certify(ledger: &Ledger, delta: f64) -> Result<Certified, AccountError> {
    let accountant = certifier(ledger, 1e-4);
    let reading = accountant.epsilon(ledger, delta)?;
    Ok(Certified {
        accountant: accountant.name(),
        lower: match reading {
            Reading::Bracket { lower, .. } => Some(lower),
            _ => None,
        },
        upper: reading.upper_bound().filter(|upper| upper.is_finite()),
    })
}

fn compare(accountant: &dyn Accountant, ledger: &Ledger, delta: f64) -> Comparison {
    let reading = accountant.epsilon(ledger, delta);
    Comparison {
        accountant: accountant.name(),
        refusal: reading.as_ref().err().map(ToString::to_string),
        epsilon: reading.ok(),
    }
}

/// The certified curve of a ledger from ε = 0 to `end`; `reserved` is kept for what the accountant does not see.
fn curve(ledger: &Ledger, end: f64, reserved: f64) -> Result<Vec<CurvePoint>, AccountError> {
    let epsilons = round_grid(end);
    let pld = curve_pld(ledger);
    let readings = match pld.supports(ledger) {
        Ok(()) => pld.curve(ledger, &epsilons)?,
        Err(_) => (epsilons.iter())
            .map(|&epsilon| Rdp.delta(ledger, epsilon))
            .collect::<Result<_, _>>()?,
    };
    Ok(points(epsilons, readings, reserved))
}

/// The same by work that is shared with other readings.
pub fn curve_sharing(
    ledger: &Ledger,
    end: f64,
    work: &SharedWork,
) -> Result<Vec<CurvePoint>, AccountError> {
    let epsilons = round_grid(end);
    let pld = curve_pld(ledger);
    let accountant: &dyn Accountant = match pld.supports(ledger) {
        Ok(()) => &pld,
        Err(_) => &Rdp,
    };
    let readings = work.deltas(accountant, ledger, &epsilons)?;
    Ok(points(epsilons, readings, 0.0))
}

fn curve_pld(ledger: &Ledger) -> Pld {
    let width = match ledger.rounds().len() > MANY_KINDS {
        true => CURVE_WIDTH_MANY_KINDS,
        false => CURVE_WIDTH,
    };
    Pld::default().with_relative_width(width)
}

fn points(epsilons: Vec<f64>, readings: Vec<Reading>, reserved: f64) -> Vec<CurvePoint> {
    let points = epsilons.into_iter().zip(readings);
    points
        .filter_map(|(epsilon, reading)| {
            let delta = reading.upper_bound()?;
            // One rounding of the sum, upwards.
            let delta_upper = ((delta + reserved) * (1.0 + f64::EPSILON)).min(1.0);
            Some(CurvePoint {
                epsilon,
                delta_upper,
                delta_lower: reading.lower_bound().unwrap_or(0.0),
            })
        })
        .collect()
}

/// From 0 to `end` or just above: [`CURVE_DETAIL`] parts in each of 4 to 11 steps of a round size.
fn round_grid(end: f64) -> Vec<f64> {
    let power = (end / 10.0).log10().floor() as i32;
    // Dividing whole numbers by a power of ten gives the decimal a reader expects.
    let scaled = |whole: f64| match power {
        0.. => whole * 10_f64.powi(power),
        _ => whole / 10_f64.powi(-power),
    };
    let unit = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|unit| scaled(*unit) >= 0.95 * end / 10.0)
        .unwrap_or(10.0);
    let detail = CURVE_DETAIL as f64;
    let last = (end / scaled(unit)).ceil() as usize * CURVE_DETAIL;
    (0..=last)
        .map(|index| scaled(index as f64 * unit / detail))
        .collect()
}

fn spending(ledger: &Ledger, delta: f64) -> Result<Vec<Spent>, AccountError> {
    let accountant = certifier(ledger, DRAWN_WIDTH);
    let top = |reading: Result<Reading, AccountError>| match reading {
        Ok(Reading::UpperBound(value) | Reading::Estimate(value)) => Some(value),
        Ok(Reading::Bracket { upper, .. }) => Some(upper),
        Err(_) => None,
    };
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let mut spent = Vec::new();
    for made in prefixes(ledger.rounds_made(), SPENDING_POINTS) {
        let prefix = ledger.prefix(made);
        spent.push(Spent {
            rounds: made,
            certified: finite(accountant.epsilon(&prefix, delta)?.upper_bound()),
            rdp: finite(top(Rdp.epsilon(&prefix, delta))),
            clt: finite(top(Gdp.epsilon(&prefix, delta))),
        });
    }
    Ok(spent)
}

/// What each release besides the training gradient adds.
pub fn side_costs(facts: &Facts) -> Result<Vec<SideCost>> {
    let phases = rounds_of_phases(facts);
    let accounted = facts.delta - facts.delta_reserved;
    let mut costs = Vec::new();
    for (chosen, phase) in facts.phases.iter().enumerate() {
        let training = phase.kind == PhaseKind::Training;
        // In training the first query is the gradient; elsewhere every query is beside the point.
        let side = usize::from(training)..phase.queries.len();
        if side.is_empty() {
            continue;
        }
        let mut without = Ledger::new(facts.plan.neighbours())
            .with_records_per_unit(facts.plan.records_per_unit())?;
        for (index, rounds) in phases.iter().enumerate() {
            for round in rounds {
                let mut round = round.clone();
                if index == chosen {
                    if !training {
                        continue;
                    }
                    round.noise_multipliers.truncate(1);
                }
                without.push(round)?;
            }
        }
        let epsilon_without = match facts.tuning {
            Tuning::PartOfSearch { .. } => None,
            _ => certify(&without, accounted)?.upper,
        };
        let multipliers = (phases[chosen].iter())
            .flat_map(|round| round.noise_multipliers[side.clone()].iter().copied());
        let noise_multipliers = multipliers.fold((f64::INFINITY, 0.0_f64), |(low, high), z| {
            (low.min(z), high.max(z))
        });
        costs.push(SideCost {
            what: if training {
                phase.queries[side].join(", ")
            } else {
                format!("{}: {}", phase.what, phase.queries.join(", "))
            },
            noise_multipliers,
            times: phase.rounds,
            epsilon_without,
        });
    }
    Ok(costs)
}
