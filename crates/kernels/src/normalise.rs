//! Rows brought to mean 0 and variance 1: the heart of layer and group normalisation.
use crate::vector::{piece_of_rows, total, vectorised};
use rayon::prelude::*;

/// x̂ = (x - mean)/σ within each row of `width` values, and 1/σ of each row, where σ² is the
/// (biased) variance plus `epsilon`.
///
/// Layer norm has rows of features; group norm rows of channels/groups · height · width.
///
/// # Panics
/// If the values are not whole rows.
pub fn normalise(x: &[f32], width: usize, epsilon: f32) -> (Vec<f32>, Vec<f32>) {
    let piece = piece_of_rows(x.len(), width);
    let mut normal = vec![0.0; x.len()];
    let mut inverse = vec![0.0; x.len() / width.max(1)];
    normal
        .par_chunks_mut(piece)
        .zip(inverse.par_chunks_mut(piece / width.max(1)))
        .zip(x.par_chunks(piece))
        .for_each(|((normal, inverse), x)| {
            vectorised(
                #[inline(always)]
                || {
                    let rows = normal.chunks_exact_mut(width).zip(x.chunks_exact(width));
                    for (inverse, (normal, x)) in inverse.iter_mut().zip(rows) {
                        *inverse = one_row(normal, x, epsilon);
                    }
                },
            );
        });
    (normal, inverse)
}

#[inline(always)]
fn one_row(normal: &mut [f32], x: &[f32], epsilon: f32) -> f32 {
    let count = x.len() as f64;
    let mean = (total(
        x,
        x,
        #[inline(always)]
        |x, _| x,
    ) / count) as f32;
    // Two passes: the mean of squares less the squared mean would cancel.
    let variance = total(
        x,
        x,
        #[inline(always)]
        |x, _| (x - mean) * (x - mean),
    ) / count;
    let inverse = (1.0 / (variance + f64::from(epsilon)).sqrt()) as f32;
    for (normal, x) in normal.iter_mut().zip(x) {
        *normal = (x - mean) * inverse;
    }
    inverse
}

/// The gradient of [`normalise`] from its outputs: (g - mean(g) - x̂·mean(g·x̂))/σ.
///
/// # Panics
/// If the values are not whole rows, or the lengths do not agree.
pub fn normalise_gradient(
    normal: &[f32],
    inverse_deviation: &[f32],
    gradient: &[f32],
    width: usize,
) -> Vec<f32> {
    let piece = piece_of_rows(normal.len(), width);
    assert_eq!(
        normal.len(),
        gradient.len(),
        "lengths of a value and its gradient"
    );
    assert_eq!(
        normal.len(),
        inverse_deviation.len() * width,
        "one deviation per row"
    );
    let mut out = vec![0.0; normal.len()];
    out.par_chunks_mut(piece)
        .zip(inverse_deviation.par_chunks(piece / width.max(1)))
        .zip(normal.par_chunks(piece).zip(gradient.par_chunks(piece)))
        .for_each(|((out, inverse), (normal, gradient))| {
            vectorised(
                #[inline(always)]
                || {
                    let rows = normal.chunks_exact(width).zip(gradient.chunks_exact(width));
                    let rows = out.chunks_exact_mut(width).zip(rows);
                    for (&inverse, (out, (normal, gradient))) in inverse.iter().zip(rows) {
                        one_row_gradient(out, normal, gradient, inverse);
                    }
                },
            );
        });
    out
}

#[inline(always)]
fn one_row_gradient(out: &mut [f32], normal: &[f32], gradient: &[f32], inverse: f32) {
    let count = normal.len() as f64;
    let mean = (total(
        gradient,
        gradient,
        #[inline(always)]
        |g, _| g,
    ) / count) as f32;
    let along = (total(
        gradient,
        normal,
        #[inline(always)]
        |g, n| g * n,
    ) / count) as f32;
    for (out, (&n, &g)) in out.iter_mut().zip(normal.iter().zip(gradient)) {
        *out = (g - mean - n * along) * inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::values;
    use proptest::prelude::*;

    const EPSILON: f32 = 1e-5;

    fn check(rows: usize, width: usize, offset: f32, seed: u64) -> Result<(), TestCaseError> {
        let x: Vec<f32> = values(rows * width, seed)
            .iter()
            .map(|v| v + offset)
            .collect();
        let g = values(rows * width, !seed);
        let (normal, inverse) = normalise(&x, width, EPSILON);
        let back = normalise_gradient(&normal, &inverse, &g, width);
        prop_assert_eq!(inverse.len(), rows);
        let count = width as f64;
        for (row, inverse) in inverse.iter().enumerate() {
            let at = row * width..(row + 1) * width;
            let wide = |v: &[f32]| -> Vec<f64> { v.iter().map(|&v| f64::from(v)).collect() };
            let (x, g) = (wide(&x[at.clone()]), wide(&g[at.clone()]));
            let mean = x.iter().sum::<f64>() / count;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            let scale = 1.0 / (variance + f64::from(EPSILON)).sqrt();
            prop_assert!((f64::from(*inverse) / scale - 1.0).abs() <= 1e-6);
            let hat: Vec<f64> = x.iter().map(|x| (x - mean) * scale).collect();
            let g_mean = g.iter().sum::<f64>() / count;
            let along = g.iter().zip(&hat).map(|(g, h)| g * h).sum::<f64>() / count;
            let slack = 2e-6 * (1.0 + f64::from(offset.abs()) * scale);
            for (i, at) in at.enumerate() {
                prop_assert!((f64::from(normal[at]) - hat[i]).abs() <= slack);
                let exact = (g[i] - g_mean - hat[i] * along) * scale;
                prop_assert!((f64::from(back[at]) - exact).abs() <= 2.0 * slack * (1.0 + scale));
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn rows_equal_the_loop_both_ways(
            rows in 0usize..20, width in 1usize..200, offset in -3f32..3.0, seed: u64,
        ) {
            check(rows, width, offset, seed)?;
        }
    }

    #[test]
    fn long_rows_equal_the_loop() -> Result<(), TestCaseError> {
        check(3, 70_001, 0.5, 1)?;
        check(300, 1000, 0.0, 2)
    }

    #[test]
    fn nan_stays_in_its_row() {
        let x = [1.0, f32::NAN, 3.0, 5.0];
        let (normal, inverse) = normalise(&x, 2, 0.0);
        assert!(normal[..2].iter().all(|v| v.is_nan()));
        assert_eq!(normal[2..], [-1.0, 1.0]);
        let back = normalise_gradient(&normal, &inverse, &[1.0; 4], 2);
        assert_eq!(back[2..], [0.0, 0.0]);
    }
}
