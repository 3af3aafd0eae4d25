//! The lowest coefficients of a round, each to a rounding of its own size.
//!
//! A fast transform is off by a rounding of the whole mass at every frequency. Where losses are
//! small beside the window a low coefficient differs from 1 by far less than that mass, and over
//! many rounds it is these differences that count. Here each is summed as a difference: with
//! blocks of B points around multiples of B, y in [−1, 1] the place in a block, θ = πkB/N and
//! t = e^(−2πi·block·Bk/N),
//!
//! Σⱼ xⱼ (e^(−2πijk/N) − 1) = Σ_blocks [(t − 1) Σ x + t Σ_{p ≥ 1} (−iθ)ᵖ/p! · Σ x yᵖ].

use crate::special::ROUNDOFF;
use realfft::num_complex::Complex64;

/// Coefficients computed so; δ weighs higher ones by less than a hundredth.
pub(super) const LOWEST: usize = 64;
/// Powers kept, 0 included. With θ ≤ 0.2 those left out weigh less than 1e-16 of the first.
const POWERS: usize = 12;
const LARGEST_ANGLE: f64 = 0.2;
/// Terms summed one after the other before their sum is added on.
const RUN: usize = 32;

/// Coefficients less their value at frequency 0, and a bound on the error of each, of points
/// (signed place, mass) on a circle of this length. None if the circle is too short to gain.
pub(super) fn differences(
    points: impl Iterator<Item = (i64, f64)>,
    length: usize,
    count: usize,
) -> Option<(Vec<Complex64>, Vec<f64>)> {
    let longest = LARGEST_ANGLE * length as f64 / (std::f64::consts::PI * count as f64);
    let block = 1_usize << (longest.max(1.0).log2() as u32).min(length.trailing_zeros());
    if block < 4 {
        return None;
    }
    let blocks = length / block;
    let (moments, runs) = collect(points, block as i64, blocks as i64);
    // e^(−2πi·j/M) − 1 without cancellation.
    let turns: Vec<Complex64> = (0..blocks)
        .map(|j| {
            let half = std::f64::consts::PI * j.min(blocks - j) as f64 / blocks as f64;
            let sine = (2.0 * half).sin();
            let sine = if 2 * j <= blocks { sine } else { -sine };
            Complex64::new(-2.0 * half.sin().powi(2), -sine)
        })
        .collect();
    // Roundings on the way of each term: sums in runs of runs, powers, turns.
    let terms = (2 * RUN) as f64 + runs as f64 + (blocks / RUN) as f64 + 4.0 * POWERS as f64;
    let mut found = Vec::with_capacity(count);
    let mut errors = Vec::with_capacity(count);
    for k in 0..count {
        let angle = std::f64::consts::PI * (k * block) as f64 / length as f64;
        let (mut sum, mut size) = (Complex64::default(), 0.0);
        for (start, chunk) in moments.chunks(RUN).enumerate() {
            let (mut part, mut part_size) = (Complex64::default(), 0.0);
            for (offset, moment) in chunk.iter().enumerate() {
                if moment.powers[0] == 0.0 {
                    continue;
                }
                let turn = turns[(k * (start * RUN + offset)) % blocks];
                let inner = moment.series(angle);
                part += turn * moment.powers[0] + inner + inner * turn;
                part_size += size_of(turn) * moment.powers[0] + 1.2 * angle * moment.spread;
            }
            sum += part;
            size += part_size;
        }
        found.push(sum);
        errors.push((terms + 32.0) * ROUNDOFF * size);
    }
    Some((found, errors))
}

/// Moments of the points of one block.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    powers: [f64; POWERS],
    /// Σ x |y|, at least every Σ x |y|ᵖ.
    spread: f64,
}

impl Moments {
    /// Σ_{p ≥ 1} (−iθ)ᵖ/p! · Σ x yᵖ
    fn series(&self, angle: f64) -> Complex64 {
        let mut sum = Complex64::default();
        for power in (1..POWERS).rev() {
            // Horner in −iθ: sum ← (moment + sum · (−iθ)/(p + 1)).
            let scale = angle / (power + 1) as f64;
            sum = Complex64::new(self.powers[power] + sum.im * scale, -sum.re * scale);
        }
        Complex64::new(sum.im * angle, -sum.re * angle)
    }

    fn add(&mut self, other: &Self) {
        for (sum, value) in self.powers.iter_mut().zip(&other.powers) {
            *sum += value;
        }
        self.spread += other.spread;
    }
}

/// Moments of all blocks, and the most runs that went into one.
fn collect(
    points: impl Iterator<Item = (i64, f64)>,
    block: i64,
    blocks: i64,
) -> (Vec<Moments>, usize) {
    let mut all = vec![Moments::default(); blocks as usize];
    let mut runs = vec![0_usize; blocks as usize];
    let mut run = Moments::default();
    let (mut current, mut left) = (i64::MIN, 0);
    let mut finish = |which: i64, run: &mut Moments| {
        if which != i64::MIN {
            let place = which.rem_euclid(blocks) as usize;
            all[place].add(run);
            runs[place] += 1;
        }
        *run = Moments::default();
    };
    for (place, mass) in points {
        let which = (place + block / 2).div_euclid(block);
        if which != current || left == 0 {
            finish(current, &mut run);
            (current, left) = (which, RUN);
        }
        left -= 1;
        let y = (place - which * block) as f64 * 2.0 / block as f64;
        let mut term = mass;
        for sum in &mut run.powers {
            *sum += term;
            term *= y;
        }
        run.spread += mass * y.abs();
    }
    finish(current, &mut run);
    let most = runs.into_iter().max().unwrap_or(0);
    (all, most)
}

fn size_of(value: Complex64) -> f64 {
    value.norm_sqr().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sums in twice the precision (Dekker's product and Knuth's sum), with sines by
    /// their series: each difference is off by less than its bound, and the bound is far below a
    /// rounding of the whole mass.
    #[test]
    fn differences_are_within_their_bound_of_the_direct_sum() {
        let length = 5_usize << 12;
        let points: Vec<(i64, f64)> = (-300..4000)
            .map(|j: i64| (5 * j, (-0.01 * j.abs() as f64).exp() * 1e-2))
            .collect();
        let Some((found, errors)) = differences(points.iter().copied(), length, LOWEST) else {
            panic!("a circle of {length} is long enough");
        };
        for k in [0, 1, 2, 7, 31, 63] {
            let (mut real, mut imaginary) = ((0.0, 0.0), (0.0, 0.0));
            for &(place, mass) in &points {
                let turn = (k as i64 * place).rem_euclid(length as i64);
                let turn = if 2 * turn > length as i64 {
                    turn - length as i64
                } else {
                    turn
                };
                let half = std::f64::consts::PI * turn as f64 / length as f64;
                add(&mut real, -2.0 * mass * half.sin().powi(2));
                add(&mut imaginary, -mass * (2.0 * half).sin());
            }
            let direct = Complex64::new(real.0 + real.1, imaginary.0 + imaginary.1);
            let off = size_of(found[k] - direct);
            // Each term of the direct sum is itself off by some six roundings.
            assert!(off <= errors[k], "{k}: {off:e} {:e}", errors[k]);
        }
        let mass: f64 = points.iter().map(|point| point.1).sum();
        assert!(errors[1] < 0.3 * 100.0 * ROUNDOFF * mass);
    }

    fn add(sum: &mut (f64, f64), value: f64) {
        let next = sum.0 + value;
        let back = next - sum.0;
        sum.1 += (sum.0 - (next - back)) + (value - back);
        sum.0 = next;
    }
}
