//! Operations for models: Burn's, with faster kernels on the CPU and on CUDA cards.
//!
//! Each function computes what Burn's function of the same name does, forward and backward. On the
//! CPU backend in single precision it runs Tacita's own kernel, on a CUDA card one chosen by measurement
//! where that is faster; otherwise it *is* Burn's.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! let x = Tensor::<2>::from_floats([[-1.0, 0.0, 1.0]], &Device::default());
//! let y = tacita::ops::tanh(x);
//! assert!((y.into_data().to_vec::<f32>().unwrap()[2] - 1.0f32.tanh()).abs() < 1e-6);
//! ```

#[cfg(feature = "cpu")]
use crate::cpu;
#[cfg(any(feature = "cpu", feature = "cuda"))]
use crate::function::Function;
#[cfg(feature = "cuda")]
use crate::gpu;
pub use crate::precision::{Precision, in_precision};
use burn::nn::activation::{Activation, Gelu};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, MaxPoolOptions};
use burn::tensor::{Int, Tensor, activation, module};

/// The CPU's own kernel if the tensors are there, else what follows.
macro_rules! on_cpu {
    ($kernel:expr) => {
        #[cfg(feature = "cpu")]
        if let Some(output) = $kernel {
            return output;
        }
    };
}

/// The card's own kernel if the tensors are there, else what follows.
macro_rules! on_card {
    ($kernel:expr) => {
        #[cfg(feature = "cuda")]
        if let Some(output) = $kernel {
            return output;
        }
    };
}

/// max(x, 0).
pub fn relu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    on_cpu!(cpu::activation::activate(&x, Function::Relu));
    on_card!(gpu::activation::activate(&x, Function::Relu));
    activation::relu(x)
}

/// Hyperbolic tangent.
pub fn tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    on_cpu!(cpu::activation::activate(&x, Function::Tanh));
    on_card!(gpu::activation::activate(&x, Function::Tanh));
    activation::tanh(x)
}

/// 1 / (1 + e⁻ˣ).
pub fn sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    on_cpu!(cpu::activation::activate(&x, Function::Sigmoid));
    on_card!(gpu::activation::activate(&x, Function::Sigmoid));
    activation::sigmoid(x)
}

/// x Φ(x), with the exact normal distribution function.
pub fn gelu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    on_cpu!(cpu::activation::activate(&x, Function::Gelu));
    on_card!(gpu::activation::activate(&x, Function::Gelu));
    activation::gelu(x)
}

/// Any of Burn's activations.
pub fn activate<const D: usize>(activation: &Activation, x: Tensor<D>) -> Tensor<D> {
    match activation {
        Activation::Relu(_) => relu(x),
        Activation::Tanh(_) => tanh(x),
        Activation::Sigmoid(_) => sigmoid(x),
        Activation::Gelu(Gelu { approximate: false }) => gelu(x),
        other => other.forward(x),
    }
}

/// Softmax over the last dimension.
pub fn softmax<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    on_cpu!(cpu::softmax::softmax(&x, false));
    on_card!(gpu::softmax::softmax(&x, false));
    activation::softmax(x, D - 1)
}

/// The logarithm of the softmax over the last dimension.
pub fn log_softmax<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    on_cpu!(cpu::softmax::softmax(&x, true));
    on_card!(gpu::softmax::softmax(&x, true));
    activation::log_softmax(x, D - 1)
}

/// x W + b for each row.
///
/// # Shapes
/// - x: `[rows, d_input]`, weight: `[d_input, d_output]`, bias: `[d_output]`
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>) -> Tensor<2> {
    on_cpu!(cpu::linear::linear(&x, &weight, bias.as_ref()));
    on_card!(gpu::product::linear(&x, &weight, bias.as_ref()));
    module::linear(x, weight, bias)
}

/// The product of matrices, for each index of the dimensions before the last two.
///
/// # Shapes
/// - left: `[.., m, k]`, right: `[.., k, n]`
pub fn matmul<const D: usize>(left: Tensor<D>, right: Tensor<D>) -> Tensor<D> {
    on_card!(gpu::product::matmul(&left, &right));
    left.matmul(right)
}

/// Scaled dot-product attention of `heads` heads side by side: softmax(QKᵀ / √width) V.
///
/// # Shapes
/// - query and result: `[batch, positions_1, heads · width]`
/// - key, value: `[batch, positions_2, heads · width]`
pub fn attention(query: Tensor<3>, key: Tensor<3>, value: Tensor<3>, heads: usize) -> Tensor<3> {
    on_cpu!(cpu::attention::attention(&query, &key, &value, heads));
    let shape = query.dims();
    let width = shape[2] / heads;
    let split = |sequence: Tensor<3>| {
        let [batch, positions, _] = sequence.dims();
        sequence
            .reshape([batch, positions, heads, width])
            .swap_dims(1, 2)
    };
    let scores = matmul(split(query), split(key).swap_dims(2, 3));
    let weights = softmax(scores.div_scalar((width as f32).sqrt()));
    matmul(weights, split(value)).swap_dims(1, 2).reshape(shape)
}

/// The rows of `weight` named by `rows`.
///
/// # Shapes
/// - weight: `[count, width]`, rows: `[batch, positions]`, result: `[batch, positions, width]`
pub fn embedding(weight: Tensor<2>, rows: Tensor<2, Int>) -> Tensor<3> {
    on_cpu!(cpu::rows::embedding(&weight, &rows));
    on_card!(gpu::rows::embedding(&weight, &rows));
    module::embedding(weight, rows)
}

/// The mean over positions of the rows of `weight` named by `rows`, without forming the rows.
///
/// # Shapes
/// - weight: `[count, width]`, rows: `[batch, positions]`, result: `[batch, width]`
pub fn embedding_mean(weight: Tensor<2>, rows: Tensor<2, Int>) -> Tensor<2> {
    on_cpu!(cpu::rows::embedding_mean(&weight, &rows));
    embedding(weight, rows).mean_dim(1).squeeze_dim(1)
}

/// 2-D convolution; see [`module::conv2d`].
pub fn conv2d(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvOptions<2>,
) -> Tensor<4> {
    on_cpu!(cpu::convolution::conv2d(
        &x,
        &weight,
        bias.as_ref(),
        &options
    ));
    on_card!(gpu::convolution::conv2d(
        &x,
        &weight,
        bias.as_ref(),
        &options
    ));
    module::conv2d(x, weight, bias, options)
}

/// 2-D transposed convolution; see [`module::conv_transpose2d`].
pub fn conv_transpose2d(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<2>,
) -> Tensor<4> {
    on_cpu!(cpu::convolution::conv_transpose2d(
        &x,
        &weight,
        bias.as_ref(),
        &options
    ));
    module::conv_transpose2d(x, weight, bias, options)
}

/// The maximum of each window; see [`module::max_pool2d`].
///
/// # Shapes
/// - x: `[batch, channels, height, width]`
pub fn max_pool2d(x: Tensor<4>, options: MaxPoolOptions<2>) -> Tensor<4> {
    on_cpu!(cpu::pooling::max_pool2d(&x, &options));
    module::max_pool2d(x, options)
}

/// Rows brought to mean 0 and variance 1: (x − mean) / √(variance + ε).
///
/// # Shapes
/// - x: `[rows, width]`
pub fn normalise(x: Tensor<2>, epsilon: f64) -> Tensor<2> {
    on_cpu!(cpu::normalise::normalise(&x, epsilon));
    on_card!(gpu::normalise::normalise(&x, epsilon));
    let ones = Tensor::ones([x.dims()[1]], &x.device().without_autodiff());
    module::layer_norm(x, ones, None, epsilon)
}

/// A scale and a shift per feature: x · scale + shift.
///
/// # Shapes
/// - x: `[outer, features, inner]`; scale, shift: `[features]`
pub fn affine(x: Tensor<3>, scale: Tensor<1>, shift: Option<Tensor<1>>) -> Tensor<3> {
    on_cpu!(cpu::affine::affine(&x, &scale, shift.as_ref()));
    let features = x.dims()[1];
    let scaled = x * scale.reshape([1, features, 1]);
    match shift {
        Some(shift) => scaled + shift.reshape([1, features, 1]),
        None => scaled,
    }
}
