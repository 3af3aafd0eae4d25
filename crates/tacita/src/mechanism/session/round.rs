//! One round: the clipped sums of a draw, and their release.

use super::told::{StepValues, Told};
use super::{Noisy, Opening, Session, SessionError};
use crate::compute::backend::in_precision;
use crate::mechanism::ranks::RanksError;
use crate::sensitivity::clipping::{ClippedSums, Quantile, Released, SideSums, StepLayout};
use crate::sensitivity::gradient::{Grid, Sum, WeightedSums};
use crate::sensitivity::parameters::{Parameter, Parameters};
use crate::sensitivity::pass::PassError;
use crate::sensitivity::records::{PrivateModel, ReadRecords, Records};
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
    /// The same on all ranks, to the last bit.
    thresholds: Vec<f64>,
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
    pub(super) fn new(session: &'s mut Session) -> Result<Self, SessionError> {
        static ROUNDS: AtomicU64 = AtomicU64::new(0);
        let number = ROUNDS.fetch_add(1, Ordering::Relaxed);
        let thresholds = session.thresholds_of_first()?;
        Ok(Self {
            session,
            number,
            thresholds,
        })
    }

    /// Draws the records of the round, or the units and records of each, and makes the clipped sums of its queries
    /// over them.
    ///
    /// A logical batch is cut into passes with the same result as one; an empty draw gives zeros. On a GPU
    /// every pass of the run has one size, which is public.
    ///
    /// On several ranks each draws from its own records, and the sums over all ranks are on the first. A rank that
    /// drew none takes part; if one fails, all do.
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
        let own = self.clip_own(model, records, device);
        Ok(Bounded {
            sums: self.over_ranks(own)?,
            device: device.clone().without_autodiff(),
            number: self.number,
            round: PhantomData,
        })
    }

    /// Draws from the records of this rank, and sums over them.
    fn clip_own<D: Records, M: PrivateModel<D::Batch>>(
        &self,
        model: &M,
        records: &D,
        device: &Device,
    ) -> Result<ClippedSums, SessionError> {
        let session = &*self.session;
        if Parameters::of(model)? != session.parameters {
            return Err(SessionError::OtherModel);
        }
        let (keys, step) = (session.opening.keys(), session.next_step());
        // Whether a record takes part follows from the key, the step and its number, whoever has it.
        let ranks = session.opening.ranks();
        let own = |step| -> Vec<usize> {
            let sample = session.sampler.draw(keys, step);
            let drawn = sample.indices().iter();
            drawn.filter_map(|number| ranks.own(*number)).collect()
        };
        let drawn = own(step);
        // Looked at one step early the next draw is the same, and as private.
        let next = step + 1;
        let is_known = next < session.plan().steps() && records.units().is_none();
        records.read_ahead(&mut || match is_known {
            true => own(next),
            false => Vec::new(),
        });
        let clipper = &session.clipper;
        let mut sums = clipper.zeros();
        for pass in session.passes(records, &drawn) {
            let ReadRecords { batch, weights } = records.read(&pass.indices, device)?;
            let pass = pass.weighted(weights);
            let losses = |model: &M| {
                let mut masks = session.masks(&pass.indices);
                in_precision(session.precision, || masks.during(|| model.losses(batch)))
            };
            sums.add(clipper.sums(model, &pass.shape, &self.thresholds, losses)?);
        }
        Ok(sums)
    }

    /// The sums over all ranks, on the first; what the others have is not released.
    fn over_ranks(
        &self,
        own: Result<ClippedSums, SessionError>,
    ) -> Result<ClippedSums, SessionError> {
        let session = &*self.session;
        let ranks = session.opening.ranks();
        if ranks.is_alone() {
            return own;
        }
        let with_layout = own.and_then(|sums| {
            let layout = StepLayout::new(&session.clipper, &self.thresholds, session.sizes());
            Ok((sums, layout.map_err(PassError::from)?))
        });
        let (sums, layout) = ranks.agreed(with_layout)?;
        let mut steps = layout.steps(sums);
        ranks.sum_to_first(&mut steps)?;
        Ok(match ranks.is_first() {
            true => layout.sums(steps),
            false => session.clipper.zeros(),
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
        let Self {
            session,
            thresholds,
            ..
        } = self;
        let step = session.next_step();
        let Bounded { sums, device, .. } = bounded;
        let multipliers = session.plan().noise_multipliers(step);
        let (multiplier, side) = match (&multipliers[..], sums.side) {
            ([gradient], None) => (*gradient, None),
            ([gradient, side], Some(sums)) => (*gradient, Some((*side, sums))),
            _ => return Err(SessionError::NotPlanned { what: "query" }),
        };
        // The gradient's sensitivity is the 2-norm of the group thresholds, the directions' that of
        // the shares, the counts' half the root of their number.
        let noise_std = multiplier * length_up(&thresholds);
        let Session {
            opening,
            parameters,
            clipper,
            ..
        } = &mut *session;
        let parameters = parameters.list();
        let values = opening.release(|opening, round| {
            let mut values = StepValues {
                gradient: noisy_sums(opening, parameters, (round, 0), noise_std, sums.gradient)?,
                ..StepValues::default()
            };
            match side {
                Some((multiplier, SideSums::Directions(sums))) => {
                    let noise_std = multiplier * length_up(clipper.groups.shares());
                    let noisy = noisy_sums(opening, parameters, (round, 1), noise_std, sums)?;
                    values.directions = Some(noisy);
                }
                Some((multiplier, SideSums::Counts(sums))) => {
                    let noise_std = multiplier * Quantile::sensitivity(sums.len());
                    values.counts = Some(noisy_counts(opening, round, noise_std, sums)?);
                }
                None => {}
            }
            Ok(values)
        })?;
        let tensors = |values: Vec<Vec<f32>>| -> Vec<Tensor<1>> {
            let tensor = |values: Vec<f32>| {
                let shape = [values.len()];
                Tensor::from_data(TensorData::new(values, shape), &device)
            };
            values.into_iter().map(tensor).collect()
        };
        let noisy = Noisy {
            step,
            noise_std: noise_std / session.plan().expected_batch(),
            gradient: tensors(values.gradient),
            directions: values.directions.map(tensors),
            counts: values.counts,
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
    /// The thresholds of the next step as the first rank has them. Each learns them from the same released values, but
    /// another kind of processor may round otherwise, and the noise is made for those of the first.
    fn thresholds_of_first(&self) -> Result<Vec<f64>, SessionError> {
        let step = self.next_step();
        let own = self.thresholds.thresholds(step);
        let ranks = self.opening.ranks();
        if ranks.is_alone() {
            return Ok(own);
        }
        let mut message: Vec<f64> = own.clone();
        message.push(f64::from_bits(step));
        let mut bytes = message.to_bytes();
        ranks.receive_from_first(&mut bytes)?;
        let differ = RanksError::Differ { what: "steps" };
        let mut thresholds = Vec::<f64>::of_bytes(&bytes).unwrap_or_default();
        let same_step = thresholds.pop().map(f64::to_bits) == Some(step);
        match same_step && thresholds.len() == own.len() {
            true => Ok(thresholds),
            false => Err(differ.into()),
        }
    }
}

/// The counts of the side query with noise, divided by the expected batch size.
fn noisy_counts(
    opening: &Opening,
    round: u64,
    noise_std: f64,
    mut counts: Vec<f64>,
) -> Result<Vec<f64>, SessionError> {
    let mut stream = opening.noise(round, 1);
    stream.add_normals_to_f64(0, noise_std, &mut counts)?;
    let divisor = opening.plan().expected_batch();
    counts.iter_mut().for_each(|count| *count /= divisor);
    Ok(counts)
}

/// The sums of one query of a round with noise, divided by the expected batch size.
fn noisy_sums(
    opening: &Opening,
    parameters: &[Parameter],
    (round, query): (u64, u32),
    noise_std: f64,
    sums: WeightedSums,
) -> Result<Vec<Vec<f32>>, SessionError> {
    let scale = (1.0 / opening.plan().expected_batch()) as f32;
    let mut stream = opening.noise(round, query);
    let mut noisy = Vec::with_capacity(sums.len());
    for (index, (sum, parameter)) in sums.into_iter().zip(parameters).enumerate() {
        let sum = sum.unwrap_or_else(|| Sum::zeros(Grid::UNIT, parameter.elements()));
        // The divisor is public, so dividing is post-processing.
        noisy.push(stream.noisy_sum(index as u32, noise_std, sum, scale)?);
    }
    Ok(noisy)
}
