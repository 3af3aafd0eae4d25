//! Softmax and its logarithm over rows.
use crate::approximate::exp_flushed;
use crate::vector::{largest, piece_of_rows, total, vectorised};
use rayon::prelude::*;

/// e^x / Σ e^x within each row of `width` values.
///
/// ```
/// assert_eq!(tacita_kernels::softmax::softmax(&[1e4, 1e4], 2), [0.5, 0.5]);
/// ```
///
/// # Panics
/// If the values are not whole rows.
pub fn softmax(x: &[f32], width: usize) -> Vec<f32> {
    by_pieces(
        x,
        x,
        width,
        #[inline(always)]
        |out, x, _| {
            for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                subtract(out, x, largest(x));
            }
            // In one loop over all rows, since rows are often shorter than a vector.
            for out in out.iter_mut() {
                *out = exp_flushed(*out);
            }
            for out in out.chunks_exact_mut(width) {
                let scale = (1.0
                    / total(
                        out,
                        out,
                        #[inline(always)]
                        |y, _| y,
                    )) as f32;
                for out in out {
                    *out *= scale;
                }
            }
        },
    )
}

/// The gradient of [`softmax`] from its output: y·(g - Σ g·y).
///
/// # Panics
/// If the values are not whole rows, or the lengths differ.
pub fn softmax_gradient(y: &[f32], gradient: &[f32], width: usize) -> Vec<f32> {
    by_pieces(
        y,
        gradient,
        width,
        #[inline(always)]
        |out, y, gradient| {
            let rows = y.chunks_exact(width).zip(gradient.chunks_exact(width));
            for (out, (y, gradient)) in out.chunks_exact_mut(width).zip(rows) {
                let mean = total(
                    y,
                    gradient,
                    #[inline(always)]
                    |y, g| y * g,
                ) as f32;
                for (out, (y, g)) in out.iter_mut().zip(y.iter().zip(gradient)) {
                    *out = y * (g - mean);
                }
            }
        },
    )
}

/// x - ln Σ e^x within each row of `width` values.
///
/// # Panics
/// If the values are not whole rows.
pub fn log_softmax(x: &[f32], width: usize) -> Vec<f32> {
    by_pieces(
        x,
        x,
        width,
        #[inline(always)]
        |out, x, _| {
            let mut offsets = Vec::with_capacity(x.len() / width);
            for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                let most = largest(x);
                subtract(out, x, most);
                offsets.push(most);
            }
            for out in out.iter_mut() {
                *out = exp_flushed(*out);
            }
            for ((out, x), most) in out
                .chunks_exact_mut(width)
                .zip(x.chunks_exact(width))
                .zip(offsets)
            {
                let logarithm = total(
                    out,
                    out,
                    #[inline(always)]
                    |y, _| y,
                )
                .ln() as f32;
                for (out, x) in out.iter_mut().zip(x) {
                    // The largest first: the sum of both offsets would round away the logarithm.
                    *out = (x - most) - logarithm;
                }
            }
        },
    )
}

/// The gradient of [`log_softmax`] from its output: g - e^y·Σ g.
///
/// # Panics
/// If the values are not whole rows, or the lengths differ.
pub fn log_softmax_gradient(y: &[f32], gradient: &[f32], width: usize) -> Vec<f32> {
    by_pieces(
        y,
        gradient,
        width,
        #[inline(always)]
        |out, y, gradient| {
            for (out, &y) in out.iter_mut().zip(y) {
                *out = exp_flushed(y);
            }
            for (out, gradient) in out
                .chunks_exact_mut(width)
                .zip(gradient.chunks_exact(width))
            {
                let sum = total(
                    gradient,
                    gradient,
                    #[inline(always)]
                    |g, _| g,
                ) as f32;
                for (out, &g) in out.iter_mut().zip(gradient) {
                    *out = out.mul_add(-sum, g);
                }
            }
        },
    )
}

#[inline(always)]
fn subtract(out: &mut [f32], x: &[f32], offset: f32) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = x - offset;
    }
}

/// Runs `fill` on pieces of whole rows, small enough to stay in the nearest cache between its passes.
fn by_pieces(
    x: &[f32],
    y: &[f32],
    width: usize,
    fill: impl Fn(&mut [f32], &[f32], &[f32]) + Sync,
) -> Vec<f32> {
    assert_eq!(x.len(), y.len(), "lengths of a value and its gradient");
    let piece = piece_of_rows(x.len(), width);
    let near = (2048 / width.max(1)).max(1) * width.max(1);
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(piece)
        .zip(x.par_chunks(piece).zip(y.par_chunks(piece)))
        .for_each(|(out, (x, y))| {
            let parts = x.chunks(near).zip(y.chunks(near));
            for (out, (x, y)) in out.chunks_mut(near).zip(parts) {
                vectorised(
                    #[inline(always)]
                    || fill(out, x, y),
                );
            }
        });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::values;
    use proptest::prelude::*;

    fn exact(x: &[f32]) -> Vec<f64> {
        let most = x.iter().fold(f64::MIN, |m, &v| m.max(f64::from(v)));
        let e: Vec<f64> = x.iter().map(|&v| (f64::from(v) - most).exp()).collect();
        let sum: f64 = e.iter().sum();
        e.iter().map(|e| e / sum).collect()
    }

    proptest! {
        #[test]
        fn softmax_equals_the_loop_both_ways(rows in 0usize..40, width in 1usize..130, seed: u64) {
            let x: Vec<f32> = values(rows * width, seed).iter().map(|v| v * 20.0).collect();
            let g = values(rows * width, !seed);
            let y = softmax(&x, width);
            let log = log_softmax(&x, width);
            let back = softmax_gradient(&y, &g, width);
            let log_back = log_softmax_gradient(&log, &g, width);
            for row in 0..rows {
                let at = row * width..(row + 1) * width;
                let (p, g) = (exact(&x[at.clone()]), &g[at.clone()]);
                let mean: f64 = p.iter().zip(g).map(|(p, g)| p * f64::from(*g)).sum();
                let sum: f64 = g.iter().map(|g| f64::from(*g)).sum();
                for (i, at) in at.enumerate() {
                    let g = f64::from(g[i]);
                    // x - max is as large as 40, and its rounding is a relative error of the result.
                    prop_assert!((f64::from(y[at]) - p[i]).abs() <= 4e-6 * p[i]);
                    prop_assert!((f64::from(log[at]) - p[i].ln()).abs() <= 6e-6);
                    prop_assert!((f64::from(back[at]) - p[i] * (g - mean)).abs() <= 2e-6);
                    let expected = g - p[i] * sum;
                    prop_assert!((f64::from(log_back[at]) - expected).abs() <= 1e-5 * (1.0 + sum.abs()));
                }
            }
        }
    }

    #[test]
    fn masked_entries_get_nothing_and_nan_stays_in_its_row() {
        let x = [f32::NEG_INFINITY, 1.0, f32::NAN, 1.0, 3.0, 3.0];
        let y = softmax(&x, 2);
        assert_eq!(y[..2], [0.0, 1.0]);
        assert!(y[2].is_nan() && y[3].is_nan());
        assert_eq!(y[4..], [0.5, 0.5]);
        let log = log_softmax(&x, 2);
        assert_eq!(log[..2], [f32::NEG_INFINITY, 0.0]);
        assert!(log[2].is_nan() && log[3].is_nan());
    }

    #[test]
    fn many_rows_equal_few() {
        let x = values(300_000, 5);
        let pieces: Vec<f32> = x.chunks(300).flat_map(|x| softmax(x, 300)).collect();
        assert_eq!(softmax(&x, 300), pieces);
    }
}
