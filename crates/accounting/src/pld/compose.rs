//! Composition: spectra of tilted lattices are multiplied, with every rounding error carried.

use super::lattice::Lattice;
use super::window::Window;
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

/// Spectral coefficients smaller than e^−110 are counted as 0; all of them together are far
/// below the rounding error of one.
const NEGLIGIBLE_LOG: f64 = -110.0;

thread_local! {
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
    /// Working space of the last transforms: fresh pages cost as much as a transform.
    static SPARE: RefCell<Vec<Transform>> = const { RefCell::new(Vec::new()) };
}

/// Working space above this length is given back to the system.
const LONGEST_SPARE: usize = 1 << 18;
const MOST_SPARES: usize = 4;

/// Transforms of one length, and their working space.
pub(super) struct Transform {
    length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    line: Vec<f64>,
    spectrum: Vec<Complex64>,
    scratch: Vec<Complex64>,
    product: Vec<Complex64>,
    envelope: Vec<f64>,
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
            product: Vec::new(),
            envelope: Vec::new(),
            forward,
            inverse,
        }
    }

    fn relative_error(&self) -> f64 {
        TRANSFORM_ERROR * ROUNDOFF * (self.length as f64).log2()
    }

    fn run_forward(&mut self) {
        let done = (self.forward).process_with_scratch(
            &mut self.line,
            &mut self.spectrum,
            &mut self.scratch,
        );
        debug_assert!(done.is_ok(), "lengths are those of the plan");
    }

    fn run_inverse(&mut self) {
        let done = (self.inverse).process_with_scratch(
            &mut self.spectrum,
            &mut self.line,
            &mut self.scratch,
        );
        debug_assert!(done.is_ok(), "lengths are those of the plan");
    }
}

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
    log_above: f64,
    log_below: f64,
    infinite: f64,
    loss_error: f64,
    inflation: f64,
    kinds: f64,
}

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
            log_above: 0.0,
            log_below: 0.0,
            infinite: 0.0,
            loss_error: 0.0,
            inflation: 0.0,
            kinds: 0.0,
        }
    }

    /// Composes `times` equal rounds.
    pub(super) fn include(&mut self, lattice: &Lattice, times: u64, transform: &mut Transform) {
        let rounds = times as f64;
        let sign = self.window.direction.sign();
        let (heaviest, total) = lattice.heaviest_and_total();
        let rest = wrap(lattice, sign, heaviest, total, &mut transform.line);
        transform.run_forward();
        let error = transform.relative_error() * rest + 4.0 * ROUNDOFF;
        self.multiply(&transform.spectrum, rest, times, error);
        let moment = |exponent: f64| lattice.log_moment(sign * exponent, self.step, total);
        self.log_above += rounds * moment(self.window.above);
        self.log_below += rounds * moment(self.window.below - self.window.tilt);
        self.log_mass += rounds * (total.ln() + lattice.log_scale);
        let log_sizes = 1.0 + total.ln().abs() + lattice.log_scale.abs();
        self.inflation += rounds * (lattice.mass_error + 4.0 * ROUNDOFF * log_sizes);
        let shift = (lattice.first + heaviest as i64) as f64 * self.step;
        self.origin += rounds * (lattice.origin + shift);
        self.origin_scale += rounds * (lattice.origin.abs() + shift.abs());
        self.infinite += rounds * lattice.infinite;
        self.loss_error += rounds * lattice.loss_error;
        self.kinds += 1.0;
    }

    /// Multiplies by the spectrum of one round to the power `times`. `spectrum` is that of all
    /// masses but the heaviest, which lies at index 0 and has coefficient 1 − `rest` everywhere.
    fn multiply(&mut self, spectrum: &[Complex64], rest: f64, times: u64, error: f64) {
        let rounds = times as f64;
        let negligible = ((NEGLIGIBLE_LOG / rounds).exp() - error).max(0.0).powi(2);
        let mut active = 0;
        for (index, coefficient) in spectrum[..self.product.len()].iter().enumerate() {
            let change = coefficient - rest;
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
                let (factor, bound) = power(change, rounds, error);
                self.product[index] *= factor;
                self.envelope[index] *= bound;
            }
            if self.envelope[index] < NEGLIGIBLE_LOG.exp() {
                self.product[index] = Complex64::default();
                self.envelope[index] = 0.0;
            } else {
                active = index + 1;
            }
        }
        // High frequencies die first; do not look at them again.
        self.product.truncate(active.max(1));
        self.envelope.truncate(active.max(1));
    }

    fn spectral_error(&self, length: usize) -> SpectralError {
        let rounding = 16.0 * ROUNDOFF * (self.kinds + 4.0);
        let tilt = self.window.tilt;
        // |1 − e^(−a·step + i·angle)|, given the half angle's sine.
        let gap = |exponent: f64, sine: f64| {
            let fade = (-exponent * self.step).exp();
            let near = -(-exponent * self.step).exp_m1();
            (near * near + 4.0 * fade * sine * sine).sqrt()
        };
        let mut error = SpectralError::default();
        let mut count = |size: f64, sine: f64| {
            let (gap, gap_more) = (gap(tilt, sine), gap(tilt + 1.0, sine));
            error.common += size * self.step / gap * (1.0 + gap_more.recip());
            error.at_end += size * (gap.recip() + gap_more.recip());
        };
        for (index, (coefficient, envelope)) in self.product.iter().zip(&self.envelope).enumerate()
        {
            let off = (envelope * (1.0 + rounding) - coefficient.norm()).max(0.0);
            let sine = (std::f64::consts::PI * index as f64 / length as f64).sin();
            count(2.0 * off / length as f64, sine);
        }
        // Coefficients left out, all as if at frequency 0.
        count(NEGLIGIBLE_LOG.exp() * (1.0 + rounding), 0.0);
        error
    }

    /// Transforms back and cuts out the window.
    pub(super) fn finish(self, transform: &mut Transform) -> Composed {
        let length = transform.length;
        let sign = self.window.direction.sign();
        let spectral_error = self.spectral_error(length);
        let size: f64 = (self.product.iter())
            .map(|coefficient| 2.0 * coefficient.norm())
            .sum();
        let mass_error = size * transform.relative_error() / length as f64;

        transform.spectrum.fill(Complex64::default());
        transform.spectrum[..self.product.len()].copy_from_slice(&self.product);
        // A real line has real coefficients at frequency 0 and at the highest.
        transform.spectrum[0].im = 0.0;
        transform.spectrum[length / 2].im = 0.0;
        transform.run_inverse();
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
            * (self.origin_scale * 4.0 + (base.abs() + length as f64) * self.step + lowest.abs());
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
            inflation: self.inflation,
        }
    }
}

/// Lays the masses of a lattice, divided by `total`, on a circle, the heaviest at 0 and left out.
/// Returns the sum of the others.
fn wrap(lattice: &Lattice, sign: f64, heaviest: usize, total: f64, line: &mut [f64]) -> f64 {
    line.fill(0.0);
    let length = line.len() as i64;
    let scale = total.recip();
    let towards = if sign > 0.0 { 1 } else { -1 };
    let mut place = (-towards * heaviest as i64).rem_euclid(length);
    let mut rest = 0.0;
    for (index, mass) in lattice.masses.iter().enumerate() {
        if index != heaviest {
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

/// (1 + change)^rounds, and a bound on its modulus if `change` is off by `error`.
///
/// Through the logarithm, so that the relative error is rounds · (|change| u + error), not
/// rounds · u.
fn power(change: Complex64, rounds: f64, error: f64) -> (Complex64, f64) {
    let log_modulus = 0.5 * (2.0 * change.re + change.norm_sqr()).ln_1p();
    let angle = change.im.atan2(1.0 + change.re);
    let modulus = (rounds * log_modulus).exp();
    let (sine, cosine) = (rounds * angle).sin_cos();
    let sizes = log_modulus.abs() + angle.abs();
    let relative = rounds * (error / log_modulus.exp() + 8.0 * ROUNDOFF * sizes) + 16.0 * ROUNDOFF;
    (
        Complex64::new(modulus * cosine, modulus * sine),
        modulus * relative.exp(),
    )
}

impl Lattice {
    fn heaviest_and_total(&self) -> (usize, f64) {
        let (mut heaviest, mut total) = (0, 0.0);
        for (index, mass) in self.masses.iter().enumerate() {
            total += mass;
            if *mass > self.masses[heaviest] {
                heaviest = index;
            }
        }
        (heaviest, total)
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
