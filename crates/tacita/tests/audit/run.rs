//! One audited run of a plan.

use crate::canaries::{Canaries, Owned, device};
use crate::oracle::{self, Map};
use crate::tally::{Planned, Tally};
use burn::tensor::Tensor;
use tacita::clipping::Threshold;
use tacita::{CheckedPlan, Keys, Noisy, Session, SessionOptions};

/// What a run is measured by.
pub struct Audit<'a, M> {
    pub model: &'a M,
    pub canaries: Canaries,
    /// Of rate 1: every record in the data set takes part in every step.
    pub plan: CheckedPlan,
    pub options: SessionOptions,
    /// Whether the model's gradients change from step to step.
    pub has_dropout: bool,
}

/// The measurements of all queries.
#[derive(Default)]
pub struct Measured {
    pub gradient: Tally,
    pub directions: Tally,
    pub counts: Tally,
    pub count_shift: CountShift,
}

/// How far one record moves the counts, as a share of what is planned.
#[derive(Default)]
pub struct CountShift {
    pub along: f64,
    pub squares: f64,
}

impl<M: Owned> Audit<'_, M> {
    pub fn measure(&self, seed: u64) -> Measured {
        let (model, canaries, plan) = (self.model, &self.canaries, &self.plan);
        assert_eq!(plan.rate(), 1.0);
        let clipping = plan.clipping().clone();
        let session = Session::open_in_memory(
            plan.clone(),
            Keys::fixed_seed(seed),
            model,
            canaries,
            self.options,
        );
        let mut session = session.unwrap();
        let map = Map::new(model, session.parameters(), &clipping.grouping);
        let keys = Keys::fixed_seed(seed);
        oracle::assert_owned(model, canaries, &keys, &map);
        let mut gradients = oracle::gradients(model, canaries, &keys, 0);
        let mut measured = Measured::default();
        for step in 0..plan.steps() {
            if self.has_dropout {
                gradients = oracle::gradients(model, canaries, &keys, step);
            }
            let norms = oracle::norms(&gradients, &map, canaries.all);
            let thresholds = session.thresholds();
            assert_eq!(thresholds.len(), map.group_count);
            let multipliers = plan.noise_multipliers(step);
            let round = session.open_round().unwrap();
            let bounded = round.clip(model, canaries, &device()).unwrap();
            let noisy = round.release(bounded).unwrap();
            assert_eq!(noisy.step(), step);
            let planned = Planned {
                sensitivity: oracle::planned_sensitivity(
                    &clipping,
                    &thresholds,
                    step,
                    plan.steps(),
                ),
                noise_multiplier: multipliers[0],
            };
            let expected = oracle::clipped(&gradients, &norms, &map, clipping.rule, &thresholds);
            let sums = self.sums(noisy.gradient());
            let tally = &mut measured.gradient;
            tally.add(&sums, &expected, &map, canaries.present, planned);
            match clipping.threshold {
                Threshold::Online(_) => {
                    let planned = Planned {
                        sensitivity: 1.0,
                        noise_multiplier: multipliers[1],
                    };
                    let expected = oracle::directions(&gradients, &norms, &map, &thresholds);
                    let sums = self.directions(&noisy);
                    let tally = &mut measured.directions;
                    tally.add(&sums, &expected, &map, canaries.present, planned);
                    tally.add_other_query(&measured.gradient);
                }
                Threshold::Quantile(_) => {
                    let expected = oracle::counts(&norms, canaries.present, &thresholds);
                    measured.add_counts(self.counts(&noisy), &expected, multipliers[1]);
                }
                _ => {}
            }
        }
        assert_eq!(session.ledger(), *plan.ledger(), "recorded as planned");
        measured
    }

    /// Released means as sums.
    fn sums(&self, released: &[Tensor<1>]) -> Vec<Vec<f64>> {
        let sum = |tensor: &Tensor<1>| {
            let values = tensor.to_data();
            let values = values.iter::<f64>().map(|v| v * self.plan.expected_batch());
            values.collect()
        };
        released.iter().map(sum).collect()
    }

    fn directions(&self, noisy: &Noisy) -> Vec<Vec<f64>> {
        let directions = noisy.directions(self.model).unwrap();
        crate::canaries::flat(self.model, &directions)
            .into_iter()
            .map(|values| {
                values
                    .iter()
                    .map(|v| v * self.plan.expected_batch())
                    .collect()
            })
            .collect()
    }

    fn counts(&self, noisy: &Noisy) -> Vec<f64> {
        let shares = noisy.shares_below_threshold().unwrap();
        let count = |share: f64| (share - 0.5) * self.plan.expected_batch();
        shares.into_iter().map(count).collect()
    }
}

impl Measured {
    /// Released counts, and those without noise.
    fn add_counts(&mut self, released: Vec<f64>, expected: &[f64], noise_multiplier: f64) {
        let planned = Planned {
            // A record moves the count of every group by a half.
            sensitivity: 0.5 * (expected.len() as f64).sqrt(),
            noise_multiplier,
        };
        let noise_std = planned.noise_std();
        let left = released.iter().zip(expected);
        let left = left.map(|(released, expected)| (released - expected) / noise_std);
        self.counts.add_noise(vec![left.collect()]);
        for (released, expected) in released.iter().zip(expected) {
            self.count_shift.along += released * expected / noise_std.powi(2);
            self.count_shift.squares += (expected / noise_std).powi(2);
        }
    }
}
