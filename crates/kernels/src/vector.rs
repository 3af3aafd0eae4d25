//! Loops over slices: compiled for the machine's vectors, shared out where they are long.
use rayon::prelude::*;

/// A piece worth another thread: below it, waking the thread costs more than it saves.
pub(crate) const PIECE: usize = 1 << 16;

/// Values summed in f32 before f64 takes over; with `LANES` partial sums, 64 additions each.
const BLOCK: usize = 2048;
const LANES: usize = 32;

/// Runs `body` compiled for the widest vectors of this machine.
///
/// Only what is inlined into it is so compiled: mark the closure, and all it calls, `inline(always)`.
/// (`Arch::dispatch` takes a closure too, but calls it through a shim that is not always inlined.)
pub(crate) fn vectorised<R>(body: impl FnMut() -> R) -> R {
    struct Body<F>(F);
    impl<R, F: FnMut() -> R> pulp::WithSimd for Body<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    pulp::Arch::new().dispatch(Body(body))
}

/// `function` of each value.
pub(crate) fn map(x: &[f32], function: impl Fn(f32) -> f32 + Copy + Sync) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    let fill = |(out, x): (&mut [f32], &[f32])| {
        vectorised(
            #[inline(always)]
            || {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = function(x);
                }
            },
        );
    };
    if x.len() <= PIECE {
        fill((&mut out, x));
    } else {
        out.par_chunks_mut(PIECE)
            .zip(x.par_chunks(PIECE))
            .for_each(fill);
    }
    out
}

/// `function` of each pair of values.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn map_pairs(
    x: &[f32],
    y: &[f32],
    function: impl Fn(f32, f32) -> f32 + Copy + Sync,
) -> Vec<f32> {
    assert_eq!(x.len(), y.len(), "lengths of a value and its gradient");
    let mut out = vec![0.0; x.len()];
    let fill = |((out, x), y): ((&mut [f32], &[f32]), &[f32])| {
        vectorised(
            #[inline(always)]
            || {
                for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                    *out = function(x, y);
                }
            },
        );
    };
    if x.len() <= PIECE {
        fill(((&mut out, x), y));
    } else {
        out.par_chunks_mut(PIECE)
            .zip(x.par_chunks(PIECE))
            .zip(y.par_chunks(PIECE))
            .for_each(fill);
    }
    out
}

/// How many values make a piece of whole rows.
///
/// # Panics
/// If rows are empty but values are not, or the values are not whole rows.
pub(crate) fn piece_of_rows(count: usize, width: usize) -> usize {
    assert!(
        count == 0 || width > 0 && count.is_multiple_of(width),
        "{count} values are not whole rows of {width}"
    );
    (PIECE / width.max(1)).max(1) * width.max(1)
}

/// Σ term(a, b), in f32 within a block and f64 across blocks.
#[inline(always)]
pub(crate) fn total(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f64 {
    let mut total = 0.0;
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let mut lanes = [0.0_f32; LANES];
        let (a, a_rest) = a.as_chunks::<LANES>();
        let (b, b_rest) = b.as_chunks::<LANES>();
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes[lane] += term(a[lane], b[lane]);
            }
        }
        for (lane, (&a, &b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
            *lane += term(a, b);
        }
        let mut width = LANES / 2;
        while width > 0 {
            for lane in 0..width {
                lanes[lane] += lanes[lane + width];
            }
            width /= 2;
        }
        total += f64::from(lanes[0]);
    }
    total
}

/// The largest value (NaN ignored), -∞ if there is none.
#[inline(always)]
pub(crate) fn largest(x: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], chunk[lane]);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = larger(*lane, value);
    }
    lanes.into_iter().fold(f32::NEG_INFINITY, larger)
}

/// The largest |x| of each row of `width` values; infinite where some value is not a number.
pub(crate) fn largest_magnitudes(rows: &[f32], width: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows.len() / width.max(1)];
    // All rows in one loop: they are often too short for a call each.
    vectorised(
        #[inline(always)]
        || {
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(width.max(1))) {
                *out = largest_magnitude(row);
            }
        },
    );
    out
}

/// The largest |x|; infinite if some value is not a number.
#[inline(always)]
fn largest_magnitude(x: &[f32]) -> f32 {
    // Magnitudes compare as integers, and everything that is not a number lies above infinity.
    let mut lanes = [0u32; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane].max(chunk[lane].abs().to_bits());
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = (*lane).max(value.abs().to_bits());
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = lanes[lane].max(lanes[lane + width]);
        }
        width /= 2;
    }
    f32::from_bits(lanes[0].min(f32::INFINITY.to_bits()))
}

/// Σ x² in f64: relative error below (length / 8 + 8)·2⁻⁵³.
#[inline(always)]
pub(crate) fn squares(x: &[f32]) -> f64 {
    let mut near = [0.0_f64; 8];
    let mut far = [0.0_f64; 8];
    let (chunks, rest) = x.as_chunks::<16>();
    for chunk in chunks {
        for lane in 0..8 {
            let (a, b) = (f64::from(chunk[lane]), f64::from(chunk[lane + 8]));
            near[lane] = a.mul_add(a, near[lane]);
            far[lane] = b.mul_add(b, far[lane]);
        }
    }
    for (position, &value) in rest.iter().enumerate() {
        near[position % 8] += f64::from(value) * f64::from(value);
    }
    let [a, b, c, d, e, f, g, h]: [f64; 8] = std::array::from_fn(|lane| near[lane] + far[lane]);
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// `into += factor · values`.
#[inline(always)]
pub(crate) fn add_scaled(into: &mut [f32], values: &[f32], factor: f32) {
    // In fixed pieces: rows are often 16 to 64 wide, too short for the compiler's unrolled loop.
    const WIDE: usize = 16;
    let (into, into_rest) = into.as_chunks_mut::<WIDE>();
    let (values, values_rest) = values.as_chunks::<WIDE>();
    for (into, values) in into.iter_mut().zip(values) {
        let mut sums = *into;
        for lane in 0..WIDE {
            sums[lane] = values[lane].mul_add(factor, sums[lane]);
        }
        *into = sums;
    }
    for (into, &value) in into_rest.iter_mut().zip(values_rest) {
        *into = value.mul_add(factor, *into);
    }
}

/// The smallest f32 not below a sum of `terms` non-negative products computed in f64.
pub(crate) fn round_up(value: f64, terms: usize) -> f32 {
    // Each addition and the final conversion may have lost 2⁻⁵³ of the result.
    let value = value * (1.0 + (terms + 16) as f64 * f64::EPSILON);
    let rounded = value as f32;
    if f64::from(rounded) < value {
        rounded.next_up()
    } else {
        rounded
    }
}
