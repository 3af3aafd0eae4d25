//! Fast Fourier transforms, their working space and their error.

use super::low_frequencies::LowFrequencies;
use crate::special::ROUNDOFF;
use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::cell::RefCell;
use std::sync::Arc;

/// Error of one coefficient of a transform of length N, in units of u · log₂N · Σ|input|.
///
/// Each output is a sum over paths of at most log₂N butterflies; each butterfly multiplies by one
/// computed twiddle factor and adds, which costs at most √5 u + u + u (Brent, Percival &
/// Zimmermann 2007). Five cover it; eight leave room for larger radices and for the split of a
/// real transform. `transform_error_is_within_its_bound` measures it.
const TRANSFORM_ERROR: f64 = 8.0;

thread_local! {
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
    /// Working space of the last transforms: fresh pages cost as much as a transform.
    static SPARE: RefCell<Vec<Transform>> = const { RefCell::new(Vec::new()) };
}

/// Working space above this length is given back to the system.
const LONGEST_SPARE: usize = 1 << 18;
const MOST_SPARES: usize = 4;

/// Units of work to pass over this many points.
pub(crate) fn work_of_points(points: usize) -> f64 {
    // What does not fit the caches takes longer.
    let slowness = if points > LONGEST_SPARE { 4.0 } else { 1.0 };
    slowness * points as f64
}

/// A forward transform of this length, planned once.
pub(super) fn real_transform(length: usize) -> Arc<dyn RealToComplex<f64>> {
    PLANNER.with_borrow_mut(|planner| planner.plan_fft_forward(length))
}

/// Transforms of one length, and their working space.
pub(super) struct Transform {
    pub(super) length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    /// Points, in and out.
    pub(super) line: Vec<f64>,
    /// Coefficients, out and in.
    pub(super) spectrum: Vec<Complex64>,
    scratch: Vec<Complex64>,
    /// The plan for low frequencies alone, if it was wanted.
    pub(super) low: Option<LowFrequencies>,
    /// Space for a product of spectra.
    pub(super) product: Vec<Complex64>,
    /// Space for the bounds of a product.
    pub(super) envelope: Vec<f64>,
}

impl Transform {
    /// Transforms of an even length, planned or taken from the spares.
    pub(super) fn new(length: usize) -> Self {
        SPARE
            .with_borrow_mut(|spares| {
                let index = spares.iter().position(|spare| spare.length == length)?;
                Some(spares.swap_remove(index))
            })
            .unwrap_or_else(|| Self::plan(length))
    }

    /// Keeps the working space for the next transforms of this length.
    pub(super) fn keep(self) {
        if self.length <= LONGEST_SPARE {
            SPARE.with_borrow_mut(|spares| {
                if spares.len() == MOST_SPARES {
                    spares.remove(0);
                }
                spares.push(self);
            });
        }
    }

    fn plan(length: usize) -> Self {
        let (forward, inverse) = PLANNER.with_borrow_mut(|planner| {
            (
                planner.plan_fft_forward(length),
                planner.plan_fft_inverse(length),
            )
        });
        let scratch = forward.get_scratch_len().max(inverse.get_scratch_len());
        Self {
            length,
            line: vec![0.0; length],
            spectrum: vec![Complex64::default(); length / 2 + 1],
            scratch: vec![Complex64::default(); scratch],
            low: None,
            product: Vec::new(),
            envelope: Vec::new(),
            forward,
            inverse,
        }
    }

    /// Error of every coefficient, relative to the sum of the moduli of the input.
    pub(super) fn relative_error(&self) -> f64 {
        Self::error_of_length(self.length as f64)
    }

    /// The same for a transform of this length.
    pub(super) fn error_of_length(length: f64) -> f64 {
        TRANSFORM_ERROR * ROUNDOFF * length.log2()
    }

    /// Line to spectrum.
    pub(super) fn run_forward(&mut self) {
        let done = (self.forward).process_with_scratch(
            &mut self.line,
            &mut self.spectrum,
            &mut self.scratch,
        );
        debug_assert!(done.is_ok(), "lengths are those of the plan");
    }

    /// Spectrum to line, times the length.
    pub(super) fn run_inverse(&mut self) {
        let done = (self.inverse).process_with_scratch(
            &mut self.spectrum,
            &mut self.line,
            &mut self.scratch,
        );
        debug_assert!(done.is_ok(), "lengths are those of the plan");
    }
}
