//! Normals per second: `cargo bench -p tacita --bench noise`.
//!
//! Prints the median and the best of several rounds (on a machine that does other work too, the
//! best is nearer the truth) for one thread and for all, for each hardening mode.

use std::time::Instant;

use tacita::noise::{NoiseHardening, add_fixed_seed_normals_for_benchmark};

const VALUES: usize = 1 << 22;
const ROUNDS: usize = 21;

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("ChaCha20, Box-Muller in f64, {VALUES} f32 values, median of {ROUNDS} rounds");
    for threads in (1..=cores).filter(|&threads| threads == 1 || threads == cores) {
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool,
            Err(error) => return eprintln!("no pool of {threads} threads: {error}"),
        };
        for hardening in [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour] {
            let rates = pool.install(|| rates(hardening));
            let (median, best) = (rates[ROUNDS / 2] / 1e6, rates[ROUNDS - 1] / 1e6);
            println!(
                "{threads} threads, {hardening:?}: median {median:.0}, best {best:.0} million values/s"
            );
        }
    }
}

/// Values per second of each round, slowest first.
fn rates(hardening: NoiseHardening) -> Vec<f64> {
    let mut values = vec![0f32; VALUES];
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|seed| {
            let start = Instant::now();
            add_fixed_seed_normals_for_benchmark(seed as u64, hardening, &mut values);
            VALUES as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates
}
