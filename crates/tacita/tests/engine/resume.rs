//! Runs that stop and resume.

use crate::common::{device, flat};
use crate::mechanism::{Images, Net};
use std::path::PathBuf;
use tacita::optim::{LearningRate, Optimizer, OptimizerRule};
use tacita::{
    CheckpointError, Clipping, Keys, Plan, Probe, SessionError, TrainError, Trained, Trainer,
};

/// A folder of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tacita-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn ledger(&self) -> PathBuf {
        self.0.join("ledger.jsonl")
    }

    fn checkpoint(&self) -> PathBuf {
        self.0.join("checkpoint")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const STEPS: u64 = 30;

/// Momentum, a learned threshold, a learned rate and an average: all that a checkpoint holds.
fn trainer<'a>(folder: &Folder, keys: Keys, every: u64) -> Trainer<'a, Net> {
    let plan = Plan::with_noise(20.0, 1e-5)
        .public_record_count(40)
        .expected_batch(20)
        .steps(STEPS)
        .clipping(Clipping::online())
        .calibrate()
        .unwrap();
    let rate = LearningRate::Online {
        initial: 0.1,
        rate: 0.01,
        momentum: 0.9,
    };
    let optimizer: Optimizer = OptimizerRule::heavy_ball(0.9).into();
    Trainer::new(plan, optimizer, rate)
        .keys(keys)
        .average(0.8)
        .ledger(folder.ledger())
        .checkpoint(folder.checkpoint(), every)
}

fn stopped_after(trainer: Trainer<'_, Net>, steps: u64) -> Trained<Net> {
    let mut left = steps;
    let stop = move || {
        let stop = left == 0;
        left = left.saturating_sub(1);
        stop
    };
    let images = Images::random(40, 3);
    trainer
        .stop_when(stop)
        .fit(Net::new(), &images, &device())
        .unwrap()
}

#[test]
fn with_a_fixed_seed_a_broken_run_ends_where_an_unbroken_one_does() {
    let images = Images::random(40, 3);
    let whole = Folder::new("whole");
    let unbroken = trainer(&whole, Keys::fixed_seed(5), 7);
    let unbroken = unbroken.fit(Net::new(), &images, &device()).unwrap();
    for stop in [0, 1, 8, 29] {
        let folder = Folder::new(&format!("broken-{stop}"));
        let half = stopped_after(trainer(&folder, Keys::fixed_seed(5), 7), stop);
        assert_eq!(half.steps, stop);
        let resumed = trainer(&folder, Keys::fixed_seed(5), 7);
        let resumed = resumed.resume(Net::new(), &images, &device()).unwrap();
        assert_eq!(resumed.steps, STEPS);
        assert_eq!(
            flat(&resumed.model),
            flat(&unbroken.model),
            "stopped after {stop}"
        );
    }
}

/// As after a crash: the checkpoint is older than the ledger.
#[test]
fn steps_after_the_checkpoint_are_repeated_with_a_fixed_seed_and_stay_spent_with_secret_keys() {
    let images = Images::random(40, 3);
    let keys = |kind: &str| match kind {
        "fixed-seed" => Keys::fixed_seed(5),
        // Not private, but other noise every time: repeating a step would release it twice.
        "diagnosed" => Keys::from_os().unwrap().for_diagnostics(),
        _ => Keys::from_os().unwrap(),
    };
    for kind in ["fixed-seed", "secret", "diagnosed"] {
        let folder = Folder::new(&format!("crash-{kind}"));
        stopped_after(trainer(&folder, keys(kind), 1000), 4);
        let old = std::fs::read(folder.checkpoint()).unwrap();
        let mut steps = Vec::new();
        let resumed = trainer(&folder, keys(kind), 1000).on_step(|at, _| steps.push(at.step));
        resumed.resume(Net::new(), &images, &device()).unwrap();
        assert_eq!(steps, (5..=STEPS).collect::<Vec<_>>());
        // The run again from the old checkpoint, against the finished ledger.
        std::fs::write(folder.checkpoint(), old).unwrap();
        let mut steps = Vec::new();
        let again = trainer(&folder, keys(kind), 1000).on_step(|at, _| steps.push(at.step));
        again.resume(Net::new(), &images, &device()).unwrap();
        let expected: Vec<u64> = if kind == "fixed-seed" {
            (5..=STEPS).collect()
        } else {
            vec![]
        };
        assert_eq!(steps, expected);
    }
}

#[test]
fn a_private_run_does_not_resume_with_diagnostics_nor_the_reverse() {
    let images = Images::random(40, 3);
    let secret = || Keys::from_os().unwrap();
    for (name, first) in [("private", secret()), ("shown", secret().for_diagnostics())] {
        let (folder, private) = (Folder::new(name), first.is_private());
        stopped_after(trainer(&folder, first, 1), 3);
        let probe = Probe {
            every: 1,
            records: 1,
            thresholds: Vec::new(),
        };
        let mut resumed = trainer(&folder, secret(), 1);
        if private {
            resumed = resumed.diagnose_without_privacy(probe, |_| panic!("shown"));
        }
        let error = resumed.resume(Net::new(), &images, &device()).unwrap_err();
        assert!(
            error.to_string().contains("resume with the same kind"),
            "{error}"
        );
    }
}

#[test]
fn a_ledger_behind_its_checkpoint_is_refused() {
    let images = Images::random(40, 3);
    let (early, late) = (Folder::new("early"), Folder::new("late"));
    stopped_after(trainer(&early, Keys::from_os().unwrap(), 1), 3);
    stopped_after(trainer(&late, Keys::from_os().unwrap(), 1), 9);
    // Someone puts an older copy of the ledger back.
    std::fs::copy(early.ledger(), late.ledger()).unwrap();
    let resumed = trainer(&late, Keys::from_os().unwrap(), 1);
    let error = resumed.resume(Net::new(), &images, &device()).map(|_| ());
    assert!(matches!(
        error,
        Err(TrainError::Session(SessionError::LedgerBehind {
            ledger: 3,
            checkpoint: 9
        }))
    ));
}

#[test]
fn a_checkpoint_of_another_optimiser_is_refused() {
    let images = Images::random(40, 3);
    let folder = Folder::new("other");
    stopped_after(trainer(&folder, Keys::fixed_seed(5), 1), 3);
    let plan = Plan::with_noise(20.0, 1e-5)
        .public_record_count(40)
        .expected_batch(20)
        .steps(STEPS)
        .clipping(Clipping::online())
        .calibrate()
        .unwrap();
    let other = Trainer::new(plan, OptimizerRule::adam(), 0.1)
        .keys(Keys::fixed_seed(5))
        .ledger(folder.ledger())
        .checkpoint(folder.checkpoint(), 1)
        .resume(Net::new(), &images, &device())
        .map(|_| ());
    assert!(matches!(
        other,
        Err(TrainError::Checkpoint(CheckpointError::OtherRun))
    ));
}
