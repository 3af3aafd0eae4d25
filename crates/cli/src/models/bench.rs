//! A model of any type, ready to be used on records of its kind.

use super::Scored;
use burn::module::{ModuleVisitor, Param};
use burn::tensor::{Device, Tensor};
use std::marker::PhantomData;
use tacita::{Keys, Records};
use tacita_datasets::{Images, RecordSet, Rows, Tokens};

/// A model that takes records of kind `R`, on a device.
#[derive(Debug, Clone)]
pub struct Bench<R, M> {
    /// The model, on a device that records gradients.
    pub model: M,
    /// Where batches are made.
    pub device: Device,
    kind: PhantomData<fn() -> R>,
}

impl<R: Kind, M: Scored<R::Batch>> Bench<R, M> {
    /// Makes a model with newly drawn parameters and moves it to a device.
    ///
    /// Initial weights come from the operating system, or from the seed of a run that is not private; they
    /// are the same on every device.
    pub fn new(seed: Option<u64>, device: &Device, init: impl FnOnce(&Device) -> M) -> Self {
        let memory = Device::flex().autodiff();
        let model = match seed {
            Some(seed) => Keys::fixed_seed(seed).initial_weights(|| init(&memory)),
            // Every layer takes a key from the operating system.
            None => init(&memory),
        };
        // Burn draws a parameter at its first use; the computer's memory has room for all of them.
        model.visit(&mut Draw);
        Self::of(model.fork(&device.clone().autodiff()), device)
    }

    /// A model that is on the device already.
    pub fn of(model: M, device: &Device) -> Self {
        Self {
            model,
            device: device.clone(),
            kind: PhantomData,
        }
    }
}

/// Draws the parameters of a model where it is.
struct Draw;

impl ModuleVisitor for Draw {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        param.val();
    }
}

/// A kind of records in a set.
pub trait Kind: Records + Sized + 'static {
    /// The records of a set, if they are of this kind.
    fn of(set: &RecordSet) -> Option<&Self>;
}

macro_rules! kind {
    ($kind:ident) => {
        impl Kind for $kind {
            fn of(set: &RecordSet) -> Option<&Self> {
                match set {
                    RecordSet::$kind(records) => Some(records),
                    _ => None,
                }
            }
        }
    };
}
kind!(Images);
kind!(Tokens);
kind!(Rows);

/// What a program does with a model, as a trait object that every [`Bench`] can become.
///
/// The registry makes benches of many types. A program that trains takes them as `dyn Workbench` of the module
/// `run`; one that experiments has a trait of its own. Neither needs to know the types.
pub trait Erase {
    /// The trait object.
    type Object: ?Sized;
    /// Whether the parameters are drawn, and not only their shapes known.
    const DRAWN: bool = true;

    /// The bench as that object.
    fn erase<R: Kind, M: Scored<R::Batch>>(bench: Bench<R, M>) -> Box<Self::Object>;
}
