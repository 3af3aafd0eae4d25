//! Which stretch of composed losses the transform holds, and under which tilt.

use super::pair::Direction;

/// A stretch of losses and the exponents of the tail bounds outside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Which divergence.
    pub(crate) direction: Direction,
    /// Exponential tilt of the transform.
    pub(crate) tilt: f64,
    /// Lowest loss held.
    pub(crate) bottom: f64,
    /// Length of the stretch; losses a multiple of it apart fall together.
    pub(crate) length: f64,
    /// Further tilt of the Chernoff bound above the window.
    pub(crate) above: f64,
    /// Tilt, at most 0, of the Chernoff bound below the window.
    pub(crate) below: f64,
}

impl Window {
    /// The bounds of PROOF.md, §4, hold for this window.
    pub(super) fn is_sound(&self) -> bool {
        let finite = [self.tilt, self.bottom, self.length, self.above, self.below]
            .iter()
            .all(|number| number.is_finite());
        finite && self.tilt > 0.0 && self.length > 0.0 && self.above >= 0.0 && self.below <= 0.0
    }
}
