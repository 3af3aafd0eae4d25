//! Per-sample gradients: norms and weighted sums.

use super::Values;
use super::convolution::geometry;
use crate::compute::backend::Convolution;
use crate::compute::backend::norms::{Measured, Squares};
use burn::tensor::Tensor;
use tacita_kernels::convolution as kernels;
use tacita_kernels::convolution::Geometry;
use tacita_kernels::exact::{Grid, Sum, add_rows};
use tacita_kernels::update;

/// ‖row‖² of each row.
pub(crate) fn row_squares(rows: &Tensor<2>) -> Option<Squares> {
    let [batch, width] = rows.dims();
    let squares = update::row_squares(Values::free(rows)?.slice(), width);
    Some(Squares {
        value: Values::new(squares, [batch]).into(),
        additions: 0,
    })
}

/// Σᵢ cᵢ rowᵢ on a grid.
pub(crate) fn row_sum(rows: &Tensor<2>, factors: &Tensor<1>, grid: Grid) -> Option<Sum> {
    let [batch, width] = rows.dims();
    let (rows, factors) = (Values::free(rows)?, Values::free(factors)?);
    let (rows, factors) = (rows.slice(), factors.slice());
    Some(Sum::of_records(grid, width, batch, |some, steps| {
        let rows = &rows[some.start * width..some.end * width];
        add_rows(steps, rows, &factors[some], grid);
    }))
}

/// A convolution's sizes, input and output gradient.
fn parts(convolution: &Convolution) -> Option<(Geometry, Values, Values)> {
    let [_, channels_out, height, width] = convolution.output.dims();
    let [kernel_1, kernel_2] = convolution.kernel;
    let weight = [channels_out, 0, kernel_1, kernel_2];
    let sizes = Geometry {
        // A transposed convolution's extra output rows see no input position.
        output: [height, width],
        ..geometry(convolution.input.dims(), weight, &convolution.options)
    };
    Some((
        sizes,
        Values::free(&convolution.input)?,
        Values::free(&convolution.output)?,
    ))
}

/// The per-sample gradients, `[batch, elements]`.
pub(crate) fn convolution_gradients(convolution: &Convolution) -> Option<Tensor<2>> {
    let (sizes, x, dy) = parts(convolution)?;
    let (images, samples) = (convolution.images, convolution.size().batch);
    let gradients = kernels::per_sample_weight_gradients(&sizes, x.slice(), dy.slice(), images);
    Some(Values::new(gradients, [samples, sizes.weights()]).into())
}

fn measured(norms: kernels::Norms, batch: usize) -> Measured {
    let tensor = |values: Vec<f32>| Values::new(values, [batch]).into();
    Measured {
        squares: tensor(norms.squares),
        reach: tensor(norms.reach),
    }
}

/// Norms of per-sample gradients that are formed and dropped.
pub(crate) fn convolution_norms(convolution: &Convolution) -> Option<Measured> {
    let (sizes, x, dy) = parts(convolution)?;
    let norms = kernels::per_sample_norms(&sizes, x.slice(), dy.slice(), convolution.images);
    Some(measured(norms, convolution.size().batch))
}

/// Norms of a convolution from inner products between positions, where a sample is one image.
pub(crate) fn convolution_gram_norms(convolution: &Convolution) -> Option<Measured> {
    if convolution.images > 1 {
        return None;
    }
    let (sizes, x, dy) = parts(convolution)?;
    let norms = kernels::gram_norms(&sizes, x.slice(), dy.slice());
    Some(measured(norms, sizes.batch))
}

/// Σᵢ cᵢ gᵢ on a grid, `[elements]`.
pub(crate) fn convolution_sum(
    convolution: &Convolution,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<Sum> {
    let (sizes, x, dy) = parts(convolution)?;
    let factors = Values::free(factors)?;
    let (x, dy, factors) = (x.slice(), dy.slice(), factors.slice());
    let samples = convolution.size().batch;
    let sum = Sum::of_records(grid, sizes.weights(), samples, |some, steps| {
        let images = some.start * convolution.images..some.end * convolution.images;
        let part = Geometry {
            batch: images.len(),
            ..sizes
        };
        let x = &x[images.start * sizes.sample_in()..images.end * sizes.sample_in()];
        let dy = &dy[images.start * sizes.sample_out()..images.end * sizes.sample_out()];
        kernels::add_weight_gradients(steps, &part, x, dy, &factors[some], grid);
    });
    Some(sum)
}
