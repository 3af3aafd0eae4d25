//! Training that ran away: parameters that are no numbers, or so large that nothing of use is computed from them.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use std::fmt;

/// Beyond this no parameter of a model that learned anything is: inputs are scaled to about 1, and a probability
/// is 0 or 1 to the last bit long before.
const ABSURD: f32 = 1e5;

/// How far training ran away. Parameters are released, so this may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divergence {
    /// Parameters that are no finite numbers.
    pub not_finite: u64,
    /// Parameters that are, but absurdly large.
    pub absurd: u64,
    /// Parameters in all.
    pub of: u64,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            not_finite,
            absurd,
            of,
        } = self;
        write!(
            f,
            "of {of} parameters {not_finite} are no finite numbers and {absurd} are beyond ±{ABSURD}"
        )
    }
}

/// How far a model ran away, if it did.
pub fn divergence<M: Module>(model: &M) -> Option<Divergence> {
    let mut seen = Divergence {
        not_finite: 0,
        absurd: 0,
        of: 0,
    };
    model.visit(&mut seen);
    (seen.not_finite + seen.absurd > 0).then_some(seen)
}

impl ModuleVisitor for Divergence {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        for value in param.val().into_data().iter::<f32>() {
            self.of += 1;
            if !value.is_finite() {
                self.not_finite += 1;
            } else if value.abs() > ABSURD {
                self.absurd += 1;
            }
        }
    }
}
