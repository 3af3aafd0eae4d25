//! Activation functions and their derivatives.
//!
//! Errors are absolute against exact arithmetic: 3·10⁻⁷ for [`tanh`] and [`sigmoid`],
//! 5·10⁻⁷·max(1, |x|) for [`gelu`]; relative 3·10⁻⁷ for [`exp`] where the result is a normal number.
//! NaN gives NaN and infinities give the limits.
use crate::approximate;
use crate::vector::{map, map_pairs};

/// tanh of each value.
///
/// ```
/// assert_eq!(tacita_kernels::activation::tanh(&[0.0, f32::INFINITY]), [0.0, 1.0]);
/// ```
pub fn tanh(x: &[f32]) -> Vec<f32> {
    map(x, approximate::tanh)
}

/// The gradient of [`tanh`] from its output: g·(1 - y²).
pub fn tanh_gradient(y: &[f32], gradient: &[f32]) -> Vec<f32> {
    map_pairs(
        y,
        gradient,
        #[inline(always)]
        |y, g| g * y.mul_add(-y, 1.0),
    )
}

/// 1/(1 + e^-x) of each value.
pub fn sigmoid(x: &[f32]) -> Vec<f32> {
    map(x, approximate::sigmoid)
}

/// The gradient of [`sigmoid`] from its output: g·y·(1 - y).
pub fn sigmoid_gradient(y: &[f32], gradient: &[f32]) -> Vec<f32> {
    map_pairs(
        y,
        gradient,
        #[inline(always)]
        |y, g| g * (y * (1.0 - y)),
    )
}

/// e^x of each value.
pub fn exp(x: &[f32]) -> Vec<f32> {
    map(x, approximate::exp)
}

/// x·Φ(x) of each value, Φ the standard normal distribution function (not its tanh approximation).
pub fn gelu(x: &[f32]) -> Vec<f32> {
    map(x, approximate::gelu)
}

/// The gradient of [`gelu`] from its input: g·(Φ(x) + x·φ(x)).
pub fn gelu_gradient(x: &[f32], gradient: &[f32]) -> Vec<f32> {
    map_pairs(
        x,
        gradient,
        #[inline(always)]
        |x, g| g * approximate::gelu_slope(x),
    )
}

/// max(x, 0); a NaN stays one.
pub fn relu(x: &[f32]) -> Vec<f32> {
    map(x, |x| if x < 0.0 { 0.0 } else { x })
}

/// The gradient of [`relu`] from its output.
pub fn relu_gradient(y: &[f32], gradient: &[f32]) -> Vec<f32> {
    map_pairs(y, gradient, |y, g| if y > 0.0 { g } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense near 0, then out to ±200, and every kind of size.
    fn grid() -> Vec<f32> {
        let even = (-400_000..=400_000).map(|i| i as f32 * 5e-4);
        let sizes = (-140..38).flat_map(|e| {
            let x = 1.7_f64 * 10_f64.powi(e);
            [x as f32, -x as f32]
        });
        even.chain(sizes).collect()
    }

    fn worst(y: &[f32], exact: impl Fn(f64) -> f64, scale: impl Fn(f64, f64) -> f64) -> f64 {
        grid()
            .iter()
            .zip(y)
            .map(|(&x, &y)| {
                let (x, y) = (f64::from(x), f64::from(y));
                let exact = exact(x);
                assert!(!y.is_nan(), "NaN at {x}");
                if y == exact {
                    0.0
                } else {
                    (y - exact).abs() / scale(x, exact)
                }
            })
            .fold(0.0, f64::max)
    }

    /// Φ(-a) for a ≥ 0, by Taylor's series near 0 and a continued fraction beyond.
    fn tail(a: f64) -> f64 {
        let density = (-a * a / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        if a < 3.0 {
            // Φ(a) = 1/2 + φ(a)·Σ a^{2k+1}/(1·3·…·(2k+1)).
            let (mut term, mut sum) = (a, a);
            for k in 1..120 {
                term *= a * a / f64::from(2 * k + 1);
                sum += term;
            }
            0.5 - density * sum
        } else {
            density / (1..=200).rev().fold(a, |below, k| a + f64::from(k) / below)
        }
    }

    fn distribution(x: f64) -> f64 {
        if x < 0.0 { tail(-x) } else { 1.0 - tail(x) }
    }

    #[test]
    fn tanh_is_within_3e_7() {
        assert!(worst(&tanh(&grid()), f64::tanh, |_, _| 1.0) <= 3e-7);
    }

    #[test]
    fn tanh_of_small_values_is_accurate_relatively() {
        let error = worst(&tanh(&grid()), f64::tanh, |_, exact| exact.abs().max(1e-37));
        assert!(error <= 4e-7, "{error}");
    }

    #[test]
    fn sigmoid_is_within_3e_7() {
        let error = worst(&sigmoid(&grid()), |x| 1.0 / (1.0 + (-x).exp()), |_, _| 1.0);
        assert!(error <= 3e-7, "{error}");
    }

    #[test]
    fn exp_is_within_3e_7_of_itself() {
        let smallest = f64::from(f32::MIN_POSITIVE);
        let exact = |x: f64| match x.exp() {
            y if y > f64::from(f32::MAX) => f64::INFINITY,
            y => y,
        };
        let error = worst(&exp(&grid()), exact, |_, y| y.abs().max(smallest));
        assert!(error <= 3e-7, "{error}");
    }

    #[test]
    fn gelu_is_within_5e_7() {
        let error = worst(
            &gelu(&grid()),
            |x| x * distribution(x),
            |x, _| x.abs().max(1.0),
        );
        assert!(error <= 5e-7, "{error}");
    }

    #[test]
    fn gelu_slope_is_within_1e_6() {
        let x = grid();
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let slope = gelu_gradient(&x, &vec![1.0; x.len()]);
        let error = worst(&slope, |x| distribution(x) + x * density(x), |_, _| 1.0);
        assert!(error <= 1e-6, "{error}");
    }

    #[test]
    fn limits_are_met_and_nan_stays() {
        const INF: f32 = f32::INFINITY;
        let ends = [-INF, f32::MIN, -0.0, 0.0, f32::MAX, INF];
        assert_eq!(tanh(&ends), [-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(sigmoid(&ends), [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]);
        assert_eq!(exp(&ends), [0.0, 0.0, 1.0, 1.0, INF, INF]);
        assert_eq!(gelu(&ends), [0.0, 0.0, 0.0, 0.0, f32::MAX, INF]);
        let slope = gelu_gradient(&ends, &[1.0; 6]);
        assert_eq!(slope[..2], [0.0, 0.0]);
        assert_eq!(slope[4..], [1.0, 1.0]);
        assert!(tanh(&[-0.0])[0].is_sign_negative());
        for function in [tanh, sigmoid, exp, gelu] {
            assert!(function(&[f32::NAN])[0].is_nan());
            assert!(function(&[]).is_empty());
        }
        assert!(gelu_gradient(&[f32::NAN], &[1.0])[0].is_nan());
    }

    type Forward = fn(&[f32]) -> Vec<f32>;
    type Backward = fn(&[f32], &[f32]) -> Vec<f32>;
    type Slope = fn(f64) -> f64;

    #[test]
    fn gradients_from_the_output_are_the_derivatives() {
        let x = [-3.0_f32, -0.4, 0.0, 0.7, 2.5];
        let g = [1.0_f32, -2.0, 0.5, 3.0, -1.0];
        let cases: [(Forward, Backward, Slope); 2] = [
            (tanh, tanh_gradient, |x| 1.0 - x.tanh().powi(2)),
            (sigmoid, sigmoid_gradient, |x| {
                (-x).exp() / (1.0 + (-x).exp()).powi(2)
            }),
        ];
        for (forward, backward, slope) in cases {
            let gradient = backward(&forward(&x), &g);
            for ((x, g), seen) in x.iter().zip(g).zip(gradient) {
                let exact = f64::from(g) * slope(f64::from(*x));
                assert!((f64::from(seen) - exact).abs() <= 1e-6 * (1.0 + exact.abs()));
            }
        }
    }

    #[test]
    fn long_slices_equal_short_ones() {
        let x: Vec<f32> = (0..200_001).map(|i| i as f32 * 1e-4 - 10.0).collect();
        let pieces: Vec<f32> = x.chunks(1000).flat_map(tanh).collect();
        assert_eq!(tanh(&x), pieces);
        let products: Vec<f32> = x.chunks(1000).flat_map(|x| tanh_gradient(x, x)).collect();
        assert_eq!(tanh_gradient(&x, &x), products);
    }
}
