//! A scale and a shift per feature.
//!
//! Values are `[outer, features, inner]`: `inner` is 1 where features come last (layer
//! normalisation) and the number of positions where they come first (group normalisation).
use crate::vector::{PIECE, total, vectorised};
use rayon::prelude::*;

/// Whole runs of features that make a piece worth a thread.
fn piece(features: usize, inner: usize) -> usize {
    let run = (features * inner).max(1);
    (PIECE / run).max(1) * run
}

fn check(values: &[f32], features: usize, inner: usize) {
    let run = features * inner;
    assert!(
        values.is_empty() || run > 0 && values.len().is_multiple_of(run),
        "{} values are not whole runs of {features} features × {inner}",
        values.len()
    );
}

/// y = x · scale + shift.
///
/// # Panics
/// If the values are not whole runs of features, or scale and shift have different lengths.
pub fn affine(x: &[f32], scale: &[f32], shift: Option<&[f32]>, inner: usize) -> Vec<f32> {
    let features = scale.len();
    check(x, features, inner);
    assert!(
        shift.is_none_or(|shift| shift.len() == features),
        "one shift per scale"
    );
    let mut y = vec![0.0; x.len()];
    let piece = piece(features, inner);
    y.par_chunks_mut(piece)
        .zip(x.par_chunks(piece))
        .for_each(|(y, x)| {
            vectorised(
                #[inline(always)]
                || run(y, x, scale, shift, inner),
            );
        });
    y
}

#[inline(always)]
fn run(y: &mut [f32], x: &[f32], scale: &[f32], shift: Option<&[f32]>, inner: usize) {
    let length = scale.len() * inner;
    for (y, x) in y.chunks_exact_mut(length).zip(x.chunks_exact(length)) {
        if inner == 1 {
            match shift {
                Some(shift) => {
                    for (((y, x), s), b) in y.iter_mut().zip(x).zip(scale).zip(shift) {
                        *y = x * s + b;
                    }
                }
                None => y
                    .iter_mut()
                    .zip(x)
                    .zip(scale)
                    .for_each(|((y, x), s)| *y = x * s),
            }
            continue;
        }
        let planes = y.chunks_exact_mut(inner).zip(x.chunks_exact(inner));
        for (feature, (y, x)) in planes.enumerate() {
            let (s, b) = (scale[feature], shift.map_or(0.0, |shift| shift[feature]));
            y.iter_mut().zip(x).for_each(|(y, x)| *y = x * s + b);
        }
    }
}

/// Σ a·b and Σ b over everything but the features, for `outers` separate runs:
/// `[outers, features]` each. With `outers` = the batch, per-sample gradients of a scale (a = the
/// normalised values, b = the output gradient) and of a shift; with 1, their sums.
///
/// # Panics
/// If the values are not whole runs of features, or do not divide among `outers`.
pub fn feature_sums(
    a: &[f32],
    b: &[f32],
    features: usize,
    inner: usize,
    outers: usize,
) -> (Vec<f32>, Vec<f32>) {
    check(b, features, inner);
    assert_eq!(a.len(), b.len(), "lengths of two factors");
    let mut products = vec![0.0; outers * features];
    let mut sums = vec![0.0; outers * features];
    if b.is_empty() || outers == 0 {
        return (products, sums);
    }
    assert!(
        b.len().is_multiple_of(outers * features * inner),
        "runs shared among {outers}"
    );
    let length = b.len() / outers;
    products
        .par_chunks_mut(features)
        .zip(sums.par_chunks_mut(features))
        .zip(a.par_chunks(length).zip(b.par_chunks(length)))
        .for_each(|((products, sums), (a, b))| {
            vectorised(
                #[inline(always)]
                || {
                    if inner == 1 {
                        for (a, b) in a.chunks_exact(features).zip(b.chunks_exact(features)) {
                            let factors = a.iter().zip(b);
                            let into = products.iter_mut().zip(sums.iter_mut());
                            for ((product, sum), (a, b)) in into.zip(factors) {
                                *product += a * b;
                                *sum += b;
                            }
                        }
                        return;
                    }
                    let planes = a.chunks_exact(inner).zip(b.chunks_exact(inner));
                    for (plane, (a, b)) in planes.enumerate() {
                        products[plane % features] += total(a, b, |a, b| a * b) as f32;
                        sums[plane % features] += total(a, b, |_, b| b) as f32;
                    }
                },
            );
        });
    (products, sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{close, source};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scale_shift_and_sums_are_the_loops(
            batch in 0usize..4, per_sample in 1usize..4, features in 1usize..40,
            inner in prop_oneof![Just(1usize), 2usize..50], shifted: bool, seed: u64,
        ) {
            let mut values = source(seed);
            let count = batch * per_sample * features * inner;
            let (x, dy) = (values(count), values(count));
            let (scale, shift) = (values(features), values(features));
            let shift = shifted.then_some(shift.as_slice());
            let feature = |at: usize| at / inner % features;
            let expected: Vec<f64> = x.iter().enumerate().map(|(at, &x)| {
                let shift = shift.map_or(0.0, |shift| f64::from(shift[feature(at)]));
                f64::from(x) * f64::from(scale[feature(at)]) + shift
            }).collect();
            close(&affine(&x, &scale, shift, inner), &expected)?;

            for outers in [1, batch] {
                let mut products = vec![0.0; outers * features];
                let mut sums = products.clone();
                for (at, (&x, &dy)) in x.iter().zip(&dy).enumerate() {
                    let outer = at / (count / outers);
                    products[outer * features + feature(at)] += f64::from(x) * f64::from(dy);
                    sums[outer * features + feature(at)] += f64::from(dy);
                }
                let (p, s) = feature_sums(&x, &dy, features, inner, outers);
                close(&p, &products)?;
                close(&s, &sums)?;
            }
        }
    }
}
