//! Checks for models and for layers of one's own, against a slow and obvious oracle.
//!
//! ```
//! use burn::module::Module;
//! use burn::tensor::{Distribution, Tensor};
//! use tacita::{layers::LinearConfig, testkit};
//!
//! let device = testkit::device();
//! let model = LinearConfig::new(4, 3).init(&device.clone().autodiff());
//! let batch = Tensor::<2>::random([5, 4], Distribution::Default, &device);
//! testkit::assert_matches_per_sample_loop(&model, 5, |model, samples| {
//!     let batch = batch.clone().narrow(0, samples.start, samples.len());
//!     model.forward(batch).square().sum_dim(1).squeeze_dim(1)
//! });
//! ```

pub use crate::sensitivity::pass_shape::PassRows;

use crate::compute::backend;
use crate::mechanism::keys::Keys;
use crate::mechanism::masks::Masks;
use crate::mechanism::plan::{CheckedPlan, Clipping};
use crate::mechanism::session::{Opening, Session, SessionError, SessionOptions};
use crate::sensitivity::clipping::{
    Clipper, Grouping, Groups, SideQuery, SideSums, ThresholdTracker, UsualBatch,
};
use crate::sensitivity::gradient::{
    Grid, NormMethod, Norms, Performance, Samples, Sum, WeightedSums, Weights,
};
use crate::sensitivity::parameters::Parameters;
use crate::sensitivity::pass::{self, Pass};
use crate::sensitivity::pass_shape::{PartShape, PassShape};
use crate::sensitivity::records::{PrivateModel, Records};
use crate::sensitivity::rounding::operand_error;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use std::ops::Range;

/// Norms agree to this, relative to the norm.
pub const NORM_TOLERANCE: f64 = 1e-5;
/// Weighted sums agree to this, relative to the norm of the parameter's sum.
pub const SUM_TOLERANCE: f64 = 1e-4;

/// Where a gradient is zero but for rounding, as that of the bias of attention's keys, nothing agrees; what
/// is asked for then is relative to the sample's whole gradient.
const ROUNDING: f64 = 1e-6;

/// Where tests run: the CPU, or with `TACITA_TEST_DEVICE=cuda` a GPU.
///
/// # Panics
/// If the program was not built for what the variable names.
pub fn device() -> Device {
    let name = std::env::var("TACITA_TEST_DEVICE");
    let device = match name.as_deref() {
        Err(_) | Ok("cpu") => backend::cpu_device(),
        Ok("cuda") => backend::cuda_device(),
        Ok(_) => None,
    };
    device.unwrap_or_else(|| panic!("TACITA_TEST_DEVICE: this program was not built for {name:?}"))
}

/// Runs a forward pass over the records at `indices` with the dropout masks that a session has in
/// `step` under these keys.
///
/// The other functions here take masks of a public key by themselves, with a sample's position in the
/// batch as its index.
pub fn with_dropout_masks<T>(
    keys: &Keys,
    step: u64,
    indices: &[usize],
    forward: impl FnOnce() -> T,
) -> T {
    Masks::of_step(keys, step, indices).during(forward)
}

/// Masks for the samples of a range of a batch, wherever the batch is cut.
fn masks_of(samples: Range<usize>) -> Masks {
    let samples: Vec<u64> = samples.map(|sample| sample as u64).collect();
    Masks::public(&samples)
}

/// One sample's gradient of each trainable parameter, by plain autodiff.
pub type SampleGradient = Vec<Vec<f32>>;

/// The oracle: one sample at a time through plain Burn autodiff.
pub fn per_sample_loop<M: Module>(
    model: &M,
    batch: usize,
    losses: impl Fn(&M, Range<usize>) -> Tensor<1>,
) -> Vec<SampleGradient> {
    (0..batch)
        .map(|sample| {
            let range = sample..sample + 1;
            let losses = masks_of(range.clone()).during(|| losses(model, range));
            let gradients = losses.sum().backward();
            let mut flatten = Flatten {
                gradients,
                flat: Vec::new(),
            };
            model.visit(&mut flatten);
            flatten.flat
        })
        .collect()
}

struct Flatten {
    gradients: Gradients,
    flat: SampleGradient,
}

impl ModuleVisitor for Flatten {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad() {
            let gradient = param.val().grad(&self.gradients);
            self.flat.push(match gradient {
                Some(gradient) => gradient.into_data().iter::<f32>().collect(),
                None => vec![0.0; param.lazy_shape().num_elements()],
            });
        }
    }
}

/// What a round would sum up, *without noise*: sensitive.
#[derive(Debug, Clone, PartialEq)]
pub struct SumsWithoutNoise {
    /// The clipped gradients, by parameter.
    pub gradient: Vec<Vec<f64>>,
    /// The directions of clipped gradients, by parameter; of an online threshold.
    pub directions: Option<Vec<Vec<f64>>>,
    /// How many samples are below the threshold of each group, ±½ each; of a quantile threshold.
    pub counts: Option<Vec<f64>>,
}

/// A session in memory whose passes have one size, filled up with rows that count for nothing, as on a GPU.
pub fn session_with_passes_of_one_size<D: Records, M: PrivateModel<D::Batch>>(
    plan: CheckedPlan,
    keys: Keys,
    model: &M,
    records: &D,
    options: SessionOptions,
) -> Result<Session, SessionError> {
    Session::begin_with(
        Opening::in_memory(plan, keys),
        model,
        records,
        options,
        true,
    )
}

/// Whether passes of a session have one size where tests run: on a GPU.
pub fn passes_have_one_size() -> bool {
    backend::is_gpu(&device())
}

/// The clipped sums of a batch in the first step of a plan with this clipping, *without noise*. For
/// tests of what a session would bound; never to be released.
///
/// `rows` is a number of records, or says which rows of the batch count. On a GPU sums of several batches can
/// be compared bit by bit only if these have equally many rows, as the passes of a session have.
///
/// # Panics
/// If the model cannot be trained privately.
pub fn clipped_sums_without_noise<M: Module>(
    model: &M,
    clipping: &Clipping,
    rows: impl Into<PassRows>,
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> SumsWithoutNoise {
    sums(model, clipping, &rows.into().into(), losses)
}

/// The same of units of several records: `records_of_units` says how many of the batch's rows, one after another, are
/// those of each unit. Units with equally many must lie side by side, as a session puts them.
///
/// # Panics
/// If the model cannot be trained privately.
pub fn clipped_unit_sums_without_noise<M: Module>(
    model: &M,
    clipping: &Clipping,
    records_of_units: &[usize],
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> SumsWithoutNoise {
    let parts = records_of_units.chunk_by(|a, b| a == b);
    let parts = parts.map(|part| PartShape {
        samples: part.len().into(),
        records: part[0],
    });
    sums(model, clipping, &PassShape::new(parts.collect()), losses)
}

/// The same of records that have weights ([`Records::weight`](crate::Records::weight)).
///
/// # Panics
/// If the model cannot be trained privately.
pub fn weighted_sums_without_noise<M: Module>(
    model: &M,
    clipping: &Clipping,
    weights: &[f32],
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> SumsWithoutNoise {
    let shape = PassShape::from(PassRows::from(weights.len()));
    sums(
        model,
        clipping,
        &shape.with_weights(weights.to_vec()),
        losses,
    )
}

fn sums<M: Module>(
    model: &M,
    clipping: &Clipping,
    shape: &PassShape,
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> SumsWithoutNoise {
    let rows = shape.rows();
    let losses = |model: &M| masks_of(0..rows).during(|| losses(model));
    let parameters = Parameters::of(model).unwrap_or_else(|error| panic!("{error}"));
    let clipper = Clipper {
        groups: groups(&clipping.grouping, &parameters),
        rule: clipping.rule,
        side_query: SideQuery::of(&clipping.threshold),
        performance: Performance::default(),
        usual_batch: UsualBatch {
            samples: rows,
            rows,
        },
        roundings: None,
    };
    let shares = clipper.groups.shares();
    let thresholds = ThresholdTracker::new(clipping.threshold.clone(), 1, shares).thresholds(0);
    let sums = clipper
        .sums(model, shape, &thresholds, losses)
        .unwrap_or_else(|error| panic!("{error}"));
    let flat = |sums: WeightedSums| {
        let pairs = sums.into_iter().zip(parameters.list());
        let flat = pairs.map(|(sum, parameter)| match sum {
            Some(sum) => values(&sum),
            None => vec![0.0; parameter.elements()],
        });
        flat.collect::<Vec<Vec<f64>>>()
    };
    let (directions, counts) = match sums.side {
        Some(SideSums::Directions(sums)) => (Some(flat(sums)), None),
        Some(SideSums::Counts(counts)) => (None, Some(counts)),
        None => (None, None),
    };
    SumsWithoutNoise {
        gradient: flat(sums.gradient),
        directions,
        counts,
    }
}

/// The coordinates of a sum.
fn values(sum: &Sum) -> Vec<f64> {
    let mut values = vec![0.0; sum.len()];
    sum.read(0, &mut values);
    values
}

fn groups(grouping: &Grouping, parameters: &Parameters) -> Groups {
    Groups::new(grouping, parameters).unwrap_or_else(|error| panic!("{error}"))
}

/// How far the operands of a matrix product may be rounded on a device, relative to them: 0 on the CPU.
pub fn rounding_of_operands(device: &Device) -> f64 {
    operand_error(device)
}

/// Asserts that norms and weighted sums of every method and grouping, of samples of one record and of several, equal
/// the per-sample loop's,
/// that no norm bound lies below the truth, and, on the CPU, that a sum is to the last bit the sum of its
/// records: a record's norm, factor and contribution do not depend on the others.
///
/// `losses` gives one loss per sample of a range of the batch.
///
/// # Panics
/// If they do not agree, naming the method, the parameter and both values.
pub fn assert_matches_per_sample_loop<M: Module>(
    model: &M,
    batch: usize,
    losses: impl Fn(&M, Range<usize>) -> Tensor<1>,
) {
    let oracle = per_sample_loop(model, batch, &losses);
    let methods = [
        (None, 64 << 20),
        (None, 0),
        (Some(NormMethod::Gram), 0),
        (Some(NormMethod::Kept), 0),
        (Some(NormMethod::Recomputed), 0),
    ];
    for (norm_method, kept_bytes) in methods {
        for grouping in [Grouping::Flat, Grouping::PerLayer] {
            let performance = Performance {
                norm_method,
                kept_bytes,
                // Small enough that chunks of a few samples are exercised.
                workspace_bytes: 1 << 12,
            };
            // Records of a unit: one, a pair, and all of them in one.
            let mut units = vec![1, 2, batch];
            units.retain(|records| (1..=batch).contains(records));
            units.dedup();
            for records in units {
                let oracle = of_units(&oracle, records);
                let samples = Samples {
                    records,
                    ..Samples::alone(oracle.len())
                };
                let grouping = grouping.clone();
                assert_pass(model, samples, &losses, &oracle, grouping, performance);
            }
        }
    }
}

/// The mean gradient of every `records` consecutive samples; what is left over is left out.
fn of_units(oracle: &[SampleGradient], records: usize) -> Vec<SampleGradient> {
    if records == 1 {
        return oracle.to_vec();
    }
    let mean = |unit: &[SampleGradient]| -> SampleGradient {
        let of_parameter = |parameter: usize| {
            let of_entry = |entry: usize| {
                let values = unit
                    .iter()
                    .map(|sample| f64::from(sample[parameter][entry]));
                (values.sum::<f64>() / records as f64) as f32
            };
            (0..unit[0][parameter].len()).map(of_entry).collect()
        };
        (0..unit[0].len()).map(of_parameter).collect()
    };
    oracle.chunks_exact(records).map(mean).collect()
}

fn assert_pass<M: Module>(
    model: &M,
    samples: Samples,
    losses: &impl Fn(&M, Range<usize>) -> Tensor<1>,
    oracle: &[SampleGradient],
    grouping: Grouping,
    performance: Performance,
) {
    let (batch, records) = (samples.here, samples.records);
    let method = performance.norm_method;
    let what = format!("{method:?}, {grouping:?}, {records} records of a unit");
    let parameters = Parameters::of(model).unwrap_or_else(|error| panic!("{error}"));
    let groups = groups(&grouping, &parameters);
    let losses_of =
        |model: &M, range: Range<usize>| masks_of(range.clone()).during(|| losses(model, range));
    let mut pass = pass::run(model, &groups, samples, performance, |m| {
        losses_of(m, 0..samples.rows())
    })
    .unwrap_or_else(|error| panic!("{what}: {error}"));
    let norms = pass.gradients.norms();
    assert_norms(&what, &parameters, &groups, oracle, &norms);

    // Two rows of uneven factors, so that a wrong sample or a wrong group shows.
    let count = groups.shares().len();
    let rows: Vec<Vec<f32>> = (1..=2)
        .map(|query| {
            (0..batch * count)
                .map(|index| ((index * 7 + query * 3) % 11) as f32 / 11.0 - 0.3)
                .collect()
        })
        .collect();
    let device = norms.values().device();
    let longest = norms.upper().max().into_scalar::<f64>().max(1e-6);
    let grid = Grid::for_bound(longest).unwrap_or_else(|| panic!("{what}: norm {longest:e}"));
    let queries: Vec<Weights> = rows
        .iter()
        .map(|row| Weights {
            factors: Tensor::from_data(TensorData::new(row.clone(), [batch, count]), &device),
            grids: vec![grid; count],
        })
        .collect();
    let rough = operand_error(&device);
    // Every sample is rounded to the grid.
    let rounding: f64 = pass.gradients.roundings().iter().sum();
    let rounded = batch as f64 * rounding * grid.spacing();
    let sums = pass.gradients.weighted_sums(&queries);
    if rough == 0.0 {
        let one = |sample: usize| {
            let one = Samples { here: 1, ..samples };
            let range = sample * records..(sample + 1) * records;
            pass::run(model, &groups, one, performance, |m| losses_of(m, range))
                .unwrap_or_else(|error| panic!("{what}: {error}"))
        };
        assert_additive(&what, &sums, &norms, &queries, batch, one);
    }
    let whole = (oracle.iter())
        .map(|gradient| length(gradient.iter().flatten().map(|v| f64::from(*v))))
        .fold(0.0, f64::max);
    for (row, sums) in rows.iter().zip(sums) {
        for (index, (parameter, sum)) in parameters.list().iter().zip(sums).enumerate() {
            let group = groups.slots()[&parameter.id].group;
            let mut expected = vec![0.0f64; parameter.elements()];
            for (sample, gradient) in oracle.iter().enumerate() {
                let factor = f64::from(row[sample * count + group]);
                for (total, value) in expected.iter_mut().zip(&gradient[index]) {
                    *total += factor * f64::from(*value);
                }
            }
            let seen: Vec<f64> = match sum {
                Some(sum) => values(&sum),
                None => vec![0.0; parameter.elements()],
            };
            // Sums may cancel; what they are made of does not.
            let scale: f64 = (oracle.iter())
                .map(|gradient| length(gradient[index].iter().map(|v| f64::from(*v))))
                .fold(0.0, f64::max);
            let error = length(seen.iter().zip(&expected).map(|(a, b)| a - b));
            assert!(
                error
                    <= (SUM_TOLERANCE + 8.0 * rough) * scale + (ROUNDING + rough) * whole + rounded,
                "{what}: weighted sum of `{}` is off by {error:e} of {scale:e}",
                parameter.path,
            );
        }
    }
}

/// The sums over a batch are exactly those of its records, each in a pass of its own.
fn assert_additive(
    what: &str,
    sums: &[WeightedSums],
    norms: &Norms,
    queries: &[Weights],
    batch: usize,
    one: impl Fn(usize) -> Pass,
) {
    let mut apart: Vec<WeightedSums> = sums.iter().map(|sums| vec![None; sums.len()]).collect();
    // In another order.
    for sample in (0..batch).rev() {
        let mut pass = one(sample);
        let alone = pass.gradients.norms();
        let same = norms.upper().narrow(0, sample, 1).into_data() == alone.upper().into_data();
        assert!(
            same,
            "{what}: the norm of sample {sample} depends on others"
        );
        let queries: Vec<Weights> = (queries.iter())
            .map(|query| Weights {
                factors: query.factors.clone().narrow(0, sample, 1),
                grids: query.grids.clone(),
            })
            .collect();
        for (total, sums) in apart.iter_mut().zip(pass.gradients.weighted_sums(&queries)) {
            for (total, sum) in total.iter_mut().zip(sums) {
                match (total.as_mut(), sum) {
                    (Some(total), Some(sum)) => total.add(sum),
                    (_, sum) => *total = sum,
                }
            }
        }
    }
    for (together, apart) in sums.iter().flatten().zip(apart.iter().flatten()) {
        let both = together.as_ref().map(values) == apart.as_ref().map(values);
        assert!(both, "{what}: a sum is not exactly that of its records");
    }
}

fn assert_norms(
    what: &str,
    parameters: &Parameters,
    groups: &Groups,
    oracle: &[SampleGradient],
    norms: &Norms,
) {
    let count = groups.shares().len();
    let rough = operand_error(&norms.values().device());
    let values: Vec<f64> = norms.values().into_data().iter::<f64>().collect();
    let upper: Vec<f64> = norms.upper().into_data().iter::<f64>().collect();
    for (sample, gradient) in oracle.iter().enumerate() {
        let whole = length(gradient.iter().flatten().map(|v| f64::from(*v)));
        for group in 0..count {
            let members = parameters.list().iter().zip(gradient);
            let members = members.filter(|(p, _)| groups.slots()[&p.id].group == group);
            let truth = length(members.flat_map(|(_, g)| g.iter().map(|v| f64::from(*v))));
            let (value, upper) = (
                values[sample * count + group],
                upper[sample * count + group],
            );
            assert!(
                (value - truth).abs()
                    <= (NORM_TOLERANCE + 8.0 * rough) * truth
                        + (ROUNDING + rough) * whole
                        + (upper - value),
                "{what}: norm of sample {sample}, group {group} is {value:e}, expected {truth:e}",
            );
            // The oracle's own pass rounds too.
            assert!(
                upper >= truth * (1.0 - 1e-6 - 3.0 * rough) - ROUNDING * whole,
                "{what}: norm bound {upper:e} of sample {sample} lies below the norm {truth:e}",
            );
        }
    }
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}
