//! Many canaries of one run against a whole trade-off curve.
//!
//! Mahloujifar, Melis & Chaudhuri 2024 (arXiv:2410.22235) bound how many of r guesses about m fair coins can be
//! right, if the mechanism keeps a trade-off curve, rather than one point of it. In our words, with our proof:
//!
//! Let an attack of false alarms x find at most F(x), F concave and rising (a [`Curve`]), and let W of the r guesses be
//! right, pᵢ = P\[W = i\]. Fix a canary j and all other coins. "j is said to be in, and u − 1 of the other
//! guesses, at least, are right" is an event of the output: if it has probability x when j is out (then j is guessed
//! wrongly), it has at most F(x) when j is in (then j is guessed rightly). The same holds for "said to be out" with
//! the roles exchanged. Average over j, the coins and the two events; since F is concave (Jensen),
//!
//! > (1/m) Σ_{i ≥ u} i pᵢ ≤ F( (1/m) Σ_{i ≥ u − 1} (r − i) pᵢ )   for every u ≥ 1.
//!
//! Suppose P\[W ≥ v\] = τ. With A_u = Σ_{i ≥ u} i pᵢ and D_u = Σ_{i ≥ u} (r − i) pᵢ, each D_{u−1} must be at least
//! m F⁻¹(A_u / m). The least total probability that meets all of these puts τ on v itself (smallest A, largest D),
//! and then going down adds at each u − 1 no more than is missing: probability put further down adds more to D and less
//! to A, so putting it earlier never helps. If even that total exceeds 1, P\[W ≥ v\] < τ. Scaling shows that what is
//! impossible for τ is impossible for more.

use crate::one_run::LARGEST_EPSILON;
use crate::search::boundary;
use crate::{Curve, Guesses};
use tacita_accounting::{AccountError, epsilon_of_mu};

/// What rounding may make of the total.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Whether so many right guesses have a probability below `error` under a curve.
///
/// ```
/// use tacita_audit::{Curve, Guesses, f_dp};
///
/// let guesses = Guesses { canaries: 1000, made: 1000, right: 700 };
/// assert!(f_dp::refutes(guesses, &Curve::gaussian(0.3)?, 0.05));
/// // A Gaussian of μ = 0.5 may betray many canaries at once with a probability of up to 0.2.
/// assert!(!f_dp::refutes(guesses, &Curve::gaussian(0.5)?, 0.05));
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
pub fn refutes(guesses: Guesses, curve: &Curve, error: f64) -> bool {
    let Guesses {
        canaries,
        made,
        right,
    } = guesses;
    let (m, r) = (canaries as f64, made as f64);
    let mut right_mass = right as f64 * error; // A
    let mut wrong_mass = (r - right as f64) * error; // D
    let mut inverse = Inverse::of(curve);
    for u in (1..=right).rev() {
        let needed = m * inverse.at(right_mass / m);
        let missing = needed - wrong_mass;
        if missing > 0.0 {
            let mass = missing / (r - u as f64 + 1.0);
            wrong_mass = needed;
            right_mass += (u as f64 - 1.0) * mass;
        }
        if right_mass + wrong_mass > r * ROUNDING {
            return true;
        }
    }
    false
}

/// The least false alarms of a curve for growing shares found.
struct Inverse<'a> {
    lines: &'a [(f64, f64)],
    at: usize,
}

impl<'a> Inverse<'a> {
    fn of(curve: &'a Curve) -> Self {
        let lines = curve.lines();
        let rising = lines.iter().take_while(|line| line.0 > 0.0).count();
        Self {
            lines: &lines[..rising],
            at: 0,
        }
    }

    /// Of lines that are all lowest somewhere, the one that counts moves only forward.
    fn at(&mut self, found: f64) -> f64 {
        if found > 1.0 {
            return f64::INFINITY;
        }
        let value = |(slope, height): (f64, f64)| (found - height) / slope;
        while self.at + 1 < self.lines.len()
            && value(self.lines[self.at + 1]) >= value(self.lines[self.at])
        {
            self.at += 1;
        }
        self.lines
            .get(self.at)
            .map_or(0.0, |line| value(*line).max(0.0))
    }
}

/// How likely so many right guesses are at most, under a curve. Rounded up.
pub fn chance_upper(guesses: Guesses, curve: &Curve) -> f64 {
    // By its logarithm, down to what no alarm asks for.
    let refuted = |power: f64| refutes(guesses, curve, 10_f64.powf(power));
    10_f64.powf(boundary(-30.0, 0.0, refuted).1)
}

/// The largest ε that so many right guesses refute together with δ, except with probability `error`; 0 if none is.
pub fn epsilon_lower(guesses: Guesses, delta: f64, error: f64) -> f64 {
    boundary(0.0, LARGEST_EPSILON, |epsilon| {
        !refutes(guesses, &Curve::through(epsilon, delta), error)
    })
    .0
}

/// ε at `delta` of the largest Gaussian that is refuted: a lower bound for mechanisms whose curve is that of a Gaussian,
/// as full batches have it; for others an estimate.
pub fn gaussian_epsilon(mu: f64, delta: f64) -> Result<f64, AccountError> {
    if mu <= 1e-3 {
        return Ok(0.0);
    }
    // Rounded up by some units in the last place.
    Ok(epsilon_of_mu(mu, delta)? * (1.0 - 1e-9))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// One canary, one guess: right with probability at most (1 + δ(0)) / 2.
    #[test]
    fn one_guess_is_a_coin_toss_with_the_total_variation() {
        let one = Guesses {
            canaries: 1,
            made: 1,
            right: 1,
        };
        for epsilon in [0.0_f64, 0.3, 1.0, 2.5] {
            let expected = epsilon.exp() / (1.0 + epsilon.exp());
            let chance = chance_upper(one, &Curve::through(epsilon, 0.0));
            assert!(
                (chance / expected - 1.0).abs() < 1e-6,
                "{chance} {expected}"
            );
        }
    }

    /// Independent randomised response on each coin is the worst (ε, 0)-private mechanism, and W is binomial.
    #[test]
    fn the_bound_holds_for_randomised_response_and_is_near_it() {
        for (made, epsilon) in [(20_u64, 0.5_f64), (100, 1.0), (400, 2.0)] {
            for right in (made / 2..=made).step_by(7) {
                let guesses = Guesses {
                    canaries: made,
                    made,
                    right,
                };
                let exact = crate::binomial::at_least(made, right, epsilon);
                let chance = chance_upper(guesses, &Curve::through(epsilon, 0.0));
                assert!(chance >= exact * (1.0 - 1e-6), "{chance} below {exact}");
            }
        }
    }

    #[test]
    fn a_weaker_curve_is_refuted_less_often() {
        let guesses = Guesses {
            canaries: 400,
            made: 100,
            right: 85,
        };
        let chances = [0.5, 1.0, 1.5, 2.0, 3.0]
            .map(|mu| chance_upper(guesses, &Curve::gaussian(mu).unwrap()));
        assert!(chances.is_sorted(), "{chances:?}");
    }
}
