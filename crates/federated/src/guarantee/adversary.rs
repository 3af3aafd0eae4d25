//! What is promised, and against whom.

use super::committee::NoiseBy;
use super::plan::CertifiedPlan;
use serde::Serialize;
use std::fmt;
use tacita_accounting::decimal::{exact, up};
use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Round, Sampling};
use tacita_mechanism::noise::TAIL_SHARE;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Adversary {
    /// Sees every model, the last and those between, and nothing else. The server is trusted with the draw, and with
    /// the noise if it makes it.
    Models,
    /// Sees every model, and knows the shares of noise of so many members of the committee.
    ModelsAndColluding {
        /// c.
        members: u64,
    },
    /// The server itself, which knows who was drawn and sees the sums, together with so many members of the committee.
    /// Single updates are hidden from it by secure aggregation.
    Server {
        /// c.
        colluding: u64,
    },
}

/// A figure and whom it is about: one client, whatever its records are, is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// Against whom.
    pub adversary: Adversary,
    /// A proved upper bound of ε; none if there is no guarantee.
    pub epsilon: Option<f64>,
    /// δ.
    pub delta: f64,
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Models => f.write_str("whoever sees the models only (the server is trusted)"),
            Self::ModelsAndColluding { members } => write!(
                f,
                "whoever sees the models, with the noise of {members} of the committee (the server is trusted with the draw)"
            ),
            Self::Server { colluding: 0 } => f.write_str("the server, which knows the draw"),
            Self::Server { colluding } => write!(
                f,
                "the server, which knows the draw, with {colluding} of the committee"
            ),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.epsilon {
            Some(epsilon) if epsilon.is_finite() => write!(
                f,
                "ε ≤ {} at δ = {} for one client, against {}",
                up(epsilon, 6),
                exact(self.delta),
                self.adversary
            ),
            _ => write!(f, "no guarantee against {}", self.adversary),
        }
    }
}

/// Every figure of a plan.
pub(super) fn figures(plan: &CertifiedPlan) -> Vec<Figure> {
    figures_after(plan, plan.plan.rounds)
}

/// The figures of the first rounds of a plan.
pub(crate) fn figures_after(plan: &CertifiedPlan, rounds: u64) -> Vec<Figure> {
    let spent = plan.ledger.prefix(rounds);
    let figure = |adversary, epsilon: Option<f64>| Figure {
        adversary,
        epsilon: epsilon.filter(|epsilon| plan.pays_for_tail(*epsilon)),
        delta: plan.plan.delta,
    };
    let delta = plan.plan.delta * (1.0 - TAIL_SHARE);
    let models = figure(Adversary::Models, amplified(&spent, 1.0, delta));
    let NoiseBy::Committee(committee) = &plan.plan.noise else {
        let server = Adversary::Server { colluding: 0 };
        return vec![models, figure(server, None)];
    };
    let mut known = vec![0, committee.colluding];
    known.dedup();
    let mut figures = vec![models];
    for members in known {
        let left = committee.left_of_noise(members);
        if members > 0 {
            let adversary = Adversary::ModelsAndColluding { members };
            figures.push(figure(adversary, amplified(&spent, left, delta)));
        }
        let server = Adversary::Server { colluding: members };
        figures.push(figure(
            server,
            with_known_draw(&spent, plan.rate(), left, delta),
        ));
    }
    figures
}

/// ε of rounds whose noise multipliers are times `left`, the draw being secret.
fn amplified(spent: &Ledger, left: f64, delta: f64) -> Option<f64> {
    if spent.rounds_made() == 0 {
        return Some(0.0);
    }
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    for round in spent.rounds() {
        let noise = round.effective_noise_multiplier() * left;
        let less = Round::new(round.sampling, vec![noise]).ok()?;
        ledger.push(less.times(round.times)).ok()?;
    }
    Pld::default().epsilon(&ledger, delta).ok()?.upper_bound()
}

/// The share of δ that pays for a client that is drawn unusually often.
const OFTEN_SHARE: f64 = 0.1;

/// ε where the draw is known, so that it amplifies nothing: a client takes part in at most K rounds except with
/// probability [`OFTEN_SHARE`] δ, and those may be the ones with the least noise (`PROOF.md`, §5).
fn with_known_draw(spent: &Ledger, rate: f64, left: f64, delta: f64) -> Option<f64> {
    let rounds = spent.rounds_made();
    let times = most_times(rounds, rate, OFTEN_SHARE * delta);
    if times == 0 {
        return Some(0.0);
    }
    let mut noise: Vec<(f64, u64)> = (spent.rounds().iter())
        .map(|round| (round.effective_noise_multiplier() * left, round.times))
        .collect();
    noise.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    let mut missing = times;
    for (multiplier, made) in noise {
        let taken = made.min(missing);
        if taken > 0 {
            let round = Round::new(Sampling::Full {}, vec![multiplier]).ok()?;
            ledger.push(round.times(taken)).ok()?;
        }
        missing -= taken;
    }
    let delta = delta * (1.0 - OFTEN_SHARE);
    Pld::default().epsilon(&ledger, delta).ok()?.upper_bound()
}

/// A number of rounds that a client is drawn in more often with probability at most `delta`: the least K for which
/// Chernoff's bound exp(−T · KL(k/T ‖ p)) at k = K + 1 is small enough, or all rounds.
fn most_times(rounds: u64, rate: f64, delta: f64) -> u64 {
    let total = rounds as f64;
    let is_rare = |most: u64| {
        let share = (most + 1) as f64 / total;
        if share <= rate {
            return false;
        }
        let rest = match share < 1.0 {
            true => (1.0 - share) * ((1.0 - share) / (1.0 - rate)).ln(),
            false => 0.0,
        };
        // A millionth to spare for the roundings of the divergence.
        let exponent = total * (share * (share / rate).ln() + rest) * (1.0 - 1e-6);
        -exponent < delta.ln()
    };
    // Above the rate the bound falls with K.
    let (mut low, mut high) = (0, rounds);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_rare(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::guarantee::committee::Committee;
    use crate::guarantee::plan::{Plan, Scale};

    /// P[Binomial(n, p) > k] by summing logarithms of its terms.
    fn tail(n: u64, p: f64, k: u64) -> f64 {
        let mut log_choose = 0.0;
        let mut total = 0.0;
        for i in 0..=n {
            if i > 0 {
                log_choose += ((n - i + 1) as f64 / i as f64).ln();
            }
            if i > k {
                total += (log_choose + i as f64 * p.ln() + (n - i) as f64 * (1.0 - p).ln()).exp();
            }
        }
        total
    }

    #[test]
    fn a_client_is_drawn_more_often_with_a_probability_below_the_share() {
        for (rounds, rate) in [(1, 0.1), (30, 0.3), (500, 0.01), (2000, 0.05)] {
            for delta in [1e-3, 1e-6, 1e-9] {
                let most = most_times(rounds, rate, delta);
                assert!(tail(rounds, rate, most) <= delta, "{rounds} {rate} {delta}");
                // Chernoff's bound is not far off: half as much above the mean would be too few.
                let mean = rounds as f64 * rate;
                let fewer = (mean + 0.5 * (most as f64 - mean)).floor() as u64;
                assert!(
                    most == 0 || tail(rounds, rate, fewer) > delta,
                    "{rounds} {rate} {delta}"
                );
            }
        }
    }

    fn committee(colluding: u64) -> CertifiedPlan {
        let committee = Committee {
            members: 10,
            absent: 2,
            colluding,
        };
        Plan {
            noise: NoiseBy::Committee(committee),
            ..Plan::new(1000, 20.0, 100, Scale::NoiseMultiplier(4.0), 1e-5)
        }
        .certify()
        .unwrap()
    }

    #[test]
    fn whoever_knows_more_is_promised_less() {
        let figures = committee(3).figures();
        let epsilons: Vec<f64> = figures
            .iter()
            .map(|figure| figure.epsilon.unwrap())
            .collect();
        let kinds: Vec<Adversary> = figures.iter().map(|figure| figure.adversary).collect();
        assert_eq!(
            kinds,
            [
                Adversary::Models,
                Adversary::Server { colluding: 0 },
                Adversary::ModelsAndColluding { members: 3 },
                Adversary::Server { colluding: 3 },
            ]
        );
        assert!(epsilons[0] < epsilons[2] && epsilons[0] < epsilons[1]);
        assert!(epsilons[2] < epsilons[3] && epsilons[1] < epsilons[3]);
    }

    #[test]
    fn against_the_server_every_participation_is_a_whole_gaussian() {
        let plan = committee(0);
        let times = most_times(100, 0.02, 0.1 * 1e-5 * (1.0 - TAIL_SHARE));
        let mu = (times as f64).sqrt() / 4.0;
        let exact = tacita_accounting::epsilon_of_mu(mu, 0.9e-5).unwrap();
        let stated = plan.figures()[1].epsilon.unwrap();
        assert!(
            (stated - exact).abs() < 1e-3 && stated >= exact,
            "{stated} {exact}"
        );
    }

    #[test]
    fn a_server_that_makes_the_noise_is_promised_nothing_and_every_figure_names_its_adversary() {
        let plan = Plan::new(1000, 20.0, 100, Scale::NoiseMultiplier(4.0), 1e-5);
        let figures = plan.certify().unwrap().figures();
        let printed: Vec<String> = figures.iter().map(Figure::to_string).collect();
        assert!(printed[0].starts_with("ε ≤ ") && printed[0].ends_with("(the server is trusted)"));
        assert_eq!(
            printed[1],
            "no guarantee against the server, which knows the draw"
        );
    }
}
