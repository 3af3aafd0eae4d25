//! Who takes part: with so little noise that it can be seen from what is released.

use crate::canaries::{Canaries, device};
use crate::marks::{agrees, of_mean_square, of_share};
use crate::networks::Table;
use crate::oracle::{self, Map};
use tacita::{Clipping, Keys, Plan, Session, SessionOptions};

/// Ten standard deviations on either side of one half.
const NOISE: f64 = 0.05;

/// What an adversary sees of a run: `[step][canary]`, the released sum along each canary's gradient, in
/// units of the threshold. About 1 if the canary took part, about 0 if not.
fn seen(canaries: Canaries, records: u64, batch: u64, steps: u64, seed: u64) -> Vec<Vec<f64>> {
    let plan = Plan::with_noise(NOISE, 1e-5)
        .public_record_count(records)
        .expected_batch(batch)
        .steps(steps)
        .clipping(Clipping::abadi(1.0))
        .calibrate()
        .unwrap();
    let model = Table::new(canaries.all);
    let keys = Keys::fixed_seed(seed);
    let options = SessionOptions::default();
    let gradients = oracle::gradients(&model, &canaries, &keys, 0);
    let mut session = Session::open_in_memory(plan, keys, &model, &canaries, options).unwrap();
    let clipping = Clipping::abadi(1.0);
    let map = Map::new(&model, session.parameters(), &clipping.grouping);
    let norms = oracle::norms(&gradients, &map, canaries.all);
    let expected = oracle::clipped(&gradients, &norms, &map, clipping.rule, &[1.0]);
    let release = |_| {
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, &canaries, &device()).unwrap();
        let noisy = round.release(bounded).unwrap();
        let mut along = vec![0.0; canaries.all];
        let values = noisy.gradient()[0].to_data();
        let values = values.iter::<f64>().zip(&expected.values[0]);
        for ((value, expected), owner) in values.zip(&map.owners[0]) {
            along[*owner] += value * batch as f64 * expected;
        }
        along
    };
    (0..steps).map(release).collect()
}

fn took_part(value: &f64) -> bool {
    *value > 0.5
}

/// The share of pairs that both take part; the pairs are disjoint, so they are independent if records are.
fn pairs(pairs: impl Iterator<Item = (bool, bool)>) -> (f64, f64) {
    let both = pairs.map(|(first, second)| f64::from(u8::from(first && second)));
    let (sum, count) = both.fold((0.0, 0.0), |(sum, count), both| (sum + both, count + 1.0));
    (sum / count, count)
}

fn audit(batch: u64, seed: u64) {
    const RECORDS: usize = 1000;
    const STEPS: usize = 400;
    let canaries = Canaries {
        all: RECORDS + 20,
        present: RECORDS,
    };
    let rate = batch as f64 / RECORDS as f64;
    let policy = format!("sampling at rate {rate}");
    let seen = seen(canaries, RECORDS as u64, batch, STEPS as u64, seed);
    let present: Vec<Vec<bool>> = (seen.iter())
        .map(|step| step[..RECORDS].iter().map(took_part).collect())
        .collect();
    assert!(
        !seen.iter().flat_map(|step| &step[RECORDS..]).any(took_part),
        "a record that is not in the data set"
    );

    let trials = (RECORDS * STEPS) as f64;
    let taken = present.iter().flatten().filter(|taken| **taken).count() as f64;
    let z = of_share(taken / trials, trials, rate);
    agrees(&policy, "share of records", taken / trials, z);

    // Sums over a record's steps, and over a step's records, vary as those of independent draws do. The
    // squares of a standardised sum of hundreds of draws are those of a normal for this purpose.
    let spread = |sums: Vec<f64>, draws: usize| {
        let (mean, variance) = (draws as f64 * rate, draws as f64 * rate * (1.0 - rate));
        let squares = sums.iter().map(|sum| (sum - mean).powi(2) / variance);
        (squares.sum::<f64>() / sums.len() as f64, sums.len() as f64)
    };
    let by_step = present
        .iter()
        .map(|step| step.iter().filter(|t| **t).count() as f64);
    let (variance, count) = spread(by_step.collect(), RECORDS);
    let z = of_mean_square(variance, count);
    agrees(&policy, "variance of batch sizes", variance, z);
    let of_record = |k: usize| present.iter().filter(|step| step[k]).count() as f64;
    let (variance, count) = spread((0..RECORDS).map(of_record).collect(), STEPS);
    let z = of_mean_square(variance, count);
    agrees(
        &policy,
        "variance of how often records take part",
        variance,
        z,
    );

    let steps = present
        .chunks_exact(2)
        .flat_map(|two| two[0].iter().zip(&two[1]));
    let (share, count) = pairs(steps.map(|(first, second)| (*first, *second)));
    let z = of_share(share, count, rate * rate);
    agrees(&policy, "share of records in two steps", share, z);
    let neighbours = present.iter().flat_map(|step| step.chunks_exact(2));
    let (share, count) = pairs(neighbours.map(|two| (two[0], two[1])));
    let z = of_share(share, count, rate * rate);
    agrees(&policy, "share of neighbouring records", share, z);

    // Who takes part moves the sum by C, whatever the rate.
    let shifts = seen.iter().flat_map(|step| &step[..RECORDS]);
    let shifts: Vec<f64> = shifts.filter(|value| took_part(value)).copied().collect();
    let (mean, count) = (
        shifts.iter().sum::<f64>() / shifts.len() as f64,
        shifts.len() as f64,
    );
    agrees(&policy, "shift", mean, (mean - 1.0) / NOISE * count.sqrt());
}

#[test]
fn records_take_part_at_the_planned_rate_and_independently() {
    // Below ½ the sampler skips by binary digits; above it, it decides record by record.
    for (batch, seed) in [(20, 1), (100, 2), (500, 3), (700, 4)] {
        audit(batch, seed);
    }
}

#[test]
fn every_record_takes_part_at_rate_one() {
    let canaries = Canaries::half(200);
    for step in seen(canaries, 100, 100, 200, 5) {
        let count = step.iter().filter(|value| took_part(value)).count();
        assert_eq!(count, 100);
    }
}

/// Most draws are empty, and what they release looks as any absent record does: noise.
#[test]
fn empty_draws_are_as_frequent_as_planned_and_release_noise() {
    let canaries = Canaries::half(20);
    let steps = 4000;
    let seen = seen(canaries, 100, 4, steps, 6);
    let (policy, count) = ("empty draws", steps as f64);
    let empty: Vec<_> = seen
        .iter()
        .filter(|step| !step.iter().any(took_part))
        .collect();
    let share = empty.len() as f64 / count;
    let z = of_share(share, count, 0.96f64.powi(10));
    agrees(policy, "share", share, z);
    let values = empty.iter().flat_map(|step| step.iter());
    let values: Vec<f64> = values.map(|value| value / NOISE).collect();
    let (square, count) = (
        values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64,
        values.len() as f64,
    );
    assert!(count >= 20_000.0);
    let grid = 1.0 + (0.03125f64 / 16.0 / NOISE).powi(2) / 12.0;
    let z = of_mean_square(square / grid, count);
    agrees(policy, "noise over planned noise", square.sqrt(), z);
}
