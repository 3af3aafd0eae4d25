//! Raw quantities of a run, for research on public data: *nothing here is private*.
//!
//! What is seen here never moves the run: model, ledger, keys and thresholds are those of the same run
//! without diagnostics. The run is marked as not private before its first step all the same, because
//! whoever reads a diagnosis has read the records.

use crate::mechanism::sampling::Units;
use crate::mechanism::session::{Session, SessionError};
use crate::sensitivity::clipping::{Clipper, FiniteGradients};
use crate::sensitivity::gradient::{Grid, Weights};
use crate::sensitivity::parameters::Parameter;
use crate::sensitivity::pass::PassError;
use crate::sensitivity::pass_shape::PassShape;
use crate::sensitivity::records::{PrivateModel, Records};
use burn::tensor::{Device, Tensor};

/// What to look at, how often, and on which records.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Steps between two looks; the first is before the first step.
    pub every: u64,
    /// How many records are looked at: the first ones; units where the plan has such.
    pub records: usize,
    /// Thresholds C to compare, beside the one in force.
    pub thresholds: Vec<f64>,
}

/// The gradients of some records before a step, without noise: sensitive.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The step about to be made, from 0.
    pub step: u64,
    /// The norm of each record's gradient; records without a finite gradient are left out.
    pub norms: Vec<f64>,
    /// The norm of their mean gradient.
    pub mean_norm: f64,
    /// What clipping does at the threshold in force.
    pub now: Clipped,
    /// What it would do at the thresholds of the probe.
    pub compared: Vec<Clipped>,
}

/// What clipping and noise do to the mean gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Clipped {
    /// C: the 2-norm of the thresholds of all groups.
    pub threshold: f64,
    /// The share of gradients longer than their threshold, over records and groups.
    pub clip_fraction: f64,
    /// The distance of the mean clipped gradient from the mean gradient.
    pub bias: f64,
    /// The cosine between the mean gradient and the mean clipped gradient with noise, averaged over
    /// [`NOISE_DRAWS`] draws (Galli et al. 2024, Figure 1). The noise is what a step of the plan has:
    /// multiplier × C / expected batch.
    pub cosine: f64,
}

/// Draws of noise that a cosine is averaged over.
pub const NOISE_DRAWS: usize = 20;

/// What is asked of a probe: the trainer's callback.
pub(crate) type OnDiagnosis<'a> = Box<dyn FnMut(&Diagnosis) + 'a>;

impl Probe {
    /// The first number that is not finite and above 0, if any.
    pub(crate) fn unsound(&self) -> Option<f64> {
        let numbers = [self.every as f64, self.records as f64];
        let mut numbers = numbers.into_iter().chain(self.thresholds.iter().copied());
        numbers.find(|value| !(*value > 0.0 && value.is_finite()))
    }

    /// Looks at the records if it is time to; none in a private run, whatever is asked.
    pub(crate) fn look<D: Records, M: PrivateModel<D::Batch>>(
        &self,
        session: &Session,
        model: &M,
        records: &D,
        device: &Device,
    ) -> Result<Option<Diagnosis>, SessionError> {
        let step = session.next_step();
        if session.is_private() || !step.is_multiple_of(self.every) {
            return Ok(None);
        }
        let clipper = session.clipper();
        let in_force = session.thresholds();
        let shares = clipper.groups.shares();
        let at = |c: &f64| shares.iter().map(|share| share * c).collect();
        let mut thresholds: Vec<Vec<f64>> = vec![in_force];
        thresholds.extend(self.thresholds.iter().map(at));

        let sizes = session.parameters().iter().map(Parameter::elements);
        let mut seen = Seen::new(thresholds.len(), sizes.collect());
        let count = records
            .units()
            .map_or_else(|| records.count(), Units::count);
        let units: Vec<usize> = (0..self.records.min(count)).collect();
        for pass in session.passes(records, &units) {
            let batch = records.read(&pass.indices, device)?.batch;
            let losses = |model: &M| {
                let mut masks = session.masks(&pass.indices);
                masks.during(|| model.losses(batch))
            };
            seen.add(clipper, &thresholds, model, &pass.shape, losses)?;
        }
        let multiplier = session.plan().noise_multipliers(step)[0];
        let noise = multiplier / session.plan().expected_batch();
        Ok(Some(seen.diagnosis(step, &thresholds, noise)))
    }
}

/// What has been seen of the records so far.
struct Seen {
    sizes: Vec<usize>,
    groups: usize,
    norms: Vec<f64>,
    gradient: Vec<f64>,
    /// For each threshold how many gradients are above it, and the sum of the clipped ones.
    clipped: Vec<(usize, Vec<f64>)>,
}

impl Seen {
    fn new(thresholds: usize, sizes: Vec<usize>) -> Self {
        let elements = sizes.iter().sum();
        Self {
            sizes,
            groups: 1,
            norms: Vec::new(),
            gradient: vec![0.0; elements],
            clipped: vec![(0, vec![0.0; elements]); thresholds],
        }
    }

    fn add<M: burn::module::Module>(
        &mut self,
        clipper: &Clipper,
        thresholds: &[Vec<f64>],
        model: &M,
        shape: &PassShape,
        losses: impl FnOnce(&M) -> Tensor<1>,
    ) -> Result<(), PassError> {
        clipper.finite_gradients(model, shape, losses, |finite| {
            self.add_part(clipper, thresholds, finite);
            Ok(())
        })
    }

    fn add_part(&mut self, clipper: &Clipper, thresholds: &[Vec<f64>], finite: FiniteGradients) {
        let norms = finite.norms();
        let values = norms.values();
        // Raw gradients are rounded to a grid as well, one as fine as the longest allows.
        let longest = norms.upper().max().into_scalar::<f64>().max(1e-20);
        let weights = |factors: Tensor<2>, bounds: &[f64]| {
            let grids = bounds.iter().map(|bound| Grid::for_bound(*bound));
            let grids: Vec<Grid> = grids.map(|grid| grid.unwrap_or(Grid::UNIT)).collect();
            let factors = finite.of_counted(factors);
            Weights { factors, grids }
        };
        let ones = Tensor::ones(finite.all_norms().upper().shape(), &values.device());
        let groups = clipper.groups.shares().len();
        let mut queries = vec![weights(ones, &vec![longest; groups])];
        queries.extend(
            thresholds
                .iter()
                .map(|c| weights(clipper.rule.factors(finite.all_norms(), c), c)),
        );
        self.groups = clipper.groups.shares().len();
        let values: Vec<f64> = values.into_data().iter::<f64>().collect();
        for sample in values.chunks(self.groups) {
            self.norms.push(length(sample));
            for ((above, _), thresholds) in self.clipped.iter_mut().zip(thresholds) {
                *above += sample.iter().zip(thresholds).filter(|(n, c)| n > c).count();
            }
        }
        let totals = std::iter::once(&mut self.gradient);
        let totals = totals.chain(self.clipped.iter_mut().map(|(_, sum)| sum));
        for (total, sums) in totals.zip(finite.gradients.weighted_sums(&queries)) {
            let mut rest = total.as_mut_slice();
            for (sum, size) in sums.iter().zip(&self.sizes) {
                let (here, after) = rest.split_at_mut(*size);
                rest = after;
                if let Some(sum) = sum {
                    for (index, total) in here.iter_mut().enumerate() {
                        *total += sum.value(index);
                    }
                }
            }
        }
    }

    fn diagnosis(self, step: u64, thresholds: &[Vec<f64>], noise: f64) -> Diagnosis {
        let count = self.norms.len().max(1) as f64;
        let mean = |sum: Vec<f64>| -> Vec<f64> { sum.into_iter().map(|v| v / count).collect() };
        let gradient = mean(self.gradient);
        let (above, clipped): (Vec<usize>, Vec<Vec<f64>>) = self.clipped.into_iter().unzip();
        let clipped: Vec<Vec<f64>> = clipped.into_iter().map(mean).collect();
        let lengths: Vec<f64> = thresholds.iter().map(|c| length(c)).collect();
        let noise_std: Vec<f64> = lengths.iter().map(|c| noise * c).collect();
        let cosines = mean_cosines(&clipped, &gradient, &noise_std);
        let at = |index: usize| {
            let difference = clipped[index].iter().zip(&gradient).map(|(a, b)| a - b);
            Clipped {
                threshold: lengths[index],
                clip_fraction: above[index] as f64 / (count * self.groups as f64),
                bias: length(&difference.collect::<Vec<f64>>()),
                cosine: cosines[index],
            }
        };
        Diagnosis {
            step,
            mean_norm: length(&gradient),
            norms: self.norms,
            now: at(0),
            compared: (1..thresholds.len()).map(at).collect(),
        }
    }
}

/// The cosine between the gradient and each clipped one with noise of its own standard deviation,
/// averaged over draws. One draw serves all of them, so that they compare.
fn mean_cosines(clipped: &[Vec<f64>], gradient: &[f64], noise_std: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; clipped.len()];
    for draw in 0..NOISE_DRAWS {
        let z = NotTheMechanismsNoise(draw as u64).normals(gradient.len());
        for ((sum, clipped), noise_std) in sums.iter_mut().zip(clipped).zip(noise_std) {
            let noisy = clipped.iter().zip(&z).map(|(v, z)| v + noise_std * z);
            *sum += cosine(&noisy.collect::<Vec<f64>>(), gradient);
        }
    }
    sums.iter().map(|sum| sum / NOISE_DRAWS as f64).collect()
}

/// Normal values that anyone can repeat (SplitMix64 and Box–Muller): for pictures, never for privacy.
struct NotTheMechanismsNoise(u64);

impl NotTheMechanismsNoise {
    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON
    }

    fn normals(mut self, count: usize) -> Vec<f64> {
        // Seeds lie side by side; the first value mixes them.
        self.0 = (self.uniform() * 1e18) as u64;
        let normal = |_| {
            let (radius, angle) = (self.uniform(), self.uniform());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        };
        (0..count).map(normal).collect()
    }
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// 0 if either vector is 0.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let lengths = length(a) * length(b);
    let inner: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    if lengths > 0.0 { inner / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In d dimensions noise of standard deviation s turns a unit vector by the angle with cosine
    /// (1 + s²d)^(−½), up to O(d^(−½)).
    #[test]
    fn noise_turns_a_gradient_by_the_known_angle() {
        let dimensions = 20_000;
        let unit = vec![(1.0 / dimensions as f64).sqrt(); dimensions];
        for total in [0.1, 1.0, 3.0f64] {
            let noise_std = total / (dimensions as f64).sqrt();
            let seen = mean_cosines(&[unit.clone(), unit.clone()], &unit, &[noise_std, 0.0]);
            // One draw is off by 1/√d = 0.007 or so; 20 of them by 0.0016. Bound: six times that.
            assert!((seen[0] - (1.0 + total * total).sqrt().recip()).abs() < 0.01);
            assert!((seen[1] - 1.0).abs() < 1e-12);
        }
    }
}
