//! Every rounding constant of the proof, once. Sections are those of `PROOF.md` beside this file.

use crate::compute::backend::is_gpu;
use burn::tensor::Device;

/// u, the unit roundoff of f32: the least precise type that norms and sums are computed in (§3).
pub(crate) const UNIT_ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;

/// Enlarges a bound by more than the roundings of computing it in f32 take away (§3.2).
const ROUNDED_BOUND: f64 = 1.01;

/// γ(n) of Higham 2002, §3.1, enlarged for the roundings of the bound itself (§3.2).
pub(crate) fn gamma(operations: usize) -> f64 {
    let error = operations as f64 * UNIT_ROUNDOFF;
    ROUNDED_BOUND * error / (1.0 - error.min(0.5))
}

/// (‖g‖ + e)² − ‖g‖² = e (2‖g‖ + e), as e (`LINEAR` ‖g‖ + `QUADRATIC` e): both enlarged for the roundings of the
/// bound itself (§3.2).
pub(crate) struct WidenedSquare;

impl WidenedSquare {
    /// Of ‖g‖.
    pub const LINEAR: f64 = 2.0 * ROUNDED_BOUND;
    /// Of e.
    pub const QUADRATIC: f64 = ROUNDED_BOUND;
}

/// ω, how far a tensor core may move an operand of a matrix product, relative to it (§3.3). It takes f32 as TF32,
/// with ten bits after the leading one: off by 2⁻¹¹ where it rounds and by 2⁻¹⁰ where it cuts off. The products
/// themselves are added in f32.
const TENSOR_CORE_OPERAND: f64 = 1.0 / 1024.0;

/// ω on this device. The CPU multiplies f32 as they are.
pub(crate) fn operand_error(device: &Device) -> f64 {
    match is_gpu(device) {
        true => TENSOR_CORE_OPERAND,
        false => 0.0,
    }
}

/// Operand errors of a product: (1 + ω)² − 1 ≤ 2.01 ω (§3.3).
pub(crate) const OPERANDS_OF_A_PRODUCT: f64 = 2.01;

/// Operand errors of a product of two Gram matrices: (1 + ω)⁴ − 1 ≤ 4.1 ω (§3.3).
pub(crate) const OPERANDS_OF_TWO_GRAMS: f64 = 4.1;

/// Operand errors between two products of the same factors, of which one may round operands and the other cut
/// them off: (1 + ω/2)² − (1 − ω)² ≤ 3 ω (§3.3).
pub(crate) const OPERANDS_MADE_TWICE: f64 = 3.0;

/// Roundings of a sum of squares besides its additions in f32 (§3.2): of each square, or of a sum in f64, and one
/// of the caller.
pub(crate) const OF_SQUARES: usize = 2;

/// Added to every squared norm, since squares below it lose digits to underflow: a gradient shorter than 1e-15 is
/// clipped as if it were that long (§3.4).
pub(crate) const UNDERFLOW: f64 = 1e-30;

/// 1 − 8u, by which factors are smaller than threshold / norm (§3.1): two conversions to f32, a division, the
/// product with the gradient and, in some sums, its last bit being set.
pub(crate) const FACTORS: f64 = 1.0 - 8.0 * UNIT_ROUNDOFF;

/// How far rounding moves an entry, in steps of the grid (§3).
pub(crate) const HALF_A_STEP: f64 = 0.5;

/// Below 1 by more than three roundings in f64: the threshold less its room for the grid (§3).
pub(crate) const ROUNDED_DOWN_F64: f64 = 1.0 - 1e-15;

/// Above 1 by more than the roundings of a sum of squares in f64 and its root, for up to eight thousand terms (§3).
pub(crate) const ROUNDED_UP_F64: f64 = 1.0 + 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operand_errors_cover_what_they_are_for() {
        let error = TENSOR_CORE_OPERAND;
        let of = |operands: i32| (1.0 + error).powi(operands) - 1.0;
        assert!(of(2) <= OPERANDS_OF_A_PRODUCT * error);
        assert!(of(4) <= OPERANDS_OF_TWO_GRAMS * error);
        let apart = (1.0 + error / 2.0).powi(2) - (1.0 - error).powi(2);
        assert!(apart <= OPERANDS_MADE_TWICE * error);
    }
}
