//! What is measured of one query over a run.

use crate::marks::{agrees, of_mean_square, stays_below};
use crate::oracle::{Contributions, Map};

/// Sums over the released values of one query, in units of its planned noise.
#[derive(Default)]
pub struct Tally {
    /// Squares of what is left when the contributions of present canaries are taken away.
    squares: f64,
    values: f64,
    /// Products of it with the next coordinate, the parameter before, the step before, and another query.
    products: [f64; 4],
    pairs: [f64; 4],
    before: Vec<Vec<f64>>,
    /// Over canaries in the data set: planned shift times released value along it, and planned shift squared.
    inside: f64,
    inside_squares: f64,
    /// Over the others: released values along what they would have contributed.
    outside: f64,
    outside_values: f64,
    /// Canaries times steps in the data set, and the sum of their lengths relative to the sensitivity.
    samples: f64,
    reach: f64,
}

/// The planned noise of a query, in the units of its sum.
#[derive(Clone, Copy)]
pub struct Planned {
    pub sensitivity: f64,
    pub noise_multiplier: f64,
}

impl Planned {
    /// With what rounding to the grid adds: noisy values lie on multiples of a sixteenth of the power of two
    /// below the noise's standard deviation, and a rounding error is uniform.
    pub fn noise_std(&self) -> f64 {
        let noise_std = self.sensitivity * self.noise_multiplier;
        let spacing = noise_std.log2().floor().exp2() / 16.0;
        (noise_std * noise_std + spacing * spacing / 12.0).sqrt()
    }
}

impl Tally {
    /// Adds the released sums of a step, by parameter; the first `present` canaries took part.
    pub fn add(
        &mut self,
        sums: &[Vec<f64>],
        expected: &Contributions,
        map: &Map,
        present: usize,
        planned: Planned,
    ) {
        let noise_std = planned.noise_std();
        let mut along = vec![0.0; expected.lengths.len()];
        let mut left = Vec::with_capacity(sums.len());
        for (parameter, sums) in sums.iter().enumerate() {
            let (expected, owners) = (&expected.values[parameter], &map.owners[parameter]);
            let each = sums.iter().zip(expected).zip(owners);
            left.push(
                each.map(|((sum, expected), owner)| {
                    along[*owner] += sum * expected;
                    let inside = if *owner < present { *expected } else { 0.0 };
                    (sum - inside) / noise_std
                })
                .collect(),
            );
        }
        self.add_noise(left);
        for (canary, (along, length)) in along.iter().zip(&expected.lengths).enumerate() {
            if *length == 0.0 {
                continue;
            }
            let (released, shift) = (along / length / noise_std, length / noise_std);
            if canary < present {
                self.inside += shift * released;
                self.inside_squares += shift * shift;
                self.samples += 1.0;
                self.reach += length / planned.sensitivity;
            } else {
                self.outside += released;
                self.outside_values += 1.0;
            }
        }
    }

    /// Adds what is left of a step without its signal, in units of the planned noise.
    pub fn add_noise(&mut self, left: Vec<Vec<f64>>) {
        let step_before = std::mem::take(&mut self.before);
        for (parameter, values) in left.iter().enumerate() {
            self.squares += values.iter().map(|value| value * value).sum::<f64>();
            self.values += values.len() as f64;
            let before = [
                Some(&values[1..]),
                parameter.checked_sub(1).map(|p| left[p].as_slice()),
                step_before.get(parameter).map(Vec::as_slice),
            ];
            for (kind, before) in before.into_iter().enumerate() {
                self.add_products(kind, values, before.unwrap_or(&[]));
            }
        }
        self.before = left;
    }

    fn add_products(&mut self, kind: usize, first: &[f64], second: &[f64]) {
        let both = first.iter().zip(second);
        self.products[kind] += both.map(|(a, b)| a * b).sum::<f64>();
        self.pairs[kind] += first.len().min(second.len()) as f64;
    }

    /// Compares the noise of the last step with that of another query of the same step.
    pub fn add_other_query(&mut self, other: &Self) {
        let before = std::mem::take(&mut self.before);
        for (mine, others) in before.iter().zip(&other.before) {
            self.add_products(3, mine, others);
        }
        self.before = before;
    }

    /// Measured noise over planned noise.
    fn noise_ratio(&self) -> f64 {
        (self.squares / self.values).sqrt()
    }

    /// The noise has the planned standard deviation, and no value's noise is that of another.
    pub fn assert_noise(&self, policy: &str) {
        let z = of_mean_square(self.squares / self.values, self.values);
        agrees(policy, "noise over planned noise", self.noise_ratio(), z);
        let kinds = [
            "neighbouring coordinates",
            "two parameters",
            "two steps",
            "two queries",
        ];
        for (kind, what) in kinds.into_iter().enumerate() {
            if self.pairs[kind] >= 1000.0 {
                let correlation = self.products[kind] / self.pairs[kind];
                let z = correlation * self.pairs[kind].sqrt();
                agrees(
                    policy,
                    &format!("noise correlation of {what}"),
                    correlation,
                    z,
                );
            }
        }
    }

    /// A record moves the sum as far as planned, others do not, and the ratio of shift and noise, which is
    /// the μ that an adversary who knows all else can reach in one step, is not above the ledger's.
    pub fn assert_shift(&self, policy: &str) {
        let shift = self.inside / self.inside_squares;
        let precision = self.inside_squares.sqrt();
        agrees(
            policy,
            "shift over planned shift",
            shift,
            (shift - 1.0) * precision,
        );
        let mean = self.outside / self.outside_values.max(1.0);
        let z = mean * self.outside_values.sqrt();
        agrees(policy, "shift of absent records", mean, z);
        let noise = self.noise_ratio();
        let variance = 1.0 / self.inside_squares + 0.5 / self.values;
        let mu = shift / noise;
        stays_below(
            policy,
            "mu over planned mu",
            mu,
            (mu - 1.0) / variance.sqrt(),
        );
    }

    /// The share of the sensitivity that records reach on average: without it the audit sees nothing.
    pub fn assert_reach(&self, policy: &str, reach: f64) {
        assert!(
            self.samples >= 20_000.0,
            "{policy}: {} samples",
            self.samples
        );
        let seen = self.reach / self.samples;
        assert!(
            seen >= reach && seen <= 1.0 + 1e-9,
            "{policy}: reach {seen}"
        );
    }

    /// Shift, noise and how precisely they are known, for a look at the figures.
    pub fn figures(&self) -> String {
        format!(
            "shift {:.4} ± {:.4}, noise {:.4} ± {:.4}, {} samples of reach {:.3}, {} values",
            self.inside / self.inside_squares,
            self.inside_squares.powf(-0.5),
            self.noise_ratio(),
            (0.5 / self.values).sqrt(),
            self.samples,
            self.reach / self.samples,
            self.values,
        )
    }
}
