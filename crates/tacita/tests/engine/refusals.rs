//! Plans without meaning or proof are refused, with the reason, before anything is spent.

use crate::common::device;
use crate::mechanism::{Images, Net};
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::clipping::{Grouping, GroupingError, NamedGroup, Online, Quantile, Threshold};
use tacita::layers::{Embedding, EmbeddingConfig};
use tacita::{
    Budget, Clipping, Keys, NoiseSchedule, Plan, PlanError, PrivateModel, Records, Session,
    SessionError,
};

fn plan() -> Plan {
    Plan::new(Budget::new(1.0, 1e-5))
        .public_record_count(1000)
        .expected_batch(60)
        .steps(5)
}

fn refused(plan: Plan) -> PlanError {
    plan.calibrate().unwrap_err()
}

#[test]
fn automatic_clipping_has_no_threshold_to_learn_or_decay() {
    let policies = [
        Threshold::Online(Online::default()),
        Threshold::Quantile(Quantile::new(0.5)),
        Threshold::Decay {
            initial: 1.0,
            ratio: 2.0,
        },
        Threshold::Table {
            values: vec![1.0; 5],
        },
    ];
    for policy in policies {
        let error = refused(plan().clipping(Clipping::auto().threshold(policy.clone())));
        assert!(matches!(error, PlanError::Meaningless { .. }), "{error}");
        assert!(
            error.to_string().contains("learning rate")
                || error.to_string().contains("learning-rate")
        );
        // With Abadi's rule each of them is a plan.
        assert!(
            plan()
                .clipping(Clipping::abadi(1.0).threshold(policy))
                .calibrate()
                .is_ok()
        );
    }
}

#[test]
fn noise_that_would_depend_on_the_data_has_no_proof() {
    for schedule in [
        NoiseSchedule::Optimal,
        NoiseSchedule::OptimalForCurvature {
            curvature: vec![1.0; 5],
        },
    ] {
        let learned = plan()
            .clipping(Clipping::online())
            .noise_schedule(schedule.clone());
        let error = refused(learned);
        assert!(matches!(error, PlanError::Unproved { .. }), "{error}");
        let known = Clipping::abadi(1.0).threshold_decay(2.0);
        assert!(
            plan()
                .clipping(known)
                .noise_schedule(schedule)
                .calibrate()
                .is_ok()
        );
    }
}

#[test]
fn numbers_outside_their_range_are_named() {
    let with = |threshold: Threshold| plan().clipping(Clipping::abadi(1.0).threshold(threshold));
    let quantile = |quantile| Threshold::Quantile(Quantile::new(quantile));
    let online = |rate| {
        Threshold::Online(Online {
            rate,
            ..Online::default()
        })
    };
    let cases = [
        (with(0.0.into()), "clipping threshold"),
        (with(f64::NAN.into()), "NaN"),
        (with(quantile(1.0)), "target quantile"),
        (with(online(-1.0)), "learning rate of the threshold"),
        (
            with(Threshold::Decay {
                initial: 1.0,
                ratio: 0.0,
            }),
            "ratio of the threshold decay",
        ),
        (
            with(Threshold::Table {
                values: vec![1.0; 4],
            }),
            "4 values, but the run has 5 steps",
        ),
        (
            plan().noise_schedule(NoiseSchedule::GrowingMu { ratio: -2.0 }),
            "-2",
        ),
        (
            plan().noise_schedule(NoiseSchedule::Table {
                relative: vec![1.0; 6],
            }),
            "6 values",
        ),
        (plan().statistic(0.0), "noise multiplier of a statistic"),
        (
            plan().clipping(Clipping::auto().grouping(Grouping::Weighted(vec![1.0, -1.0]))),
            "weight of a layer",
        ),
    ];
    for (plan, named) in cases {
        let message = refused(plan).to_string();
        assert!(message.contains(named), "{message} does not name {named}");
    }
}

#[test]
fn groups_that_do_not_fit_the_model_are_named() {
    let open = |grouping: Grouping| {
        let plan = plan().clipping(Clipping::auto().grouping(grouping));
        let (model, images) = (Net::new(), Images::random(10, 1));
        let keys = Keys::fixed_seed(1);
        Session::open_in_memory(
            plan.calibrate().unwrap(),
            keys,
            &model,
            &images,
            Default::default(),
        )
        .map(|_| ())
        .unwrap_err()
    };
    let named = |path: &str| {
        Grouping::Named(vec![NamedGroup {
            paths: vec![path.into()],
            weight: 1.0,
        }])
    };
    assert!(matches!(
        open(Grouping::Weighted(vec![1.0])),
        SessionError::Grouping(GroupingError::Layers {
            weights: 1,
            layers: 3,
            ..
        })
    ));
    assert!(matches!(
        open(named("head")),
        SessionError::Grouping(GroupingError::NoGroup { .. })
    ));
    let misspelt = Grouping::Named(vec![
        NamedGroup {
            paths: vec![String::new()],
            weight: 1.0,
        },
        NamedGroup {
            paths: vec!["haed".into()],
            weight: 1.0,
        },
    ]);
    let error = open(misspelt).to_string();
    assert!(
        error.contains("`haed`") && error.contains("`head`"),
        "{error}"
    );
}

/// Texts of so many words, each 0 or 1.
struct Texts(usize);

impl Texts {
    fn tensor(&self, seeds: impl Iterator<Item = u64>, device: &Device) -> Tensor<2, Int> {
        let words =
            seeds.flat_map(|seed| (0..self.0 as u64).map(move |at| ((seed + at) % 2) as i64));
        let words: Vec<i64> = words.collect();
        let shape = [words.len() / self.0, self.0];
        Tensor::from_data(TensorData::new(words, shape), device)
    }
}

impl Records for Texts {
    type Batch = Tensor<2, Int>;

    fn count(&self) -> usize {
        10
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2, Int> {
        self.tensor(indices.iter().map(|index| *index as u64), device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2, Int> {
        self.tensor(seeds.iter().copied(), device)
    }
}

#[derive(Module, Debug)]
struct Vectors {
    embedding: Embedding,
}

impl PrivateModel<Tensor<2, Int>> for Vectors {
    fn losses(&self, texts: Tensor<2, Int>) -> Tensor<1> {
        let vectors = self.embedding.forward(texts);
        let [batch, words, width] = vectors.dims();
        let losses = vectors.square().reshape([batch, words * width]);
        losses.mean_dim(1).reshape([batch])
    }
}

/// Every word's vector is rounded to the grid: half a step · words · √width may take 0.5 % of the threshold, which
/// is at least 2²⁰ steps.
#[test]
fn a_model_whose_roundings_could_cost_much_is_refused_from_its_shapes() {
    let open = |words: usize, width: usize| {
        let embedding = EmbeddingConfig::new(2, width).init(&device().autodiff());
        let plan = plan().calibrate().unwrap();
        let (keys, model) = (Keys::fixed_seed(1), Vectors { embedding });
        Session::open_in_memory(plan, keys, &model, &Texts(words), Default::default())
    };
    let share = open(400, 64).unwrap().rounding_share();
    assert!((0.0015..0.0016).contains(&share), "{share}");
    let error = open(1400, 64).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, SessionError::RoundingTooLarge { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("nothing was released"),
        "{error}"
    );
}
