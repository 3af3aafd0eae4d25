//! Integrals of the Gaussian density and of the likelihood ratio over one cell, to full relative
//! precision however narrow the cell.

use super::pair::{Anchor, Pair};

/// Gauss–Legendre abscissae and weights on [0, 1] (mpmath 1.3.0, 40 digits).
const TWO: [(f64, f64); 2] = [
    (0.211_324_865_405_187_1, 0.5),
    (0.788_675_134_594_812_9, 0.5),
];
const THREE: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];
const FOUR: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_92),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_05),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_05),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_92),
];
pub(super) const EIGHT: [(f64, f64); 8] = [
    (0.019_855_071_751_231_884, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_64, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_63),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
    (0.591_717_321_247_825, 0.181_341_891_689_181),
    (0.762_766_204_958_164_5, 0.156_853_322_938_943_63),
    (0.898_333_238_706_813_4, 0.111_190_517_226_687_24),
    (0.980_144_928_248_768_1, 0.050_614_268_145_188_13),
];

/// What one cell [x, x + width] weighs, in units of the density of Q at its anchor x.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// ∫ φ
    pub(super) mass: f64,
    /// ∫ φ · (R/R(x) − 1)
    pub(super) rise: f64,
}

/// Integrates over the cell of this width right of the anchor.
///
/// With n nodes on a cell of w noise deviations, the relative error of a Gaussian integral is at
/// most (n!)⁴ / ((2n+1)(2n)!³) · (w(t + √(2n)))^(2n) · e^(wt), t the largest distance to the mean
/// in deviations, because |Heₘ(t)| ≤ (|t| + √m)^m. The limits below keep it under 2e-15.
pub(super) fn cell(pair: &Pair, anchor: &Anchor, width: f64) -> Cell {
    let noise = pair.noise();
    let most = pair.parts().last().map_or(0.0, |part| part.shift);
    let deviations = width / noise;
    let distance = (anchor.x.abs().max((anchor.x + width).abs()) + most) / noise;
    if deviations * (distance + 2.0) <= 1.4e-3 {
        return narrow_cell(pair, anchor, width, &TWO, shortest_exp_m1);
    }
    if deviations * (distance + 2.45) <= 0.03 {
        return narrow_cell(pair, anchor, width, &THREE, short_exp_m1);
    }
    if deviations * (distance + 2.83) <= 0.18 {
        return narrow_cell(pair, anchor, width, &FOUR, short_exp_m1);
    }
    let panels = (deviations * (distance + 4.0) / 2.0).ceil().max(1.0);
    wide_cell(pair, anchor, width, panels as usize)
}

/// Units of work to integrate over a cell of this width right of `x`.
pub(super) fn work_of_cell(pair: &Pair, x: f64, width: f64) -> f64 {
    let most = pair.parts().last().map_or(0.0, |part| part.shift);
    let deviations = width / pair.noise();
    let distance = (x.abs().max((x + width).abs()) + most) / pair.noise();
    if deviations * (distance + 2.83) <= 0.18 {
        return 5.0 + 0.7 * pair.work();
    }
    (deviations * (distance + 4.0) / 2.0).ceil().max(1.0) * (40.0 + 8.0 * pair.work())
}

/// One panel whose exponents are small enough for a series in place of e^y − 1.
#[inline]
fn narrow_cell(
    pair: &Pair,
    anchor: &Anchor,
    width: f64,
    rule: &[(f64, f64)],
    exp_m1: impl Fn(f64) -> f64,
) -> Cell {
    let precision = pair.precision();
    let (mut mass, mut rise) = (0.0, 0.0);
    for &(abscissa, weight) in rule {
        let step = abscissa * width;
        let density = weight * (1.0 + exp_m1(-step * (anchor.x + 0.5 * step) * precision));
        let mut growth = 0.0;
        for (part, share) in pair.parts().iter().zip(&anchor.shares) {
            growth += share * exp_m1(part.shift * step * precision);
        }
        mass += density;
        rise += density * growth;
    }
    Cell {
        mass: mass * width,
        rise: rise * width,
    }
}

/// e^y − 1 for |y| < 1.5e-3: the next term is below 2e-17 of the value.
fn shortest_exp_m1(y: f64) -> f64 {
    y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0)))))
}

/// e^y − 1 for |y| < 0.19: the next term is below 5e-16 of the value.
fn short_exp_m1(y: f64) -> f64 {
    let square = y * y;
    let fourth = square * square;
    let low = (1.0 + y * 0.5) + square * (1.0 / 6.0 + y * (1.0 / 24.0));
    let middle = (1.0 / 120.0 + y * (1.0 / 720.0)) + square * (1.0 / 5040.0 + y * (1.0 / 40_320.0));
    let high = 1.0 / 362_880.0 + y * (1.0 / 3_628_800.0);
    y * (low + fourth * (middle + fourth * high))
}

/// e^y − 1, quickly if y is small.
pub(super) fn exp_m1(y: f64) -> f64 {
    if y.abs() < 0.19 {
        short_exp_m1(y)
    } else {
        y.exp_m1()
    }
}

fn wide_cell(pair: &Pair, anchor: &Anchor, width: f64, panels: usize) -> Cell {
    let precision = pair.precision();
    let panel = width / panels as f64;
    let (mut mass, mut rise) = (0.0, 0.0);
    for index in 0..panels {
        for &(abscissa, weight) in &EIGHT {
            let step = (index as f64 + abscissa) * panel;
            let density = weight * (-step * (anchor.x + 0.5 * step) * precision).exp();
            let growth: f64 = pair
                .parts()
                .iter()
                .zip(&anchor.shares)
                .map(|(part, share)| share * (part.shift * step * precision).exp_m1())
                .sum();
            mass += density;
            rise += density * growth;
        }
    }
    Cell {
        mass: mass * panel,
        rise: rise * panel,
    }
}
