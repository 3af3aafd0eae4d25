//! One round as the composition needs it: its spectrum and what its tails weigh.

use super::lattice::Lattice;
use super::transform::Transform;
use super::window::Window;
use crate::special::ROUNDOFF;
use realfft::num_complex::Complex64;

/// The transform of a tilted lattice of total mass 1, and its scalars.
#[derive(Debug, Clone)]
pub(super) struct Spectrum {
    /// Coefficients less 1. The heaviest point is moved to index 0, where its coefficient is its
    /// mass at all frequencies, so only the other points pass through the transform.
    pub(super) changes: Vec<Complex64>,
    /// Error of every coefficient.
    pub(super) error: f64,
    /// ln of the total mass taken out.
    pub(super) log_mass: f64,
    /// Value of L at index 0.
    pub(super) origin: f64,
    /// Sum of the sizes that rounded into `origin`.
    pub(super) origin_scale: f64,
    /// ln E e^(above · loss)
    pub(super) log_above: f64,
    /// ln E e^((below − tilt) · loss)
    pub(super) log_below: f64,
    /// Mass of infinite loss.
    pub(super) infinite: f64,
    /// Every loss may be off by this much.
    pub(super) loss_error: f64,
    /// Every mass may be off by this share.
    pub(super) mass_error: f64,
}

impl Spectrum {
    /// Transforms a lattice. Lattice index `centre` becomes index 0 of the transform; it should
    /// be that of the heaviest point.
    pub(super) fn new(
        lattice: &Lattice,
        centre: i64,
        window: &Window,
        transform: &mut Transform,
        frequencies: usize,
    ) -> Self {
        let sign = window.direction.sign();
        let step = window.length / transform.length as f64;
        let total: f64 = lattice.masses.iter().sum();
        let rest = wrap(lattice, sign, centre, total, &mut transform.line);
        transform.run_forward();
        let moment = |exponent: f64| lattice.log_moment(sign * exponent, step, total);
        let shift = centre as f64 * step;
        let log_sizes = 1.0 + total.ln().abs() + lattice.log_scale.abs();
        Self {
            changes: (transform.spectrum[..frequencies].iter())
                .map(|coefficient| coefficient - rest)
                .collect(),
            error: transform.relative_error() * rest + 4.0 * ROUNDOFF,
            log_mass: total.ln() + lattice.log_scale,
            origin: lattice.origin + shift,
            origin_scale: lattice.origin.abs() + shift.abs(),
            log_above: moment(window.above),
            log_below: moment(window.below - window.tilt),
            infinite: lattice.infinite,
            loss_error: lattice.loss_error,
            mass_error: lattice.mass_error + 4.0 * ROUNDOFF * log_sizes,
        }
    }

    /// A round that is `self` with probability `weight` and `other` else, publicly; both must
    /// have the same origin.
    pub(super) fn blend(&self, other: &Self, weight: f64, frequencies: usize) -> Self {
        let (first, second) = (
            weight.ln() + self.log_mass,
            (1.0 - weight).ln() + other.log_mass,
        );
        let log_mass = add_logarithms(first, second);
        let share = (first - log_mass).exp();
        let changes = (self.changes[..frequencies].iter())
            .zip(&other.changes)
            .map(|(one, two)| two + (one - two) * share)
            .collect();
        let mix = |one: f64, two: f64| {
            add_logarithms(first - log_mass + one, second - log_mass + two) + 16.0 * ROUNDOFF
        };
        Self {
            changes,
            error: self.error.max(other.error) + 4.0 * ROUNDOFF,
            log_mass,
            origin: self.origin,
            origin_scale: self.origin_scale.max(other.origin_scale),
            log_above: mix(self.log_above, other.log_above),
            log_below: mix(self.log_below, other.log_below),
            infinite: weight * self.infinite + (1.0 - weight) * other.infinite,
            loss_error: self.loss_error.max(other.loss_error),
            mass_error: self.mass_error.max(other.mass_error)
                + 16.0 * ROUNDOFF * (1.0 + self.log_mass.abs() + other.log_mass.abs()),
        }
    }
}

/// ln(e^a + e^b)
fn add_logarithms(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}

/// Lays the masses of a lattice, divided by `total`, on a circle, `centre` at 0 and left out.
/// Returns the sum of the others.
fn wrap(lattice: &Lattice, sign: f64, centre: i64, total: f64, line: &mut [f64]) -> f64 {
    line.fill(0.0);
    let length = line.len() as i64;
    let scale = total.recip();
    let towards = if sign > 0.0 { 1 } else { -1 };
    let mut place = (towards * (lattice.first - centre)).rem_euclid(length);
    let mut rest = 0.0;
    for (index, mass) in (lattice.first..).zip(&lattice.masses) {
        if index != centre {
            let mass = mass * scale;
            line[place as usize] += mass;
            rest += mass;
        }
        place += towards;
        if place == length {
            place = 0;
        } else if place < 0 {
            place = length - 1;
        }
    }
    rest
}

impl Lattice {
    /// Lattice index of the largest mass.
    pub(super) fn heaviest(&self) -> i64 {
        let (mut heaviest, mut most) = (self.first, 0.0);
        for (index, &mass) in (self.first..).zip(&self.masses) {
            if mass > most {
                (heaviest, most) = (index, mass);
            }
        }
        heaviest
    }

    /// ln Σ massᵢ e^(exponent · Lᵢ) / total, rounded up.
    fn log_moment(&self, exponent: f64, step: f64, total: f64) -> f64 {
        let factor = (-(exponent * step).abs()).exp();
        let fold = |sum: f64, mass: &f64| sum * factor + mass;
        let last = self.first + self.masses.len() as i64 - 1;
        // Horner's rule towards the end where the factor is largest, so that nothing overflows.
        let (sum, end) = if exponent >= 0.0 {
            (self.masses.iter().fold(0.0, fold), last)
        } else {
            (self.masses.iter().rev().fold(0.0, fold), self.first)
        };
        let rounding = 4.0 * ROUNDOFF * self.masses.len() as f64;
        (sum / total).ln() + exponent * (self.origin + end as f64 * step) + rounding
    }
}
