//! Time of the certified accountant on one core: `cargo bench -p tacita-accounting`.
//!
//! Prints the median and the best of several rounds, in processor time (on a machine that does
//! other work too, the best is nearer the truth). `-- --json CASE` prints one measurement of one case, for `peers.py`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;
use tacita_accounting::calibrate::{Budget, Shape, constant, smallest_noise};
use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Reading, Round, Sampling};

/// (name, rounds measured, one run: its figure and bracket)
type Case = (&'static str, usize, fn() -> (f64, Reading));

const MNIST: Sampling = Sampling::Poisson {
    rate: 250.0 / 60_000.0,
};

const CASES: [Case; 6] = [
    ("uniform-1e4", 51, || {
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        let round = Round::new(MNIST, vec![2.0]).unwrap();
        ledger.push(round.times(10_000)).unwrap();
        epsilon(&ledger)
    }),
    ("calibrate-1-1e-5", 51, || {
        let budget = Budget::new(1.0, 1e-5).unwrap();
        let found = constant(MNIST, 5000, budget).unwrap();
        (found.noise_multiplier, found.epsilon)
    }),
    ("distinct-5000", 5, || growing_mu(5000, 4.0)),
    ("distinct-5000-low-noise", 5, || growing_mu(5000, 1.4)),
    ("distinct-1e5", 3, || growing_mu(100_000, 12.0)),
    ("calibrate-distinct-5000", 3, || {
        let shape = Shape::growing_mu(MNIST, 5000, 2.0).unwrap();
        let budget = Budget::new(1.0, 1e-5).unwrap();
        let found = smallest_noise(&shape, budget, &Pld::default()).unwrap();
        (found.noise_multiplier, found.epsilon)
    }),
];

/// μ doubles over the run, from 1/noise.
fn growing_mu(steps: u64, noise: f64) -> (f64, Reading) {
    let shape = Shape::growing_mu(MNIST, steps, 2.0).unwrap();
    epsilon(&shape.ledger(noise).unwrap())
}

fn epsilon(ledger: &Ledger) -> (f64, Reading) {
    let reading = Pld::default().epsilon(ledger, 1e-5).unwrap();
    (reading.upper_bound().unwrap(), reading)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|word| word == "--json") {
        let name = arguments.get(place + 1).expect("--json NAME");
        let (_, _, run) = (CASES.iter())
            .find(|case| case.0 == name)
            .expect("a case of this name");
        let (seconds, (figure, bracket)) = timed(*run);
        let (lower, upper) = ends(bracket);
        println!(
            "{{\"case\":\"{name}\",\"seconds\":{seconds},\"figure\":{figure},\
             \"lower\":{lower},\"upper\":{upper}}}"
        );
        return;
    }
    println!(
        "{:<26}{:>12}{:>12}  bracket",
        "case", "median ms", "best ms"
    );
    for (name, rounds, run) in CASES {
        let mut times: Vec<f64> = (0..rounds).map(|_| timed(run).0).collect();
        times.sort_by(f64::total_cmp);
        let (lower, upper) = ends(run().1);
        println!(
            "{name:<26}{:>12.2}{:>12.2}  [{lower:.6}, {upper:.6}]",
            1e3 * times[rounds / 2],
            1e3 * times[0]
        );
    }
}

fn timed(run: fn() -> (f64, Reading)) -> (f64, (f64, Reading)) {
    let (start, before) = (Instant::now(), processor_seconds());
    let found = run();
    let seconds = match (before, processor_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    (seconds, found)
}

/// Time this thread has had on a core, where the system tells (Linux): does not count the time
/// other work had it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

fn ends(reading: Reading) -> (f64, f64) {
    match reading {
        Reading::Bracket { lower, upper } => (lower, upper),
        other => panic!("not a bracket: {other:?}"),
    }
}
