//! δ and ε of a composed privacy loss, rounded outwards.

use super::composition::Composed;
use super::pair::Direction;
use super::rounds::Side;
use super::spectral_error::SpectralError;
use super::window::Window;
use crate::special::ROUNDOFF;

/// δ as a function of ε, for one side of the bracket.
pub(crate) struct Curve {
    /// Which bound the masses give.
    pub(super) side: Side,
    window: Window,
    step: f64,
    lowest: f64,
    log_mass: f64,
    mass_error: f64,
    spectral_error: SpectralError,
    log_above: f64,
    log_below: f64,
    infinite: f64,
    /// Readings of ε move outwards by this much.
    pub(crate) loss_error: f64,
    /// Σ_{j ≥ i} mass_j e^(−tilt (j−i) step)
    tilted: Vec<f64>,
    /// Σ_{j ≥ i} mass_j e^(−(tilt+1) (j−i) step)
    tilted_more: Vec<f64>,
    inflation: f64,
    /// Work it took.
    pub(crate) work: f64,
}

impl Curve {
    /// Prepares a composed loss for reading.
    pub(super) fn new(side: Side, composed: Composed, window: Window) -> Self {
        let length = composed.masses.len();
        let step = window.length / length as f64;
        let (fade, fade_more) = (
            (-window.tilt * step).exp(),
            (-(window.tilt + 1.0) * step).exp(),
        );
        let mut tilted = composed.masses;
        let mut tilted_more = vec![0.0; length];
        let (mut sum, mut sum_more) = (0.0, 0.0);
        for i in (0..length).rev() {
            sum = sum * fade + tilted[i];
            sum_more = sum_more * fade_more + tilted[i];
            tilted[i] = sum;
            tilted_more[i] = sum_more;
        }
        Self {
            side,
            window,
            step,
            lowest: composed.lowest,
            log_mass: composed.log_mass,
            mass_error: composed.mass_error,
            spectral_error: composed.spectral_error,
            log_above: composed.log_above,
            log_below: composed.log_below,
            infinite: composed.infinite,
            loss_error: composed.loss_error,
            tilted,
            tilted_more,
            // A loss that is off by a moves ε by a and, P being e^loss · Q, δ by a share a.
            inflation: composed.inflation + composed.loss_error,
            work: composed.work,
        }
    }

    /// Which divergence it is of.
    pub(super) fn direction(&self) -> Direction {
        self.window.direction
    }

    /// Lowest ε at which δ can be read.
    pub(super) fn lowest(&self) -> f64 {
        self.lowest
    }

    /// Largest ε at which δ can be read.
    pub(super) fn highest(&self) -> f64 {
        self.lowest + self.step * self.tilted.len() as f64
    }

    /// (δ of the computed masses, bound on its error) in units of e^(log_mass − tilt ε).
    fn scaled(&self, epsilon: f64) -> (f64, f64) {
        let length = self.tilted.len();
        let place = ((epsilon - self.lowest) / self.step).floor() + 1.0;
        let index = place.max(0.0) as usize;
        if index >= length {
            return (0.0, 0.0);
        }
        let tilt = self.window.tilt;
        let rest = self.lowest + index as f64 * self.step - epsilon;
        let first = (-tilt * rest).exp() * self.tilted[index];
        let second = (-(tilt + 1.0) * rest).exp() * self.tilted_more[index];
        // Σ over points of e^(−tilt·v) min(1, v), v the distance to ε.
        let decay = -(-tilt * self.step).exp_m1();
        let spread = (length as f64)
            .min(decay.recip())
            .min(self.step / (decay * decay));
        let to_end = (-tilt * (self.highest() - epsilon)).exp();
        let absolute = self.mass_error * spread + 1.01 * self.spectral_error.at(to_end);
        let size =
            first.abs() + second.abs() + 2.0 * self.mass_error * (length as f64).min(decay.recip());
        (
            first - second,
            absolute + 8.0 * ROUNDOFF * length as f64 * size,
        )
    }

    fn scale(&self, epsilon: f64) -> f64 {
        (self.log_mass - self.window.tilt * epsilon).exp()
    }

    /// Rounding of δ at ε, relative to it.
    pub(crate) fn rounding(&self, epsilon: f64) -> f64 {
        let (value, error) = self.scaled(epsilon);
        if value > 0.0 {
            error / value
        } else {
            f64::INFINITY
        }
    }

    /// What losses above the window add to δ at most: they fall back into it, and below ε they are
    /// missed.
    pub(crate) fn missed(&self) -> f64 {
        let exponent = self.window.tilt + self.window.above;
        (self.log_mass + self.log_above - exponent * self.highest()).exp()
    }

    /// δ at ε is at most this, loss errors apart.
    pub(crate) fn delta_up(&self, epsilon: f64) -> f64 {
        if epsilon < self.lowest {
            return 1.0; // losses between ε and the window are not seen
        }
        let (value, error) = self.scaled(epsilon);
        let finite = self.scale(epsilon) * (value.max(0.0) + error) + self.missed();
        let bound = finite * (self.inflation + 64.0 * ROUNDOFF * (1.0 + self.log_mass.abs())).exp()
            + self.infinite * (1.0 + 1e-9);
        // What overflowed proves nothing.
        if bound.is_nan() { 1.0 } else { bound }
    }

    /// δ at ε is at least this, loss errors apart.
    pub(super) fn delta_down(&self, epsilon: f64) -> f64 {
        // δ falls with ε, and below the window nothing is seen.
        let epsilon = epsilon.max(self.lowest);
        let (value, error) = self.scaled(epsilon);
        let Window {
            tilt,
            length,
            above,
            below,
            ..
        } = self.window;
        let scale = self.scale(epsilon);
        // Losses a window's length above ε fall onto it.
        let from_above = scale * (self.log_above - above * (epsilon + length)).exp();
        // Losses below the window rise into its upper end.
        let from_below = (self.log_mass + self.log_below - below * self.lowest - tilt * length)
            .exp()
            / -((below - tilt) * length).exp_m1();
        let kept = scale * (value - error);
        let rounding = self.inflation + 64.0 * ROUNDOFF * (1.0 + self.log_mass.abs());
        kept * (-rounding).exp() - (from_above + from_below) * rounding.exp() * (1.0 + 1e-9)
    }

    /// Smallest ε found at which δ is certainly at most this; infinite if none in the window.
    /// None if it lies below the window.
    pub(super) fn epsilon_up(&self, delta: f64) -> Option<f64> {
        let (mut low, mut high) = (self.lowest, self.highest());
        if self.delta_up(low) <= delta {
            return None;
        }
        if self.delta_up(high) > delta {
            return Some(f64::INFINITY);
        }
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if self.delta_up(middle) <= delta {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high + self.loss_error)
    }

    /// Largest ε found at which δ is certainly above this; none if none in the window.
    pub(super) fn epsilon_down(&self, delta: f64, highest: f64) -> Option<f64> {
        let (mut low, mut high) = (self.lowest, highest.min(self.highest()));
        if self.delta_down(low) <= delta {
            // The bound may be useless at the bottom, where slack is largest, yet good higher up.
            low = (1..64)
                .map(|i| low + (high - low) * f64::from(i) / 64.0)
                .find(|&middle| self.delta_down(middle) > delta)?;
        }
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if self.delta_down(middle) > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low - self.loss_error)
    }
}
