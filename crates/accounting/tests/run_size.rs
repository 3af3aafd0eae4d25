//! Sampling rate and steps against exact arithmetic on the decimals that people write.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use tacita_accounting::{Length, RunSize, RunSizeError};

fn steps(records: f64, batch: f64, epochs: f64) -> u64 {
    let size = RunSize::new(records, batch, Length::Epochs(epochs)).unwrap();
    size.steps()
}

/// A decimal: `digits` · 10^−`places`.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: u64,
    places: u32,
}

impl Decimal {
    /// As it is parsed from a command line.
    fn parsed(self) -> f64 {
        format!("{}e-{}", self.digits, self.places).parse().unwrap()
    }
}

/// ⌈epochs · records / batch⌉, exactly.
fn exact_steps(records: u64, batch: Decimal, epochs: Decimal) -> u128 {
    let numerator = u128::from(epochs.digits) * u128::from(records) * 10_u128.pow(batch.places);
    let denominator = u128::from(batch.digits) * 10_u128.pow(epochs.places);
    numerator.div_ceil(denominator).max(1)
}

/// The bound of the documentation.
fn is_within_reach(records: u64, batch: Decimal, epochs: Decimal) -> bool {
    let size = u128::from(epochs.digits) * u128::from(records) * 10_u128.pow(batch.places);
    size < 100_000_000_000_000
}

fn check(records: u64, batch: Decimal, epochs: Decimal) -> Result<(), TestCaseError> {
    let exact = exact_steps(records, batch, epochs);
    prop_assume!(is_within_reach(records, batch, epochs));
    prop_assume!(exact <= u128::from(RunSize::MOST_STEPS));
    let found = steps(records as f64, batch.parsed(), epochs.parsed());
    prop_assert_eq!(u128::from(found), exact);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100_000,
        max_global_rejects: 10_000_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn steps_are_the_exact_ceiling_for_decimals(
        records in 1_u64..10_000_000,
        batch in 1_u64..100_000,
        epochs in 1_u64..1_000_000,
        places in 0_u32..6,
        batch_places in 0_u32..2,
    ) {
        let batch = Decimal { digits: batch, places: batch_places };
        prop_assume!(batch.parsed() <= records as f64);
        check(records, batch, Decimal { digits: epochs, places })?;
    }

    /// Sizes that people choose: round numbers, whose quotients are often whole.
    #[test]
    fn round_sizes_do_not_gain_a_step(
        thousands in 1_u64..2000,
        batch in prop::sample::select(vec![1_u64, 10, 25, 32, 50, 64, 100, 128, 250, 256, 500, 1000]),
        epochs in 1_u64..1000,
        places in 0_u32..3,
    ) {
        let batch = Decimal { digits: batch, places: 0 };
        check(1000 * thousands, batch, Decimal { digits: epochs, places })?;
    }

    /// Epochs that a program computed from steps give these steps back.
    #[test]
    fn computed_epochs_give_their_steps_back(
        records in 1_u64..10_000_000,
        part in 1e-6..1.0,
        wanted in 1_u64..RunSize::MOST_STEPS,
    ) {
        let records = records as f64;
        let batch = f64::max(records * part, 1.0);
        prop_assert_eq!(steps(records, batch, wanted as f64 * (batch / records)), wanted);
        prop_assert_eq!(steps(records, batch, wanted as f64 * batch / records), wanted);
    }
}

#[test]
fn whole_quotients_do_not_gain_a_step() {
    assert_eq!(steps(25_000.0, 50.0, 1.1), 550);
    assert_eq!(steps(60_000.0, 512.0, 20.0), 2344);
    assert_eq!(steps(1000.0, 10.0, 0.1 + 0.2), 30);
    assert_eq!(steps(3.0, 1.0, 1e-300), 1);
    // A quotient that is truly above a whole number does gain one.
    assert_eq!(steps(25_000.0, 50.0, 1.100_000_000_01), 551);
}

#[test]
fn refusals_name_the_value() {
    let refused = |records, batch, length| {
        let refusal = RunSize::new(records, batch, length).unwrap_err();
        refusal.to_string()
    };
    let ten = Length::Steps(10);
    for records in [0.0, 0.5, -3.0, f64::NAN, f64::INFINITY] {
        let text = refused(records, 1.0, ten);
        assert!(text.ends_with(&format!("got {records}")), "{text}");
    }
    for batch in [0.0, -1.0, 101.0, f64::NAN, f64::INFINITY, 5e-324] {
        let text = refused(100.0, batch, ten);
        assert!(text.ends_with(&format!("100, got {batch}")), "{text}");
    }
    for epochs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = refused(100.0, 10.0, Length::Epochs(epochs));
        assert!(text.ends_with(&format!("got {epochs}")), "{text}");
    }
    for (length, got) in [
        (Length::Steps(0), "got 0"),
        (Length::Steps(2_000_000_000), "got 2000000000"),
        (Length::Epochs(1e9), "got 10000000000"),
        (Length::Epochs(1e308), "got inf"),
    ] {
        let text = refused(100.0, 10.0, length);
        assert!(text.ends_with(got), "{text}");
    }
    let most = RunSize::new(100.0, 10.0, Length::Epochs(1e8)).unwrap();
    assert_eq!(most.steps(), RunSize::MOST_STEPS);
    assert_eq!(RunSize::check_steps(0).unwrap_err(), RunSizeError::NoSteps);
}
