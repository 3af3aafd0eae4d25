//! Rényi moments of the Poisson-subsampled Gaussian, bounded from above.
//!
//! Let Q = N(0, z²) and P = Σⱼ Bⱼ N(j, z²) with Bⱼ the Binomial(k, q) probabilities: the outputs
//! without and with one unit's k records. With R = dP/dQ,
//! D_α(P‖Q) = ln E_Q[R^α] / (α − 1) and D_α(Q‖P) = ln E_Q[R^(1−α)] / (α − 1).
//!
//! # Why the value returned is an upper bound
//!
//! 1. *No cancellation.* E_Q[R] = 1, so E_Q[R^β] = 1 + E_Q[f(R)] with the convex
//!    f(R) = R^β − 1 − β(R − 1) ≥ 0. Every term is positive, so sums keep their relative accuracy
//!    even when the moment is 1 + 1e-18.
//! 2. *Trapezoid rule on the line.* In u = x/z the integrand is analytic in the strip |Im u| < a
//!    as long as R has no zero there; R(u + ib) is a sum of terms whose arguments span kb/z, so
//!    a < πz/k suffices. There |R(u + ib)| ≤ R(u) and |φ(u + ib)| = φ(u) e^(b²/2), hence
//!    ∫|φ f(R)|(u + ib) du ≤ e^(a²/2) 2αA with A = E_Q[R^β]. For β < 0 also
//!    |R(u + ib)| ≥ cos(kb/z) R(u) ≥ R(u)/2 for b ≤ πz/(3k), which costs a factor 2^(α−1).
//!    The error of the rule with step h is at most 2M/(e^(2πa/h) − 1) for that M (Trefethen &
//!    Weideman 2014, Theorem 5.1). The step is chosen to make this e^(−80) A, and it is added.
//! 3. *Truncation.* |d ln R/du| ≤ k/z, so beyond 13 standard deviations from where R^β φ can peak
//!    terms fall at least geometrically; both tails are added.
//! 4. *Rounding.* Each term is off by a few units in the last place times the size of its
//!    exponent, and the sum of n positive terms by n units; the total is inflated by that much.

use std::f64::consts::{LN_2, PI};

/// Half-width of the integration range beyond the possible peaks, in standard deviations.
const REACH: f64 = 13.0;
/// The quadrature error is e^(−DECAY) relative to the moment.
const DECAY: f64 = 80.0;
/// More nodes than this are not worth it: the moment without amplification is used instead.
const MOST_NODES: f64 = 200_000.0;

/// Ratio of the densities with and without a unit's records, in logarithms.
pub(crate) struct Mixture {
    /// Inclusion probability of each record.
    rate: f64,
    /// ln Bⱼ for j = 0..=k; empty for one record, which has a closed form.
    log_weights: Vec<f64>,
    /// Number of records k.
    records: f64,
    /// Noise multiplier z.
    noise_multiplier: f64,
}

impl Mixture {
    /// `records` records, each drawn with probability `rate` < 1.
    pub(crate) fn new(rate: f64, noise_multiplier: f64, records: u32) -> Self {
        let k = f64::from(records);
        let mut log_weights = Vec::new();
        if records > 1 {
            let mut log_choose = 0.0;
            for j in 0..=records {
                let j = f64::from(j);
                log_weights.push(log_choose + j * rate.ln() + (k - j) * (-rate).ln_1p());
                log_choose += ((k - j) / (j + 1.0)).ln();
            }
        }
        Self {
            rate,
            log_weights,
            records: k,
            noise_multiplier,
        }
    }

    /// ln R at u = x/z.
    fn log_ratio(&self, u: f64) -> f64 {
        let z = self.noise_multiplier;
        if self.log_weights.is_empty() {
            return log_ratio_of_one(self.rate, u / z - 0.5 / (z * z));
        }
        let exponent = |(j, log_weight): (usize, &f64)| {
            let j = j as f64;
            log_weight + j * (u / z - 0.5 * j / (z * z))
        };
        let terms = || self.log_weights.iter().enumerate().map(exponent);
        let largest = terms().fold(f64::NEG_INFINITY, f64::max);
        largest + terms().map(|term| (term - largest).exp()).sum::<f64>().ln()
    }

    /// ln E_Q[R^α], rounded up: (α − 1) D_α(P‖Q). `order` is above 1.
    pub(crate) fn log_moment_remove_up(&self, order: f64) -> f64 {
        let (strip, decay) = strip_of_removal(self.noise_multiplier, self.records, order);
        self.log_moment_up(order, order, strip, decay)
    }

    /// ln E_Q[R^(1−α)], rounded up: (α − 1) D_α(Q‖P). `order` is above 1.
    pub(crate) fn log_moment_add_up(&self, order: f64) -> f64 {
        let (strip, decay) = strip_of_addition(self.noise_multiplier, self.records, order);
        self.log_moment_up(order, 1.0 - order, strip, decay)
    }

    /// A bound on both moments without quadrature, for rounds of little noise: R^β is convex in R, a
    /// mean over the number j of records drawn, so E_Q[R^β] ≤ Σⱼ Bⱼ e^(α(α − 1)j²/2z²).
    pub(crate) fn log_moment_closed_up(&self, order: f64) -> f64 {
        let step = self.noise_multiplier.recip();
        let of_one = 0.5 * order * (order - 1.0) * step * step;
        let unamplified = up(of_one * self.records * self.records, 8.0);
        if self.log_weights.is_empty() {
            let sizes = 64.0 + 8.0 * self.rate.ln().abs();
            return up(log_ratio_of_one(self.rate, of_one), sizes).min(unamplified);
        }
        let exponent = |(j, log_weight): (usize, &f64)| log_weight + of_one * (j * j) as f64;
        let terms = || self.log_weights.iter().enumerate().map(exponent);
        let largest = terms().fold(f64::NEG_INFINITY, f64::max);
        let sum = largest + terms().map(|term| (term - largest).exp()).sum::<f64>().ln();
        // Logarithms of weights are sums of as many roundings as there are records.
        let sizes = self.records * (2.0 + self.rate.ln().abs() - (-self.rate).ln_1p());
        let bound = up(sum.max(0.0), 64.0) + (8.0 + self.records) * f64::EPSILON * sizes;
        if bound.is_nan() {
            unamplified
        } else {
            bound.min(unamplified)
        }
    }

    fn log_moment_up(&self, order: f64, power: f64, widest_strip: f64, decay: f64) -> f64 {
        let steepest = self.records / self.noise_multiplier;
        let unamplified = 0.5 * order * (order - 1.0) * steepest * steepest;
        let (lowest, step, nodes) = rule(power, steepest, widest_strip, decay);
        if nodes > MOST_NODES {
            return self.log_moment_closed_up(order);
        }

        let node = |index: usize| lowest + index as f64 * step;
        let log_terms: Vec<f64> = (0..=nodes as usize)
            .map(|index| {
                let u = node(index);
                log_convex_part(power, self.log_ratio(u)) - 0.5 * u * u
            })
            .collect();
        let largest = log_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = log_terms.iter().map(|term| (term - largest).exp()).sum();
        let log_scale = (step / (2.0 * PI).sqrt()).ln();
        let log_sum = largest + sum.ln() + log_scale;

        let top = node(nodes as usize);
        let tails = self.log_tails(power, lowest, top, step);
        let log_excess = log_add(log_sum, tails);
        // ln(1 + S + quadrature error), the error being at most e^(−DECAY)(1 + S).
        let moment = if log_excess > 30.0 {
            log_excess + (-log_excess).exp().ln_1p() + 2.0 * (-DECAY).exp()
        } else {
            (log_excess.exp() + 2.0 * (-DECAY).exp() * (1.0 + log_excess.exp())).ln_1p()
        };
        let reach = lowest.abs().max(top);
        let exponents = order * steepest * (reach + steepest) + reach * reach;
        up(moment, 96.0 + nodes + 8.0 * exponents).min(up(unamplified, 8.0))
    }

    /// ln of a bound on the terms left of `lowest` and right of `highest`.
    ///
    /// Moving outward by one step multiplies R^|power| φ by at most e^(−h·REACH), because its
    /// log-derivative is at most |power| k/z − |u|; f is at most R^β where R^β > 1, at most
    /// |1 − β| where R < 1 < β, and at most (α − 1) R where β < 0 and R > 1.
    fn log_tails(&self, power: f64, lowest: f64, highest: f64, step: f64) -> f64 {
        let ratio = (-step * REACH).exp();
        let log_scale = (step / (2.0 * PI).sqrt()).ln() + (ratio / (1.0 - ratio)).ln();
        let (bottom, top) = if power > 0.0 {
            // On the left f(R) ≤ f(R_min), the value at R → (1 − q)^k.
            let least = self.records * (-self.rate).ln_1p();
            (
                log_convex_part(power, least),
                power * self.log_ratio(highest),
            )
        } else {
            (
                power * self.log_ratio(lowest),
                (-power).ln() + self.log_ratio(highest),
            )
        };
        log_add(
            bottom - 0.5 * lowest * lowest,
            top - 0.5 * highest * highest,
        ) + log_scale
    }
}

/// The widest strip in which the moment of removal may be continued, and the decay of the rule's error.
fn strip_of_removal(noise_multiplier: f64, records: f64, order: f64) -> (f64, f64) {
    let strip = 0.99 * PI * noise_multiplier / records;
    (strip, DECAY + (4.0 * order).ln())
}

/// The same for addition.
fn strip_of_addition(noise_multiplier: f64, records: f64, order: f64) -> (f64, f64) {
    let decay = DECAY + (4.0 * order).ln() + (order - 1.0) * LN_2;
    (PI * noise_multiplier / (3.0 * records), decay)
}

/// Lowest node, step and number of nodes of a quadrature.
fn rule(power: f64, steepest: f64, widest_strip: f64, decay: f64) -> (f64, f64, f64) {
    // The best strip is 2π/h wide if that is allowed, and the widest allowed otherwise.
    let free_step = PI * (2.0 / decay).sqrt();
    let strip = (2.0 * PI / free_step).min(widest_strip);
    let step = 2.0 * PI * strip / (decay + 0.5 * strip * strip);
    let (lowest, highest) = if power > 0.0 {
        (-REACH, power * steepest + REACH)
    } else {
        (power * steepest - REACH, steepest + REACH)
    };
    (lowest, step, ((highest - lowest) / step).ceil())
}

/// Units of work of the moments of a Poisson round: of both directions if a unit has several records.
pub(crate) fn work_of_moments(noise_multiplier: f64, records: u32, order: f64) -> f64 {
    let k = f64::from(records);
    let steepest = k / noise_multiplier;
    let work = |power: f64, (strip, decay): (f64, f64)| {
        let (_, _, nodes) = rule(power, steepest, strip, decay);
        if nodes > MOST_NODES { 1.0 } else { nodes }
    };
    let removal = work(order, strip_of_removal(noise_multiplier, k, order));
    if records == 1 {
        return 80.0 * removal;
    }
    let addition = work(1.0 - order, strip_of_addition(noise_multiplier, k, order));
    (80.0 + 14.0 * k) * (removal + addition) + 60.0 * k
}

/// ln(1 − q + q e^a), accurate for small q and for any a.
pub(crate) fn log_ratio_of_one(rate: f64, exponent: f64) -> f64 {
    if exponent < 30.0 {
        (rate * exponent.exp_m1()).ln_1p()
    } else {
        exponent + rate.ln() + ((1.0 - rate) / rate * (-exponent).exp()).ln_1p()
    }
}

/// ln f with f = e^(βl) − 1 − β(e^l − 1) ≥ 0, for β > 1 or β < 0, to a few units.
///
/// Near l = 0 the power series is used. Elsewhere the forms below cancel at most tenfold, also as
/// β → 1 (where f ∝ β − 1) and as β → 0.
pub(crate) fn log_convex_part(power: f64, l: f64) -> f64 {
    /// Beyond this exponent the lesser terms are below 1e-250 of the greatest.
    const FAR: f64 = 600.0;
    if l.abs() < 0.25 && (power * l).abs() < 0.5 {
        return log_convex_series(power, l);
    }
    if power > 1.0 {
        let above = power - 1.0;
        if above * l > FAR {
            return power * l;
        }
        if l < -30.0 {
            return (above + (power * l).exp() - power * l.exp()).ln();
        }
        return l + ((above * l).exp_m1() + above * (-l).exp_m1()).ln();
    }
    if power * l > FAR {
        return power * l;
    }
    if l > FAR {
        return l + (-power).ln();
    }
    ((power * l).exp_m1() - power * l.exp_m1()).ln()
}

/// ln Σ_{k≥2} (βᵏ − β) lᵏ/k!, for |l| < 1/4 and |βl| < 1/2.
fn log_convex_series(power: f64, l: f64) -> f64 {
    if l == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Divided by β(β − 1)l²/2, so that neither factor can underflow or cancel. The coefficient
    // (β^(k−1) − 1)/(β − 1) is the geometric sum 1 + β + … + β^(k−2).
    let mut sum = 0.0;
    let mut geometric = 1.0;
    let mut scale = 1.0;
    for k in 3..=26 {
        sum += geometric * scale;
        geometric = geometric * power + 1.0;
        scale *= l / f64::from(k);
    }
    (0.5 * power * (power - 1.0)).ln() + 2.0 * l.abs().ln() + sum.ln()
}

/// ln(eᵃ + eᵇ).
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

/// A non-negative value raised by `units` units in the last place.
pub(crate) fn up(value: f64, units: f64) -> f64 {
    value * (1.0 + units * f64::EPSILON)
}

#[cfg(test)]
#[allow(clippy::excessive_precision)]
mod tests {
    use super::*;

    /// (rate, noise multiplier, order, ln E_Q[R^α]): mpmath 1.4.1 with 40 digits, `quad` of
    /// R^α − 1 − α(R − 1) over unit panels.
    const GOLDEN: [(f64, f64, f64, f64); 10] = [
        (0.01, 1.0, 2.5, 0.000_326_362_998_422_820_69),
        (0.01, 1.0, 14.2, 28.329_190_132_233_421_15),
        (1e-6, 1.0, 20.5, 3.434_587_526_664_984_74e-10),
        (1e-7, 100.0, 2.0, 1.000_050_001_666_708_243e-18),
        (0.5, 0.3, 1.01, 0.022_707_142_930_881_930_9),
        (0.004, 0.5, 1.8, 0.000_542_566_094_056_897_385),
        (0.9, 20.0, 3.7, 0.010_121_138_868_060_574_8),
        (0.01, 50.0, 108.0, 0.000_231_263_346_084_293_295),
        (0.3, 2.0, 1.0001, 1.192_527_433_031_289_77e-6),
        (0.001, 0.3, 30.0, 4_626.100_674_963_869_58),
    ];

    #[track_caller]
    fn assert_just_above(bound: f64, exact: f64, slack: f64) {
        assert!(bound >= exact, "{bound:e} below {exact:e}");
        assert!(bound <= exact * (1.0 + slack), "{bound:e} above {exact:e}");
    }

    #[test]
    fn moments_lie_just_above_multiprecision() {
        for (rate, noise_multiplier, order, exact) in GOLDEN {
            let bound = Mixture::new(rate, noise_multiplier, 1).log_moment_remove_up(order);
            // The rate itself is rounded to f64 here and in the stored value alike.
            assert_just_above(bound, exact, 1e-10);
        }
    }

    #[test]
    fn moments_of_units_lie_just_above_multiprecision() {
        // (rate, noise multiplier, order, records, remove, add), made as above.
        for (rate, z, order, records, remove, add) in [
            (
                0.01,
                2.0,
                5.0,
                3,
                0.002_645_350_612_855_016_71,
                0.002_437_782_669_494_957_75,
            ),
            (
                0.1,
                4.0,
                8.5,
                10,
                12.346_983_081_281_801_6,
                1.411_656_329_366_250_466,
            ),
            (
                0.5,
                3.0,
                2.0,
                2,
                0.119_176_245_165_867_113,
                0.101_381_400_578_304_619,
            ),
        ] {
            let mixture = Mixture::new(rate, z, records);
            assert_just_above(mixture.log_moment_remove_up(order), remove, 1e-10);
            assert_just_above(mixture.log_moment_add_up(order), add, 1e-10);
        }
    }

    #[test]
    fn the_closed_form_lies_above_the_quadrature_and_below_no_sampling() {
        for (rate, z, records) in [
            (0.01, 1.0, 1),
            (0.5, 0.3, 1),
            (1e-6, 0.1, 1),
            (0.02, 2.0, 40),
        ] {
            for order in [1.01, 2.0, 7.5, 60.0] {
                let mixture = Mixture::new(rate, z, records);
                let closed = mixture.log_moment_closed_up(order);
                let exact = mixture.log_moment_remove_up(order);
                let added = mixture.log_moment_add_up(order);
                assert!(
                    exact <= closed && added <= closed,
                    "{closed} {exact} {added}"
                );
                let distance = f64::from(records) / z;
                let whole = 0.5 * order * (order - 1.0) * distance * distance;
                assert!(closed <= whole * (1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn integer_orders_equal_the_binomial_sum() {
        // Mironov, Talwar & Zhang 2019, §3.3: Σᵢ C(α,i) qⁱ(1−q)^(α−i) e^((i²−i)/2z²).
        for (rate, z, order) in [(0.02_f64, 1.3_f64, 6_u32), (0.3, 0.8, 3), (1e-4, 4.0, 40)] {
            let mut choose = 1.0;
            let mut excess = 0.0;
            for i in 0..=order {
                let real = f64::from(i);
                let weight = choose * rate.powf(real) * (1.0 - rate).powf(f64::from(order) - real);
                excess += weight * ((real * real - real) / (2.0 * z * z)).exp_m1();
                choose *= f64::from(order - i) / (real + 1.0);
            }
            let bound = Mixture::new(rate, z, 1).log_moment_remove_up(f64::from(order));
            assert!((bound / excess.ln_1p() - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn convex_part_is_continuous_where_its_form_changes() {
        for power in [1.0 + 1e-9, 1.5, 2.0, 7.0, -1e-9, -0.5, -6.0] {
            let edge = 0.25_f64.min(0.5 / f64::abs(power));
            for l in [edge, -edge, -30.0] {
                let (inside, outside) = (l * (1.0 - 1e-13), l * (1.0 + 1e-13));
                let (a, b) = (
                    log_convex_part(power, inside),
                    log_convex_part(power, outside),
                );
                assert!((a - b).abs() < 1e-10, "{a} and {b} at power {power}, l {l}");
            }
        }
    }
}
