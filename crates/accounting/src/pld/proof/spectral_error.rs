//! What errors of the spectrum do to δ.

use super::window::Window;

/// Effect of errors of the spectrum on δ(ε) · e^(tilt·ε − log_mass).
///
/// δ weighs the point at distance v above ε with e^(−tilt·v) − e^(−(tilt+1)·v). The transform of
/// that weight is a difference of two geometric series, so an error of a coefficient counts the
/// less the higher its frequency (PROOF.md, §4).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SpectralError {
    /// Error at every ε.
    pub(super) common: f64,
    /// Further error, times e^(−tilt · distance of ε to the end of the window).
    pub(super) at_end: f64,
    /// The whole error is at most this: each weight is at most 1 and at most its distance to ε.
    pub(super) most: f64,
}

impl SpectralError {
    /// The error at an ε whose distance to the end of the window makes e^(−tilt · distance) this.
    pub(super) fn at(&self, to_end: f64) -> f64 {
        (self.common + self.at_end * to_end).min(self.most)
    }

    /// The effect of these errors of the coefficients, by increasing frequency, and of `left_out`, which
    /// counts as if at frequency 0, on a circle of this many points.
    pub(super) fn of(
        window: &Window,
        points: usize,
        errors: impl Iterator<Item = f64>,
        left_out: f64,
    ) -> Self {
        let length = points as f64;
        let (tilt, step) = (window.tilt, window.length / length);
        // |1 − e^(−a·step + i·angle)|, given the half angle's sine.
        let gap = |exponent: f64, sine: f64| {
            let fade = (-exponent * step).exp();
            let near = -(-exponent * step).exp_m1();
            (near * near + 4.0 * fade * sine * sine).sqrt()
        };
        let most = length * window.length.min(1.0);
        let mut error = Self::default();
        let mut count = |size: f64, sine: f64| {
            let (gap, gap_more) = (gap(tilt, sine), gap(tilt + 1.0, sine));
            let rise = gap.min(gap_more).recip() + (gap * gap_more).recip();
            error.common += size * step * rise;
            error.at_end += size * (step * rise + window.length.min(1.0) / gap_more);
            error.most += size * most;
        };
        for (index, off) in errors.enumerate() {
            let sine = (std::f64::consts::PI * index as f64 / length).sin();
            count(2.0 * off / length, sine);
        }
        count(2.0 * left_out, 0.0);
        error
    }
}
