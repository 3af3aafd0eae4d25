//! All uses of one parameter (or of parameters that lie side by side), as one per-sample gradient.
//!
//! Uses are summed *before* the norm: uses as outer products are one outer product over the positions
//! of all of them, so nothing is approximated and mostly nothing is formed.

use super::contribution::{Contribution, Form, Target};
use super::method::{NormMethod, Performance};
use super::norm::{SquaredNorm, sum_of_squares};
use super::outer;
use super::rows;
use super::sum::sum_of_formed;
use super::workspace::Workspace;
use crate::compute::backend::{self, Convolution, Rows, together};
use crate::sensitivity::rounding::{HALF_A_STEP, OPERANDS_OF_A_PRODUCT};
use burn::tensor::{Int, Tensor};
use tacita_kernels::exact::{Grid, Sum};

/// The per-sample gradient of a bundle's targets.
#[derive(Debug)]
pub(crate) enum Merged {
    Direct(Tensor<2>),
    Outer(Tensor<4>, Tensor<4>),
    Rows(Rows),
    Convolution(Convolution),
    /// A table used as an embedding and, transposed, as an output layer.
    Tied(Box<Tied>),
}

/// The two uses of a tied table.
#[derive(Debug)]
pub(crate) struct Tied {
    rows: Rows,
    outer: (Tensor<4>, Tensor<4>),
    /// Twice their inner product, a part of the squared norm.
    cross: SquaredNorm,
}

#[derive(Debug)]
pub(crate) struct Bundle {
    pub merged: Merged,
    pub targets: Vec<Target>,
    pub group: usize,
    /// Rows of the matrix in whose last dimension several targets lie side by side.
    depth: usize,
}

/// A lone part as it is, several joined along a dimension.
fn join<const D: usize>(mut parts: Vec<Tensor<D>>, dim: usize) -> Option<Tensor<D>> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Tensor::cat(parts, dim)),
    }
}

impl Bundle {
    /// Merges contributions to the same targets, of samples of `records` consecutive records each: those are
    /// further positions of one gradient, and what is there already is added up.
    pub fn merge(
        contributions: Vec<Contribution>,
        targets: Vec<Target>,
        group: usize,
        records: usize,
    ) -> Option<Self> {
        let alone = contributions.len() == 1;
        let (mut lefts, mut rights) = (Vec::new(), Vec::new());
        let (mut tokens, mut token_rights) = (Vec::new(), Vec::new());
        let mut direct: Option<Tensor<2>> = None;
        for contribution in contributions {
            match contribution.form {
                Form::Convolution(convolution) if alone => {
                    let merged = Merged::Convolution(Convolution {
                        images: records,
                        ..convolution
                    });
                    return Some(Self::new(merged, targets, group));
                }
                Form::Convolution(convolution) => {
                    let (left, right) = convolution.factors(0, convolution.size().batch);
                    lefts.push(left);
                    rights.push(right);
                }
                Form::Outer { left, right } => {
                    lefts.push(left);
                    rights.push(right);
                }
                Form::Rows { rows, right } => {
                    tokens.push(rows);
                    token_rights.push(right);
                }
                Form::Direct { gradient } => {
                    direct = Some(match direct {
                        Some(sum) => sum + gradient,
                        None => gradient,
                    });
                }
            }
        }
        let direct = direct.map(|gradient| added_up(gradient, records));
        let outer = join(lefts, 2).zip(join(rights, 2));
        let outer = outer.map(|(left, right)| (together(left, records), together(right, records)));
        let rows = join_rows(tokens).zip(join(token_rights, 1));
        let rows = rows.map(|(rows, right)| {
            let table = targets[0].elements / right.dims()[2].max(1);
            rows::inside(rows, right, table)
        });
        let merged = match (direct, outer, rows) {
            (None, Some((left, right)), None) => Merged::Outer(left, right),
            (None, None, Some((rows, right))) => Merged::Rows(Rows::new(rows, right, records)),
            (None, Some(outer), Some((rows, right))) => {
                let rows = Rows::new(rows, right, records);
                let (tokens, vectors) = rows.tensors();
                Merged::Tied(Box::new(Tied {
                    cross: rows::cross_gram(&tokens, &vectors, &outer.0, &outer.1).twice(),
                    rows,
                    outer,
                }))
            }
            (None, None, None) => return None,
            (Some(mut sum), outer, rows) => {
                // A formed gradient is there already, so forming the others costs no more memory.
                if let Some((left, right)) = outer {
                    sum = sum + outer::materialise(&left, &right);
                }
                if let Some((rows, right)) = rows {
                    let table = targets[0].elements / right.dims()[2];
                    let (rows, right) = Rows::new(rows, right, records).tensors();
                    sum = sum + rows::materialise(&rows, &right, table);
                }
                Merged::Direct(sum)
            }
        };
        Some(Self::new(merged, targets, group))
    }

    fn new(merged: Merged, targets: Vec<Target>, group: usize) -> Self {
        let depth = match &merged {
            Merged::Outer(left, _) => left.dims()[3],
            _ => 1,
        };
        Self {
            merged,
            targets,
            group,
            depth,
        }
    }

    fn table(&self, width: usize) -> usize {
        self.targets[0].elements / width
    }

    /// The norm of what [`Bundle::weighted_sum`] adds up. The bundle keeps per-sample gradients where that
    /// makes the weighted sum cheaper.
    pub fn squared_norm(
        &mut self,
        performance: &Performance,
        workspace: &mut Workspace,
    ) -> SquaredNorm {
        let share = OPERANDS_OF_A_PRODUCT * workspace.operand_error;
        self.squared_norm_in_full(performance, workspace)
            .allowing_relative(share)
    }

    fn squared_norm_in_full(
        &mut self,
        performance: &Performance,
        workspace: &mut Workspace,
    ) -> SquaredNorm {
        match &self.merged {
            Merged::Direct(gradient) => sum_of_squares(gradient.clone()),
            Merged::Outer(left, right) => {
                let size = outer::size(left, right);
                if size.positions == 1 && performance.norm_method.is_none() {
                    return outer::ghost(left, right);
                }
                match workspace.outer_method(performance, left, size) {
                    NormMethod::Gram => workspace.gram(left, right),
                    NormMethod::Recomputed => {
                        outer::recompute(left, right, performance.workspace_bytes)
                    }
                    NormMethod::Kept => {
                        workspace.keep(size);
                        let gradient = outer::materialise(left, right);
                        self.merged = Merged::Direct(gradient.clone());
                        sum_of_squares(gradient)
                    }
                }
            }
            Merged::Convolution(convolution) => {
                let size = convolution.size();
                match workspace.method(performance, size) {
                    NormMethod::Gram => convolution.gram(performance),
                    NormMethod::Recomputed => convolution.recompute(performance),
                    NormMethod::Kept => {
                        workspace.keep(size);
                        let (norm, gradient) = convolution.keep(performance);
                        self.merged = Merged::Direct(gradient);
                        norm
                    }
                }
            }
            Merged::Rows(rows) => rows::squared_norm(rows),
            Merged::Tied(tied) => {
                let (left, right) = &tied.outer;
                let output = if left.dims()[2] == 1 {
                    outer::ghost(left, right)
                } else {
                    workspace.gram(left, right)
                };
                let embedding = rows::squared_norm(&tied.rows);
                let norm = embedding
                    .plus(output)
                    .plus_inner_product(tied.cross.clone());
                outer::allowing_other_operands(norm, || outer::reach(left, right), left)
            }
        }
    }

    /// Σᵢ cᵢ gᵢ on a grid for one row of factors, over all targets.
    pub fn weighted_sum(&self, factors: &Tensor<1>, grid: Grid, performance: &Performance) -> Sum {
        match &self.merged {
            Merged::Direct(gradient) => direct_sum(gradient, factors, grid, performance),
            Merged::Outer(left, right) => {
                outer::weighted_sum(left, right, factors, grid, performance)
            }
            Merged::Convolution(convolution) => {
                convolution.weighted_sum(factors, grid, performance)
            }
            Merged::Rows(rows) => rows::weighted_sum(rows, factors, grid, self.table(rows.width())),
            Merged::Tied(tied) => tied.weighted_sum(factors, grid, performance),
        }
    }

    /// How far rounding a sample to a grid moves it at most, in steps: half a step in every entry for
    /// every time that it is rounded. Depends on shapes alone.
    pub fn rounding(&self) -> f64 {
        let elements = || {
            self.targets
                .iter()
                .map(|target| target.elements)
                .sum::<usize>() as f64
        };
        let of_outer =
            |positions| HALF_A_STEP * outer::roundings(positions) as f64 * elements().sqrt();
        // Every position rounds one row of the table.
        let of_rows =
            |rows: &Rows| HALF_A_STEP * rows.positions() as f64 * (rows.width() as f64).sqrt();
        match &self.merged {
            Merged::Direct(_) => HALF_A_STEP * elements().sqrt(),
            Merged::Outer(left, _) => of_outer(left.dims()[2]),
            Merged::Convolution(convolution) => of_outer(convolution.size().positions),
            Merged::Rows(rows) => of_rows(rows),
            Merged::Tied(tied) => of_rows(&tied.rows) + of_outer(tied.outer.0.dims()[2]),
        }
    }

    /// The sum of several targets, taken apart.
    pub fn per_target(&self, sum: Sum) -> Vec<Sum> {
        if self.targets.len() == 1 {
            return vec![sum];
        }
        let width = |target: &Target| target.elements / self.depth;
        let widths: Vec<usize> = self.targets.iter().map(width).collect();
        sum.split(self.depth, &widths)
    }

    /// What the sum is made of, by sample; not the rows of a table.
    pub fn tensors(&self) -> Vec<Tensor<2>> {
        fn flat<const D: usize>(tensor: &Tensor<D>) -> Tensor<2> {
            of_each(tensor, 1)
        }
        fn of_each<const D: usize>(tensor: &Tensor<D>, rows: usize) -> Tensor<2> {
            let samples = tensor.dims()[0] / rows.max(1);
            let values: usize = tensor.dims()[1..].iter().product();
            tensor.clone().reshape([samples, rows * values])
        }
        match &self.merged {
            Merged::Direct(gradient) => vec![gradient.clone()],
            Merged::Outer(left, right) => vec![flat(left), flat(right)],
            Merged::Rows(rows) => vec![flat(&rows.tensors().1)],
            Merged::Convolution(c) => {
                vec![of_each(&c.input, c.images), of_each(&c.output, c.images)]
            }
            Merged::Tied(tied) => {
                let (left, right) = &tied.outer;
                vec![flat(&tied.rows.tensors().1), flat(left), flat(right)]
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let values = |shapes: &[&[usize]]| -> usize {
            shapes.iter().map(|s| s.iter().product::<usize>()).sum()
        };
        4 * match &self.merged {
            Merged::Direct(gradient) => values(&[&gradient.dims()]),
            Merged::Outer(left, right) => values(&[&left.dims(), &right.dims()]),
            Merged::Rows(rows) => rows.bytes() / 4,
            Merged::Convolution(c) => values(&[&c.input.dims(), &c.output.dims()]),
            Merged::Tied(tied) => {
                let outer = &tied.outer;
                tied.rows.bytes() / 4 + values(&[&outer.0.dims(), &outer.1.dims()])
            }
        }
    }

    /// Only the given samples.
    pub fn select(&mut self, samples: &[usize], indices: &Tensor<1, Int>) {
        let pick = |tensor: &Tensor<4>| tensor.clone().select(0, indices.clone());
        let images_of = |images: usize| {
            let each = samples.iter();
            let each = each.flat_map(|sample| sample * images..(sample + 1) * images);
            let each: Vec<i64> = each.map(|image| image as i64).collect();
            Tensor::<1, Int>::from_data(each.as_slice(), &indices.device())
        };
        self.merged = match &self.merged {
            Merged::Direct(gradient) => Merged::Direct(gradient.clone().select(0, indices.clone())),
            Merged::Outer(left, right) => Merged::Outer(pick(left), pick(right)),
            Merged::Rows(rows) => Merged::Rows(rows.select(samples, indices)),
            Merged::Convolution(convolution) => {
                let images = images_of(convolution.images);
                let pick = |tensor: &Tensor<4>| tensor.clone().select(0, images.clone());
                Merged::Convolution(Convolution {
                    input: pick(&convolution.input),
                    output: pick(&convolution.output),
                    ..convolution.clone()
                })
            }
            Merged::Tied(tied) => Merged::Tied(Box::new(Tied {
                rows: tied.rows.select(samples, indices),
                outer: (pick(&tied.outer.0), pick(&tied.outer.1)),
                cross: tied.cross.clone(),
            })),
        };
    }
}

/// The sum of gradients that are there.
fn direct_sum(
    gradient: &Tensor<2>,
    factors: &Tensor<1>,
    grid: Grid,
    performance: &Performance,
) -> Sum {
    if let Some(sum) = backend::row_sum(gradient, factors, grid) {
        return sum;
    }
    let [_, elements] = gradient.dims();
    let rows = |first, count| gradient.clone().narrow(0, first, count);
    sum_of_formed(factors, grid, elements, performance, rows)
}

impl Tied {
    /// Either use may be longer than both together. On the host they are added in one go, modulo 2³²;
    /// elsewhere both are formed and added before they are rounded.
    fn weighted_sum(&self, factors: &Tensor<1>, grid: Grid, performance: &Performance) -> Sum {
        let (left, right) = &self.outer;
        backend::tied_sum(&self.rows, left, right, factors, grid)
            .unwrap_or_else(|| self.formed_sum(factors, grid, performance))
    }

    pub(super) fn formed_sum(
        &self,
        factors: &Tensor<1>,
        grid: Grid,
        performance: &Performance,
    ) -> Sum {
        let (left, right) = &self.outer;
        let (table, width) = (left.dims()[3], right.dims()[3]);
        let (tokens, vectors) = self.rows.tensors();
        sum_of_formed(factors, grid, table * width, performance, |first, count| {
            let left = left.clone().narrow(0, first, count);
            let right = right.clone().narrow(0, first, count);
            let tokens = tokens.clone().narrow(0, first, count);
            let vectors = vectors.clone().narrow(0, first, count);
            outer::materialise(&left, &right) + rows::materialise(&tokens, &vectors, table)
        })
    }
}

/// The sum over every `records` consecutive rows, added one after another, so that a sample's sum is the same
/// whoever else is there.
fn added_up(gradient: Tensor<2>, records: usize) -> Tensor<2> {
    if records == 1 {
        return gradient;
    }
    let [all_records, elements] = gradient.dims();
    let samples = all_records / records.max(1);
    let of_each = gradient.reshape([samples, records, elements]);
    let nth = |record: usize| {
        let one = of_each.clone().narrow(1, record, 1);
        one.reshape([samples, elements])
    };
    (1..records).fold(nth(0), |sum, record| sum + nth(record))
}

fn join_rows(mut parts: Vec<Tensor<2, Int>>) -> Option<Tensor<2, Int>> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Tensor::cat(parts, 1)),
    }
}
