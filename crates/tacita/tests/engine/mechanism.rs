//! Sensitivity, non-finite samples, micro-batches, empty draws, the ledger.

use crate::common::{Random, device, loss, rows_of};
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use proptest::prelude::*;
use tacita::clipping::{DirectionNoise, Grouping, NamedGroup, Online, Quantile, Threshold};
use tacita::layers::{Conv2d, Conv2dConfig, Linear, LinearConfig};
use tacita::testkit::{clipped_sums_without_noise, weighted_sums_without_noise};
use tacita::{
    CheckedPlan, Clipping, Keys, MicroBatch, Plan, PrivateModel, Records, Session, SessionError,
    SessionOptions,
};

/// Images whose pixels are given; NaN and infinity are allowed.
#[derive(Clone)]
pub struct Images(pub Vec<Vec<f32>>);

pub const SIDE: usize = 4;

impl Images {
    pub fn random(count: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let pixel = |random: &mut Random| (2.0 * random.uniform() - 1.0) * 3.0;
        Self(
            (0..count)
                .map(|_| (0..SIDE * SIDE).map(|_| pixel(&mut random)).collect())
                .collect(),
        )
    }

    fn tensor<'a>(rows: impl Iterator<Item = &'a Vec<f32>>, device: &Device) -> Tensor<4> {
        let values: Vec<f32> = rows.flatten().copied().collect();
        let count = values.len() / (SIDE * SIDE);
        Tensor::from_data(TensorData::new(values, [count, 1, SIDE, SIDE]), device)
    }
}

impl Records for Images {
    type Batch = Tensor<4>;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<4> {
        Self::tensor(indices.iter().map(|index| &self.0[*index]), device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<4> {
        let made: Vec<_> = seeds
            .iter()
            .map(|s| Images::random(1, *s).0.remove(0))
            .collect();
        Self::tensor(made.iter(), device)
    }
}

#[derive(Module, Debug)]
pub struct Net {
    convolution: Conv2d,
    linear: Linear,
    head: Linear,
}

impl Net {
    pub fn new() -> Self {
        // Burn's initialisers share one generator with every other test of the process.
        fn weights<const D: usize>(seed: u64, shape: [usize; D]) -> Param<Tensor<D>> {
            Param::from_tensor(Random(seed).tensor(shape).autodiff() * 0.4)
        }
        let ad = device().autodiff();
        let mut net = Self {
            convolution: Conv2dConfig::new([1, 3], [3, 3]).init(&ad),
            linear: LinearConfig::new(12, 5).init(&ad),
            head: LinearConfig::new(5, 2).init(&ad),
        };
        net.convolution.weight = weights(1, [3, 1, 3, 3]);
        net.convolution.bias = Some(weights(2, [3]));
        net.linear.weight = weights(3, [12, 5]);
        net.linear.bias = Some(weights(4, [5]));
        net.head.weight = weights(5, [5, 2]);
        net.head.bias = Some(weights(6, [2]));
        net
    }
}

impl PrivateModel<Tensor<4>> for Net {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let hidden = self.convolution.forward(images).tanh().reshape([batch, 12]);
        loss(self.head.forward(self.linear.forward(hidden).tanh()))
    }
}

/// Every rule with every grouping and every kind of threshold it goes with.
fn clippings() -> Vec<Clipping> {
    let groupings = [
        Grouping::Flat,
        Grouping::PerLayer,
        Grouping::Weighted(vec![3.0, 1.0, 0.2]),
        Grouping::Named(vec![
            NamedGroup {
                paths: vec!["convolution".into(), "head.bias".into()],
                weight: 1.0,
            },
            NamedGroup {
                paths: vec![String::new()],
                weight: 2.0,
            },
        ]),
    ];
    let mut clippings = Vec::new();
    for grouping in groupings {
        for initial in [1e-3, 0.7, 1e3] {
            let online = Online {
                initial,
                ..Online::default()
            };
            let quantile = Quantile {
                initial,
                ..Quantile::new(0.5)
            };
            let decay = Threshold::Decay {
                initial,
                ratio: 3.0,
            };
            let all = [
                Clipping::auto().threshold(initial),
                Clipping::auto_v().threshold(initial),
                Clipping::abadi(initial),
                Clipping::online().threshold(Threshold::Online(online)),
                Clipping::online().threshold(Threshold::Quantile(quantile)),
                Clipping::abadi(1.0).threshold(decay),
            ];
            clippings.extend(all.map(|clipping| clipping.grouping(grouping.clone())));
        }
    }
    clippings
}

/// Images of one batch here, at most.
const MOST_IMAGES: usize = 8;

/// The sums of every query over some of the images, each with the bound of its sensitivity.
fn sums(model: &Net, images: &[Vec<f32>], clipping: &Clipping) -> Vec<(Vec<f64>, f64)> {
    let (images, rows) = rows_of(images, MOST_IMAGES);
    let indices: Vec<usize> = (0..images.len()).collect();
    let records = Images(images);
    let sums = clipped_sums_without_noise(model, clipping, rows, |model| {
        model.losses(records.batch(&indices, &device()))
    });
    let flat = |query: Vec<Vec<f64>>| query.into_iter().flatten().collect();
    let mut queries = vec![(flat(sums.gradient), clipping.threshold.scheduled(0, 1))];
    queries.extend(sums.directions.map(|query| (flat(query), 1.0)));
    queries.extend(sums.counts.map(|counts| {
        let bound = 0.5 * (counts.len() as f64).sqrt();
        (counts, bound)
    }));
    queries
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Neighbouring data sets: no allowance for rounding but that of the distance itself, in f64.
    #[test]
    fn removing_one_record_moves_the_sum_at_most_the_bound(
        seed: u64, count in 2usize..7, removed in 0usize..7, scale in -3i32..4, odd in 0usize..5,
    ) {
        let model = Net::new();
        let mut images = Images::random(count, seed).0;
        let removed = removed % count;
        for pixel in &mut images[removed] {
            *pixel *= 10f32.powi(3 * scale);
        }
        // The record that leaves may also be hostile.
        match odd {
            0 => images[removed][3] = f32::NAN,
            1 => images[removed][3] = f32::INFINITY,
            2 => images[removed].fill(0.0),
            _ => {}
        }
        let mut neighbour = images.clone();
        neighbour.remove(removed);
        for clipping in clippings() {
            let (with, without) = (
                sums(&model, &images, &clipping),
                sums(&model, &neighbour, &clipping),
            );
            for (query, ((with, bound), (without, _))) in with.iter().zip(&without).enumerate() {
                let moved = distance(with, without);
                prop_assert!(
                    moved <= bound * (1.0 + 1e-12),
                    "query {query} moved {moved:e} > {bound:e} with {clipping:?}",
                );
            }
        }
    }

    /// Under every rule, the automatic one among them, which would undo a weight of the loss.
    #[test]
    fn weights_scale_contributions_and_lengthen_none(seed: u64, odd in 0usize..4) {
        let model = Net::new();
        let mut images = Images::random(4, seed).0;
        let mut weights = vec![1.0, 0.25, 0.0, 0.75];
        match odd {
            0 => weights[1] = 7.0,
            1 => weights[1] = f32::NAN,
            2 => weights[1] = -3.0,
            // Weights stay with their records where one is left out.
            _ => images[0][3] = f32::NAN,
        }
        let held = |weight: f32| if weight.is_finite() { f64::from(weight.clamp(0.0, 1.0)) } else { 0.0 };
        for clipping in [Clipping::auto(), Clipping::auto_v(), Clipping::abadi(1e-2), Clipping::auto().per_layer()] {
            let of = |images: &[Vec<f32>], weights: &[f32]| -> Vec<f64> {
                let records = Images(images.to_vec());
                let indices: Vec<usize> = (0..images.len()).collect();
                let sums = weighted_sums_without_noise(&model, &clipping, weights, |model| {
                    model.losses(records.batch(&indices, &device()))
                });
                sums.gradient.into_iter().flatten().collect()
            };
            let together = of(&images, &weights);
            let mut expected = vec![0.0; together.len()];
            for (image, weight) in images.iter().zip(&weights) {
                let alone = of(std::slice::from_ref(image), &[1.0]);
                let weighted = of(std::slice::from_ref(image), &[*weight]);
                let [whole, part] = [&alone, &weighted].map(|sum| distance(sum, &vec![0.0; sum.len()]));
                prop_assert!(part <= whole * (1.0 + 1e-6), "{part} > {whole}");
                expected.iter_mut().zip(&alone).for_each(|(sum, value)| *sum += held(*weight) * value);
            }
            prop_assert!(distance(&together, &expected) < 1e-5, "{clipping:?}");
        }
    }

    #[test]
    fn non_finite_samples_contribute_exactly_zero_and_change_nothing_else(
        seed: u64, count in 1usize..6, place in 0usize..6, kind in 0usize..3,
    ) {
        let model = Net::new();
        let images = Images::random(count, seed).0;
        let mut bad = images[0].clone();
        bad[5] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][kind];
        let mut with = images.clone();
        with.insert(place % (count + 1), bad);
        for clipping in clippings() {
            let (clean, dirty) = (sums(&model, &images, &clipping), sums(&model, &with, &clipping));
            for ((clean, _), (dirty, _)) in clean.iter().zip(&dirty) {
                prop_assert!(clean == dirty, "{clipping:?}");
            }
        }
    }

    #[test]
    fn abadi_with_a_tiny_threshold_equals_auto_v(seed: u64) {
        let model = Net::new();
        let images = Images::random(4, seed).0;
        for grouping in [Grouping::Flat, Grouping::PerLayer] {
            let abadi = Clipping::abadi(1e-4).grouping(grouping.clone());
            let auto = Clipping::auto_v().threshold(1e-4).grouping(grouping);
            let abadi = sums(&model, &images, &abadi);
            let auto = sums(&model, &images, &auto);
            prop_assert!(distance(&abadi[0].0, &auto[0].0) <= 1e-10);
        }
    }
}

#[test]
fn a_batch_of_only_non_finite_samples_gives_zero() {
    let images = vec![vec![f32::NAN; SIDE * SIDE]; 3];
    for clipping in clippings() {
        for (query, _) in sums(&Net::new(), &images, &clipping) {
            assert!(query.iter().all(|value| *value == 0.0));
        }
    }
}

const COUNT: u64 = 40;

/// An online threshold that stays at 1, so that the noise is known.
fn online() -> Clipping {
    Clipping::online().threshold(Threshold::Online(Online {
        initial: 1.0,
        rate: 1e-15,
        noise: DirectionNoise::GradientIncrease(0.06),
        ..Online::default()
    }))
}

fn plan(batch: u64, steps: u64) -> CheckedPlan {
    Plan::with_noise(20.0, 1e-5)
        .public_record_count(COUNT)
        .expected_batch(batch)
        .steps(steps)
        .clipping(online())
        .calibrate()
        .unwrap()
}

/// All released values of a run of `steps`.
fn run(images: &Images, plan: CheckedPlan, keys: Keys, options: SessionOptions) -> Vec<Vec<f32>> {
    let model = Net::new();
    let steps = plan.steps();
    let mut session = Session::open_in_memory(plan, keys, &model, images, options).unwrap();
    let mut released = Vec::new();
    for _ in 0..steps {
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, images, &device()).unwrap();
        let noisy = round.release(bounded).unwrap();
        let gradients = [noisy.gradients(&model), noisy.directions(&model).unwrap()];
        for gradient in gradients {
            released.push(flatten(&model, &gradient));
        }
    }
    assert!(matches!(
        session.open_round(),
        Err(SessionError::Finished { .. })
    ));
    assert_eq!(
        &session.ledger(),
        session.plan().ledger(),
        "forecast equals record"
    );
    released
}

fn flatten(model: &Net, gradients: &GradientsParams) -> Vec<f32> {
    struct Flatten<'a>(&'a GradientsParams, Vec<f32>);
    impl ModuleVisitor for Flatten<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = self.0.get::<D>(param.id).unwrap();
            assert_eq!(gradient.shape(), param.shape());
            self.1.extend(gradient.into_data().iter::<f32>());
        }
    }
    let mut flat = Flatten(gradients, Vec::new());
    model.visit(&mut flat);
    flat.1
}

#[test]
fn micro_batches_give_the_result_of_one_pass() {
    let images = Images::random(COUNT as usize, 3);
    let with = |records| SessionOptions {
        micro_batch: MicroBatch::Records(records),
        ..SessionOptions::default()
    };
    let whole = run(&images, plan(20, 4), Keys::fixed_seed(1), with(1000));
    for records in [1, 3, 7] {
        let parts = run(&images, plan(20, 4), Keys::fixed_seed(1), with(records));
        for (whole, parts) in whole.iter().zip(&parts) {
            // Values lie on a grid of 1/32 to 1/16 of the noise: equal but where rounding tips over.
            let tipped = whole.iter().zip(parts).filter(|(a, b)| a != b).count();
            assert!(
                tipped * 100 <= whole.len(),
                "{tipped} of {} differ",
                whole.len()
            );
        }
    }
}

#[test]
fn empty_batches_still_release_noise_and_are_counted() {
    let images = Images(Vec::new());
    let released = run(
        &images,
        plan(1, 5),
        Keys::fixed_seed(1),
        SessionOptions::default(),
    );
    assert_eq!(released.len(), 10);
    for values in released {
        let zeros = values.iter().filter(|value| **value == 0.0).count();
        assert!(
            zeros * 10 < values.len(),
            "noise on every value but a few on the grid's zero"
        );
    }
}

#[test]
fn fixed_seeds_repeat_and_fresh_keys_do_not() {
    let images = Images::random(COUNT as usize, 3);
    let run = |keys| run(&images, plan(20, 2), keys, SessionOptions::default());
    assert_eq!(run(Keys::fixed_seed(9)), run(Keys::fixed_seed(9)));
    assert_ne!(run(Keys::fixed_seed(9)), run(Keys::fixed_seed(10)));
    assert_ne!(run(Keys::from_os().unwrap()), run(Keys::from_os().unwrap()));
}

/// The noise really has the planned standard deviation, for both queries.
#[test]
fn released_noise_has_the_planned_standard_deviation() {
    let images = Images(Vec::new());
    let plan = plan(10, 300);
    let stds = plan.noise_multipliers(0);
    let released = run(
        &images,
        plan,
        Keys::fixed_seed(2),
        SessionOptions::default(),
    );
    for (query, expected) in stds.into_iter().enumerate() {
        let values: Vec<f64> = (released.iter().skip(query).step_by(2).flatten())
            .map(|value| f64::from(*value) * 10.0)
            .collect();
        let mean_square = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        // Relative standard error 1/sqrt(2n) = 0.4 %; five of them: a false alarm in 2 million.
        let tolerance = 5.0 / (2.0 * values.len() as f64).sqrt();
        let ratio = mean_square.sqrt() / expected;
        assert!((ratio - 1.0).abs() < tolerance, "query {query}: {ratio}");
    }
}

#[test]
fn a_resumed_run_goes_on_after_the_last_entry() {
    let path = std::env::temp_dir().join(format!("tacita-{}.jsonl", std::process::id()));
    let (model, images) = (Net::new(), Images::random(COUNT as usize, 3));
    let options = SessionOptions::default();
    let step = |session: &mut Session| {
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, &images, &device()).unwrap();
        round.release(bounded).unwrap().step()
    };
    let keys = || Keys::from_os().unwrap();
    let mut session =
        Session::create(plan(20, 5000), keys(), &path, &model, &images, options).unwrap();
    assert_eq!((step(&mut session), step(&mut session)), (0, 1));
    drop(session); // as in a crash: nothing is given back
    let mut session =
        Session::resume(plan(20, 5000), keys(), &path, &model, &images, options).unwrap();
    assert!(session.next_step() >= 2, "lost steps stay spent");
    let resumed_at = session.next_step();
    assert_eq!(step(&mut session), resumed_at);
    let ledger = session.close().unwrap();
    assert_eq!(ledger, plan(20, 5000).ledger().prefix(resumed_at + 1));
    // A different plan cannot take over the ledger.
    let other = Session::resume(plan(10, 5000), keys(), &path, &model, &images, options);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(other, Err(SessionError::Ledger(_))));
}

/// Both sessions are alive, so their lifetimes agree; only the round's number tells them apart.
#[test]
fn sums_of_another_session_are_refused() {
    let images = Images::random(20, 1);
    let model = Net::new();
    let open = |threshold: f64| {
        let plan = Plan::with_noise(5.0, 1e-5)
            .clipping(Clipping::abadi(threshold))
            .public_record_count(20)
            .expected_batch(10)
            .steps(3)
            .calibrate()
            .unwrap();
        let keys = Keys::from_os().unwrap();
        Session::open_in_memory(plan, keys, &model, &images, SessionOptions::default()).unwrap()
    };
    let (mut wide, mut narrow) = (open(1000.0), open(0.001));
    let (long, short) = (wide.open_round().unwrap(), narrow.open_round().unwrap());
    let bounded = long.clip(&model, &images, &device()).unwrap();
    assert!(matches!(
        short.release(bounded),
        Err(SessionError::OtherRound)
    ));
    assert_eq!(narrow.next_step(), 0, "nothing was spent");

    // What a round clipped itself is released.
    let bounded = long.clip(&model, &images, &device()).unwrap();
    assert!(long.release(bounded).is_ok());
}
