//! One client more or less.

use crate::common::{answer, everyone, plan, server};
use proptest::prelude::*;
use tacita_federated::{Bound, Client, Clip, Fault, Order, Plan, Server, Update, clipped};

/// Runs one round of a full-participation federation in which each client sends its update, and gives the mean.
fn mean(plan: &Plan, updates: &[Option<Vec<f32>>], parameters: usize) -> Vec<f64> {
    let mut server: Server = server(plan.clone(), 3, parameters);
    let asked = server.open_round(&everyone(updates.len() as u64)).unwrap();
    assert_eq!(asked.drawn.len(), updates.len());
    for (client, update) in asked.drawn.iter().zip(updates) {
        if let Some(update) = update {
            let message = answer(&server, *client, update);
            server.receive(*client, &message).unwrap();
        }
    }
    server
        .close_round()
        .unwrap()
        .mean
        .into_iter()
        .map(f64::from)
        .collect()
}

fn value() -> impl Strategy<Value = f32> {
    let edges = vec![0.0, 1e30, -1e30, 1e-30, f32::NAN, f32::INFINITY];
    prop_oneof![4 => -3.0f32..3.0, 1 => prop::sample::select(edges)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The same noise on both sides: what differs is the sums.
    #[test]
    fn removing_a_client_moves_the_sum_by_at_most_the_threshold(
        updates in prop::collection::vec(prop::collection::vec(value(), 6), 2..8),
        threshold in 0.1f64..10.0,
        auto in any::<bool>(),
        left in any::<prop::sample::Index>(),
    ) {
        let clients = updates.len() as u64;
        let plan = Plan {
            clip: if auto { Clip::AUTO } else { Clip::Abadi },
            threshold,
            ..plan(clients, clients as f64, 1)
        };
        let mut all: Vec<Option<Vec<f32>>> = updates.into_iter().map(Some).collect();
        let with = mean(&plan, &all, 6);
        let left = left.index(all.len());
        all[left] = None;
        let without = mean(&plan, &all, 6);
        let moved = with.iter().zip(&without).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        // Released values are rounded to a sixteenth of the noise, each of two by half of that, and to f32.
        let spacing = threshold / 16.0 * 6f64.sqrt();
        prop_assert!(moved * clients as f64 <= threshold + spacing + 1e-4, "{moved}");
    }
}

#[test]
fn the_released_mean_is_the_sum_of_clipped_updates_over_the_expected_cohort() {
    // The oracle clips in f64 and divides; noise is 10⁻⁶ of the threshold.
    let (clients, parameters) = (40, 50);
    let tiny = Plan {
        scale: tacita_federated::Scale::NoiseMultiplier(1e-6),
        clip: Clip::Abadi,
        threshold: 2.0,
        ..plan(clients, 10.0, 1)
    };
    let mut server = server(tiny, 5, parameters);
    let update = |client: u64| -> Vec<f32> {
        (0..parameters)
            .map(|at| ((client * 31 + at as u64) as f32).sin())
            .collect()
    };
    let asked = server.open_round(&everyone(clients)).unwrap();
    let mut oracle = vec![0.0f64; parameters];
    for client in &asked.drawn {
        let update = update(*client);
        let norm = update
            .iter()
            .map(|v| f64::from(*v).powi(2))
            .sum::<f64>()
            .sqrt();
        let factor = (2.0 / norm).min(1.0) / 10.0;
        oracle
            .iter_mut()
            .zip(&update)
            .for_each(|(sum, v)| *sum += f64::from(*v) * factor);
        let message = answer(&server, *client, &update);
        server.receive(*client, &message).unwrap();
    }
    assert!(asked.drawn.len() > 3 && asked.drawn.len() != 10);
    let released = server.close_round().unwrap();
    for (seen, exact) in released.mean.iter().zip(&oracle) {
        assert!((f64::from(*seen) - exact).abs() < 1e-4, "{seen} {exact}");
    }
}

#[test]
fn every_client_is_drawn_with_the_rate_of_the_plan_and_a_name_counts_once() {
    // 400 rounds of 50 clients at a rate of 0.2: 4,000 draws on average, five standard deviations are 283.
    let mut server = server(plan(50, 10.0, 400), 11, 1);
    let mut enrolled = everyone(50);
    enrolled.extend(everyone(50));
    let mut drawn = 0;
    let mut often = std::collections::BTreeMap::<u64, u64>::new();
    while !server.is_finished() {
        let asked = server.open_round(&enrolled).unwrap();
        drawn += asked.drawn.len();
        asked
            .drawn
            .iter()
            .for_each(|client| *often.entry(*client).or_default() += 1);
        server.close_round().unwrap();
    }
    assert!(drawn.abs_diff(4_000) < 283, "{drawn}");
    // 80 each on average; six standard deviations are 48.
    assert_eq!(often.len(), 50);
    assert!(
        often.values().all(|times| times.abs_diff(80) < 48),
        "{often:?}"
    );
}

#[test]
fn drop_outs_change_neither_noise_nor_divisor() {
    let mean = |answering: usize| {
        let mut server = server(plan(8, 8.0, 1), 3, 4);
        let asked = server.open_round(&everyone(8)).unwrap();
        for client in &asked.drawn[..answering] {
            let message = answer(&server, *client, &[0.0; 4]);
            server.receive(*client, &message).unwrap();
        }
        server.close_round().unwrap()
    };
    assert_eq!(mean(0), mean(8));
    assert_eq!(mean(0).noise_std, 1.0 / 8.0);
}

#[test]
fn a_gradient_of_no_number_contributes_zeros_and_is_no_fault() {
    let bound = Bound::of(1.0).unwrap();
    assert_eq!(clipped(&[f32::NAN, 1.0], Clip::AUTO, &bound), [0, 0]);
    let mut server = server(plan(1, 1.0, 1), 3, 2);
    let asked = server.open_round(&everyone(1)).unwrap();
    let message = answer(&server, asked.drawn[0], &[f32::NAN, 1.0]);
    server.receive(asked.drawn[0], &message).unwrap();
    assert!(server.is_complete() && server.faults().is_empty());
}

#[test]
fn a_site_adds_its_clients_up_as_the_server_would() {
    let updates = [
        [3.0f32, 0.1, -0.2],
        [0.0, f32::NAN, 0.0],
        [0.5, 0.5, 0.5],
        [-9.0, 1.0, 0.0],
    ];
    let open = || {
        let mut server = server(plan(4, 4.0, 1), 3, 3);
        let drawn = server.open_round(&everyone(4)).unwrap().drawn;
        (server, drawn)
    };
    let (mut one_by_one, drawn) = open();
    for (client, update) in drawn.iter().zip(&updates) {
        let message = answer(&one_by_one, *client, update);
        one_by_one.receive(*client, &message).unwrap();
    }
    let (mut by_site, drawn) = open();
    let task = Client::asked(&by_site.order(drawn[0]).unwrap()).unwrap();
    let message = task
        .answer_for(updates.iter().map(|update| &update[..]))
        .unwrap();
    by_site.receive_from_site(&drawn, &message).unwrap();
    assert!(by_site.is_complete());
    let again = by_site.receive_from_site(&drawn[1..2], &message);
    assert_eq!(again, Err(Fault::OtherClient));
    assert_eq!(
        by_site.close_round().unwrap(),
        one_by_one.close_round().unwrap()
    );
    // A site may not speak for those who were not drawn, nor add more than its clients could.
    let (mut server, drawn) = open();
    let strangers = [drawn[0], 77];
    assert_eq!(
        server.receive_from_site(&strangers, &message),
        Err(Fault::OtherRun)
    );
    let order = Order::decode(&server.order(drawn[0]).unwrap()).unwrap();
    let update = Update {
        run: order.run,
        round: 0,
        client: drawn[0],
        steps: vec![2 << 21, 1, 0],
    };
    assert_eq!(
        server.receive_from_site(&strangers, &update.encode()),
        Err(Fault::NotAsked)
    );
    assert_eq!(
        server.receive_from_site(&drawn[..2], &update.encode()),
        Err(Fault::TooLong)
    );
}
