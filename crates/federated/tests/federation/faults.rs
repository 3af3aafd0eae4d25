//! Messages that no honest client sends.

use crate::common::{answer, everyone, plan, server};
use proptest::prelude::*;
use tacita_federated::{Fault, Server, Update};

/// A round of four clients in which one has answered as it should.
fn open() -> (Server, Vec<u64>) {
    let mut server = server(plan(4, 4.0, 2), 9, 3);
    let drawn = server.open_round(&everyone(4)).unwrap().drawn;
    let honest = answer(&server, drawn[0], &[0.5, 0.0, -0.5]);
    server.receive(drawn[0], &honest).unwrap();
    (server, drawn)
}

fn released(mut server: Server) -> Vec<f32> {
    server.close_round().unwrap().mean
}

/// An update with a message's head that is right.
fn forged(server: &Server, client: u64, steps: Vec<i32>) -> Update {
    let order = tacita_federated::Order::decode(&server.order(client).unwrap()).unwrap();
    Update {
        run: order.run,
        round: order.round,
        client,
        steps,
    }
}

#[test]
fn every_fault_is_named_and_moves_nothing() {
    let untouched = released(open().0);
    let (server, drawn) = open();
    let good = forged(&server, drawn[1], vec![1, 2, 3]);
    let cases = [
        (Fault::Unreadable, vec![1, 2, 3]),
        (
            Fault::OtherRun,
            Update {
                run: [7; 16],
                ..good.clone()
            }
            .encode(),
        ),
        (
            Fault::OtherRound,
            Update {
                round: 1,
                ..good.clone()
            }
            .encode(),
        ),
        (
            Fault::OtherClient,
            Update {
                client: drawn[2],
                ..good.clone()
            }
            .encode(),
        ),
        (
            Fault::OtherLength,
            Update {
                steps: vec![1, 2],
                ..good.clone()
            }
            .encode(),
        ),
        (
            Fault::OtherLength,
            Update {
                steps: vec![1; 4],
                ..good.clone()
            }
            .encode(),
        ),
        (
            Fault::TooLong,
            Update {
                steps: vec![1 << 21, 1, 0],
                ..good.clone()
            }
            .encode(),
        ),
        (
            Fault::TooLong,
            Update {
                steps: vec![i32::MIN; 3],
                ..good.clone()
            }
            .encode(),
        ),
    ];
    for (fault, message) in cases {
        let (mut server, drawn) = open();
        // The run's identity is new every time.
        let message = match Update::decode(&message) {
            Ok(update) if fault != Fault::OtherRun => {
                let run = forged(&server, drawn[1], Vec::new()).run;
                Update { run, ..update }.encode()
            }
            _ => message,
        };
        assert_eq!(server.receive(drawn[1], &message), Err(fault));
        assert_eq!(server.faults().get(&fault), Some(&1));
        assert_eq!(released(server), untouched, "{fault:?}");
    }
}

#[test]
fn only_those_who_were_drawn_are_heard_and_only_once() {
    let untouched = released(open().0);
    let (mut server, drawn) = open();
    let stranger = forged(&server, 77, vec![1, 0, 0]).encode();
    assert_eq!(server.receive(77, &stranger), Err(Fault::NotAsked));
    let again = forged(&server, drawn[0], vec![1 << 20, 0, 0]).encode();
    assert_eq!(server.receive(drawn[0], &again), Err(Fault::Twice));
    assert_eq!(released(server), untouched);
}

#[test]
fn a_late_answer_is_of_another_round() {
    let (mut server, drawn) = open();
    let late = answer(&server, drawn[1], &[1.0; 3]);
    server.close_round().unwrap();
    assert_eq!(server.receive(drawn[1], &late), Err(Fault::OtherRound));
    server.open_round(&everyone(4)).unwrap();
    assert_eq!(server.receive(drawn[1], &late), Err(Fault::OtherRound));
}

#[test]
fn rounds_come_one_after_the_other() {
    let (mut server, _) = open();
    assert!(
        server
            .open_round(&everyone(4))
            .unwrap_err()
            .to_string()
            .contains("still open")
    );
    server.close_round().unwrap();
    assert!(
        server
            .close_round()
            .unwrap_err()
            .to_string()
            .contains("no round is open")
    );
    server.open_round(&everyone(4)).unwrap();
    assert_eq!(server.abandon_round().unwrap(), 1);
    let finished = server.open_round(&everyone(4)).unwrap_err();
    assert!(finished.to_string().contains("all 2 rounds"), "{finished}");
}

proptest! {
    #[test]
    fn no_bytes_whatever_move_the_sum_by_more_than_the_threshold(
        steps in prop::collection::vec(any::<i32>(), 3),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        small in -2_100_000i32..2_100_000,
    ) {
        let untouched = released(open().0);
        let (mut server, drawn) = open();
        let _ = server.receive(drawn[1], &bytes);
        let message = forged(&server, drawn[2], steps).encode();
        let _ = server.receive(drawn[2], &message);
        let message = forged(&server, drawn[3], vec![small, 0, 0]).encode();
        let admitted = server.receive(drawn[3], &message).is_ok() as u8;
        let moved: f64 = released(server).iter().zip(&untouched)
            .map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
        // Noise of 1 on a sum over 4: released values are rounded to 1/64, each of two by half of that.
        let spacing = 3f64.sqrt() / 64.0;
        prop_assert!(moved <= 2.0 / 4.0 + spacing + 1e-4, "{moved} {admitted}");
    }
}
