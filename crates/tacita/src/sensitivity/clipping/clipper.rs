//! Clipped sums of one batch: norms, factors, weighted sums.

use super::quantile::centred_counts;
use super::room::{Room, room};
use super::rule::{direction_factors, row};
use super::{ClipRule, Groups, Threshold};
use crate::sensitivity::gradient::{
    GradientError, Norms, PerSampleGradients, Performance, Samples, WeightedSums, Weights,
};
use crate::sensitivity::pass::{self, PassError};
use crate::sensitivity::pass_shape::{PartShape, PassRows, PassShape};
use burn::module::Module;
use burn::tensor::{Bool, Tensor, TensorData};
use std::collections::BTreeMap;

/// What a round asks besides the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SideQuery {
    /// The directions of clipped gradients (OSO).
    Directions,
    /// How many samples stay below the threshold of each group.
    Counts,
}

impl SideQuery {
    /// What a threshold policy needs.
    pub fn of(threshold: &Threshold) -> Option<Self> {
        match threshold {
            Threshold::Online(_) => Some(Self::Directions),
            Threshold::Quantile(_) => Some(Self::Counts),
            _ => None,
        }
    }
}

/// Turns batches into sums whose sensitivity is known.
#[derive(Debug)]
pub(crate) struct Clipper {
    pub groups: Groups,
    pub rule: ClipRule,
    pub side_query: Option<SideQuery>,
    pub performance: Performance,
    /// Samples of a part of a pass as a rule, for the records that each of them has.
    pub usual_batch: UsualBatch,
    /// How far rounding moves a sample of the shape that was checked, in steps of each group's grid; none
    /// if any shape will do.
    pub roundings: Option<RoundingsByRecords>,
}

/// How far rounding moves a sample of so many records, in steps of each group's grid.
pub(crate) type RoundingsByRecords = BTreeMap<usize, Vec<f64>>;

/// How many samples are treated together as a rule: public, unlike how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UsualBatch {
    /// Samples.
    pub samples: usize,
    /// Rows of all of them, at most.
    pub rows: usize,
}

impl UsualBatch {
    /// Samples of so many records each.
    pub fn of(self, records: usize) -> usize {
        self.samples.min((self.rows / records.max(1)).max(1))
    }
}

/// The gradients of a part of a pass, and which of its samples have finite losses and gradients.
pub(crate) struct FiniteGradients {
    pub gradients: PerSampleGradients,
    norms: Norms,
    /// How far rounding moves them.
    pub roundings: Vec<f64>,
    /// The samples that count, if not all do.
    counted: Option<Vec<usize>>,
    /// Which samples of the part were selected; none if all, in their order.
    selected: Option<Vec<usize>>,
    /// The weight of each sample of the part; empty if 1 for all.
    weights: Vec<f32>,
}

impl FiniteGradients {
    /// Those of all rows.
    pub fn all_norms(&self) -> &Norms {
        &self.norms
    }

    /// Those of the rows that count.
    pub fn norms(&self) -> Norms {
        match &self.counted {
            None => self.norms.clone(),
            Some(rows) => {
                let rows: Vec<i64> = rows.iter().map(|row| *row as i64).collect();
                let device = self.norms.upper().device();
                self.norms
                    .clone()
                    .select(Tensor::from_data(rows.as_slice(), &device))
            }
        }
    }

    /// Factors with 0 for rows that do not count.
    pub fn of_counted(&self, factors: Tensor<2>) -> Tensor<2> {
        let Some(counted) = &self.counted else {
            return factors;
        };
        let [rows, groups] = factors.dims();
        let mut beyond = vec![true; rows];
        counted.iter().for_each(|row| beyond[*row] = false);
        let beyond = TensorData::new(beyond, [rows, 1]);
        let beyond: Tensor<2, Bool> = Tensor::from_data(beyond, &factors.device());
        factors.mask_fill(beyond.expand([rows, groups]), 0.0)
    }
}

/// The sums of every query over some samples.
#[derive(Debug)]
pub(crate) struct ClippedSums {
    pub gradient: WeightedSums,
    /// Of the side query, if there is one.
    pub side: Option<SideSums>,
}

/// The sums of a [`SideQuery`].
#[derive(Debug)]
pub(crate) enum SideSums {
    Directions(WeightedSums),
    Counts(Vec<f64>),
}

impl ClippedSums {
    /// Adds the sums over other samples.
    pub fn add(&mut self, other: Self) {
        add_sums(&mut self.gradient, other.gradient);
        match (&mut self.side, other.side) {
            (Some(SideSums::Directions(mine)), Some(SideSums::Directions(others))) => {
                add_sums(mine, others);
            }
            (Some(SideSums::Counts(mine)), Some(SideSums::Counts(others))) => {
                mine.iter_mut().zip(others).for_each(|(a, b)| *a += b);
            }
            // One clipper makes both.
            _ => {}
        }
    }
}

fn add_sums(sums: &mut WeightedSums, others: WeightedSums) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = match (sum.take(), other) {
            (Some(mut sum), Some(other)) => {
                sum.add(other);
                Some(sum)
            }
            (sum, other) => sum.or(other),
        };
    }
}

impl Clipper {
    /// The sums of no records at all.
    pub fn zeros(&self) -> ClippedSums {
        let none = || vec![None; self.groups.slots().len()];
        let zeros = |query| match query {
            SideQuery::Directions => SideSums::Directions(none()),
            SideQuery::Counts => SideSums::Counts(vec![0.0; self.groups.shares().len()]),
        };
        ClippedSums {
            gradient: none(),
            side: self.side_query.map(zeros),
        }
    }

    /// The clipped sums of every query over the samples of a pass that count, each as much as its weight says.
    ///
    /// A sample with a non-finite loss or gradient is left out, and nothing else changes.
    ///
    /// # Guarantee
    /// A weight is held between 0 and 1, and one that is no number is 0: it lengthens no contribution. Side queries do
    /// not see it. Checked by `weights_scale_contributions_and_lengthen_none`.
    pub fn sums<M: Module>(
        &self,
        model: &M,
        shape: &PassShape,
        thresholds: &[f64],
        losses: impl FnOnce(&M) -> Tensor<1>,
    ) -> Result<ClippedSums, PassError> {
        let mut sums = self.zeros();
        self.finite_gradients(model, shape, losses, |finite| {
            sums.add(self.sums_of_part(finite, thresholds)?);
            Ok(())
        })?;
        Ok(sums)
    }

    fn sums_of_part(
        &self,
        finite: FiniteGradients,
        thresholds: &[f64],
    ) -> Result<ClippedSums, PassError> {
        let (norms, roundings) = (finite.all_norms(), &finite.roundings);
        let Room { bounds, grids } = room(thresholds, roundings)?;
        let factors = finite.of_counted(self.rule.factors(norms, &bounds));
        let mut queries = vec![Weights {
            factors: weighted(factors, &finite.weights, finite.selected.as_deref()),
            grids,
        }];
        let mut counts = None;
        match self.side_query {
            Some(SideQuery::Directions) => {
                let Room { bounds, grids } = room(self.groups.shares(), roundings)?;
                let factors = direction_factors(norms, thresholds, &bounds);
                queries.push(Weights {
                    factors: finite.of_counted(factors),
                    grids,
                });
            }
            Some(SideQuery::Counts) => {
                let thresholds = row(thresholds.iter().copied(), &norms.upper());
                counts = Some(centred_counts(&finite.norms(), thresholds));
            }
            None => {}
        }
        let mut sums = finite.gradients.weighted_sums(&queries).into_iter();
        let gradient = sums.next().unwrap_or_default();
        let directions = sums.next().map(SideSums::Directions);
        Ok(ClippedSums {
            gradient,
            side: directions.or(counts.map(SideSums::Counts)),
        })
    }

    /// Calls `visit` with the gradients of each part of a pass that has samples whose losses and gradient are finite.
    pub fn finite_gradients<M: Module>(
        &self,
        model: &M,
        shape: &PassShape,
        losses: impl FnOnce(&M) -> Tensor<1>,
        mut visit: impl FnMut(FiniteGradients) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        let mut recorded = pass::record(model, shape, losses)?;
        let (mut row, mut sample) = (0, 0);
        for part in shape.parts() {
            let samples = Samples {
                here: part.samples.all,
                records: part.records,
                usually: self.usual_batch.of(part.records),
            };
            let gradients = recorded.part(row, samples, &self.groups, self.performance)?;
            let losses = recorded.losses.clone().narrow(0, row, samples.rows());
            let losses = losses.reshape([samples.here, samples.records]);
            let weights = shape.weights(sample, samples.here).to_vec();
            if let Some(finite) = self.finite(gradients, part, losses, weights)? {
                visit(finite)?;
            }
            row += samples.rows();
            sample += samples.here;
        }
        Ok(())
    }

    /// None if no sample is finite.
    ///
    /// # Shapes
    /// - `losses`: `[samples, records]`
    fn finite(
        &self,
        mut gradients: PerSampleGradients,
        part: &PartShape,
        losses: Tensor<2>,
        weights: Vec<f32>,
    ) -> Result<Option<FiniteGradients>, PassError> {
        let PassRows { all, counted } = part.samples;
        let roundings = gradients.roundings();
        if let Some(checked) = &self.roundings
            && checked.get(&part.records) != Some(&roundings)
        {
            return Err(GradientError::OtherShapes.into());
        }
        let mut norms = gradients.norms();
        let mut counting = (counted < all).then(|| (0..counted).collect());
        let mut selected = None;
        if let Some(finite) = finite_samples(&losses, &norms.upper(), counted) {
            if finite.is_empty() {
                return Ok(None);
            }
            if gradients.sum_zero_of_anything() {
                // The shapes and layouts of a pass must not tell that it has such a sample.
                counting = Some(finite);
            } else {
                norms = norms.select(gradients.select(&finite));
                counting = None;
                selected = Some(finite);
            }
        }
        Ok(Some(FiniteGradients {
            gradients,
            norms,
            roundings,
            counted: counting,
            selected,
            weights,
        }))
    }
}

/// Factors times the weights of the samples that were kept, all of them if none is said. A weight of at most 1 makes no
/// factor larger, rounding included.
fn weighted(factors: Tensor<2>, weights: &[f32], kept: Option<&[usize]>) -> Tensor<2> {
    if weights.iter().all(|weight| *weight == 1.0) {
        return factors;
    }
    let held = |weight: Option<&f32>| match weight {
        Some(weight) if weight.is_finite() => weight.clamp(0.0, 1.0),
        _ => 0.0,
    };
    let [samples, groups] = factors.dims();
    let of_sample = |at: usize| held(weights.get(kept.map_or(at, |kept| kept[at])));
    let column: Vec<f32> = (0..samples).map(of_sample).collect();
    let column = Tensor::<2>::from_data(TensorData::new(column, [samples, 1]), &factors.device());
    factors * column.expand([samples, groups])
}

/// Those of the first `counted` samples whose losses and norms are finite; none if all are. Samples beyond repeat
/// some of these. A sample of several records is left out as a whole if one of its losses is not finite.
///
/// # Shapes
/// - `losses`: `[samples, records]`; `upper`: `[samples, groups]`
fn finite_samples(losses: &Tensor<2>, upper: &Tensor<2>, counted: usize) -> Option<Vec<usize>> {
    // Mostly all are finite, and then so is one number that a GPU can send alone. It may overflow
    // where no summand is infinite; looking at each of them decides.
    let total = losses.clone().sum() + upper.clone().sum();
    if total.into_data().iter::<f32>().all(f32::is_finite) {
        return None;
    }
    let finite =
        |values: TensorData| -> Vec<bool> { values.iter::<f32>().map(f32::is_finite).collect() };
    let (records, groups) = (losses.dims()[1], upper.dims()[1]);
    let losses = finite(losses.to_data());
    let norms = finite(upper.to_data());
    let all = |finite: &[bool], sample: &usize, each: usize| {
        let mut own = finite[sample * each..(sample + 1) * each].iter();
        own.all(|finite| *finite)
    };
    let usable = |sample: &usize| all(&losses, sample, records) && all(&norms, sample, groups);
    let kept: Vec<usize> = (0..counted).filter(usable).collect();
    (kept.len() < counted).then_some(kept)
}
