//! The public grid to which every record's contribution is rounded.

/// Steps that one record may take in a coordinate, as a power of two. More would make a finer grid, fewer
/// let more records share 32 bits.
const RECORD_BITS: i32 = 21;

/// Steps on either side of the anchor, as a power of two.
///
/// 1.5 · 2²³ spacings plus or minus 2²² of them lie between two powers of two, where f32 numbers are
/// exactly one spacing apart. That is what makes adding and subtracting such a number round to the grid.
const ANCHOR_BITS: i32 = 22;

/// The multiples of a power of two. Numbers on it are added as integers, so a sum depends neither on the
/// order of its terms nor on who shares the work, and a term moves it by exactly itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    spacing: f32,
    anchor: f32,
}

impl Grid {
    /// The grid of contributions of a norm of at most 1.
    pub const UNIT: Self = Self {
        spacing: 1.0 / (1 << RECORD_BITS) as f32,
        anchor: 6.0,
    };

    /// Steps that a contribution of a norm of at most the bound takes in a coordinate, at most.
    pub const MOST_STEPS: i32 = 1 << RECORD_BITS;

    /// The grid for contributions of a norm of at most `bound`: none takes more than
    /// [`Grid::MOST_STEPS`] steps.
    ///
    /// None if f32 cannot carry such contributions: outside 2⁻⁸⁰ to 2¹⁰⁰.
    ///
    /// ```
    /// use tacita_kernels::exact::Grid;
    /// let grid = Grid::for_bound(1.0).unwrap();
    /// assert_eq!(grid.spacing(), 1.0 / (1 << 21) as f64);
    /// assert_eq!(grid.steps(-0.5) as i32, -(1 << 20));
    /// ```
    pub fn for_bound(bound: f64) -> Option<Self> {
        if !(8.3e-25..=1.2e30).contains(&bound) {
            return None;
        }
        let exponent = bound.log2().ceil() as i32;
        // The logarithm may round to a whole number from above.
        let exponent = exponent + i32::from(2f64.powi(exponent) < bound);
        let spacing = 2f32.powi(exponent - RECORD_BITS);
        Some(Self {
            spacing,
            anchor: 1.5 * 2f32.powi(exponent - RECORD_BITS + ANCHOR_BITS + 1),
        })
    }

    /// The distance between neighbours.
    pub fn spacing(&self) -> f64 {
        f64::from(self.spacing)
    }

    /// Where a sum of so many steps lies, in two's complement: exact, with 24 bits to spare.
    #[inline(always)]
    pub fn value(&self, steps: u32) -> f64 {
        f64::from(steps as i32) * f64::from(self.spacing)
    }

    /// 1.5 · 2²³ spacings.
    #[inline(always)]
    pub(crate) fn anchor(&self) -> f32 {
        self.anchor
    }

    /// The nearest multiple of the spacing, in steps modulo 2³²; ties go to the even one. Right below
    /// 2²² steps.
    #[inline(always)]
    pub fn steps(&self, value: f32) -> u32 {
        self.steps_of_product(value, 1.0)
    }

    /// The steps of `value · factor`, rounded once. Right below 2²² steps.
    #[inline(always)]
    pub(crate) fn steps_of_product(&self, value: f32, factor: f32) -> u32 {
        let rounded = value.mul_add(factor, self.anchor);
        // Between two powers of two the bits of a float count its steps.
        rounded.to_bits().wrapping_sub(self.anchor.to_bits())
    }

    /// The same for products of up to 2⁵¹ steps, modulo 2³²: what cancels within a record may be that
    /// long, the record's whole contribution may not.
    #[inline(always)]
    pub(crate) fn steps_of_long_product(&self, value: f32, factor: f32) -> u32 {
        const LARGE: f64 = 1.5 * (1u64 << 52) as f64;
        let anchor = LARGE * f64::from(self.spacing);
        // The product of two f32 is exact in f64. The lowest 32 bits of the anchor are zero.
        let rounded = f64::from(value).mul_add(f64::from(factor), anchor);
        rounded.to_bits() as u32
    }
}

/// A record whose products take at most so many steps together may have each of them rounded: a quarter of
/// what would reach the anchor's neighbouring powers of two.
pub(crate) const FAST_RECORD_STEPS: f64 = (1u64 << (ANCHOR_BITS - 2)) as f64;

/// Records share one run of additions from the anchor while their products take at most so many steps together.
/// What would reach the neighbouring powers of two, less 4,096: half a step for each of 260 roundings, and what
/// the last bit of scaled factors adds, 2⁻²² of the products.
pub(crate) const FAST_RUN_STEPS: f64 = ((1u64 << ANCHOR_BITS) - 4096) as f64;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bound_takes_between_half_and_all_of_the_steps() {
        for exponent in -79..=99 {
            let power = 2f64.powi(exponent);
            for bound in [
                power,
                power * (1.0 + 1e-15),
                power * (1.0 - 1e-15),
                power * 1.7,
            ] {
                let steps = bound / Grid::for_bound(bound).unwrap().spacing();
                assert!(
                    steps <= 2_097_152.0 && steps > 1_048_575.9,
                    "{bound:e}: {steps}"
                );
            }
        }
        for bound in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-30, 1e31] {
            assert!(Grid::for_bound(bound).is_none());
        }
    }

    proptest! {
        #[test]
        fn steps_are_the_nearest_multiples(value in -1.0f32..1.0, factor in -1.0f32..1.0, exponent in -60i32..60) {
            let grid = Grid::for_bound(2f64.powi(exponent)).unwrap();
            let scaled = value * 2f32.powi(exponent);
            let exact = f64::from(scaled) * f64::from(factor) / grid.spacing();
            for steps in [grid.steps_of_product(scaled, factor), grid.steps_of_long_product(scaled, factor)] {
                prop_assert!((f64::from(steps as i32) - exact).abs() <= 0.5);
            }
        }
    }

    #[test]
    fn the_unit_grid_is_that_of_one() {
        assert_eq!(Grid::for_bound(1.0), Some(Grid::UNIT));
    }

    #[test]
    fn long_products_wrap_around() {
        let grid = Grid::for_bound(1.0).unwrap();
        let there = grid.steps_of_long_product(3e6, 1.25);
        let back = grid.steps_of_long_product(-3e6, 1.25);
        assert_eq!(there.wrapping_add(back), 0);
        assert_ne!(there, 0);
    }
}
