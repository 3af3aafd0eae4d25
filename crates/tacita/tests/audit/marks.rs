//! Pass marks: how far a measured figure may be from the planned one, and how often chance alone goes further.
//!
//! Every comparison is brought to one scale, a signed deviation z for which P(z ≥ t) ≤ exp(−t²/2) and
//! P(z ≤ −t) ≤ exp(−t²/2) where the plan is kept: the root of twice the rate function of Chernoff's bound, or
//! a number of standard errors. The mark 6.55 lets through exp(−6.55²/2) = 4.8e-10 on each side, 9.7e-10 in
//! all, and at most a thousand comparisons are made, so the whole audit gives a false alarm in at most one of a
//! million seeds. (The seeds are fixed, so it passes always or never.) Where a figure is normal only in the
//! limit of many samples, as ratios and correlations are, the bound has a factor of 16 to spare: a normal
//! deviate exceeds 6.55 with probability 2.9e-11.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Comparisons of all tests together, at most. Kept by [`count`].
pub const COMPARISONS: usize = 1000;

/// False alarms of all of them together, at most.
pub const FALSE_ALARMS: f64 = 1e-6;

/// The largest deviation that passes.
pub const MARK: f64 = 6.55;

/// Counts one comparison more; a thousand are paid for.
fn count() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed) + 1;
    assert!(
        made <= COMPARISONS,
        "more comparisons than the false-alarm rate allows"
    );
}

/// The deviation must be small on both sides.
#[track_caller]
pub fn agrees(policy: &str, what: &str, measured: f64, z: f64) {
    count();
    assert!(
        z.abs() <= MARK,
        "{policy}: {what} is {measured:.5}, {z:.1} standard errors from the plan"
    );
}

/// The deviation must not be large; it may be as small as it likes.
#[track_caller]
pub fn stays_below(policy: &str, what: &str, measured: f64, z: f64) {
    count();
    assert!(
        z <= MARK,
        "{policy}: {what} is {measured:.5}, {z:.1} standard errors above the plan"
    );
}

/// The deviation of a mean square of `count` standard normals from 1.
///
/// Chernoff: P(mean square ≥ r) ≤ exp(−n (r − 1 − ln r) / 2) for r > 1, and likewise below.
pub fn of_mean_square(mean_square: f64, count: f64) -> f64 {
    let rate = mean_square - 1.0 - mean_square.ln();
    (mean_square - 1.0).signum() * (count * rate.max(0.0)).sqrt()
}

/// The deviation of a share of `count` independent events from their probability.
///
/// Chernoff: P(share ≥ s) ≤ exp(−n KL(s, p)), and likewise below.
pub fn of_share(share: f64, count: f64, probability: f64) -> f64 {
    let term = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    let divergence = term(share, probability) + term(1.0 - share, 1.0 - probability);
    (share - probability).signum() * (2.0 * count * divergence.max(0.0)).sqrt()
}

#[test]
fn the_mark_keeps_the_false_alarm_rate() {
    let one_sided = (-MARK * MARK / 2.0).exp();
    assert!(2.0 * one_sided * COMPARISONS as f64 <= FALSE_ALARMS);
}

#[test]
fn deviations_are_standard_errors_near_the_plan() {
    // The standard error of a mean square is √(2/n), that of a share √(p(1 − p)/n).
    let z = of_mean_square(1.0 + 3.0 * (2.0f64 / 1e6).sqrt(), 1e6);
    assert!((z - 3.0).abs() < 0.01, "{z}");
    let z = of_share(0.1 - 2.0 * (0.09f64 / 1e6).sqrt(), 1e6, 0.1);
    assert!((z + 2.0).abs() < 0.01, "{z}");
}
