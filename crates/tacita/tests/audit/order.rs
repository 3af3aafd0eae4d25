//! The order of a release: the ledger first, then noise.

use crate::canaries::{Canaries, device};
use crate::networks::Table;
use tacita::{Clipping, Keys, Plan, Session, SessionOptions};

/// Noise of this size cannot be drawn. Whatever fails after the ledger was written, the round is spent; if noise were drawn
/// first, it would not be.
#[test]
fn a_round_whose_noise_cannot_be_drawn_is_spent_all_the_same() {
    let plan = Plan::with_noise(1e12, 1e-5)
        .public_record_count(10)
        .expected_batch(10)
        .steps(2)
        .clipping(Clipping::abadi(1e20))
        .calibrate()
        .unwrap();
    let (canaries, model) = (Canaries::half(20), Table::new(20));
    let options = SessionOptions::default();
    let session = Session::open_in_memory(plan, Keys::fixed_seed(1), &model, &canaries, options);
    let mut session = session.unwrap();
    let round = session.open_round().unwrap();
    let bounded = round.clip(&model, &canaries, &device()).unwrap();
    let refused = round.release(bounded).unwrap_err().to_string();
    assert!(refused.contains("standard deviation"), "{refused}");
    assert_eq!(session.ledger().rounds_made(), 1);
}
