//! Truncated concentrated differential privacy, with sampling.

use crate::accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
use crate::effort::Effort;
use crate::ledger::{Ledger, Sampling};
use crate::rdp::RdpCurve;
use crate::rdp::moment::up;
use crate::zcdp::{delta_up, epsilon_up};

const NAME: &str = "tcdp";

/// Orders at which the Rényi curve is evaluated, as ln(α − 1), and their spacing.
const FIRST: f64 = -7.0;
const SPACING: f64 = 0.1;
const ORDERS: usize = 180;
/// Where the work is judged.
const TYPICAL_ORDER: f64 = 8.0;
/// Distinct rounds kept where it is little.
const ROUNDS: f64 = 512.0;
/// Units of work at all of them, and the part of what is left that one may take.
const WORK: f64 = 1.5e9;
const WORK_OF_ONE: f64 = 0.15;
/// Part of the work of several readings that one may take.
const PART_OF_EFFORT: f64 = 0.5;

/// The tCDP accountant: `≤`, with (ρ, ω) read off the Rényi curve of the ledger.
///
/// (ρ, ω)-tCDP is D_α ≤ ρα for 1 < α ≤ ω (Bun, Dwork, Rothblum & Steinke 2018). For each ω the
/// least ρ is sup D_α/α over that range; the accountant takes the ω with the least ε. It treats
/// every ledger that [`Rdp`](crate::Rdp) treats and lies just above it. [`Tcdp::by_theorem`] is
/// the published amplification theorem instead, which costs a factor of 13 and is what the
/// noise-decay baselines were calibrated with.
///
/// ```
/// use tacita_accounting::{Accountant, Ledger, Neighbours, Rdp, Round, Sampling, Tcdp};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![2.5])?.times(1000))?;
/// let upper = |accountant: &dyn Accountant| -> Result<f64, tacita_accounting::AccountError> {
///     Ok(accountant.epsilon(&ledger, 1e-5)?.upper_bound().unwrap_or(f64::NAN))
/// };
/// assert!(upper(&Rdp)? <= upper(&Tcdp::new())?);
/// assert!(upper(&Tcdp::new())? < upper(&Tcdp::by_theorem())?);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Tcdp {
    by_theorem: bool,
}

/// The two parameters of truncated concentrated differential privacy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcdpParameters {
    /// D_α ≤ `rho`·α …
    pub rho: f64,
    /// … for all orders 1 < α ≤ `omega`.
    pub omega: f64,
}

impl Tcdp {
    /// (ρ, ω) from the exact Rényi curve.
    pub fn new() -> Self {
        Self { by_theorem: false }
    }

    /// (ρ, ω) from the amplification theorem of Bun, Dwork, Rothblum & Steinke 2018 (STOC,
    /// "Composable and versatile privacy via truncated CDP"): a ρ-tCDP mechanism on a fraction s
    /// of the records is (13 s²ρ, ln(1/s)/(4ρ))-tCDP, for ρ, s ≤ 0.1 and
    /// ln(1/s) ≥ 3ρ(2 + log₂(1/ρ)). Rounds outside these conditions are refused. The theorem also
    /// asks that the mechanism's own range of orders be long enough; a Gaussian's has no end.
    ///
    /// The theorem is stated for subsampling a fixed fraction of the records. It is used here for
    /// Poisson rounds too, as the noise-decay baselines use it; no proof of that step is claimed.
    /// What supports it is a numeric test, `tcdp_theorem_dominates_the_exact_curve`, which compares
    /// it with the exact Rényi divergence of Poisson rounds.
    pub fn by_theorem() -> Self {
        Self { by_theorem: true }
    }

    /// The least `value` of the pairs (ρ, ω) of the ledger; the search ends at the first order
    /// whose divergence is `hopeless` beside the best value so far.
    fn least(
        &self,
        ledger: &Ledger,
        effort: &Effort,
        value: impl Fn(TcdpParameters) -> f64,
        hopeless: impl Fn(f64, f64) -> bool,
    ) -> Result<f64, AccountError> {
        let curve = RdpCurve::named(NAME, ledger)?;
        if self.by_theorem {
            return Ok(value(compose_by_theorem(ledger)?));
        }
        let mut coarse = curve.coarse();
        let all = ORDERS as f64 * coarse.whole_work(TYPICAL_ORDER);
        let work = WORK.min(PART_OF_EFFORT * effort.left());
        if all > work {
            coarse = curve.coarse_of((ROUNDS * work / all) as usize);
        }
        Ok(effort.with_part(work, |part| least_on_curve(coarse, part, value, hopeless)))
    }

    fn epsilon_of(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        check_delta(delta)?;
        // ln(1 − 1/α) − ln(δα)/(α−1) is above −2 once α > 2, and D_α only grows.
        let least = self.least(
            ledger,
            effort,
            |pair| epsilon_up(pair.rho, pair.omega, delta),
            |divergence, best| divergence > best + 2.0,
        )?;
        Ok(Reading::UpperBound(least))
    }

    fn delta_of(
        &self,
        ledger: &Ledger,
        epsilon: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        check_epsilon(epsilon)?;
        // (α−1)(D_α − ε) only grows from here, and the other terms of ln δ are slower.
        let least = self.least(
            ledger,
            effort,
            |pair| delta_up(pair.rho, pair.omega, epsilon),
            |divergence, _| divergence > epsilon + 2.0,
        )?;
        Ok(Reading::UpperBound(least.min(1.0)))
    }
}

/// The least value over the pairs (sup_{1<α≤ω} D_α/α, ω) for a range of ω.
///
/// K(α) = (α−1)D_α is convex with K(1) = 0, so between two orders it lies below its chord, and
/// the maximum of a chord over α(α−1) has a closed form.
fn least_on_curve(
    mut curve: RdpCurve,
    effort: &Effort,
    value: impl Fn(TcdpParameters) -> f64,
    hopeless: impl Fn(f64, f64) -> bool,
) -> f64 {
    let mut best = f64::INFINITY;
    let (mut left, mut at_left) = (1.0, 0.0);
    let mut rho: f64 = 0.0;
    for index in 0..ORDERS {
        let right = 1.0 + (FIRST + SPACING * index as f64).exp();
        curve = curve.with_most_work(WORK_OF_ONE * effort.left());
        // Never all of it: what is left shrinks by a part of itself.
        let _ = effort.spend(curve.work(right));
        let at_right = curve.log_moment_up(right);
        rho = rho.max(up(chord_maximum(left, at_left, right, at_right), 64.0));
        best = best.min(value(TcdpParameters { rho, omega: right }));
        if hopeless(at_right / (right - 1.0), best) {
            break;
        }
        (left, at_left) = (right, at_right);
    }
    best
}

/// max over [left, right] of L(α)/(α(α−1)), L the line through the two values.
fn chord_maximum(left: f64, at_left: f64, right: f64, at_right: f64) -> f64 {
    let value = |log_moment: f64, order: f64| log_moment / (order * (order - 1.0));
    if left == 1.0 {
        // The chord through K(1) = 0 is K(right)(α−1)/(right−1), greatest over α(α−1) at α = 1.
        return at_right / (right - 1.0);
    }
    let slope = (at_right - at_left) / (right - left);
    let intercept = at_left - slope * left;
    let mut most = value(at_left, left).max(value(at_right, right));
    // The derivative vanishes where slope·α² + 2·intercept·α − intercept = 0.
    let discriminant = intercept * (intercept + slope);
    if discriminant >= 0.0 {
        for root in [discriminant.sqrt(), -discriminant.sqrt()] {
            let order = (root - intercept) / slope;
            if order > left && order < right {
                most = most.max(value(intercept + slope * order, order));
            }
        }
    }
    most
}

/// The theorem round by round: ρ adds up, the least ω remains.
fn compose_by_theorem(ledger: &Ledger) -> Result<TcdpParameters, AccountError> {
    if ledger.records_per_unit() > 1 {
        return Err(AccountError::Unsupported {
            accountant: NAME,
            what: "units of several records by the amplification theorem".to_string(),
            remedy: "use the tCDP of the exact Rényi curve",
        });
    }
    let mut total = TcdpParameters {
        rho: 0.0,
        omega: f64::INFINITY,
    };
    for round in ledger.rounds() {
        let rho = 0.5 / round.effective_noise_multiplier().powi(2);
        let fraction = match round.sampling {
            Sampling::Poisson { rate } => rate,
            Sampling::FixedSize { batch, of } => batch as f64 / of as f64,
            Sampling::Full {} | Sampling::Partition { .. } => 1.0,
        };
        if fraction == 1.0 {
            total.rho += round.times as f64 * rho;
            continue;
        }
        let log_inverse = -fraction.ln();
        let within = fraction <= 0.1 && rho <= 0.1 && log_inverse >= 3.0 * rho * (2.0 - rho.log2());
        if !within {
            return Err(AccountError::Unsupported {
                accountant: NAME,
                what: format!(
                    "a round with sampling fraction {fraction} and rho {rho} by the \
                     amplification theorem"
                ),
                remedy: "it needs fraction <= 0.1, rho <= 0.1 (noise multiplier >= 2.24) and \
                         ln(1/fraction) >= 3 rho (2 + log2(1/rho)); use the tCDP of the exact \
                         Rényi curve",
            });
        }
        total.rho += round.times as f64 * 13.0 * fraction * fraction * rho;
        total.omega = total.omega.min(0.25 * log_inverse / rho);
    }
    let units = 16.0 + ledger.rounds().len() as f64;
    total.rho = up(total.rho, units);
    total.omega *= 1.0 - 16.0 * f64::EPSILON;
    Ok(total)
}

impl Accountant for Tcdp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        RdpCurve::named(NAME, ledger)?;
        if self.by_theorem {
            compose_by_theorem(ledger)?;
        }
        Ok(())
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        self.epsilon_of(ledger, delta, &Effort::new(WORK / PART_OF_EFFORT))
    }

    fn epsilon_sharing(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        self.epsilon_of(ledger, delta, effort)
    }

    fn deltas_sharing(
        &self,
        ledger: &Ledger,
        epsilons: &[f64],
        effort: &Effort,
    ) -> Result<Vec<Reading>, AccountError> {
        let part = effort.left() / epsilons.len().max(1) as f64;
        let delta =
            |epsilon: &f64| effort.with_part(part, |part| self.delta_of(ledger, *epsilon, part));
        epsilons.iter().map(delta).collect()
    }

    fn most_work(&self) -> f64 {
        WORK
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        self.delta_of(ledger, epsilon, &Effort::new(WORK / PART_OF_EFFORT))
    }
}
