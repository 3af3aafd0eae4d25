//! Operations for models: Burn's, with faster kernels on the CPU and on CUDA GPUs.
//!
//! Each function computes what Burn's function of the same name does, forward and backward. On the
//! CPU backend in single precision it runs Tacita's own kernel, on a CUDA GPU one chosen by measurement
//! where that is faster; otherwise it *is* Burn's.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! let x = Tensor::<2>::from_floats([[-1.0, 0.0, 1.0]], &Device::default());
//! let y = tacita::ops::tanh(x);
//! assert!((y.into_data().to_vec::<f32>().unwrap()[2] - 1.0f32.tanh()).abs() < 1e-6);
//! ```

use super::function::Function;
pub use super::precision::{Precision, in_precision};
use super::{cpu, gpu, precision};
use burn::nn::activation::{Activation, Gelu};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, MaxPoolOptions};
use burn::tensor::{Bool, Int, Tensor, activation, module};

/// A function of each value.
fn function<const D: usize>(
    x: Tensor<D>,
    function: Function,
    burns: fn(Tensor<D>) -> Tensor<D>,
) -> Tensor<D> {
    gpu::activate(&x, function)
        .or_else(|| cpu::activate(&x, function))
        .unwrap_or_else(|| burns(x))
}

/// max(x, 0).
pub fn relu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    function(x, Function::Relu, activation::relu)
}

/// Hyperbolic tangent.
pub fn tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    function(x, Function::Tanh, activation::tanh)
}

/// 1 / (1 + e⁻ˣ).
pub fn sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    function(x, Function::Sigmoid, activation::sigmoid)
}

/// x Φ(x), with the exact normal distribution function.
pub fn gelu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    function(x, Function::Gelu, activation::gelu)
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
    gpu::softmax(&x, false)
        .or_else(|| cpu::softmax(&x, false))
        .unwrap_or_else(|| activation::softmax(x, D - 1))
}

/// The logarithm of the softmax over the last dimension.
pub fn log_softmax<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    gpu::softmax(&x, true)
        .or_else(|| cpu::softmax(&x, true))
        .unwrap_or_else(|| activation::log_softmax(x, D - 1))
}

/// x W + b for each row.
///
/// # Shapes
/// - x: `[rows, d_input]`, weight: `[d_input, d_output]`, bias: `[d_output]`
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>) -> Tensor<2> {
    gpu::linear(&x, &weight, bias.as_ref(), precision::current())
        .or_else(|| cpu::linear(&x, &weight, bias.as_ref()))
        .unwrap_or_else(|| module::linear(x, weight, bias))
}

/// The product of matrices, for each index of the dimensions before the last two.
///
/// # Shapes
/// - left: `[.., m, k]`, right: `[.., k, n]`
pub fn matmul<const D: usize>(left: Tensor<D>, right: Tensor<D>) -> Tensor<D> {
    gpu::matmul(&left, &right, precision::current()).unwrap_or_else(|| left.matmul(right))
}

/// Scaled dot-product attention of `heads` heads side by side: softmax(QKᵀ / √width) V.
///
/// # Shapes
/// - query and result: `[batch, positions_1, heads · width]`
/// - key, value: `[batch, positions_2, heads · width]`
pub fn attention(query: Tensor<3>, key: Tensor<3>, value: Tensor<3>, heads: usize) -> Tensor<3> {
    attention_with(query, key, value, heads, None)
}

/// The same of scores to which something is added, such as a large negative number at padding or a bias by distance:
/// softmax(QKᵀ / √width + added) V.
///
/// # Shapes
/// - as [`attention`]; added: `[batch or 1, heads or 1, positions_1 or 1, positions_2]`
pub fn attention_with(
    query: Tensor<3>,
    key: Tensor<3>,
    value: Tensor<3>,
    heads: usize,
    added: Option<Tensor<4>>,
) -> Tensor<3> {
    if let Some(output) = cpu::attention(&query, &key, &value, heads, added.as_ref(), false) {
        return output;
    }
    attention_of_burn(query, key, value, heads, |scores| match added {
        Some(added) => scores + added,
        None => scores,
    })
}

/// [`attention`] where a query attends to no key after its own; the last query has the place of the last key. Keys
/// and values may have fewer heads, each of which neighbouring heads of the queries share.
///
/// Positions after a record's last are padding that no other position sees, so no mask is needed for them.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let device = Device::default();
/// let query = Tensor::<3>::ones([1, 3, 8], &device); // 4 heads of width 2
/// let key = Tensor::<3>::ones([1, 3, 4], &device); // 2 heads
/// let context = tacita::ops::causal_attention(query, key.clone(), key, 4);
/// assert_eq!(context.dims(), [1, 3, 8]);
/// ```
///
/// # Shapes
/// - query and result: `[batch, positions_1, heads · width]`
/// - key, value: `[batch, positions_2, key_heads · width]`; `positions_2 ≥ positions_1`
pub fn causal_attention(
    query: Tensor<3>,
    key: Tensor<3>,
    value: Tensor<3>,
    heads: usize,
) -> Tensor<3> {
    if let Some(context) = cpu::attention(&query, &key, &value, heads, None, true) {
        return context;
    }
    let ([_, queries, _], [_, keys, _]) = (query.dims(), key.dims());
    let after = Tensor::<2, Bool>::tril_mask(
        [queries, keys],
        keys as i64 - queries as i64,
        &query.device().without_autodiff(),
    );
    attention_of_burn(query, key, value, heads, |scores| {
        scores.mask_fill(after.unsqueeze(), f32::NEG_INFINITY)
    })
}

fn attention_of_burn(
    query: Tensor<3>,
    key: Tensor<3>,
    value: Tensor<3>,
    heads: usize,
    changed: impl FnOnce(Tensor<4>) -> Tensor<4>,
) -> Tensor<3> {
    let shape = query.dims();
    let width = shape[2] / heads;
    let split = |sequence: Tensor<3>| {
        let [batch, positions, row] = sequence.dims();
        let own = row / width;
        sequence
            .reshape([batch, positions, own, 1, width])
            .expand([batch, positions, own, heads / own, width])
            .reshape([batch, positions, heads, width])
            .swap_dims(1, 2)
    };
    let scores = matmul(split(query), split(key).swap_dims(2, 3));
    let scores = scores.div_scalar((width as f32).sqrt());
    matmul(softmax(changed(scores)), split(value))
        .swap_dims(1, 2)
        .reshape(shape)
}

/// The rows of `weight` named by `rows`.
///
/// # Shapes
/// - weight: `[count, width]`, rows: `[batch, positions]`, result: `[batch, positions, width]`
pub fn embedding(weight: Tensor<2>, rows: Tensor<2, Int>) -> Tensor<3> {
    gpu::embedding(&weight, &rows)
        .or_else(|| cpu::embedding(&weight, &rows))
        .unwrap_or_else(|| module::embedding(weight, rows))
}

/// The mean over positions of the rows of `weight` named by `rows`, without forming the rows.
///
/// # Shapes
/// - weight: `[count, width]`, rows: `[batch, positions]`, result: `[batch, width]`
pub fn embedding_mean(weight: Tensor<2>, rows: Tensor<2, Int>) -> Tensor<2> {
    cpu::embedding_mean(&weight, &rows)
        .unwrap_or_else(|| embedding(weight, rows).mean_dim(1).squeeze_dim(1))
}

/// 2-D convolution; see [`module::conv2d`].
pub fn conv2d(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvOptions<2>,
) -> Tensor<4> {
    gpu::conv2d(&x, &weight, bias.as_ref(), &options, precision::current())
        .or_else(|| cpu::conv2d(&x, &weight, bias.as_ref(), &options))
        .unwrap_or_else(|| module::conv2d(x, weight, bias, options))
}

/// 2-D transposed convolution; see [`module::conv_transpose2d`].
pub fn conv_transpose2d(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<2>,
) -> Tensor<4> {
    cpu::conv_transpose2d(&x, &weight, bias.as_ref(), &options)
        .unwrap_or_else(|| module::conv_transpose2d(x, weight, bias, options))
}

/// The maximum of each window; see [`module::max_pool2d`].
///
/// # Shapes
/// - x: `[batch, channels, height, width]`
pub fn max_pool2d(x: Tensor<4>, options: MaxPoolOptions<2>) -> Tensor<4> {
    cpu::max_pool2d(&x, &options).unwrap_or_else(|| module::max_pool2d(x, options))
}

/// Rows brought to mean 0 and variance 1: (x − mean) / √(variance + ε).
///
/// # Shapes
/// - x: `[rows, width]`
pub fn normalise(x: Tensor<2>, epsilon: f64) -> Tensor<2> {
    gpu::normalise(&x, epsilon)
        .or_else(|| cpu::normalise(&x, epsilon))
        .unwrap_or_else(|| {
            let ones = Tensor::ones([x.dims()[1]], &x.device().without_autodiff());
            module::layer_norm(x, ones, None, epsilon)
        })
}

/// A scale and a shift per feature: x · scale + shift.
///
/// # Shapes
/// - x: `[outer, features, inner]`; scale, shift: `[features]`
pub fn affine(x: Tensor<3>, scale: Tensor<1>, shift: Option<Tensor<1>>) -> Tensor<3> {
    if let Some(output) = cpu::affine(&x, &scale, shift.as_ref()) {
        return output;
    }
    let features = x.dims()[1];
    let scaled = x * scale.reshape([1, features, 1]);
    match shift {
        Some(shift) => scaled + shift.reshape([1, features, 1]),
        None => scaled,
    }
}

/// Σₜ x̂ ⊙ ∂y and Σₜ ∂y of each sample, with a dimension of size 1 in place of the positions: the per-sample
/// gradients of a scale and a shift per feature.
///
/// # Shapes
/// - `normal` (x̂) and `gradient` (∂y): `[batch, positions, features]` or, with `features_first`,
///   `[batch, features, positions]`
pub(crate) fn feature_sums(
    normal: Tensor<3>,
    gradient: Tensor<3>,
    features_first: bool,
) -> (Tensor<3>, Tensor<3>) {
    cpu::feature_sums(&normal, &gradient, features_first).unwrap_or_else(|| {
        let positions = if features_first { 2 } else { 1 };
        let scaled = normal * gradient.clone();
        (scaled.sum_dim(positions), gradient.sum_dim(positions))
    })
}

/// Hidden states `[batch, steps, hidden]` and the last cell `[batch, hidden]` of an LSTM with gates
/// in the order input, forget, cell, output, if one kernel reads the whole sequence.
///
/// # Shapes
/// - `gates_input`: `[batch, steps, 4 · hidden]`; `recurrent`: `[hidden, 4 · hidden]`
/// - `first_hidden`, `first_cell`: `[batch, hidden]`
pub(crate) fn lstm(
    gates_input: Tensor<3>,
    recurrent: &Tensor<2>,
    first_hidden: &Tensor<2>,
    first_cell: &Tensor<2>,
) -> Option<(Tensor<3>, Tensor<2>)> {
    cpu::lstm(gates_input, recurrent, first_hidden, first_cell)
}
