//! What must be right: every bound that the accountant states is made here.
//!
//! The argument is in `PROOF.md`. [`certified_curve`] turns the rounds of a ledger into a curve δ(ε) that
//! is certainly not below, or certainly not above, the true one. How finely, in which window and under
//! which tilt is a [`Choice`] that code outside may make as it likes: a poor one gives a wide bracket, never
//! a wrong one. [`EpsilonBracket`] and [`DeltaBracket`] hold what is proved, and only curves can
//! narrow them. Nothing here depends on how the choices are made.
//!
//! In the order of the argument: [`rounds`](Rounds) groups a ledger; `pair` has the two output
//! distributions of a round; `dominating` and `dominated` put them on a `lattice`, with masses from
//! `quadrature`; `spectrum` and `composition` multiply their transforms (`transform`, `low_frequencies`,
//! `exact_differences`); `composer` and `blending` do so for all rounds of a ledger; `curve` reads the
//! result; `closed_form` needs none of it.

mod blending;
mod bracket;
mod closed_form;
mod composer;
mod composition;
mod curve;
mod dominated;
mod dominating;
mod exact_differences;
mod fewer_rounds;
mod lattice;
mod low_frequencies;
mod noise_levels;
mod pair;
mod powers;
mod quadrature;
mod rounds;
mod spectral_error;
mod spectrum;
mod transform;
mod window;

pub(crate) use bracket::{DeltaBracket, EpsilonBracket};
pub(crate) use closed_form::GaussianBounds;
pub(crate) use composer::{Choice, certified_curve};
pub(crate) use curve::Curve;
pub(crate) use lattice::{Cells, Strides};
pub(crate) use pair::{Direction, Pair};
pub(crate) use rounds::{NAME, RoundKind, Rounds, Side, check};
pub(crate) use window::Window;
