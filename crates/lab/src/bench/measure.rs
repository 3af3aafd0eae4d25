//! Times of plain and private steps made in turn, and the memory of each alone.

use super::clock::{Elapsed, Moment, peak_resident_mib, resident_mib};
use super::step::Trial;
use super::synthetic::Take;
use super::units::{self, Owned};
use super::workload::Workload;
use anyhow::{Context, Result, ensure};
use burn::tensor::Device;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::process::Command;
use tacita::PrivateModel;
use tacita::ops::Precision;

/// Steps of each kind made before any is timed.
const WARM_UP: u64 = 3;
/// By time, no fewer steps of each kind are made than this...
const FEWEST: u64 = 5;
/// ...and no more than this.
const MOST: u64 = 200;
/// Steps made of one kind alone, unless their number is given: enough to find the peak of memory.
const STEPS_ALONE: u64 = 3;

/// A kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Ordinary training.
    Plain,
    /// Private training.
    Private,
}

/// How many steps of each kind are timed.
#[derive(Debug, Clone, Copy)]
pub enum Length {
    /// So many.
    Steps(u64),
    /// As many as this time holds, within bounds.
    Seconds(f64),
}

impl Length {
    pub fn most(self) -> u64 {
        match self {
            Self::Steps(steps) => steps,
            Self::Seconds(_) => MOST,
        }
    }

    /// Whether `steps` steps of each kind, which took so long, are enough.
    pub fn reached(self, steps: u64, milliseconds: f64) -> bool {
        match self {
            Self::Steps(wanted) => steps >= wanted,
            Self::Seconds(seconds) => {
                steps >= MOST || (steps >= FEWEST && milliseconds >= 1e3 * seconds)
            }
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The model.
    pub workload: Workload,
    /// Records per step.
    pub batch: usize,
    /// Timed steps of each kind.
    pub length: Length,
    /// Whether the private step asks OSO's second query.
    pub query_directions: bool,
    /// In which precision a GPU multiplies.
    pub precision: Precision,
}

/// Median and spread of a quantity over steps.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// Half of the steps took less.
    pub median: f64,
    /// A tenth of the steps took less.
    pub low: f64,
    /// A tenth of the steps took more.
    pub high: f64,
}

/// Times of one kind of step, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Wall-clock time.
    pub wall: Spread,
    /// Processor time of all threads.
    pub cpu: Option<Spread>,
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// Of what.
    pub setting: Setting,
    /// Timed steps of each kind.
    pub steps: usize,
    /// Records of one private pass at most; a larger batch is cut.
    pub records_per_pass: usize,
    /// The plain step.
    pub plain: Times,
    /// The private step.
    pub private: Times,
    /// Peak memory above the idle process of plain and private training, in MiB.
    pub memory: Option<[f64; 2]>,
    /// What private training holds on a GPU, in MiB.
    pub on_gpu: Option<f64>,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let at = |share: f64| values[(share * last as f64).round() as usize];
        Self {
            median: (at(0.5) + values[last / 2]) / 2.0,
            low: at(0.1),
            high: at(0.9),
        }
    }
}

impl Times {
    /// Of the times of steps, of which there must be one at least.
    pub fn of(steps: &[Elapsed]) -> Self {
        let cpu: Option<Vec<f64>> = steps.iter().map(|step| step.cpu).collect();
        Self {
            wall: Spread::of(steps.iter().map(|step| step.wall).collect()),
            cpu: cpu.map(Spread::of),
        }
    }
}

/// Times the setting in this process and its memory in processes of their own.
pub fn measure(setting: Setting, threads: Option<usize>, device: &Device) -> Result<Measured> {
    let in_turn = InTurn {
        warm_up: WARM_UP,
        length: setting.length,
        query_directions: setting.query_directions,
        precision: setting.precision,
    };
    let made = (setting.workload.trial(setting.batch, device)).in_turn(in_turn)?;
    let memory = [Kind::Plain, Kind::Private].map(|kind| match made.on_gpu {
        Some(_) => Ok(None),
        None => memory_in_child(setting, kind, threads),
    });
    let memory = match memory {
        [Ok(plain), Ok(private)] => plain.zip(private).map(|(a, b)| [a, b]),
        [Err(error), _] | [_, Err(error)] => return Err(error),
    };
    Ok(Measured {
        setting,
        steps: made.plain.len(),
        records_per_pass: made.records_per_pass,
        plain: Times::of(&made.plain),
        private: Times::of(&made.private),
        memory,
        on_gpu: made.on_gpu,
    })
}

/// How plain and private steps are made in turn.
#[derive(Debug, Clone, Copy)]
pub struct InTurn {
    /// Steps of each kind made before any is timed.
    pub warm_up: u64,
    /// Timed steps of each kind.
    pub length: Length,
    /// Whether the private step asks OSO's second query.
    pub query_directions: bool,
    /// In which precision a GPU multiplies.
    pub precision: Precision,
}

/// Steps made in turn.
pub struct Made {
    /// Parameters of the model.
    pub parameters: usize,
    /// Records of one private pass at most.
    pub records_per_pass: usize,
    /// Times of plain steps.
    pub plain: Vec<Elapsed>,
    /// Times of private steps.
    pub private: Vec<Elapsed>,
    /// What private training alone held on a GPU, in MiB.
    pub on_gpu: Option<f64>,
}

/// A model and its data, whatever their types.
pub trait StepTrial {
    /// Makes plain and private steps in turn, so that whatever else the machine does hits both.
    fn in_turn(&self, how: InTurn) -> Result<Made>;

    /// Makes private steps in turn whose samples are records, and units of several: the unit of each record is given.
    fn units_in_turn(
        &self,
        owners: &[usize],
        most: u64,
        setting: Setting,
    ) -> Result<[Vec<Elapsed>; 2]>;

    /// Makes steps of one kind: a few, or as many as the setting says.
    fn only(&self, kind: Kind, setting: Setting) -> Result<()>;
}

impl<B: Take, M: PrivateModel<B>> StepTrial for Trial<B, M> {
    fn in_turn(&self, how: InTurn) -> Result<Made> {
        let steps = how.warm_up + how.length.most();
        let mut private = self.private(steps, how.query_directions, how.precision)?;
        for _ in 0..how.warm_up {
            private = private.step()?;
        }
        // Before a plain step: what a GPU has set aside for tensors is never given back.
        let on_gpu = self.device.memory_pool_usage();
        let on_gpu = on_gpu.map(|usage| usage.bytes_reserved as f64 / (1u64 << 20) as f64);
        let mut plain = self.plain(how.precision);
        for _ in 0..how.warm_up {
            plain = plain.step()?;
        }
        let (mut plains, mut privates) = (Vec::new(), Vec::new());
        let mut total = 0.0;
        while !how.length.reached(plains.len() as u64, total) {
            let start = Moment::now();
            plain = plain.step()?;
            let plain_time = start.elapsed();
            let start = Moment::now();
            private = private.step()?;
            let private_time = start.elapsed();
            total += plain_time.wall + private_time.wall;
            plains.push(plain_time);
            privates.push(private_time);
        }
        Ok(Made {
            parameters: self.model.num_params(),
            records_per_pass: private.records_per_pass(),
            plain: plains,
            private: privates,
            on_gpu,
        })
    }

    fn units_in_turn(
        &self,
        owners: &[usize],
        most: u64,
        setting: Setting,
    ) -> Result<[Vec<Elapsed>; 2]> {
        let steps = units::most_steps(setting.length);
        let records = self.private(steps, setting.query_directions, setting.precision)?;
        let owned = Owned::new(&self.records, owners);
        let units = self.private_units(&owned, most, steps, setting.precision)?;
        units::in_turn(records, units, setting.length)
    }

    fn only(&self, kind: Kind, setting: Setting) -> Result<()> {
        let steps = match setting.length {
            Length::Steps(steps) => steps,
            Length::Seconds(_) => STEPS_ALONE,
        };
        match kind {
            Kind::Plain => {
                let mut plain = self.plain(setting.precision);
                for _ in 0..steps {
                    plain = plain.step()?;
                }
            }
            Kind::Private => {
                let mut private =
                    self.private(steps, setting.query_directions, setting.precision)?;
                for _ in 0..steps {
                    private = private.step()?;
                }
            }
        }
        Ok(())
    }
}

/// Peak memory above the idle process of one kind of training, found in a process of its own.
fn memory_in_child(setting: Setting, kind: Kind, threads: Option<usize>) -> Result<Option<f64>> {
    let program = std::env::current_exe().context("cannot find this program to run it again")?;
    let mut command = Command::new(program);
    command
        .args(["bench", "step", "--workload", setting.workload.name()])
        .args(["--batch", &setting.batch.to_string()])
        .args([
            "--only",
            if kind == Kind::Plain {
                "plain"
            } else {
                "private"
            },
        ]);
    if let Some(threads) = threads {
        command.args(["--threads", &threads.to_string()]);
    }
    if setting.query_directions {
        command.arg("--query-directions");
    }
    let output = command.output().context("cannot run this program again")?;
    ensure!(
        output.status.success(),
        "measuring memory failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let printed: Value = serde_json::from_slice(&output.stdout)?;
    Ok(printed["peak_mib"].as_f64())
}

/// Makes a few steps of one kind and prints the peak of memory: the part of [`memory_in_child`] that
/// runs in the child.
pub fn print_memory(setting: Setting, kind: Kind, device: &Device) -> Result<()> {
    let idle = resident_mib();
    let trial = setting.workload.trial(setting.batch, device);
    trial.only(kind, setting)?;
    let peak = peak_resident_mib()
        .zip(idle)
        .map(|(peak, idle)| peak - idle);
    println!("{}", json!({ "peak_mib": peak }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_count_is_the_mean_of_the_middle_two() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(spread.median, 2.5);
        assert_eq!((spread.low, spread.high), (1.0, 4.0));
        assert_eq!(Spread::of(vec![5.0, 1.0, 2.0]).median, 2.0);
    }
}
