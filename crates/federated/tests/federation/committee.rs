//! Noise by a committee, under secure aggregation.

use crate::common::{everyone, plan};
use proptest::prelude::*;
use tacita_federated::{
    Adversary, Client, ClientError, Clip, Committee, Descent, Keys, NoiseBy, Plan, Server,
};

const MEMBERS: u64 = 6;

fn committee_plan(rounds: u64) -> Plan {
    Plan {
        clip: Clip::Abadi,
        noise: NoiseBy::Committee(Committee {
            members: MEMBERS,
            absent: 2,
            colluding: 1,
        }),
        ..plan(30, 10.0, rounds)
    }
}

fn server(rounds: u64, parameters: usize) -> Server {
    let plan = committee_plan(rounds).certify().unwrap();
    Server::in_memory(
        plan,
        Keys::fixed_seed(4),
        vec![0.0; parameters],
        Descent::at(1.0),
    )
    .unwrap()
}

/// What each client that was asked hands to secure aggregation.
fn masked(server: &Server, drawn: &[u64], committee: &[u64], update: &[f32]) -> Vec<Vec<i64>> {
    let mut asked: Vec<u64> = drawn.iter().chain(committee).copied().collect();
    asked.sort_unstable();
    asked.dedup();
    let answer = |client: &u64| {
        let (is_drawn, is_member) = (drawn.contains(client), committee.contains(client));
        let order = server.order_as(*client, is_drawn, is_member).unwrap();
        let task = Client::asked(&order).unwrap();
        task.masked_answer_with(update, &Keys::fixed_seed(*client))
            .unwrap()
    };
    asked.iter().map(answer).collect()
}

/// Secure aggregation in one process: masks that cancel, modulo 2^64, and the sum of what was masked.
fn aggregated(vectors: &[Vec<i64>], masks: &[i64]) -> Vec<i64> {
    let mut sum = vec![0i64; vectors[0].len()];
    for (at, vector) in vectors.iter().enumerate() {
        let mask = |at: usize| masks[at % masks.len()];
        let hidden = vector
            .iter()
            .map(|v| v.wrapping_add(mask(at)).wrapping_sub(mask(at + 1)));
        sum.iter_mut()
            .zip(hidden)
            .for_each(|(sum, v)| *sum = sum.wrapping_add(v));
    }
    let ends = [masks[0], masks[vectors.len() % masks.len()]];
    sum.iter()
        .map(|v| v.wrapping_sub(ends[0]).wrapping_add(ends[1]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn masks_change_nothing_and_the_sum_is_that_of_updates_and_shares(
        masks in prop::collection::vec(any::<i64>(), 2..9),
        present in 4usize..=6,
    ) {
        let (enrolled, mut server) = (everyone(30), server(1, 5));
        let asked = server.open_round_with(&enrolled, &enrolled[..MEMBERS as usize]).unwrap();
        let committee = &asked.committee[..present];
        let vectors = masked(&server, &asked.drawn, committee, &[0.1, 0.0, -0.2, 5.0, 0.3]);
        let plain = aggregated(&vectors, &[0, 0]);
        prop_assert_eq!(&aggregated(&vectors, &masks), &plain);
        let released = server.close_round_with(plain, present as u64).unwrap().unwrap();
        // Updates are clipped to 1; noise has a standard deviation of 1 to 1.23 on a sum over 10: six of them.
        let signal = asked.drawn.len() as f64 * 5.0 / 5.014 / 10.0;
        prop_assert!((f64::from(released.mean[3]) - signal).abs() < 0.74, "{released:?}");
    }
}

#[test]
fn the_noise_does_not_depend_on_the_draw_and_absent_members_only_lessen_what_was_extra() {
    // 2^14 values: a sample variance is off by 1.1 %; 6 % is more than five standard deviations.
    let parameters = 1 << 14;
    for (drawn, present, wanted) in [(0, 4, 1.0), (9, 4, 1.0), (30, 5, 1.25), (3, 6, 1.5)] {
        let (enrolled, mut server) = (everyone(30), server(1, parameters));
        let asked = server
            .open_round_with(&enrolled, &enrolled[..MEMBERS as usize])
            .unwrap();
        let vectors = masked(
            &server,
            &enrolled[..drawn],
            &asked.committee[..present],
            &vec![0.0; parameters],
        );
        let released = server
            .close_round_with(aggregated(&vectors, &[0, 0]), present as u64)
            .unwrap()
            .unwrap();
        let variance = released
            .mean
            .iter()
            .map(|v| f64::from(*v).powi(2))
            .sum::<f64>()
            / parameters as f64;
        let ratio = variance / 0.1f64.powi(2);
        assert!(
            (ratio / wanted - 1.0).abs() < 0.06,
            "{drawn} {present}: {ratio}"
        );
    }
}

#[test]
fn too_few_members_make_the_round_void_and_spent() {
    let enrolled = everyone(30);
    let mut server = server(2, 5);
    server
        .open_round_with(&enrolled, &enrolled[..MEMBERS as usize])
        .unwrap();
    assert_eq!(server.close_round_with(vec![0; 5], 3).unwrap(), None);
    assert_eq!((server.next_round(), server.model()), (1, &[0.0; 5][..]));
    // Nor may the server release without the committee, or with another one.
    server
        .open_round_with(&enrolled, &enrolled[..MEMBERS as usize])
        .unwrap();
    assert!(server.close_round().is_err());
    assert!(server.close_round_with(vec![0; 4], 6).is_err());
    server.abandon_round().unwrap();
    let mut other = self::server(2, 5);
    assert!(other.open_round(&enrolled).is_err());
    assert_eq!(other.next_round(), 0, "nothing was spent");
}

#[test]
fn a_member_sends_its_update_to_nobody_but_secure_aggregation() {
    let (enrolled, mut server) = (everyone(30), server(1, 2));
    server
        .open_round_with(&enrolled, &enrolled[..MEMBERS as usize])
        .unwrap();
    let task = Client::asked(&server.order_as(enrolled[0], true, true).unwrap()).unwrap();
    assert!(matches!(
        task.answer(&[0.0; 2]),
        Err(ClientError::OtherNoise(_))
    ));
    // A member that was not drawn contributes its share and nothing else.
    let task = Client::asked(&server.order_as(enrolled[1], false, true).unwrap()).unwrap();
    let keys = || Keys::fixed_seed(8);
    let share = task.masked_answer_with(&[0.0; 2], &keys()).unwrap();
    assert_eq!(task.masked_answer_with(&[9.0; 2], &keys()).unwrap(), share);
    // Keys of the operating system make another share every time.
    assert_ne!(
        task.masked_answer(&[0.0; 2]).unwrap(),
        task.masked_answer(&[0.0; 2]).unwrap()
    );
}

#[test]
fn two_figures_are_stated_and_more_where_members_may_collude() {
    let server = server(20, 5);
    let adversaries: Vec<Adversary> = server
        .figures()
        .iter()
        .map(|figure| figure.adversary)
        .collect();
    assert!(adversaries.contains(&Adversary::Models));
    assert!(adversaries.contains(&Adversary::Server { colluding: 0 }));
    assert!(adversaries.contains(&Adversary::Server { colluding: 1 }));
    assert!(
        server
            .figures_so_far()
            .iter()
            .all(|figure| figure.epsilon == Some(0.0))
    );
}
