//! Table 4 of Du et al. 2021 (arXiv:2111.00173): federated learning on InfiniteMNIST, one image per client.
//!
//! ```sh
//! cargo run --release -p tacita-federated --example table4 -- --data DIR --clients 250000 --epsilon 0.4 --method dynamic
//! ```
//!
//! Seeds are fixed and the data are public: NOT PRIVATE. The server of a federation runs as it would anywhere; its
//! clients are in the same process, and each sends the clipped gradient of its image. Prints one line of JSON.
#![allow(missing_docs)]

mod digits;
mod idx;
mod network;

use digits::Digits;
use network::{Network, PARAMETERS, accuracy};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;
use tacita_accounting::{CltSchedule, FirstStep};
use tacita_federated::{Clip, Descent, Keys, Plan, Scale, Server, clipped};

const USAGE: &str = "table4 --data DIR [--clients 250000] [--cohort 250] [--epsilon 0.4] [--method vanilla|growing|decay|\
dynamic|auto|none] [--rounds 4000] [--accountant clt|pld] [--rate 0.15] [--rate-decay 1] [--threshold 1.5] [--decay 3.333] \
[--growth 1.25] [--momentum 0] [--seed 0]";

/// What is asked for.
struct Args {
    data: PathBuf,
    clients: u64,
    cohort: f64,
    epsilon: f64,
    method: String,
    rounds: u64,
    accountant: String,
    rate: f64,
    rate_decay: f64,
    threshold: f64,
    decay: f64,
    growth: f64,
    momentum: f32,
    seed: u64,
}

impl Args {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut args = Self {
            data: PathBuf::new(),
            clients: 250_000,
            cohort: 250.0,
            epsilon: 0.4,
            method: "vanilla".into(),
            rounds: 4_000,
            accountant: "clt".into(),
            rate: 0.15,
            rate_decay: 1.0,
            threshold: 1.5,
            decay: 1.0 / 0.3,
            growth: 1.25,
            momentum: 0.0,
            seed: 0,
        };
        let mut words = std::env::args().skip(1);
        while let Some(flag) = words.next() {
            let value = words.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--data" => args.data = value.into(),
                "--clients" => args.clients = value.parse()?,
                "--cohort" => args.cohort = value.parse()?,
                "--epsilon" => args.epsilon = value.parse()?,
                "--method" => args.method = value,
                "--rounds" => args.rounds = value.parse()?,
                "--accountant" => args.accountant = value,
                "--rate" => args.rate = value.parse()?,
                "--rate-decay" => args.rate_decay = value.parse()?,
                "--threshold" => args.threshold = value.parse()?,
                "--decay" => args.decay = value.parse()?,
                "--growth" => args.growth = value.parse()?,
                "--momentum" => args.momentum = value.parse()?,
                "--seed" => args.seed = value.parse()?,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(args)
    }

    /// The plan: noise as the authors found it, by a limit theorem, or the least that is certified.
    fn plan(&self) -> Result<Plan, Box<dyn Error>> {
        let delta = 1.0 / (10.0 * self.clients as f64);
        let (growth, decay, clip) = match self.method.as_str() {
            "vanilla" | "none" => (1.0, 1.0, Clip::Abadi),
            "growing" => (self.growth, 1.0, Clip::Abadi),
            "decay" => (1.0, self.decay, Clip::Abadi),
            "dynamic" => (self.growth, self.decay, Clip::Abadi),
            "auto" => (self.growth, 1.0, Clip::AUTO),
            _ => return Err(USAGE.into()),
        };
        let scale = match (self.method.as_str(), self.accountant.as_str()) {
            ("none", _) => Scale::NoiseMultiplier(1e-6),
            (_, "clt") => {
                let rate = self.cohort / self.clients as f64;
                let (rounds, first) = (self.rounds, FirstStep::One);
                let found =
                    CltSchedule::growing_mu(self.epsilon, delta, rate, rounds, growth, first)?;
                Scale::NoiseMultiplier(1.0 / found.mu_zero)
            }
            (_, "pld") => Scale::Epsilon(self.epsilon),
            _ => return Err(USAGE.into()),
        };
        Ok(Plan {
            clip,
            threshold: match self.method.as_str() {
                "none" => 1e6,
                _ => self.threshold,
            },
            threshold_decay: decay,
            growing_mu: growth,
            ..Plan::new(self.clients, self.cohort, self.rounds, scale, delta)
        })
    }
}

/// One round: the gradients of those who were drawn, each clipped by itself, on every core.
fn round(server: &mut Server, digits: &Digits, enrolled: &[u64]) -> Result<(), Box<dyn Error>> {
    let number = server.next_round();
    let (clip, bound) = (
        server.plan().plan().clip,
        server.plan().terms(number)?.bound,
    );
    let drawn = server.open_round(enrolled)?.drawn;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = server.model();
    let share = drawn.len().div_ceil(cores).max(1);
    let work = |clients: &[u64]| -> Vec<(u64, Vec<i32>)> {
        let mut network = Network::new(model);
        let steps = |client: &u64| {
            let (image, label) = digits.of_client(*client);
            let gradient = network.gradient(&image, label);
            (*client, clipped(gradient, clip, &bound))
        };
        clients.iter().map(steps).collect()
    };
    let contributions: Vec<_> = std::thread::scope(|scope| {
        let spawn = |clients| {
            scope.spawn({
                let work = &work;
                move || work(clients)
            })
        };
        let threads: Vec<_> = drawn.chunks(share).map(spawn).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(Result::unwrap_or_default).collect()
    });
    for (client, steps) in contributions {
        server.receive_steps(client, &steps)?;
    }
    server.close_round()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::read()?;
    let plan = args.plan()?.certify()?;
    let training = idx::read(&args.data, "train")?;
    let test = idx::read(&args.data, "t10k")?;
    let digits = Digits::new(training, 1);
    let descent = Descent {
        optimiser: match args.momentum {
            0.0 => tacita_federated::OptimiserRule::Sgd,
            momentum => tacita_federated::OptimiserRule::Momentum { momentum },
        },
        learning_rate: args.rate,
        learning_rate_decay: args.rate_decay,
    };
    let (lower, upper) = (plan.epsilon().lower_bound(), plan.epsilon().upper_bound());
    let (multiplier, keys) = (plan.scale(), Keys::fixed_seed(args.seed));
    let model = network::initial(args.seed);
    assert_eq!(model.len(), PARAMETERS);
    let mut server = Server::in_memory(plan, keys, model, descent)?;
    let enrolled: Vec<u64> = (0..args.clients).collect();
    let start = Instant::now();
    while !server.is_finished() {
        round(&mut server, &digits, &enrolled)?;
        let done = server.next_round();
        if done.is_multiple_of((args.rounds / 10).max(1)) {
            let right = accuracy(server.model(), &test, 2_000);
            eprintln!(
                "{done} rounds, {:.0} s: {right:.2} % of 2,000",
                start.elapsed().as_secs_f64()
            );
        }
    }
    let right = accuracy(server.model(), &test, usize::MAX);
    println!(
        "{{\"clients\": {}, \"method\": \"{}\", \"claimed\": {}, \"accountant\": \"{}\", \"certified\": [{}, {}], \"delta\": {:e}, \
         \"noise\": {multiplier}, \"rounds\": {}, \"cohort\": {}, \"rate\": {}, \"rate_decay\": {}, \"threshold\": {}, \"decay\": {}, \
         \"growth\": {}, \"momentum\": {}, \"seed\": {}, \"accuracy\": {right:.2}, \"seconds\": {:.0}}}",
        args.clients,
        args.method,
        args.epsilon,
        args.accountant,
        lower.unwrap_or(f64::NAN),
        upper.unwrap_or(f64::NAN),
        server.plan().plan().delta,
        args.rounds,
        args.cohort,
        args.rate,
        args.rate_decay,
        args.threshold,
        server.plan().plan().threshold_decay,
        server.plan().plan().growing_mu,
        args.momentum,
        args.seed,
        start.elapsed().as_secs_f64(),
    );
    Ok(())
}
