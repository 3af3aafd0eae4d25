//! In place of `cpu/` in a program that was built without the feature `cpu`: holds no tensor.

use super::Convolution;
use super::function::Function;
use super::norms::{Measured, Squares};
use super::rows::HostRows;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, MaxPoolOptions};
use burn::tensor::{Device, Int, Tensor};
use tacita_kernels::exact::{Grid, Sum};
use tacita_kernels::optimiser::{Rule, Weights};

/// Holds nothing.
#[derive(Debug, Default)]
pub(crate) struct GramCache;

pub(super) fn activate<const D: usize>(_: &Tensor<D>, _: Function) -> Option<Tensor<D>> {
    None
}

pub(super) fn affine(_: &Tensor<3>, _: &Tensor<1>, _: Option<&Tensor<1>>) -> Option<Tensor<3>> {
    None
}

pub(super) fn attention(
    _: &Tensor<3>,
    _: &Tensor<3>,
    _: &Tensor<3>,
    _: usize,
    _: Option<&Tensor<4>>,
    _: bool,
) -> Option<Tensor<3>> {
    None
}

pub(super) fn conv2d(
    _: &Tensor<4>,
    _: &Tensor<4>,
    _: Option<&Tensor<1>>,
    _: &ConvOptions<2>,
) -> Option<Tensor<4>> {
    None
}

pub(super) fn conv_transpose2d(
    _: &Tensor<4>,
    _: &Tensor<4>,
    _: Option<&Tensor<1>>,
    _: &ConvTransposeOptions<2>,
) -> Option<Tensor<4>> {
    None
}

pub(super) fn convolution_gradients(_: &Convolution) -> Option<Tensor<2>> {
    None
}

pub(super) fn convolution_gram_norms(_: &Convolution) -> Option<Measured> {
    None
}

pub(super) fn convolution_norms(_: &Convolution) -> Option<Measured> {
    None
}

pub(super) fn convolution_sum(_: &Convolution, _: &Tensor<1>, _: Grid) -> Option<Sum> {
    None
}

pub(super) fn device() -> Option<Device> {
    None
}

pub(super) fn embedding(_: &Tensor<2>, _: &Tensor<2, Int>) -> Option<Tensor<3>> {
    None
}

pub(super) fn embedding_mean(_: &Tensor<2>, _: &Tensor<2, Int>) -> Option<Tensor<2>> {
    None
}

pub(super) fn feature_sums(
    _: &Tensor<3>,
    _: &Tensor<3>,
    _: bool,
) -> Option<(Tensor<3>, Tensor<3>)> {
    None
}

pub(super) fn gram_norms(_: &Tensor<4>, _: &Tensor<4>, _: &mut GramCache) -> Option<Measured> {
    None
}

pub(super) fn has_outer_kernels(_: &Tensor<4>) -> bool {
    false
}

pub(super) fn is_device(_: &Device) -> bool {
    false
}

pub(super) fn linear(_: &Tensor<2>, _: &Tensor<2>, _: Option<&Tensor<1>>) -> Option<Tensor<2>> {
    None
}

pub(super) fn lstm(
    _: Tensor<3>,
    _: &Tensor<2>,
    _: &Tensor<2>,
    _: &Tensor<2>,
) -> Option<(Tensor<3>, Tensor<2>)> {
    None
}

pub(super) fn max_pool2d(_: &Tensor<4>, _: &MaxPoolOptions<2>) -> Option<Tensor<4>> {
    None
}

pub(super) fn normalise(_: &Tensor<2>, _: f64) -> Option<Tensor<2>> {
    None
}

pub(super) fn optimiser_step(
    _: Rule,
    _: Weights,
    _: &mut Vec<Tensor<1>>,
    _: &mut Tensor<1>,
    _: &Tensor<1>,
) -> bool {
    false
}

pub(super) fn outer_norms(_: &Tensor<4>, _: &Tensor<4>) -> Option<Measured> {
    None
}

pub(super) fn outer_sum(_: &Tensor<4>, _: &Tensor<4>, _: &Tensor<1>, _: Grid) -> Option<Sum> {
    None
}

pub(super) fn probe<const D: usize>(_: &Tensor<D>, _: &Tensor<D>) -> Option<Tensor<D>> {
    None
}

pub(super) fn row_squares(_: &Tensor<2>) -> Option<Squares> {
    None
}

pub(super) fn row_sum(_: &Tensor<2>, _: &Tensor<1>, _: Grid) -> Option<Sum> {
    None
}

pub(super) fn shared_vector(_: &Tensor<3>) -> Option<Tensor<2>> {
    None
}

pub(super) fn softmax<const D: usize>(_: &Tensor<D>, _: bool) -> Option<Tensor<D>> {
    None
}

pub(super) fn tied_sum(
    _: &HostRows,
    _: &Tensor<4>,
    _: &Tensor<4>,
    _: &Tensor<1>,
    _: Grid,
) -> Option<Sum> {
    None
}
