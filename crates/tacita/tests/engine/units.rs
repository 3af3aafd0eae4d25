//! The unit of privacy is a person with several records.

use crate::common::{Random, device, loss};
use crate::mechanism::{Images, Net, SIDE};
use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::tensor::{Device, Int, Tensor, TensorData};
use proptest::prelude::*;
use tacita::clipping::{DirectionNoise, Grouping, Online, Quantile, Threshold};
use tacita::layers::*;
use tacita::testkit::{
    SumsWithoutNoise, clipped_unit_sums_without_noise, session_with_passes_of_one_size,
};
use tacita::{
    CheckedPlan, Clipping, Keys, MicroBatch, Plan, PlanError, PrivateModel, Records, Session,
    SessionError, SessionOptions, Units,
};

/// Every kind of contribution: outer products of one and of several positions, rows, rows whose positions share a
/// vector, a table that is tied, convolutions with and without groups, gradients that are given as they are.
#[derive(Module, Debug)]
struct Zoo {
    convolution: Conv2d,
    grouped: Conv2d,
    norm: GroupNorm,
    embedding: Embedding,
    means: Embedding,
    lstm: Lstm,
    layer_norm: LayerNorm,
    head: Linear,
}

impl Zoo {
    fn new() -> Self {
        let ad = device().autodiff();
        Self {
            convolution: Conv2dConfig::new([1, 8], [3, 3])
                .with_padding(PaddingConfig2d::Same)
                .init(&ad),
            grouped: Conv2dConfig::new([8, 4], [2, 2]).with_groups(2).init(&ad),
            norm: GroupNormConfig::new(2, 8).init(&ad),
            embedding: EmbeddingConfig::new(5, 4).init(&ad),
            means: EmbeddingConfig::new(5, 3).init(&ad),
            lstm: LstmConfig::new(4, 4, true).init(&ad),
            layer_norm: LayerNormConfig::new(4).init(&ad),
            head: LinearConfig::new(4 * (SIDE - 1) * (SIDE - 1) + 3, 2).init(&ad),
        }
    }
}

impl PrivateModel<Tensor<4>> for Zoo {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let pixels = images.clone().reshape([batch, SIDE * SIDE]);
        // Pixels that are no numbers are the token 0, as a table of tokens has none.
        let tokens = (pixels.clamp(-2.0, 2.0) + 2.0).int().clamp(0, 4);
        let hidden = self.norm.forward(self.convolution.forward(images).tanh());
        let hidden = self.grouped.forward(hidden).tanh();
        let hidden = hidden.reshape([batch, 4 * (SIDE - 1) * (SIDE - 1)]);
        let means = self.means.forward_mean(tokens.clone());
        let output = self.head.forward(Tensor::cat(vec![hidden, means], 1));
        let sequence = self.embedding.forward(tokens.narrow(1, 0, 4));
        let (sequence, _) = self.lstm.forward(sequence, None);
        let sequence = self.layer_norm.forward(sequence);
        loss(output) + loss(self.embedding.tied_output(sequence))
    }
}

const INITIAL: f64 = 0.7;

/// Every rule and threshold policy, flat and per layer.
fn clippings() -> Vec<Clipping> {
    let online = Threshold::Online(Online {
        initial: INITIAL,
        ..Online::default()
    });
    let quantile = Threshold::Quantile(Quantile {
        initial: INITIAL,
        ..Quantile::new(0.5)
    });
    let decay = Threshold::Decay {
        initial: INITIAL,
        ratio: 3.0,
    };
    let all = [
        Clipping::auto().threshold(INITIAL),
        Clipping::auto_v().threshold(INITIAL),
        Clipping::abadi(INITIAL),
        Clipping::online().threshold(online),
        Clipping::online().threshold(quantile),
        Clipping::abadi(1.0).threshold(decay),
    ];
    let groupings = [Grouping::Flat, Grouping::PerLayer];
    let each = groupings.into_iter().flat_map(|grouping| {
        let all = all.clone();
        all.map(|clipping| clipping.grouping(grouping.clone()))
    });
    each.collect()
}

/// People with these images, those with equally many side by side.
type People = Vec<Vec<Vec<f32>>>;

/// The sums of every query, each with the bound of its sensitivity.
fn sums<M: PrivateModel<Tensor<4>>>(
    model: &M,
    people: &People,
    clipping: &Clipping,
) -> Vec<(Vec<f64>, f64)> {
    let mut people = people.clone();
    people.sort_by_key(Vec::len);
    let counts: Vec<usize> = people.iter().map(Vec::len).collect();
    let images = Images(people.concat());
    let indices: Vec<usize> = (0..images.count()).collect();
    let sums = clipped_unit_sums_without_noise(model, clipping, &counts, |model| {
        model.losses(images.batch(&indices, &device()))
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
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

fn people(counts: &[usize], seed: u64) -> People {
    let each = counts.iter().enumerate();
    each.map(|(person, count)| Images::random(*count, seed ^ (person as u64 + 1)).0)
        .collect()
}

fn assert_moved_at_most<M: PrivateModel<Tensor<4>>>(
    model: &M,
    people: &People,
    removed: usize,
) -> Result<(), TestCaseError> {
    let mut neighbour = people.clone();
    neighbour.remove(removed);
    for clipping in clippings() {
        let (with, without) = (
            sums(model, people, &clipping),
            sums(model, &neighbour, &clipping),
        );
        for (query, ((with, bound), (without, _))) in with.iter().zip(&without).enumerate() {
            let moved = distance(with, without);
            prop_assert!(
                moved <= bound * (1.0 + 1e-12),
                "query {query} moved {moved:e} > {bound:e} with {clipping:?}",
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Neighbouring data sets: no allowance for rounding but that of the distance itself, in f64.
    #[test]
    fn removing_one_unit_moves_the_sum_at_most_the_bound(
        seed: u64, counts in prop::collection::vec(1usize..5, 1..4), leaving in 1usize..=50,
        scale in -3i32..4, odd in 0usize..5,
    ) {
        let mut everyone = people(&counts, seed);
        let mut one = Images::random(leaving, !seed).0;
        for image in &mut one {
            image.iter_mut().for_each(|pixel| *pixel *= 10f32.powi(3 * scale));
        }
        // The person who leaves may also be hostile.
        match odd {
            0 => one[leaving / 2][3] = f32::NAN,
            1 => one[leaving / 2][3] = f32::INFINITY,
            2 => one[0].fill(0.0),
            // The same record again and again.
            3 => one.fill(everyone[0][0].clone()),
            _ => {}
        }
        everyone.insert(seed as usize % (counts.len() + 1), one);
        let removed = everyone.iter().position(|person| person.len() == leaving).unwrap();
        assert_moved_at_most(&Net::new(), &everyone, removed)?;
        assert_moved_at_most(&Zoo::new(), &everyone, removed)?;
    }

    #[test]
    fn a_unit_with_a_record_that_is_not_finite_contributes_zero_and_changes_nothing_else(
        seed: u64, counts in prop::collection::vec(1usize..5, 1..4), kind in 0usize..3, place in 0usize..3,
    ) {
        let model = Net::new();
        let without = people(&counts, seed);
        let mut bad = Images::random(3, !seed).0;
        bad[place][5] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][kind];
        let mut with = without.clone();
        with.push(bad);
        for clipping in clippings() {
            let (clean, dirty) = (sums(&model, &without, &clipping), sums(&model, &with, &clipping));
            for ((clean, _), (dirty, _)) in clean.iter().zip(&dirty) {
                prop_assert!(clean == dirty, "{clipping:?}");
            }
        }
    }
}

/// Images of people: those at equal numbers belong together, and those without belong to nobody.
struct Owned {
    images: Images,
    units: Option<Units>,
}

impl Owned {
    fn of(images: &Images, owners: &[Option<usize>]) -> Self {
        Self {
            images: images.clone(),
            units: Some(Units::of(owners.iter().copied())),
        }
    }
}

impl Records for Owned {
    type Batch = Tensor<4>;

    fn count(&self) -> usize {
        self.images.count()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<4> {
        self.images.batch(indices, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<4> {
        self.images.synthetic(seeds, device)
    }

    fn units(&self) -> Option<&Units> {
        self.units.as_ref()
    }
}

const PEOPLE: u64 = 40;

fn plan(most: Option<u64>, batch: u64, clipping: Clipping) -> CheckedPlan {
    let plan = Plan::with_noise(20.0, 1e-5)
        .public_record_count(PEOPLE)
        .expected_batch(batch)
        .steps(3)
        .clipping(clipping);
    let plan = most.map_or(plan.clone(), |most| plan.records_per_unit(most));
    plan.calibrate().unwrap()
}

fn online() -> Clipping {
    Clipping::online().threshold(Threshold::Online(Online {
        initial: 1.0,
        noise: DirectionNoise::GradientIncrease(0.06),
        ..Online::default()
    }))
}

/// All released gradients of a run.
fn run<D: Records<Batch = Tensor<4>>>(
    records: &D,
    plan: CheckedPlan,
    options: SessionOptions,
    one_size: bool,
) -> Vec<Vec<f32>> {
    let model = Net::new();
    let steps = plan.steps();
    let keys = Keys::fixed_seed(4);
    let mut session = match one_size {
        true => session_with_passes_of_one_size(plan, keys, &model, records, options).unwrap(),
        false => Session::open_in_memory(plan, keys, &model, records, options).unwrap(),
    };
    (0..steps)
        .map(|_| {
            let round = session.open_round().unwrap();
            let bounded = round.clip(&model, records, &device()).unwrap();
            let noisy = round.release(bounded).unwrap();
            let values = noisy.gradient().iter();
            values
                .flat_map(|values| values.to_data().iter::<f32>().collect::<Vec<_>>())
                .collect()
        })
        .collect()
}

#[test]
fn one_record_per_unit_is_the_run_whose_unit_is_a_record_bit_for_bit() {
    let images = Images::random(PEOPLE as usize, 3);
    let owners: Vec<Option<usize>> = (0..PEOPLE as usize)
        .map(|owner| Some(1000 - owner))
        .collect();
    for clipping in [Clipping::auto(), online(), Clipping::abadi(1.0).per_layer()] {
        for one_size in [false, true] {
            for micro_batch in [MicroBatch::Automatic, MicroBatch::Records(7)] {
                let options = SessionOptions {
                    micro_batch,
                    ..SessionOptions::default()
                };
                let records = run(&images, plan(None, 20, clipping.clone()), options, one_size);
                for most in [1, 5] {
                    let owned = Owned::of(&images, &owners);
                    let units = run(
                        &owned,
                        plan(Some(most), 20, clipping.clone()),
                        options,
                        one_size,
                    );
                    assert!(
                        units == records,
                        "{clipping:?}, {one_size}, {micro_batch:?}"
                    );
                }
            }
        }
    }
}

/// Owners of records in a fixed but irregular order, one of whom has many.
fn owners(records: usize) -> Vec<Option<usize>> {
    let mut random = Random(8);
    let owner = |random: &mut Random| match random.next() % 10 {
        0..4 => Some(0),
        4 => None,
        _ => Some(random.next() as usize % 12),
    };
    (0..records).map(|_| owner(&mut random)).collect()
}

#[test]
fn how_units_are_cut_into_passes_does_not_matter() {
    let images = Images::random(80, 3);
    let owned = Owned::of(&images, &owners(80));
    let run = |micro_batch| {
        let options = SessionOptions {
            micro_batch,
            ..SessionOptions::default()
        };
        run(&owned, plan(Some(6), 40, online()), options, false)
    };
    let whole = run(MicroBatch::Automatic);
    for records in [1, 4, 9] {
        // Exact sums: the same integers, so the same values with the same noise.
        assert!(run(MicroBatch::Records(records)) == whole);
    }
}

/// Passes of one size repeat records of a unit that has too few; what is released differs by roundings alone.
#[test]
fn units_in_passes_of_one_size_release_nearly_the_same() {
    let images = Images::random(80, 3);
    let owned = Owned::of(&images, &owners(80));
    let run = |one_size| {
        run(
            &owned,
            plan(Some(6), 40, Clipping::auto()),
            SessionOptions::default(),
            one_size,
        )
    };
    let (drawn, filled) = (run(false), run(true));
    for (drawn, filled) in drawn.iter().zip(&filled) {
        // Values lie on a grid of 1/32 to 1/16 of the noise, whose deviation is 20 / 40 here.
        let most = drawn
            .iter()
            .zip(filled)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(most <= 0.5 / 16.0, "{most}");
        let tipped = drawn.iter().zip(filled).filter(|(a, b)| a != b).count();
        assert!(tipped * 100 <= drawn.len(), "{tipped} of {}", drawn.len());
    }
}

/// The session itself, drawing records: the noise is the same on both sides, so the sums differ by one person and the
/// grid of the noise, at most 1/32 of its standard deviation for each value.
#[test]
fn adding_a_unit_of_many_records_moves_a_sessions_sum_at_most_the_bound() {
    let images = Images::random(160, 3);
    // The person who is added has records everywhere, so that the positions of all others shift.
    let with: Vec<Option<usize>> = (0..160)
        .map(|record| Some(if record % 3 == 1 { 99 } else { record / 16 }))
        .collect();
    let kept: Vec<usize> = (0..160)
        .filter(|record| with[*record] != Some(99))
        .collect();
    let fewer = Images(
        kept.iter()
            .map(|record| images.0[*record].clone())
            .collect(),
    );
    let without: Vec<Option<usize>> = kept.iter().map(|record| with[*record]).collect();
    // Every unit takes part with all of its records but the one with many, of whom 30 do.
    let certain = |most| {
        Plan::with_noise(0.01, 1e-5)
            .public_record_count(12)
            .expected_batch(12)
            .steps(2)
            .clipping(Clipping::abadi(1.0))
            .records_per_unit(most)
            .calibrate()
            .unwrap()
    };
    let options = SessionOptions::default();
    let with = run(&Owned::of(&images, &with), certain(30), options, false);
    let without = run(&Owned::of(&fewer, &without), certain(30), options, false);
    for (with, without) in with.iter().zip(&without) {
        let of = |values: &[f32]| {
            values
                .iter()
                .map(|v| f64::from(*v) * 12.0)
                .collect::<Vec<_>>()
        };
        let moved = distance(&of(with), &of(without));
        let grid = 0.01 / 16.0 * (with.len() as f64).sqrt();
        assert!(moved > 0.5 && moved <= 1.0 + grid + 1e-4, "{moved}");
    }
}

/// Both parts of a cancelling pair are a thousand times as long as their threshold; together they are shorter, so
/// that nothing is clipped, and what is summed is what their roundings leave.
#[test]
fn records_of_a_unit_that_cancel_move_the_sum_at_most_the_bound() {
    let model = LinearConfig::new(3, 2).init(&device().autodiff());
    let table = EmbeddingConfig::new(3, 2).init(&device().autodiff());
    let convolution = Conv2dConfig::new([1, 8], [2, 2]).init(&device().autodiff());
    for (long, short) in [(1e3f32, 1e-4f32), (1e6, 0.1), (3e7, 0.9)] {
        let scales = [long, -long, short, long, -long, -short, long];
        // The last record does not cancel: a unit that has it is clipped.
        for unit in [
            &scales[..1],
            &scales[..3],
            &scales[1..],
            &scales[3..6],
            &scales,
        ] {
            let count = unit.len();
            let scaled = |outputs: Tensor<2>| {
                let scales =
                    Tensor::<1>::from_data(TensorData::new(unit.to_vec(), [count]), &device());
                outputs.sum_dim(1).reshape([count]) * scales
            };
            for clipping in clippings() {
                let bound = clipping.threshold.scheduled(0, 1) * (1.0 + 1e-12);
                let assert_short = |what: &str, sums: SumsWithoutNoise| {
                    let values: Vec<f64> = sums.gradient.into_iter().flatten().collect();
                    let length = distance(&values, &vec![0.0; values.len()]);
                    assert!(
                        length <= bound,
                        "{what}, {unit:?}: {length} with {clipping:?}"
                    );
                };
                let linear =
                    clipped_unit_sums_without_noise(&model, &clipping, &[count], |model| {
                        scaled(model.forward(Tensor::<2>::ones([count, 3], &device())))
                    });
                assert_short("linear", linear);
                let rows = clipped_unit_sums_without_noise(&table, &clipping, &[count], |table| {
                    let tokens = TensorData::new([0i64, 1, 1].repeat(count), [count, 3]);
                    let tokens = Tensor::<2, Int>::from_data(tokens, &device());
                    scaled(table.forward(tokens).reshape([count, 6]))
                });
                assert_short("embedding", rows);
                let images =
                    clipped_unit_sums_without_noise(&convolution, &clipping, &[count], |model| {
                        let output = model.forward(Tensor::ones([count, 1, 3, 3], &device()));
                        scaled(output.reshape([count, 32]))
                    });
                assert_short("convolution", images);
            }
        }
    }
}

#[test]
fn a_plan_and_its_records_must_agree_on_the_unit() {
    let images = Images::random(40, 3);
    let owned = Owned::of(&images, &owners(40));
    let model = Net::new();
    let options = SessionOptions::default();
    let keys = || Keys::fixed_seed(1);
    let plain = plan(None, 20, Clipping::auto());
    let refused = Session::open_in_memory(plain, keys(), &model, &owned, options);
    assert!(matches!(refused, Err(SessionError::UnitsNotPlanned)));
    let units = plan(Some(3), 20, Clipping::auto());
    let refused = Session::open_in_memory(units, keys(), &model, &images, options);
    assert!(matches!(refused, Err(SessionError::UnitsUnknown)));
    for most in [0, 1001] {
        let plan = Plan::with_noise(1.0, 1e-5)
            .public_record_count(10)
            .expected_batch(5)
            .steps(1)
            .records_per_unit(most);
        assert!(matches!(plan.calibrate(), Err(PlanError::Value { .. })));
    }
}

/// All equal, all different, nobody at all: none of it is refused.
#[test]
fn odd_owners_are_not_refused() {
    let images = Images::random(40, 3);
    for owners in [
        vec![Some(1); 40],
        vec![None; 40],
        (0..40).map(Some).collect(),
    ] {
        let owned = Owned::of(&images, &owners);
        let released = run(
            &owned,
            plan(Some(4), 20, Clipping::auto()),
            SessionOptions::default(),
            false,
        );
        assert_eq!(released.len(), 3);
    }
}
