//! Convolutions, recurrence and embeddings.

use crate::canaries::{Canaries, Owned};
use crate::networks::{Convolutions, Recurrent, Words};
use crate::policies::{assert_kept, plan, short};
use crate::run::Audit;
use tacita::clipping::{DirectionNoise, Online, Threshold};
use tacita::gradient::{NormMethod, Performance};
use tacita::{Clipping, MicroBatch, NoiseSchedule, SessionOptions};

/// One norm, one for each layer, and the directions of clipped gradients.
fn clippings() -> [Clipping; 3] {
    let online = Online {
        initial: 0.2,
        rate: 1e-3,
        noise: DirectionNoise::Multiplier(0.3),
        ..Online::default()
    };
    [
        Clipping::auto(),
        Clipping::abadi(0.5).per_layer(),
        Clipping::abadi(1.0)
            .threshold(Threshold::Online(online))
            .per_layer(),
    ]
}

fn audit<M: Owned>(name: &str, model: &M, canaries: Canaries, steps: u64) {
    let methods = [None, Some(NormMethod::Gram), Some(NormMethod::Recomputed)];
    for (number, clipping) in clippings().into_iter().enumerate() {
        let policy = short(&format!("{name}, {clipping:?}"));
        let schedule = NoiseSchedule::GrowingMu { ratio: 2.0 };
        let audit = Audit {
            model,
            canaries,
            plan: plan(clipping.clone(), schedule, canaries.present as u64, steps),
            options: SessionOptions {
                micro_batch: MicroBatch::Records(60),
                performance: Performance {
                    norm_method: methods[number],
                    ..Performance::default()
                },
                ..SessionOptions::default()
            },
            has_dropout: false,
        };
        let measured = audit.measure(20 + number as u64);
        assert_kept(&policy, &clipping, &measured, 0.8);
    }
}

#[test]
fn convolutions_keep_their_plan() {
    let canaries = Canaries::half(200);
    audit("convolutions", &Convolutions::new(200), canaries, 200);
}

#[test]
fn recurrence_keeps_its_plan() {
    let canaries = Canaries::half(100);
    audit("recurrence", &Recurrent::new(100), canaries, 400);
}

#[test]
fn embeddings_keep_their_plan() {
    let canaries = Canaries::half(200);
    audit("embeddings", &Words::new(200), canaries, 200);
}
