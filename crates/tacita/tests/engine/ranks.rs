//! Several ranks make the run of one process, and fail together.

use crate::common::{device, flat};
use crate::mechanism::{Images, Net};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacita::layers::{Dropout, DropoutConfig, Linear, LinearConfig};
use tacita::optim::{LearningRate, OptimizerRule};
use tacita::ranks::{Ranks, RanksError, in_threads};
use tacita::{
    CheckedPlan, Clipping, Keys, LedgerFileError, Opening, Plan, PrivateModel, Probe, Records,
    Session, SessionError, SessionOptions, TrainError, Trainer, read_ledger_file,
};

/// What each of `size` ranks returns.
fn on_ranks<T: Send>(size: usize, work: impl Fn(Arc<dyn Ranks>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads = in_threads(size).into_iter();
        let threads: Vec<_> = threads.map(|ranks| scope.spawn(|| work(ranks))).collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    })
}

/// The records of one rank.
fn own(images: &Images, ranks: &dyn Ranks) -> Images {
    Images(ranks.share_of(images.0.iter()).cloned().collect())
}

fn plan(clipping: Clipping) -> Plan {
    Plan::with_noise(2.0, 1e-5)
        .public_record_count(40)
        .expected_batch(10)
        .steps(6)
        .clipping(clipping)
}

fn policies() -> Vec<Clipping> {
    vec![
        Clipping::auto(),
        Clipping::abadi(0.3).per_layer(),
        Clipping::quantile(0.5),
        Clipping::online(),
    ]
}

/// Whatever of dropout there is must not depend on who has a record.
#[derive(Module, Debug)]
struct Dropping {
    first: Linear,
    dropout: Dropout,
    net: Linear,
}

impl Dropping {
    fn new() -> Self {
        let ad = device().autodiff();
        Keys::fixed_seed(3).initial_weights(|| Self {
            first: LinearConfig::new(16, 8).init(&ad),
            dropout: DropoutConfig::new(0.5).init(),
            net: LinearConfig::new(8, 2).init(&ad),
        })
    }
}

impl PrivateModel<Tensor<4>> for Dropping {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let hidden = self.first.forward(images.reshape([batch, 16])).tanh();
        crate::common::loss(self.net.forward(self.dropout.forward(hidden)))
    }
}

/// The model after a run with a fixed seed, and its ledger, as each rank has them.
fn trained<M: PrivateModel<Tensor<4>>>(
    size: usize,
    plan: &CheckedPlan,
    images: &Images,
    model: impl Fn() -> M + Sync,
) -> Vec<(Vec<f32>, String)> {
    on_ranks(size, |ranks| {
        let mut models = Vec::new();
        let rate = LearningRate::Online {
            initial: 0.1,
            rate: 0.01,
            momentum: 0.9,
        };
        let trained = Trainer::new(plan.clone(), OptimizerRule::heavy_ball(0.9), rate)
            .keys(Keys::fixed_seed(7))
            .on_step(|at, model: &M| models.push((at.threshold, at.learning_rate, flat(model))))
            .average(0.7)
            .ranks(ranks.clone())
            .fit(model(), &own(images, &*ranks), &device())
            .unwrap();
        assert_eq!(trained.steps, plan.steps());
        (
            flat(&trained.model),
            format!("{models:?} {}", trained.report),
        )
    })
}

/// Records are cut among ranks so that some ranks of four have one more than others; in some steps a rank draws nothing.
#[test]
fn any_number_of_ranks_makes_the_run_of_one_process_bit_for_bit() {
    // The GPU rounds by the size of a pass, which goes by the number of ranks.
    if tacita::testkit::passes_have_one_size() {
        return;
    }
    let mut images = Images::random(37, 5);
    images.0[11][3] = f32::NAN;
    images.0[12] = vec![f32::INFINITY; 16];
    for clipping in policies() {
        let plan = plan(clipping).calibrate().unwrap();
        let [net, dropping] = [
            trained(1, &plan, &images, Net::new).remove(0),
            trained(1, &plan, &images, Dropping::new).remove(0),
        ];
        for size in 2..5 {
            for rank in trained(size, &plan, &images, Net::new) {
                assert_eq!(rank, net, "{size} ranks");
            }
            for rank in trained(size, &plan, &images, Dropping::new) {
                assert_eq!(rank, dropping, "{size} ranks");
            }
        }
    }
}

#[test]
fn a_run_with_fewer_records_than_ranks_or_with_none_is_that_of_one_process() {
    if tacita::testkit::passes_have_one_size() {
        return;
    }
    for count in [0, 1, 2] {
        let images = Images::random(count, 5);
        let plan = plan(Clipping::online()).calibrate().unwrap();
        let alone = trained(1, &plan, &images, Net::new);
        assert_eq!(
            trained(4, &plan, &images, Net::new),
            vec![alone[0].clone(); 4]
        );
    }
}

/// Private runs have no seed: keys and initial weights are those of the first rank, whatever the others made.
#[test]
fn without_a_seed_all_ranks_have_one_model_and_one_noise() {
    let (images, plan) = (Images::random(37, 5), plan(Clipping::quantile(0.5)));
    let plan = plan.calibrate().unwrap();
    let models = on_ranks(3, |ranks| {
        let ad = device().autodiff();
        let mut model = Dropping::new();
        model.first = LinearConfig::new(16, 8).init(&ad);
        let trainer = Trainer::new(plan.clone(), OptimizerRule::Sgd, 0.1).ranks(ranks.clone());
        let trained = trainer.fit(model, &own(&images, &*ranks), &device());
        let trained = trained.unwrap();
        assert!(trained.report.private);
        flat(&trained.model)
    });
    assert_eq!(models[1], models[0]);
    assert_eq!(models[2], models[0]);
}

/// One record of one rank is taken away, one after another: with the noise fixed, what is released moves by a clipped
/// contribution at most. It is the only one that is no longer drawn, though the others of its rank move up.
#[test]
fn a_record_of_any_rank_moves_what_is_released_at_most_by_the_threshold() {
    const THRESHOLD: f64 = 0.5;
    // Little noise, so that rounding what is noisy hardly moves it.
    let plan = Plan::with_noise(1e-3, 1e-5)
        .public_record_count(12)
        .expected_batch(12)
        .steps(1)
        .clipping(Clipping::abadi(THRESHOLD))
        .calibrate()
        .unwrap();
    let mut images = Images::random(12, 9);
    images.0[3] = vec![1e6; 16];
    let released = |without: Option<usize>| {
        let released = on_ranks(3, |ranks| {
            let kept = (0..12).filter(|at| Some(*at) != without);
            let own = kept.filter(|at| at % 3 == ranks.rank());
            let own = Images(own.map(|at| images.0[at].clone()).collect());
            let (model, keys) = (Net::new(), Keys::fixed_seed(4));
            let opening = Opening::in_memory(plan.clone(), keys).over(ranks).unwrap();
            let mut session =
                Session::begin(opening, &model, &own, SessionOptions::default()).unwrap();
            let round = session.open_round().unwrap();
            let bounded = round.clip(&model, &own, &device()).unwrap();
            let noisy = round.release(bounded).unwrap();
            let gradient = noisy.gradient().iter();
            let values = gradient.flat_map(|tensor| tensor.to_data().try_to_vec::<f32>().unwrap());
            values.map(|v| 12.0 * f64::from(v)).collect::<Vec<f64>>()
        });
        released[0].clone()
    };
    let all = released(None);
    let mut longest: f64 = 0.0;
    for without in 0..12 {
        let difference = all.iter().zip(released(Some(without)));
        let moved = difference.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!(
            moved <= THRESHOLD + 1e-3,
            "record {without} moved it by {moved}"
        );
        longest = longest.max(moved);
    }
    assert!(
        longest > 0.9 * THRESHOLD,
        "nothing came near the bound: {longest}"
    );
}

/// Statistics before the first step and scores after the last.
#[test]
fn statistics_and_scores_are_those_of_one_process() {
    let plan = plan(Clipping::auto())
        .statistic(3.0)
        .score(4.0)
        .calibrate()
        .unwrap();
    let images = Images::random(37, 5);
    let of = |image: &Vec<f32>| vec![f64::from(image[0]) / 7.0, f64::from(image[1])];
    let released = |size| {
        on_ranks(size, |ranks| {
            let own = own(&images, &*ranks);
            let opening = Opening::in_memory(plan.clone(), Keys::fixed_seed(4));
            let mut opening = opening.over(ranks).unwrap();
            let statistic = opening.statistic(2, own.0.iter().map(of)).unwrap();
            let trainer = Trainer::new(plan.clone(), OptimizerRule::Sgd, 0.1);
            let trained = trainer
                .fit_opened(opening, Net::new(), &own, &device())
                .unwrap();
            let mut session = trained.unscored.unwrap();
            let score = session.score(2, own.0.iter().map(of)).unwrap();
            let ledger = session.close().unwrap();
            assert_eq!(ledger, *plan.ledger());
            (statistic, score)
        })
    };
    let alone = released(1);
    for size in 2..5 {
        assert_eq!(released(size), vec![alone[0].clone(); size]);
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tacita-ranks-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file that a rank other than the first must not touch.
fn on_first(ranks: &dyn Ranks, path: PathBuf) -> PathBuf {
    match ranks.rank() {
        0 => path,
        _ => Path::new("/nowhere/at/all").into(),
    }
}

/// Stops after some steps on some ranks, and resumes on others.
#[test]
fn a_run_is_resumed_on_any_number_of_ranks() {
    let (images, plan) = (
        Images::random(37, 5),
        plan(Clipping::online()).calibrate().unwrap(),
    );
    let run = |folder: &Folder, size, stop_before: u64, resume: bool| {
        on_ranks(size, |ranks| {
            let own = own(&images, &*ranks);
            let mut next = 0;
            // Only the first is asked.
            let stop = || {
                next += 1;
                next > stop_before || ranks.rank() > 0
            };
            let trainer = Trainer::new(plan.clone(), OptimizerRule::adam(), 0.1)
                .keys(Keys::fixed_seed(7))
                .ledger(on_first(&*ranks, folder.file("ledger")))
                .checkpoint(on_first(&*ranks, folder.file("checkpoint")), 2)
                .stop_when(stop)
                .ranks(ranks.clone());
            let trained = match resume {
                false => trainer.fit(Net::new(), &own, &device()),
                true => trainer.resume(Net::new(), &own, &device()),
            };
            flat(&trained.unwrap().model)
        })
    };
    let whole = Folder::new("whole");
    let unbroken = run(&whole, 1, 99, false).remove(0);
    for (sizes, stop) in [([1, 3], 0), ([3, 1], 3), ([2, 4], 4), ([4, 2], 5)] {
        let folder = Folder::new(&format!("broken-{stop}"));
        run(&folder, sizes[0], stop, false);
        let resumed = run(&folder, sizes[1], 99, true);
        if !tacita::testkit::passes_have_one_size() {
            assert_eq!(resumed, vec![unbroken.clone(); sizes[1]]);
        }
        let ledger = read_ledger_file(&folder.file("ledger")).unwrap();
        assert_eq!(ledger.released, *plan.ledger());
    }
}

/// Fails on one rank at its third batch, as where a disk does.
struct Failing<'a> {
    images: &'a Images,
    model: std::cell::Cell<u32>,
    fails: bool,
}

impl Records for Failing<'_> {
    type Batch = Tensor<4>;

    fn count(&self) -> usize {
        self.images.count()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<4> {
        self.model.set(self.model.get() + 1);
        match self.fails && self.model.get() == 3 {
            // A batch of the wrong length is refused by the pass.
            true => self.images.batch(&indices[..1], device),
            false => self.images.batch(indices, device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<4> {
        self.images.synthetic(seeds, device)
    }
}

#[test]
fn a_rank_that_fails_in_a_step_stops_all_before_anything_of_it_is_recorded() {
    let plan = Plan::with_noise(2.0, 1e-5)
        .public_record_count(40)
        .expected_batch(40)
        .steps(6)
        .calibrate()
        .unwrap();
    let images = Images::random(40, 5);
    for failing in 0..3 {
        let folder = Folder::new(&format!("failing-{failing}"));
        let errors = on_ranks(3, |ranks| {
            let records = Failing {
                images: &own(&images, &*ranks),
                model: 0.into(),
                fails: ranks.rank() == failing,
            };
            Trainer::new(plan.clone(), OptimizerRule::Sgd, 0.1)
                .ledger(on_first(&*ranks, folder.file("ledger")))
                .ranks(ranks.clone())
                .fit(Net::new(), &records, &device())
                .unwrap_err()
        });
        for (rank, error) in errors.iter().enumerate() {
            let told = matches!(
                error,
                TrainError::Session(SessionError::Ranks(RanksError::OtherRank))
            );
            assert_eq!(told, rank != failing, "{error}");
        }
        let ledger = read_ledger_file(&folder.file("ledger")).unwrap();
        assert_eq!(ledger.released.rounds_made(), 2);
    }
}

/// The first rank cannot write: no rank gets noisy values.
#[test]
fn without_a_ledger_entry_no_rank_gets_anything() {
    let plan = plan(Clipping::auto()).statistic(3.0).calibrate().unwrap();
    let folder = Folder::new("finished");
    let ledger = folder.file("ledger");
    let results = on_ranks(2, |ranks| {
        let opening = Opening::in_memory(plan.clone(), Keys::from_os().unwrap());
        let opening = opening.over(ranks.clone()).unwrap();
        let opening = opening.into_new_file(&on_first(&*ranks, ledger.clone()), Default::default());
        let mut opening = opening.unwrap();
        if ranks.rank() == 0 {
            // Another process took the run over: its claim is newer.
            std::fs::write(folder.file("ledger.claim-2"), "{}").unwrap();
        }
        opening.statistic(1, [vec![1.0]].into_iter())
    });
    assert!(matches!(
        results[0],
        Err(SessionError::Ledger(LedgerFileError::TakenOver { .. }))
    ));
    assert!(matches!(
        results[1],
        Err(SessionError::Ranks(RanksError::OtherRank))
    ));
}

#[test]
fn ranks_with_different_plans_are_refused_and_so_are_diagnostics() {
    let images = Images::random(37, 5);
    let errors = on_ranks(2, |ranks| {
        let steps = 6 + ranks.rank() as u64;
        let plan = plan(Clipping::auto()).steps(steps).calibrate().unwrap();
        let opening = Opening::in_memory(plan, Keys::from_os().unwrap());
        opening.over(ranks).unwrap_err()
    });
    for error in errors {
        assert!(matches!(
            error,
            SessionError::Ranks(RanksError::Differ { what: "plans" })
        ));
    }
    let errors = on_ranks(2, |ranks| {
        let plan = plan(Clipping::auto()).calibrate().unwrap();
        let probe = Probe {
            every: 1,
            records: 3,
            thresholds: vec![1.0],
        };
        Trainer::new(plan, OptimizerRule::Sgd, 0.1)
            .ranks(ranks.clone())
            .diagnose_without_privacy(probe, |_| {})
            .fit(Net::new(), &own(&images, &*ranks), &device())
            .unwrap_err()
    });
    for error in errors {
        assert!(matches!(
            error,
            TrainError::Ranks(RanksError::OneRankOnly { size: 2, .. })
        ));
    }
}
