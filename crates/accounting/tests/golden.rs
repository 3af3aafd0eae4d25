//! Figures of another accountant, made with
//! `pip install dp-accounting==0.6.0` (Python 3.11, numpy 2.4.6, scipy 1.17.1).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use tacita_accounting::{
    Accountant, Ledger, Neighbours, RandomRuns, Rdp, Reading, Round, Sampling,
};

fn repeated(neighbours: Neighbours, sampling: Sampling, z: f64, times: u64) -> Ledger {
    let mut ledger = Ledger::new(neighbours);
    let round = Round::new(sampling, vec![z]).unwrap();
    ledger.push(round.times(times)).unwrap();
    ledger
}

fn upper(reading: Reading) -> f64 {
    reading.upper_bound().expect("a guarantee")
}

/// `a = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)`,
/// `a.compose(SampledWithoutReplacementDpEvent(of, batch, GaussianDpEvent(z)), times)`,
/// `a.get_epsilon(delta)`.
#[test]
fn fixed_size_lies_below_the_published_bound() {
    for (of, batch, z, times, delta, theirs) in [
        (60_000, 250, 4.0, 5000, 1e-5, 0.585_759_637_392_652_4),
        (60_000, 512, 1.0, 1172, 1e-5, 3.268_888_137_281_762_4),
        (1000, 100, 2.0, 100, 1e-5, 5.379_009_696_075_9),
        (10_000, 1, 1.5, 1000, 1e-6, 0.228_411_809_734_671_12),
    ] {
        let sampling = Sampling::FixedSize { batch, of };
        let fixed = repeated(Neighbours::ReplaceOne, sampling, z, times);
        let fixed = upper(Rdp.epsilon(&fixed, delta).unwrap());
        assert!(fixed <= theirs, "{fixed} above {theirs}");
        // A Poisson draw at the same rate and multiplier never costs more: same mixture, but only
        // one of its two directions is charged on both sides of R = 1.
        let rate = batch as f64 / of as f64;
        let poisson = repeated(
            Neighbours::AddOrRemoveOne,
            Sampling::Poisson { rate },
            z,
            times,
        );
        let poisson = upper(Rdp.epsilon(&poisson, delta).unwrap());
        assert!(fixed >= poisson * (1.0 - 1e-9), "{fixed} below {poisson}");
    }
}

/// `run = SelfComposedDpEvent(PoissonSampledDpEvent(q, GaussianDpEvent(z)), times)`,
/// `RdpAccountant().compose(RepeatAndSelectDpEvent(run, mean, shape)).get_epsilon(delta)`.
#[test]
fn random_number_of_runs_equals_dp_accounting() {
    for (rate, z, times, delta, mean, shape, theirs) in [
        (0.01, 1.0, 1000, 1e-5, 5.0, 0.5, 3.482_732_749_790_206),
        (0.01, 2.0, 1000, 1e-6, 30.0, 2.0, 2.078_590_542_448_919),
    ] {
        let run = repeated(
            Neighbours::AddOrRemoveOne,
            Sampling::Poisson { rate },
            z,
            times,
        );
        let runs = RandomRuns::negative_binomial(shape, mean).unwrap();
        let epsilon = upper(runs.epsilon(&run, delta).unwrap());
        // Their orders are a fixed list, so they lie a little above.
        assert!(epsilon <= theirs, "{epsilon} above {theirs}");
        assert!(epsilon >= 0.99 * theirs, "{epsilon} far below {theirs}");
    }
}
