//! Norms of per-sample gradients of a table.
use crate::distinct::Distinct;
use crate::vector::{PIECE, round_up, squares, vectorised};
use rayon::prelude::*;

/// Upper bounds on the squared norm of each sample's gradient, and on Σₜ ‖`gradient[i, t]`‖ over the
/// positions whose row occurs more than once.
///
/// Both are accumulated in f64 and rounded up to f32. The second ("reach") is what equal rows are
/// before they cancel: the rounding of a sum of them is a share of it, and not of the norm.
///
/// # Shapes
/// - `rows`: `[batch, positions]`; `gradient`: `[batch, positions, width]`.
///
/// # Panics
/// If the lengths do not agree, or a row is negative.
pub fn per_sample_squares(
    rows: &[i64],
    gradient: &[f32],
    batch: usize,
    positions: usize,
    width: usize,
) -> (Vec<f32>, Vec<f32>) {
    assert_eq!(rows.len(), batch * positions, "one row per position");
    assert_eq!(
        gradient.len(),
        rows.len() * width,
        "one gradient row per index"
    );
    squares_of_runs(rows, gradient, [batch, positions, width], positions)
}

/// The same where runs of positions, as many as `runs` for a sample, have one gradient row each.
fn squares_of_runs(
    rows: &[i64],
    gradient: &[f32],
    [batch, positions, width]: [usize; 3],
    runs: usize,
) -> (Vec<f32>, Vec<f32>) {
    let terms = positions * (width + 1);
    let bound = bound(rows);
    let run = positions.checked_div(runs).unwrap_or(1);
    (0..batch)
        .into_par_iter()
        .with_min_len((PIECE / (positions * width).max(1)).max(1))
        .map_init(
            || Sample::new(bound, positions, width),
            |sample, index| {
                let rows = &rows[index * positions..][..positions];
                let gradient = &gradient[index * runs * width..][..runs * width];
                sample.number(rows);
                let (square, reach) = vectorised(
                    #[inline(always)]
                    || match run {
                        1 => sample.measure(gradient, width),
                        _ => sample.measure_runs(gradient, width, run),
                    },
                );
                // A sum of equal rows is off by at most this, which is not small beside the sum where
                // they cancel (triangle inequality over the roundings of its additions).
                let off = positions as f64 * f64::EPSILON * reach;
                let square = (square.sqrt() + off).powi(2);
                (round_up(square, terms), round_up(reach, terms))
            },
        )
        .unzip()
}

/// [`per_sample_squares`] where all positions of a sample share one gradient row:
/// ‖gᵢ‖² = Σ over rows of count² · ‖g‖². Or where runs of consecutive positions share one each, as many runs as
/// there are gradient rows for a sample.
///
/// # Shapes
/// - `rows`: `[batch, positions]`; `gradient`: `[batch, runs, width]`.
///
/// # Panics
/// If the lengths do not agree, or a row is negative.
pub fn per_sample_squares_shared(
    rows: &[i64],
    gradient: &[f32],
    batch: usize,
    positions: usize,
    width: usize,
) -> (Vec<f32>, Vec<f32>) {
    assert_eq!(rows.len(), batch * positions, "one row per position");
    let runs = gradient.len().checked_div(batch * width).unwrap_or(1);
    assert_eq!(
        gradient.len(),
        batch * runs * width,
        "gradient rows of a sample"
    );
    if runs > 1 {
        assert_eq!(positions % runs, 0, "equal runs of positions");
        return squares_of_runs(rows, gradient, [batch, positions, width], runs);
    }
    let bound = bound(rows);
    (0..batch)
        .into_par_iter()
        .with_min_len((PIECE / 4 / positions.max(1)).max(1))
        .map_init(
            || Sample::new(bound, positions, 0),
            |sample, index| {
                sample.number(&rows[index * positions..][..positions]);
                let counts = &sample.counts[..sample.distinct.count()];
                let counts = counts.iter().map(|&count| u64::from(count));
                let repeats: u64 = counts.clone().map(|count| count * count).sum();
                let repeated: u64 = counts.filter(|&count| count > 1).sum();
                let gradient = &gradient[index * width..][..width];
                let square = vectorised(
                    #[inline(always)]
                    || squares(gradient),
                );
                (
                    round_up(repeats as f64 * square, width),
                    round_up(repeated as f64 * square.sqrt(), width),
                )
            },
        )
        .unzip()
}

/// One more than the largest row.
fn bound(rows: &[i64]) -> usize {
    let least = rows.iter().fold(0, |least, &row| row.min(least));
    assert!(least >= 0, "row {least} of a table");
    rows.iter().fold(0, |most, &row| row.max(most)) as usize + 1
}

/// Room for one sample's work.
struct Sample {
    distinct: Distinct,
    /// Which distinct row each position has.
    slots: Vec<u32>,
    /// How often each distinct row occurs.
    counts: Vec<u32>,
    /// ‖gradient‖² of each position whose row occurs more than once, zero for the others.
    lengths: Vec<f64>,
    /// The sum of the gradients of each distinct row that occurs more than once; zero between samples.
    sums: Vec<f64>,
}

impl Sample {
    fn new(bound: usize, positions: usize, width: usize) -> Self {
        Self {
            distinct: Distinct::new(bound),
            slots: vec![0; positions],
            counts: vec![0; positions],
            lengths: vec![0.0; positions],
            sums: vec![0.0; positions * width],
        }
    }

    /// Numbers the distinct rows and counts them.
    fn number(&mut self, rows: &[i64]) {
        self.distinct.clear();
        self.counts.fill(0);
        for (slot, &row) in self.slots.iter_mut().zip(rows) {
            let number = self.distinct.number(row as usize);
            *slot = number as u32;
            self.counts[number] += 1;
        }
    }

    /// The squared norm and the reach of the numbered sample.
    #[inline(always)]
    fn measure(&mut self, gradient: &[f32], width: usize) -> (f64, f64) {
        let mut square = 0.0;
        for (position, &slot) in self.slots.iter().enumerate() {
            let gradient = &gradient[position * width..][..width];
            let length = squares(gradient);
            // Most rows occur once, and need no sum.
            if self.counts[slot as usize] == 1 {
                self.lengths[position] = 0.0;
                square += length;
            } else {
                self.lengths[position] = length;
                accumulate(&mut self.sums[slot as usize * width..][..width], gradient);
            }
        }
        let square = self.with_repeated(square, width);
        let mut reach = [0.0; 8];
        let (chunks, rest) = self.lengths.as_chunks::<8>();
        for chunk in chunks {
            for lane in 0..8 {
                reach[lane] += chunk[lane].sqrt();
            }
        }
        let rest: f64 = rest.iter().map(|length| length.sqrt()).sum();
        (square, reach.iter().sum::<f64>() + rest)
    }

    /// The same where every `run` positions share one gradient row, whose length is needed once.
    #[inline(always)]
    fn measure_runs(&mut self, gradient: &[f32], width: usize, run: usize) -> (f64, f64) {
        let (mut square, mut reach) = (0.0, 0.0);
        for (gradient, slots) in gradient.chunks(width.max(1)).zip(self.slots.chunks(run)) {
            let (mut once, mut repeated) = (0u32, 0u32);
            for &slot in slots {
                if self.counts[slot as usize] == 1 {
                    once += 1;
                } else {
                    repeated += 1;
                    accumulate(&mut self.sums[slot as usize * width..][..width], gradient);
                }
            }
            let length = squares(gradient);
            square += f64::from(once) * length;
            reach += f64::from(repeated) * length.sqrt();
        }
        (self.with_repeated(square, width), reach)
    }

    /// With the squares of the sums of rows that occur more than once, which are forgotten.
    #[inline(always)]
    fn with_repeated(&mut self, mut square: f64, width: usize) -> f64 {
        for (slot, &count) in self.counts[..self.distinct.count()].iter().enumerate() {
            if count > 1 {
                let sum = &mut self.sums[slot * width..][..width];
                square += sum.iter().map(|sum| sum * sum).sum::<f64>();
                sum.fill(0.0);
            }
        }
        square
    }
}

#[inline(always)]
fn accumulate(sums: &mut [f64], values: &[f32]) {
    let (sums, sums_rest) = sums.as_chunks_mut::<8>();
    let (values, values_rest) = values.as_chunks::<8>();
    for (sums, values) in sums.iter_mut().zip(values) {
        let mut eight = *sums;
        for lane in 0..8 {
            eight[lane] += f64::from(values[lane]);
        }
        *sums = eight;
    }
    for (sum, &value) in sums_rest.iter_mut().zip(values_rest) {
        *sum += f64::from(value);
    }
}
