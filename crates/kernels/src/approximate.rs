//! Elementary functions of one f32 without branches, so that a loop over them becomes vector code.
//!
//! The polynomials interpolate at Chebyshev nodes, which is within a small factor of the best uniform
//! approximation; each states its error before rounding.

/// ln 2 in two parts; the high part has few enough bits that a whole multiple below 2¹⁰ is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Adding this rounds to a whole number, which then stands in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// x = n·ln 2 + r with |r| ≤ ln 2 / 2: n (as the low bits of the first value) and e^r - 1.
///
/// e^r = 1 + r + r²·P(r), relative error 1.0e-8.
#[inline(always)]
fn reduced(x: f32) -> (f32, f32) {
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let p = 1.392_618_4e-3_f32
        .mul_add(r, 8.363_179e-3)
        .mul_add(r, 4.166_655_5e-2)
        .mul_add(r, 0.166_665_77)
        .mul_add(r, 0.5);
    (shifted, (r * r).mul_add(p, r))
}

/// n, given n + `ROUNDER`.
#[inline(always)]
fn whole(shifted: f32) -> i32 {
    (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32)
}

/// 2ⁿ for -127 ≤ n ≤ 128, where the ends give 0 and infinity.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// x moved into [low, high]; NaN stays.
#[inline(always)]
fn limited(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// e^x.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let (shifted, less_one) = reduced(limited(x, -104.5, 89.0));
    let n = whole(shifted);
    // In two factors: 2ⁿ alone leaves the range of f32 before e^x does.
    let half = n >> 1;
    (1.0 + less_one) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// e^x for x ≤ 88, with 0 for results that are not normal; a little cheaper than [`exp`].
#[inline(always)]
pub(crate) fn exp_flushed(x: f32) -> f32 {
    let (shifted, less_one) = reduced(limited(x, -88.0, 88.0));
    let scale = power_of_two(whole(shifted));
    less_one.mul_add(scale, scale)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    // Where e^-x is infinite, e^r - 1 may be negative: (1 + less_one)·∞ cannot be NaN, a fused
    // sum of infinities of both signs would be.
    let (shifted, less_one) = reduced(limited(-x, -88.0, 88.8));
    let exponential = (1.0 + less_one) * power_of_two(whole(shifted));
    1.0 / (1.0 + exponential)
}

/// tanh x = t / (t + 2) with t = e^{2x} - 1, which keeps small results accurate too.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    // Beyond 10 the result rounds to 1.
    let magnitude = limited(2.0 * x.abs(), 0.0, 20.0);
    let (shifted, less_one) = reduced(magnitude);
    let scale = power_of_two(whole(shifted));
    let t = less_one.mul_add(scale, scale - 1.0);
    (t / (t + 2.0)).copysign(x)
}

/// Beyond this the normal distribution function is 0 or 1 in f32, and so are its limits.
const NORMAL_END: f32 = 20.0;

/// e^{-x²/2} and Φ(x), the standard normal distribution function.
///
/// Φ(-a) = e^{-a²/2}·t·P(t) with t = 1/(1 + 0.308·a): Mills' ratio falls off as 1/a, so in t it
/// is nearly a polynomial; relative error 1.7e-7 for 0 ≤ a ≤ 13.
#[inline(always)]
fn normal(x: f32) -> (f32, f32) {
    let a = x.abs();
    let bell = exp_flushed(-0.5 * a * a);
    let t = 1.0 / 0.308_f32.mul_add(a, 1.0);
    let p = 3.668_058_7e-2_f32
        .mul_add(t, -0.148_223_04)
        .mul_add(t, 0.170_756_2)
        .mul_add(t, -2.721_072_8e-2)
        .mul_add(t, 0.116_112_71)
        .mul_add(t, 0.105_536_83)
        .mul_add(t, 0.123_502_64)
        .mul_add(t, 0.122_844_87);
    let tail = bell * t * p;
    (bell, if x > 0.0 { 1.0 - tail } else { tail })
}

/// x·Φ(x).
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    // Only from below: -∞·0 would be NaN, and the limit is 0.
    let x = if x < -NORMAL_END { -NORMAL_END } else { x };
    x * normal(limited(x, -NORMAL_END, NORMAL_END)).1
}

/// (x·Φ(x))' = Φ(x) + x·φ(x).
#[inline(always)]
pub(crate) fn gelu_slope(x: f32) -> f32 {
    const DENSITY_AT_ZERO: f32 = 0.398_942_3;
    let x = limited(x, -NORMAL_END, NORMAL_END);
    let (bell, distribution) = normal(x);
    (x * DENSITY_AT_ZERO).mul_add(bell, distribution)
}
