//! In place of `gpu/` in a program that was built without the feature `cuda`: holds no tensor.

use super::function::Function;
use super::norms::Squares;
use super::precision::Precision;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Int, Tensor};
use std::convert::Infallible;
use std::path::Path;
use tacita_kernels::exact::{Grid, Sum};
use tacita_kernels::optimiser::{Rule, Weights};

pub(super) fn activate<const D: usize>(_: &Tensor<D>, _: Function) -> Option<Tensor<D>> {
    None
}

pub(super) fn conv2d(
    _: &Tensor<4>,
    _: &Tensor<4>,
    _: Option<&Tensor<1>>,
    _: &ConvOptions<2>,
    _: Precision,
) -> Option<Tensor<4>> {
    None
}

pub(super) fn device() -> Option<Device> {
    None
}

pub(super) fn embedding(_: &Tensor<2>, _: &Tensor<2, Int>) -> Option<Tensor<3>> {
    None
}

pub(super) fn formed_steps(_: &Tensor<2>, _: &Tensor<1>, _: Grid) -> Option<GpuSteps> {
    None
}

pub(super) fn keep_kernels(_: &Path) -> bool {
    false
}

pub(super) fn linear(
    _: &Tensor<2>,
    _: &Tensor<2>,
    _: Option<&Tensor<1>>,
    _: Precision,
) -> Option<Tensor<2>> {
    None
}

pub(super) fn matmul<const D: usize>(
    _: &Tensor<D>,
    _: &Tensor<D>,
    _: Precision,
) -> Option<Tensor<D>> {
    None
}

pub(super) fn normalise(_: &Tensor<2>, _: f64) -> Option<Tensor<2>> {
    None
}

pub(super) fn optimiser_step(
    _: Rule,
    _: Weights,
    _: &mut Vec<Tensor<1>>,
    _: &Tensor<1>,
    _: &Tensor<1>,
) -> Option<Tensor<1>> {
    None
}

pub(super) fn outer_squares(_: &Tensor<4>, _: &Tensor<4>) -> Option<Squares> {
    None
}

pub(super) fn probe<const D: usize>(_: &Tensor<D>, _: &Tensor<D>) -> Option<Tensor<D>> {
    None
}

pub(super) fn row_squares(_: &Tensor<2>) -> Option<Squares> {
    None
}

pub(super) fn scattered_steps(
    _: &Tensor<2, Int>,
    _: &Tensor<3>,
    _: &Tensor<1>,
    _: Grid,
    _: usize,
) -> Option<GpuSteps> {
    None
}

pub(super) fn softmax<const D: usize>(_: &Tensor<D>, _: bool) -> Option<Tensor<D>> {
    None
}

/// There are none.
#[derive(Debug)]
pub(crate) struct GpuSteps(Infallible);

impl GpuSteps {
    pub fn plus(self, _: Self) -> Self {
        self
    }

    pub fn into_sum(self, _: Grid) -> Sum {
        match self.0 {}
    }
}

/// There are none.
#[derive(Debug)]
pub(crate) struct GpuRows(Infallible);

impl GpuRows {
    pub fn new(_: &Tensor<2, Int>, _: &Tensor<3>) -> Option<Self> {
        None
    }

    pub fn bytes(&self) -> usize {
        match self.0 {}
    }

    pub fn positions(&self) -> usize {
        match self.0 {}
    }

    pub fn reach(&self) -> Tensor<1> {
        match self.0 {}
    }

    pub fn select(&self, _: &Tensor<1, Int>) -> Self {
        match self.0 {}
    }

    pub fn squares(&self) -> Tensor<2> {
        match self.0 {}
    }

    pub fn tensors(&self) -> (Tensor<2, Int>, Tensor<3>) {
        match self.0 {}
    }

    pub fn width(&self) -> usize {
        match self.0 {}
    }
}
