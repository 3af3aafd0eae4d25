//! Federations that learn.

use crate::common::{everyone, plan};
use tacita_federated::{
    Client, Clip, Descent, Keys, OptimiserRule, Plan, Scale, Server, local_steps,
};

const FEATURES: usize = 8;

/// A client's record: features and a label that a linear rule explains.
fn record(client: u64) -> ([f32; FEATURES], f32) {
    let features: [f32; FEATURES] =
        std::array::from_fn(|at| ((client * 37 + 11 * at as u64) as f32 * 0.7).sin());
    let score: f32 = features
        .iter()
        .enumerate()
        .map(|(at, x)| x * (at as f32 - 3.0))
        .sum();
    (features, f32::from(score > 0.0))
}

/// The gradient of the logistic loss of one client.
fn gradient(model: &[f32], client: u64) -> Vec<f32> {
    let (features, label) = record(client);
    let score: f32 = model.iter().zip(features).map(|(w, x)| w * x).sum();
    let slope = 1.0 / (1.0 + (-score).exp()) - label;
    features.iter().map(|x| slope * x).collect()
}

fn accuracy(model: &[f32]) -> f64 {
    let right = |client: &u64| {
        let (features, label) = record(*client);
        let score: f32 = model.iter().zip(features).map(|(w, x)| w * x).sum();
        f32::from(score > 0.0) == label
    };
    (5_000..7_000).filter(right).count() as f64 / 2_000.0
}

fn train(plan: Plan, descent: Descent, keys: Keys, steps: usize) -> Server {
    let plan = plan.certify().unwrap();
    let clients = plan.plan().clients;
    let mut server = Server::in_memory(plan, keys, vec![0.0; FEATURES], descent).unwrap();
    while !server.is_finished() {
        for client in server.open_round(&everyone(clients)).unwrap().drawn {
            let task = Client::asked(&server.order(client).unwrap()).unwrap();
            let update = match steps {
                1 => gradient(task.model(), client),
                _ => local_steps(task.model(), steps, 0.5, |model| gradient(model, client)),
            };
            let message = task.answer(&update).unwrap();
            server.receive(client, &message).unwrap();
        }
        server.close_round().unwrap();
    }
    server
}

#[test]
fn a_thousand_clients_learn_and_the_cumulative_epsilon_is_certified() {
    let plan = Plan::new(1_000, 100.0, 60, Scale::Epsilon(2.0), 1e-4);
    let server = train(plan, Descent::at(2.0), Keys::fixed_seed(1), 1);
    assert!(
        accuracy(server.model()) > 0.93,
        "{}",
        accuracy(server.model())
    );
    assert!(server.figures_so_far()[0].epsilon.unwrap() <= 2.0);
    assert!(!server.is_private(), "a fixed seed is marked");
}

#[test]
fn several_local_steps_are_clipped_once_and_learn() {
    let plan = Plan {
        clip: Clip::Abadi,
        threshold: 0.5,
        threshold_decay: 2.0,
        growing_mu: 1.5,
        ..Plan::new(1_000, 100.0, 40, Scale::Epsilon(3.0), 1e-4)
    };
    let descent = Descent {
        optimiser: OptimiserRule::Momentum { momentum: 0.5 },
        ..Descent::at(1.0)
    };
    let server = train(plan, descent, Keys::fixed_seed(2), 5);
    assert!(
        accuracy(server.model()) > 0.9,
        "{}",
        accuracy(server.model())
    );
}

#[test]
fn a_seed_repeats_a_run_and_secret_keys_do_not() {
    let run = |keys: Keys| {
        let server = train(plan(100, 20.0, 3), Descent::at(1.0), keys, 1);
        server.model().to_vec()
    };
    assert_eq!(run(Keys::fixed_seed(3)), run(Keys::fixed_seed(3)));
    assert_ne!(run(Keys::from_os().unwrap()), run(Keys::from_os().unwrap()));
}
