//! One round: the clipped sums of a draw, and their release.

use super::{Noisy, Session, SessionError};
use crate::compute::backend::in_precision;
use crate::sensitivity::clipping::{ClippedSums, Quantile, Released, SideSums};
use crate::sensitivity::gradient::{Grid, Sum, WeightedSums};
use crate::sensitivity::parameters::Parameters;
use crate::sensitivity::records::{PrivateModel, Records};
use crate::sensitivity::rounding::ROUNDED_UP_F64;
use burn::tensor::{Device, Tensor, TensorData};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// The round of one training step, of which nothing is drawn or released yet.
#[derive(Debug)]
pub struct OpenRound<'s> {
    session: &'s mut Session,
    /// No other round of this process has it.
    number: u64,
}

/// Sums over the round's records whose sensitivity is known: sensitive, not released.
///
/// Tied to its session by `'s` and to its round by a number; no way to read it, copy it or make one from
/// outside.
pub struct Bounded<'s> {
    sums: ClippedSums,
    device: Device,
    number: u64,
    round: PhantomData<&'s mut Session>,
}

impl std::fmt::Debug for Bounded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bounded(private)")
    }
}

/// The 2-norm, a few roundings on the safe side.
fn length_up(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt() * ROUNDED_UP_F64
}

impl<'s> OpenRound<'s> {
    pub(super) fn new(session: &'s mut Session) -> Self {
        static ROUNDS: AtomicU64 = AtomicU64::new(0);
        let number = ROUNDS.fetch_add(1, Ordering::Relaxed);
        Self { session, number }
    }

    /// Draws the records of the round, or the units and records of each, and makes the clipped sums of its queries
    /// over them.
    ///
    /// A logical batch is cut into passes with the same result as one; an empty draw gives zeros. On a GPU
    /// every pass of the run has one size, which is public.
    ///
    /// # Guarantee
    /// Adding or removing one record, or one unit with all of its records where the plan has units
    /// ([`Plan::records_per_unit`](crate::Plan::records_per_unit)), moves the sum of each query by at most its
    /// sensitivity. Checked by `removing_one_record_moves_the_sum_at_most_the_bound` and
    /// `removing_one_unit_moves_the_sum_at_most_the_bound`.
    pub fn clip<D: Records, M: PrivateModel<D::Batch>>(
        &self,
        model: &M,
        records: &D,
        device: &Device,
    ) -> Result<Bounded<'s>, SessionError> {
        let session = &*self.session;
        if Parameters::of(model)? != session.parameters {
            return Err(SessionError::OtherModel);
        }
        let (keys, step) = (session.opening.keys(), session.next_step());
        let sample = session.sampler.draw(keys, step);
        let thresholds = session.thresholds.thresholds(step);
        let clipper = &session.clipper;
        let mut sums = clipper.zeros();
        for pass in session.passes(records, sample.indices()) {
            let pass = pass.weighted(|index| records.weight(index));
            let batch = records.batch(&pass.indices, device);
            let losses = |model: &M| {
                let mut masks = session.masks(&pass.indices);
                in_precision(session.precision, || masks.during(|| model.losses(batch)))
            };
            sums.add(clipper.sums(model, &pass.shape, &thresholds, losses)?);
        }
        Ok(Bounded {
            sums,
            device: device.clone().without_autodiff(),
            number: self.number,
            round: PhantomData,
        })
    }

    /// Writes the ledger, then draws noise and returns the noisy sums.
    ///
    /// The round is spent once the ledger is written, whatever happens after. The threshold policy
    /// learns from what is released.
    ///
    /// # Guarantee
    /// Only the clipped sums of this very round are released: the noise is made for their sensitivity.
    /// Those of another session, which may have been clipped at another threshold, are refused before the
    /// ledger is written. Checked by `sums_of_another_session_are_refused`.
    pub fn release(self, bounded: Bounded<'s>) -> Result<Noisy, SessionError> {
        if bounded.number != self.number {
            return Err(SessionError::OtherRound);
        }
        let session = self.session;
        let step = session.next_step();
        let thresholds = session.thresholds.thresholds(step);
        let Bounded { sums, device, .. } = bounded;
        let multipliers = session.plan().noise_multipliers(step);
        let (multiplier, side) = match (&multipliers[..], sums.side) {
            ([gradient], None) => (*gradient, None),
            ([gradient, side], Some(sums)) => (*gradient, Some((*side, sums))),
            _ => return Err(SessionError::NotPlanned { what: "query" }),
        };
        let round = session.opening.admit()?;
        // The gradient's sensitivity is the 2-norm of the group thresholds, the directions' that of
        // the shares, the counts' half the root of their number.
        let noise_std = multiplier * length_up(&thresholds);
        let noise =
            |query, noise_std, sums| session.noisy_sums(round, query, noise_std, sums, &device);
        let gradient = noise(0, noise_std, sums.gradient)?;
        let (mut directions, mut counts) = (None, None);
        match side {
            Some((multiplier, SideSums::Directions(sums))) => {
                let noise_std = multiplier * length_up(session.clipper.groups.shares());
                directions = Some(noise(1, noise_std, sums)?);
            }
            Some((multiplier, SideSums::Counts(sums))) => {
                let noise_std = multiplier * Quantile::sensitivity(sums.len());
                counts = Some(session.noisy_counts(round, noise_std, sums)?);
            }
            None => {}
        }
        let noisy = Noisy {
            step,
            noise_std: noise_std / session.plan().expected_batch(),
            gradient,
            directions,
            counts,
            thresholds,
            private: session.is_private(),
        };
        session.thresholds.learn(&Released {
            gradient: &noisy.gradient,
            directions: noisy.directions.as_deref(),
            counts: noisy.counts.as_deref(),
        });
        Ok(noisy)
    }
}

impl Session {
    /// The counts of the side query with noise, divided by the expected batch size.
    fn noisy_counts(
        &self,
        round: u64,
        noise_std: f64,
        mut counts: Vec<f64>,
    ) -> Result<Vec<f64>, SessionError> {
        let mut stream = self.opening.noise(round, 1);
        stream.add_normals_to_f64(0, noise_std, &mut counts)?;
        let divisor = self.plan().expected_batch();
        counts.iter_mut().for_each(|count| *count /= divisor);
        Ok(counts)
    }

    /// The sums of one query with noise, divided by the expected batch size.
    fn noisy_sums(
        &self,
        round: u64,
        query: u32,
        noise_std: f64,
        sums: WeightedSums,
        device: &Device,
    ) -> Result<Vec<Tensor<1>>, SessionError> {
        let scale = (1.0 / self.plan().expected_batch()) as f32;
        let mut stream = self.opening.noise(round, query);
        let mut noisy = Vec::with_capacity(sums.len());
        for (index, (sum, parameter)) in sums.into_iter().zip(self.parameters()).enumerate() {
            let sum = sum.unwrap_or_else(|| Sum::zeros(Grid::UNIT, parameter.elements()));
            // The divisor is public, so dividing is post-processing.
            let values = stream.noisy_sum(index as u32, noise_std, sum, scale)?;
            let shape = [values.len()];
            noisy.push(Tensor::from_data(TensorData::new(values, shape), device));
        }
        Ok(noisy)
    }
}
