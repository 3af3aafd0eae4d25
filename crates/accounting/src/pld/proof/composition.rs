//! Composition: spectra of tilted lattices are multiplied, with every rounding error carried.

use super::powers::{BATCH, multiply_small, power, size};
use super::spectral_error::SpectralError;
use super::spectrum::{Scalars, Spectrum};
use super::transform::Transform;
use super::window::Window;
use crate::effort::Effort;
use crate::special::ROUNDOFF;
use realfft::num_complex::Complex64;

/// Spectral coefficients smaller than e^−52 are counted as 0; all of them together are below
/// the rounding error of one, and carried.
const NEGLIGIBLE_LOG: f64 = -52.0;
/// Time to multiply one coefficient of a blend, relative to that to compute one.
const WORK_OF_PRODUCT: f64 = 0.04;

/// The composition so far of one side of the bracket.
pub(super) struct Composition {
    window: Window,
    /// Distance of lattice points.
    step: f64,
    product: Vec<Complex64>,
    /// Bound on the modulus of each exact coefficient.
    envelope: Vec<f64>,
    /// Composed position of lattice index 0, as a value of L.
    origin: f64,
    /// Σ n · |origin|: scale of the rounding of `origin`.
    origin_scale: f64,
    log_mass: f64,
    /// Σ n · sizes of the three logarithms: scale of their rounding.
    log_sizes: f64,
    log_above: f64,
    log_below: f64,
    infinite: f64,
    loss_error: f64,
    inflation: f64,
    kinds: f64,
    /// Spectra multiplied together.
    factors: f64,
    /// Coefficients computed and multiplied, as a measure of time.
    work: f64,
}

/// A composed, tilted privacy loss on the points of a window.
pub(super) struct Composed {
    /// Tilted masses of the points `lowest + i · step`.
    pub(super) masses: Vec<f64>,
    /// First point.
    pub(super) lowest: f64,
    /// ln of the factor taken out by the tilt.
    pub(super) log_mass: f64,
    /// Every mass may be off by this much: rounding of the inverse transform.
    pub(super) mass_error: f64,
    /// Rounding of the spectrum, as an error of scaled δ; see [`SpectralError`].
    pub(super) spectral_error: SpectralError,
    /// ln E e^(above · loss) under the tilt.
    pub(super) log_above: f64,
    /// ln E e^(below · loss − tilt · loss) under the tilt.
    pub(super) log_below: f64,
    /// Mass of infinite loss.
    pub(super) infinite: f64,
    /// Every loss may be off by this much.
    pub(super) loss_error: f64,
    /// Every δ may be off by a factor of e to this.
    pub(super) inflation: f64,
    /// Coefficients computed and multiplied, as a measure of time.
    pub(super) work: f64,
}

impl Composition {
    /// Nothing composed yet.
    pub(super) fn new(window: Window, transform: &mut Transform) -> Self {
        let count = transform.length / 2 + 1;
        let mut product = std::mem::take(&mut transform.product);
        product.clear();
        product.resize(count, Complex64::new(1.0, 0.0));
        let mut envelope = std::mem::take(&mut transform.envelope);
        envelope.clear();
        envelope.resize(count, 1.0);
        Self {
            window,
            step: window.length / transform.length as f64,
            product,
            envelope,
            origin: 0.0,
            origin_scale: 0.0,
            log_mass: 0.0,
            log_sizes: 0.0,
            log_above: 0.0,
            log_below: 0.0,
            infinite: 0.0,
            loss_error: 0.0,
            inflation: 0.0,
            kinds: 0.0,
            factors: 0.0,
            work: 0.0,
        }
    }

    /// Composes `times` equal rounds; none if that is more work than is left.
    pub(super) fn include(&mut self, one: &Spectrum, times: u64, effort: &Effort) -> Option<()> {
        self.multiply(&one.changes, times, |index| one.error_at(index), effort)?;
        self.count(&one.scalars, times);
        self.factors += 1.0;
        Some(())
    }

    /// Composes rounds that are each a blend of two: (share of the first, what it adds up to,
    /// how many); none if that is more work than is left.
    pub(super) fn include_blends(
        &mut self,
        first: &Spectrum,
        second: &Spectrum,
        blends: &[(f64, Scalars, u64)],
        effort: &Effort,
    ) -> Option<()> {
        let mut single = Vec::with_capacity(blends.len());
        // The blend of two changes is rounded too, relative to their size.
        let error_at = |index: usize| {
            let largest = size(first.changes[index]).max(size(second.changes[index]));
            first.error_at(index).max(second.error_at(index)) + 8.0 * ROUNDOFF * largest
        };
        for &(share, scalars, times) in blends {
            self.count(&scalars, times);
            if times == 1 {
                single.push(share);
            } else {
                let pairs = first.changes.iter().zip(&second.changes);
                let changes: Vec<_> = (pairs.take(self.active()))
                    .map(|(one, two)| two + (one - two) * share)
                    .collect();
                self.multiply(&changes, times, error_at, effort)?;
                self.factors += 1.0;
            }
        }
        self.work += (single.len() * self.active()) as f64 * WORK_OF_PRODUCT;
        effort.spend((20.0 + 1.2 * single.len() as f64) * self.active() as f64)?;
        self.multiply_blends(first, second, &single, error_at);
        Some(())
    }

    fn count(&mut self, one: &Scalars, times: u64) {
        let rounds = times as f64;
        self.log_above += rounds * one.log_above;
        self.log_below += rounds * one.log_below;
        self.log_mass += rounds * one.log_mass;
        self.log_sizes += rounds * (one.log_mass.abs() + one.log_above.abs() + one.log_below.abs());
        self.inflation += rounds * one.mass_error;
        self.origin += rounds * one.origin;
        self.origin_scale += rounds * one.origin_scale;
        self.infinite += rounds * one.infinite;
        self.loss_error += rounds * one.loss_error;
        self.kinds += 1.0;
    }

    /// A round was put on the lattice and transformed, which takes about this many operations.
    pub(super) fn transformed(&mut self, work: usize) {
        self.work += work as f64;
    }

    /// Frequencies that still matter.
    pub(super) fn active(&self) -> usize {
        self.product.len()
    }

    /// Multiplies by the spectrum of one round to the power `times`.
    fn multiply(
        &mut self,
        changes: &[Complex64],
        times: u64,
        error_at: impl Fn(usize) -> f64,
        effort: &Effort,
    ) -> Option<()> {
        effort.spend(6.0 * self.active() as f64)?;
        let mut powers = 0.0;
        let rounds = times as f64;
        let negligible_size = (NEGLIGIBLE_LOG / rounds).exp();
        let mut active = 0;
        for (index, change) in changes[..self.product.len()].iter().enumerate() {
            let error = error_at(index);
            let negligible = (negligible_size - error).max(0.0).powi(2);
            let square = (1.0 + change).norm_sqr();
            if square < negligible || self.envelope[index] == 0.0 {
                self.product[index] = Complex64::default();
                self.envelope[index] = 0.0;
                continue;
            }
            if times == 1 {
                self.product[index] *= 1.0 + change;
                self.envelope[index] *= square.sqrt() + error;
            } else {
                let (factor, bound) = power(*change, rounds, error);
                powers += 1.0;
                self.product[index] *= factor;
                self.envelope[index] *= bound;
            }
            if self.lives(index) {
                active = index + 1;
            }
        }
        self.keep(active);
        // Most coefficients of most rounds are negligible, so this is known only now.
        effort.spend(50.0 * powers)
    }

    /// Whether a frequency still matters; one that does not is set to zero.
    fn lives(&mut self, index: usize) -> bool {
        let negligible = self.envelope[index] < NEGLIGIBLE_LOG.exp();
        if negligible {
            self.product[index] = Complex64::default();
            self.envelope[index] = 0.0;
        }
        !negligible
    }

    /// High frequencies die first; those beyond `active` are not looked at again.
    fn keep(&mut self, active: usize) {
        self.product.truncate(active.max(1));
        self.envelope.truncate(active.max(1));
    }

    /// Multiplies by 1 + second + share · (first − second) for every share.
    fn multiply_blends(
        &mut self,
        first: &Spectrum,
        second: &Spectrum,
        shares: &[f64],
        error_at: impl Fn(usize) -> f64,
    ) {
        let count = shares.len() as f64;
        let lowest = first.lowest_errors.len().min(second.lowest_errors.len());
        let mut factors = [Complex64::default(); BATCH];
        let mut active = 0;
        for start in (0..self.product.len()).step_by(BATCH) {
            let here = start..(start + BATCH).min(self.product.len());
            let (first, second) = (&first.changes[here.clone()], &second.changes[here.clone()]);
            factors.fill(Complex64::new(1.0, 0.0));
            let rounding = if here.end <= lowest {
                multiply_small(&mut factors, first, second, shares)
            } else {
                for &share in shares {
                    for ((factor, one), two) in factors.iter_mut().zip(first).zip(second) {
                        *factor *= 1.0 + two + (one - two) * share;
                    }
                }
                16.0 * ROUNDOFF * count
            };
            for (offset, factor) in factors[..here.len()].iter().enumerate() {
                let index = start + offset;
                let error = error_at(index);
                // All factors lie between two points; how near to 0 can they be?
                let (one, two) = (1.0 + first[offset], 1.0 + second[offset]);
                let nearest = size(one).min(size(two)) - 0.5 * size(one - two);
                let bound = if nearest > 0.0 {
                    size(*factor) * (count * error / nearest + rounding).exp()
                } else {
                    (shares.iter())
                        .map(|share| size(two + (one - two) * share) + error)
                        .product::<f64>()
                        * rounding.exp()
                };
                self.product[index] *= factor;
                self.envelope[index] *= bound;
                if self.lives(index) {
                    active = index + 1;
                }
            }
        }
        self.keep(active);
    }

    /// Transforms back and cuts out the window.
    pub(super) fn finish(self, transform: &mut Transform) -> Composed {
        let length = transform.length;
        let sign = self.window.direction.sign();
        let rounding = 16.0 * ROUNDOFF * (self.factors + 4.0);
        let errors = (self.product.iter().zip(&self.envelope))
            .map(|(value, bound)| (bound * (1.0 + rounding) - size(*value)).max(0.0));
        let left_out = NEGLIGIBLE_LOG.exp();
        let mut spectral_error = SpectralError::of(&self.window, length, errors, left_out);
        // What all frequencies have in common lies at index 0; leaving it out of the transform
        // leaves out its rounding.
        let common = if self.product.len() == length / 2 + 1 {
            self.product[length / 2].re
        } else {
            0.0
        };
        spectral_error.common += 4.0 * ROUNDOFF * common.abs();
        spectral_error.most += 4.0 * ROUNDOFF * common.abs();
        transform.spectrum.fill(Complex64::default());
        let mut total = 0.0;
        for (place, coefficient) in transform.spectrum.iter_mut().zip(&self.product) {
            *place = coefficient - common;
            total += 2.0 * size(*place);
        }
        let mass_error = total * transform.relative_error() / length as f64;
        // A real line has real coefficients at frequency 0 and at the highest.
        transform.spectrum[0].im = 0.0;
        transform.spectrum[length / 2].im = 0.0;
        transform.run_inverse();
        transform.line[0] += common * length as f64;
        transform.product = self.product;
        transform.envelope = self.envelope;

        let base = ((self.window.bottom - sign * self.origin) / self.step).floor();
        let start = (base as i64).rem_euclid(length as i64) as usize;
        let scale = (length as f64).recip();
        let (head, tail) = transform.line.split_at(start);
        let masses = tail.iter().chain(head).map(|mass| mass * scale).collect();
        let lowest = sign * self.origin + base * self.step;
        let rounding_of_points = 4.0
            * ROUNDOFF
            * (self.origin_scale * (4.0 + self.kinds)
                + (base.abs() + length as f64) * self.step
                + lowest.abs());
        Composed {
            masses,
            lowest,
            log_mass: self.log_mass,
            mass_error,
            spectral_error,
            log_above: self.log_above,
            log_below: self.log_below,
            infinite: self.infinite,
            loss_error: self.loss_error + rounding_of_points,
            // Sums over all kinds of rounds are rounded at each of them.
            inflation: self.inflation
                + 4.0 * ROUNDOFF * (1.0 + self.kinds) * (1.0 + self.log_sizes),
            work: self.work,
        }
    }
}
