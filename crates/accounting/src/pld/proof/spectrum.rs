//! One round as the composition needs it: its spectrum and what its tails weigh.

use super::exact_differences::{LOWEST, differences};
use super::lattice::Lattice;
use super::low_frequencies::LowFrequencies;
use super::transform::Transform;
use super::window::Window;
use crate::special::ROUNDOFF;
use realfft::num_complex::Complex64;
use std::ops::RangeInclusive;

/// Total masses of a lattice for which a mass that underflowed is below 1e-200 of the total
/// (PROOF.md, §4). They are about 1 if the scale was chosen well.
const SOUND_TOTAL: RangeInclusive<f64> = 1e-100..=1e100;

/// The transform of a tilted lattice of total mass 1, and its scalars.
#[derive(Debug, Clone)]
pub(super) struct Spectrum {
    /// Coefficients less 1. The heaviest point is moved to index 0, where its coefficient is its
    /// mass at all frequencies, so only the other points pass through the transform.
    pub(super) changes: Vec<Complex64>,
    /// Errors of the lowest coefficients, where they are known better than the others.
    pub(super) lowest_errors: Vec<f64>,
    /// What else is known of the round.
    pub(super) scalars: Scalars,
}

/// What a composition adds up, round by round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scalars {
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
    /// be that of the heaviest point. None if the scale of the masses was so misjudged that they may
    /// have underflowed.
    pub(super) fn new(
        lattice: &Lattice,
        centre: i64,
        window: &Window,
        transform: &mut Transform,
        frequencies: usize,
        exact_differences: bool,
    ) -> Option<Self> {
        let sign = window.direction.sign();
        let step = window.length / transform.length as f64;
        let total = compensated_sum(lattice.points.iter().map(|point| point.mass));
        if !SOUND_TOTAL.contains(&total) {
            return None;
        }
        let (mut changes, error) =
            transformed(lattice, sign, centre, total, transform, frequencies);
        let (mut lowest_errors, mut uncounted) = (Vec::new(), 0.0);
        let weight = lattice.mass_at(centre) / total;
        if exact_differences && weight > 0.01 {
            lowest_errors = refine(lattice, sign, centre, total, transform.length, &mut changes);
            // The error of `total`, as one of the mass at `centre`.
            uncounted = 4.0 * ROUNDOFF / weight;
        }
        let moment = |exponent: f64| lattice.log_moment(sign * exponent, step, total);
        let shift = centre as f64 * step;
        let log_sizes = 1.0 + total.ln().abs() + lattice.log_scale.abs();
        let scalars = Scalars {
            error,
            log_mass: total.ln() + lattice.log_scale,
            origin: lattice.origin + shift,
            origin_scale: lattice.origin.abs() + shift.abs(),
            log_above: moment(window.above),
            log_below: moment(window.below - window.tilt),
            infinite: lattice.infinite,
            loss_error: lattice.loss_error,
            mass_error: lattice.mass_error + 4.0 * ROUNDOFF * log_sizes + uncounted,
        };
        Some(Self {
            changes,
            lowest_errors,
            scalars,
        })
    }

    /// Error of one coefficient.
    pub(super) fn error_at(&self, index: usize) -> f64 {
        (self.lowest_errors.get(index)).map_or(self.scalars.error, |error| *error)
    }
}

impl Scalars {
    /// Those of a round that is `self` with probability `weight` and `other` else, publicly; both
    /// must have the same origin. Also the share of `self` in the tilted, normalised mixture.
    pub(super) fn blend(&self, other: &Self, weight: f64) -> (Self, f64) {
        let (first, second) = (
            weight.ln() + self.log_mass,
            (1.0 - weight).ln() + other.log_mass,
        );
        let log_mass = add_logarithms(first, second);
        let share = (first - log_mass).exp();
        let mix = |one: f64, two: f64| {
            add_logarithms(first - log_mass + one, second - log_mass + two) + 16.0 * ROUNDOFF
        };
        let blended = Self {
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
        };
        (blended, share)
    }
}

/// ln(e^a + e^b)
fn add_logarithms(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    high + (low - high).exp().ln_1p()
}

/// Coefficients less 1 of the lattice on a circle, and their error: divided by `total`, `centre`
/// at 0 and left out.
fn transformed(
    lattice: &Lattice,
    sign: f64,
    centre: i64,
    total: f64,
    transform: &mut Transform,
    frequencies: usize,
) -> (Vec<Complex64>, f64) {
    let length = transform.length;
    let rest = compensated_sum(around(lattice, sign, centre).map(|(_, mass)| mass / total));
    let points = around(lattice, sign, centre)
        .map(|(place, mass)| (place.rem_euclid(length as i64) as usize, mass / total));
    if !(transform.low.as_ref()).is_some_and(|low| low.fits(length, frequencies)) {
        transform.low = LowFrequencies::plan(length, frequencies);
    }
    let (mut coefficients, error) = if let Some(low) = &mut transform.low {
        (low.run(points), low.relative_error())
    } else {
        transform.line.fill(0.0);
        points.for_each(|(place, mass)| transform.line[place] += mass);
        transform.run_forward();
        let coefficients = transform.spectrum[..frequencies].to_vec();
        (coefficients, transform.relative_error())
    };
    coefficients.truncate(frequencies);
    for coefficient in &mut coefficients {
        *coefficient -= rest;
    }
    (coefficients, error * rest + 8.0 * ROUNDOFF)
}

/// Replaces the lowest coefficients by more exact ones; returns their errors.
fn refine(
    lattice: &Lattice,
    sign: f64,
    centre: i64,
    total: f64,
    length: usize,
    changes: &mut [Complex64],
) -> Vec<f64> {
    let points = around(lattice, sign, centre).map(|(place, mass)| (place, mass / total));
    let count = LOWEST.min(changes.len());
    let Some((found, errors)) = differences(points, length, count) else {
        return Vec::new();
    };
    changes[..count].copy_from_slice(&found);
    errors
}

/// A sum whose error is two roundings of it, however many terms of one sign there are (Kahan).
fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for term in terms {
        let term = term - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    sum
}

/// (place, mass) of all points but `centre`, which is at 0.
fn around(lattice: &Lattice, sign: f64, centre: i64) -> impl Iterator<Item = (i64, f64)> {
    let towards = if sign > 0.0 { 1 } else { -1 };
    (lattice.points.iter())
        .filter(move |point| point.index != centre)
        .map(move |point| (towards * (point.index - centre), point.mass))
}

impl Lattice {
    /// Lattice index of the largest mass.
    pub(super) fn heaviest(&self) -> i64 {
        let (mut heaviest, mut most) = (0, -1.0);
        for point in &self.points {
            if point.mass > most {
                (heaviest, most) = (point.index, point.mass);
            }
        }
        heaviest
    }

    /// Mass at a lattice index.
    fn mass_at(&self, index: i64) -> f64 {
        (self.points)
            .binary_search_by_key(&index, |point| point.index)
            .map_or(0.0, |place| self.points[place].mass)
    }

    /// ln Σ massᵢ e^(exponent · Lᵢ) / total, rounded up.
    fn log_moment(&self, exponent: f64, step: f64, total: f64) -> f64 {
        // Relative to the end where the factor is largest, so that nothing overflows.
        let end = if exponent >= 0.0 {
            self.points.last()
        } else {
            self.points.first()
        };
        let end = end.map_or(0, |point| point.index);
        let sum: f64 = (self.points.iter())
            .map(|point| point.mass * (exponent * ((point.index - end) as f64 * step)).exp())
            .sum();
        let rounding = 4.0 * ROUNDOFF * (4.0 + self.points.len() as f64);
        let place = exponent * (self.origin + end as f64 * step);
        // What underflowed is less than this.
        let lost = 1e-300 * self.points.len() as f64;
        ((sum + lost) / total).ln() + place + rounding + 8.0 * ROUNDOFF * place.abs()
    }
}
