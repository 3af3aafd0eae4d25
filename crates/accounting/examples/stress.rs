//! How long accountants take over ledgers of every kind, ordinary and absurd.
//!
//! ```text
//! cargo run --release -p tacita-accounting --example stress -- [COUNT] [SEED] [LIMIT]
//! ```
//!
//! draws COUNT ledgers from SEED, reads each with every accountant and calibrates noise after it, in a
//! process of its own, and prints what took longest; a process that runs past LIMIT seconds is stopped and named.
//! `stress --one SEED` reads one ledger again, `stress --ledger SEED` prints it as JSON.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tacita_accounting::calibrate::{Budget, QueryNoise, Shape, most_steps, smallest_noise};
use tacita_accounting::{
    Accountant, Gdp, Ledger, Neighbours, Pld, Rdp, Round, Sampling, Tcdp, Zcdp,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--one", seed] => {
            let seed = seed.parse().expect("a seed");
            one(seed);
            calibrations(seed);
        }
        ["--ledger", seed] => println!("{}", Drawn::new(seed.parse().expect("a seed")).json()),
        _ => {
            let number = |place: usize, default: u64| {
                (words.get(place)).map_or(default, |word| word.parse().expect("a whole number"))
            };
            all(number(0, 200), number(1, 1), number(2, 30));
        }
    }
}

/// SplitMix64: enough for drawing test cases, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in the logarithm.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.uniform() * (high / low).ln())
            .exp()
            .clamp(low, high)
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }
}

/// A ledger and where it is read.
struct Drawn {
    ledger: Ledger,
    delta: f64,
    epsilon: f64,
    what: String,
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0xA24B_AED4_963E_E407));
        let dice = &mut dice;
        let fixed_size = dice.chance(0.1);
        let neighbours = if fixed_size {
            Neighbours::ReplaceOne
        } else {
            Neighbours::AddOrRemoveOne
        };
        let records = if !fixed_size && dice.chance(0.25) {
            dice.between(2.0, 1000.0) as u32
        } else {
            1
        };
        let kinds = match dice.uniform() {
            x if x < 0.4 => 1,
            x if x < 0.7 => dice.between(2.0, 30.0) as u64,
            x if x < 0.9 => dice.between(30.0, 3000.0) as u64,
            _ => dice.between(3000.0, 100_000.0) as u64,
        };
        let ordinary = dice.chance(0.5);
        let noise = |dice: &mut Dice| {
            if ordinary {
                dice.between(0.3, 30.0)
            } else {
                dice.between(1e-12, 1e6)
            }
        };
        let rate = |dice: &mut Dice| {
            if ordinary {
                dice.between(1e-5, 0.5)
            } else {
                dice.between(1e-9, 1.0)
            }
        };
        let most_times = if ordinary { 1e5 } else { 1e12 };
        let (full_share, same_rate, growing) = (
            [0.0, 0.0, 0.3, 1.0][dice.next() as usize % 4],
            dice.chance(0.7),
            dice.chance(0.5),
        );
        let singles = kinds > 1 && dice.chance(0.5);
        let (common_rate, first, growth) = (rate(dice), noise(dice), dice.between(1.01, 100.0));
        let side_queries = if dice.chance(0.2) {
            1 + dice.next() % 3
        } else {
            0
        };
        let mut ledger = Ledger::new(neighbours)
            .with_records_per_unit(records)
            .unwrap();
        for kind in 0..kinds {
            let drawn = if same_rate { common_rate } else { rate(dice) };
            let sampling = match fixed_size {
                true => Sampling::FixedSize {
                    batch: ((1e9 * drawn) as u64).max(1),
                    of: 1_000_000_000,
                },
                false if dice.chance(full_share) => Sampling::Full {},
                false => Sampling::Poisson { rate: drawn },
            };
            let main = if growing {
                first * growth.powf(-(kind as f64) / kinds as f64)
            } else {
                noise(dice)
            };
            let mut queries = vec![main];
            queries.extend((0..side_queries).map(|_| main * dice.between(0.1, 1e3)));
            let times = if singles {
                1
            } else {
                (dice.between(1.0, most_times) / kinds as f64).max(1.0) as u64
            };
            let round = Round::new(sampling, queries).unwrap();
            ledger.push(round.times(times)).unwrap();
        }
        let delta = if dice.chance(0.5) {
            dice.between(1e-9, 1e-3)
        } else {
            dice.between(1e-300, 0.5)
        };
        let what = format!(
            "{kinds} kinds, {} steps, {records} records, {}{}",
            ledger.rounds_made(),
            if fixed_size { "fixed size, " } else { "" },
            if ordinary { "ordinary" } else { "absurd" },
        );
        Self {
            ledger,
            delta,
            epsilon: dice.between(1e-3, 1e3),
            what,
        }
    }

    fn json(&self) -> String {
        self.ledger.to_json()
    }
}

/// Time this thread has had on a core, where the system tells (Linux), as other work may share it;
/// else the time of day.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = (text.split_whitespace().next()).and_then(|n| n.parse().ok());
    nanoseconds.map_or_else(
        || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(0.0, |now| now.as_secs_f64())
        },
        |nanoseconds| 1e-9 * nanoseconds,
    )
}

/// Reads one ledger with every accountant and prints one line for each.
fn one(seed: u64) {
    let drawn = Drawn::new(seed);
    let accountants: [(&str, Box<dyn Accountant>); 5] = [
        ("pld", Box::new(Pld::default())),
        ("rdp", Box::new(Rdp)),
        ("tcdp", Box::new(Tcdp::new())),
        ("zcdp", Box::new(Zcdp)),
        ("gdp", Box::new(Gdp)),
    ];
    for (name, accountant) in accountants {
        let start = seconds();
        let epsilon = accountant.epsilon(&drawn.ledger, drawn.delta);
        let to_epsilon = seconds() - start;
        let start = seconds();
        let delta = accountant.delta(&drawn.ledger, drawn.epsilon);
        let to_delta = seconds() - start;
        let show = |reading: Result<_, _>| match reading {
            Ok(reading) => format!("{reading:?}"),
            Err(_) => "refused".to_string(),
        };
        println!(
            "{to_epsilon:.3}\t{seed}\t{name} ε\t{}\tδ = {:e}\t{}",
            drawn.what,
            drawn.delta,
            show(epsilon)
        );
        println!(
            "{to_delta:.3}\t{seed}\t{name} δ\t{}\tε = {}\t{}",
            drawn.what,
            drawn.epsilon,
            show(delta)
        );
    }
}

/// Looks for noise and steps that keep a budget after the drawn ledger, and for its like alone.
fn calibrations(seed: u64) {
    let drawn = Drawn::new(seed);
    let mut dice = Dice(seed ^ 0x5EED);
    let rate = dice.between(1e-6, 1.0);
    let (steps, growth) = (dice.between(1.0, 3e5) as u64, dice.between(1.001, 10.0));
    let sampling = match drawn.ledger.neighbours() {
        Neighbours::AddOrRemoveOne => Sampling::Poisson { rate },
        Neighbours::ReplaceOne => Sampling::FixedSize {
            batch: ((1e9 * rate) as u64).max(1),
            of: 1_000_000_000,
        },
    };
    let budget = Budget::new(dice.between(1e-2, 1e2), drawn.delta).unwrap();
    let empty = drawn.ledger.prefix(0);
    let growing = Shape::growing_mu(sampling, steps, growth).unwrap();
    let shapes = [
        ("growing", Shape::after(&empty).followed_by(&growing), steps),
        (
            "after",
            Shape::after(&drawn.ledger).then(sampling, QueryNoise::Scaled(1.0), steps),
            1,
        ),
    ];
    let accountants: [&dyn Accountant; 2] = [&Pld::default(), &Rdp];
    for accountant in accountants {
        let name = accountant.name();
        for (what, shape, kinds) in &shapes {
            let start = seconds();
            let found = smallest_noise(shape, budget, accountant);
            let took = seconds() - start;
            let found = match found {
                Ok(found) => format!("{} {:?}", found.noise_multiplier, found.epsilon),
                Err(error) => error.to_string(),
            };
            println!(
                "{took:.3}\t{seed}\t{name} noise {what}\t{kinds} kinds, {steps} steps, {}\t{budget:?}\t{found}",
                drawn.what
            );
        }
        let round = Round::new(sampling, vec![dice.between(0.1, 100.0)]).unwrap();
        let start = seconds();
        let found = most_steps(&drawn.ledger, &round, budget, accountant);
        let took = seconds() - start;
        println!(
            "{took:.3}\t{seed}\t{name} steps\t{}\t{budget:?}\t{found:?}",
            drawn.what
        );
    }
}

/// Reads many ledgers and prints the slowest readings.
fn all(count: u64, seed: u64, limit: u64) {
    let program = std::env::current_exe().expect("own path");
    let mut lines: Vec<(f64, String)> = Vec::new();
    for seed in seed..seed + count {
        let mut child = Command::new(&program)
            .args(["--one", &seed.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let start = Instant::now();
        let finished = loop {
            match child.try_wait().expect("a state") {
                Some(status) => break status.success(),
                None if start.elapsed() > Duration::from_secs(limit) => {
                    child.kill().expect("stopped");
                    break false;
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let output = child.wait_with_output().expect("output").stdout;
        let output = String::from_utf8_lossy(&output).into_owned();
        if !finished {
            let what = Drawn::new(seed).what;
            lines.push((
                f64::INFINITY,
                format!(
                    "stopped\t{seed}\tafter {} readings\t{what}",
                    output.lines().count()
                ),
            ));
        }
        for line in output.lines() {
            let seconds = line.split('\t').next().unwrap_or("").parse().unwrap_or(0.0);
            lines.push((seconds, line.to_string()));
        }
    }
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, line) in lines.iter().take(40) {
        println!("{line}");
    }
}
