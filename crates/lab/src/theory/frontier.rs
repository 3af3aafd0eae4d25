//! Two queries of one round at the price of one (Galli et al. 2024, Proposition 1).

/// ν_g = (ν⁻² − ν_q⁻²)^(−½): the multiplier of the gradient if the round as a whole has ν and the side
/// query ν_q; infinite where ν_q leaves nothing.
pub fn gradient_multiplier(round: f64, side: f64) -> f64 {
    let left = round.powi(-2) - side.powi(-2);
    if left > 0.0 {
        left.sqrt().recip()
    } else {
        f64::INFINITY
    }
}

/// ν_q that makes ν_g larger than ν by a share: 7.124 ν for 1 %.
pub fn side_multiplier(round: f64, share: f64) -> f64 {
    round / (1.0 - (1.0 + share).powi(-2)).sqrt()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita::{Clipping, Plan};

    #[test]
    fn one_percent_more_noise_pays_for_seven_times_the_multiplier() {
        assert!((side_multiplier(1.0, 0.01) - 7.124).abs() < 5e-4);
        for (round, share) in [(0.7, 0.01), (2.0, 0.2)] {
            let gradient = gradient_multiplier(round, side_multiplier(round, share));
            assert!((gradient / round - 1.0 - share).abs() < 1e-12);
        }
        assert_eq!(gradient_multiplier(2.0, 1.5), f64::INFINITY);
    }

    /// The engine's plan makes the same split.
    #[test]
    fn plans_lie_on_the_frontier() {
        let plan = |clipping| {
            let plan = Plan::with_noise(1.3, 1e-5);
            let plan = plan.public_record_count(1000).expected_batch(50).steps(3);
            plan.clipping(clipping)
                .calibrate()
                .unwrap()
                .noise_multipliers(0)
        };
        let multipliers = plan(Clipping::online());
        let round = plan(Clipping::abadi(1.0))[0];
        let (gradient, side) = (multipliers[0], multipliers[1]);
        assert!((gradient_multiplier(round, side) / gradient - 1.0).abs() < 1e-9);
        assert!((side_multiplier(round, 0.01) / side - 1.0).abs() < 1e-9);
    }
}
