//! What the engine needs of a data set and of a model.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use tacita_mechanism::sampling::Units;
use thiserror::Error;

/// A data set of sensitive records. One record is the unit of privacy, unless the records say which unit they
/// belong to ([`Records::units`]).
///
/// ```
/// use burn::tensor::{Device, Distribution, Tensor};
/// use tacita::Records;
///
/// /// Rows of a table.
/// struct Table(Vec<[f32; 4]>);
///
/// impl Records for Table {
///     type Batch = Tensor<2>;
///
///     fn count(&self) -> usize {
///         self.0.len()
///     }
///
///     fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
///         let rows: Vec<f32> = indices.iter().flat_map(|&index| self.0[index]).collect();
///         Tensor::<1>::from_floats(rows.as_slice(), device).reshape([indices.len(), 4])
///     }
///
///     fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
///         let rows: Vec<f32> = seeds
///             .iter()
///             .flat_map(|&seed| [0.1, 0.2, 0.3, 0.4].map(|value| value * (1 + seed) as f32))
///             .collect();
///         Tensor::<1>::from_floats(rows.as_slice(), device).reshape([seeds.len(), 4])
///     }
/// }
/// ```
pub trait Records {
    /// A batch, as the model takes it.
    type Batch;

    /// How many records there really are. Private: rates and divisors come from the plan's declared
    /// public count.
    fn count(&self) -> usize;

    /// The records at the given positions, in that order. Each row may depend on its record only.
    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch;

    /// How much a record counts, between 0 and 1: its clipped gradient is multiplied by it. All alike unless a data set
    /// says otherwise. Like a row, it may depend on its record only.
    ///
    /// A weight of the *loss* would be lost on automatic clipping, which scales every gradient to the same length.
    fn weight(&self, _index: usize) -> f32 {
        1.0
    }

    /// Which records belong together: those of one person, say, who is then the unit of privacy. The plan must say
    /// how many records of a unit take part in a step at most
    /// ([`Plan::records_per_unit`](crate::Plan::records_per_unit)). A record of no unit takes part in nothing.
    ///
    /// Always the same. Who belongs together may depend on identifiers only, which everyone chooses for themselves:
    /// then adding or removing a unit changes no other.
    fn units(&self) -> Option<&Units> {
        None
    }

    /// One synthetic record for each seed, of the right shape and type, made without reading any
    /// record. The start-up checks run on these, so that they cannot leak.
    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch;

    /// The records at the given positions and how much each counts, where they may have to be read first. The engine
    /// asks for them in this way; records in memory have nothing to add to it.
    ///
    /// What fails may be a disk, never a record: whether a step is made must not depend on what a record holds.
    fn read(
        &self,
        indices: &[usize],
        device: &Device,
    ) -> Result<ReadRecords<Self::Batch>, UnreadableRecords> {
        Ok(ReadRecords {
            batch: self.batch(indices, device),
            weights: indices.iter().map(|index| self.weight(*index)).collect(),
        })
    }

    /// Told before a step reads its records which ones the step after it takes, so that these can be read from a disk
    /// in the meantime. `next` draws them, none after the last step; records in memory leave it alone.
    ///
    /// The draw of a step is a function of the key and the step, so an early look at it changes nothing. It is as
    /// private as that of the present step.
    fn read_ahead(&self, _next: &mut dyn FnMut() -> Vec<usize>) {}
}

/// Some records, read.
#[derive(Debug)]
pub struct ReadRecords<Batch> {
    /// The batch, as the model takes it.
    pub batch: Batch,
    /// How much each record counts ([`Records::weight`]).
    pub weights: Vec<f32>,
}

/// Records that could not be read from where they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the records cannot be read: {problem}")]
pub struct UnreadableRecords {
    /// What is wrong with the disk or the file, in words that quote nothing of a record.
    pub problem: String,
}

/// A model that gives one loss per record.
pub trait PrivateModel<Batch>: Module {
    /// The loss of each record of a batch.
    ///
    /// A loss depends on its own record only: not on the others, not on its position and not on how many
    /// there are. Random numbers come from [`layers::Dropout`](crate::compute::layers::Dropout) alone.
    ///
    /// # Shapes
    /// - result: `[batch]`
    fn losses(&self, batch: Batch) -> Tensor<1>;
}
