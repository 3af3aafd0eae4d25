//! A step whose units have several records beside one of as many records that are units themselves.

use super::clock::{Elapsed, Moment};
use super::measure::{Length, Setting, Times};
use super::step::Private;
use super::synthetic::{Synthetic, Take};
use super::workload::Workload;
use super::{Workloads, parse_workloads};
use anyhow::{Result, ensure};
use burn::tensor::Device;
use serde_json::json;
use tacita::ops::Precision;
use tacita::{Records, Units};
use tacita_cli::device::DeviceName;

/// Steps of each kind made before any is timed.
const WARM_UP: u64 = 3;

/// Arguments of `tacita-lab bench units`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Private steps with so many records of each unit and private steps with as many records, each a unit of its own, are \
made in turn in one process, on the same model and data. Every unit takes part in every step.

Examples:
  tacita-lab bench units --workload all --records 4
  tacita-lab bench units --workload cnn --records 10 --uneven")]
pub struct UnitArgs {
    /// cnn, mlp, embedding-mlp, lstm, autoencoder, transformer, resnet9, vgg11 or all
    #[arg(long, value_name = "NAME", value_parser = parse_workloads)]
    workload: Workloads,
    /// Records per step [default: the workload's usual one]
    #[arg(long, value_name = "B")]
    batch: Option<usize>,
    /// Records of a unit
    #[arg(long, value_name = "K", default_value_t = 4)]
    records: usize,
    /// Units of 1, 2, ... and up to so many records instead
    #[arg(long)]
    uneven: bool,
    /// Time steps for so long, from 5 to 200 of each kind
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
}

/// Runs `tacita-lab bench units`, which prints a JSON object a line.
pub fn run(args: &UnitArgs) -> Result<()> {
    ensure!(
        args.records > 0,
        "--records must be at least 1, got {}",
        args.records
    );
    let device = DeviceName::default().open()?;
    for &workload in &args.workload.0 {
        let batch = args.batch.unwrap_or(workload.default_batch());
        println!("{}", measured(workload, batch, args, &device)?);
    }
    Ok(())
}

fn measured(
    workload: Workload,
    batch: usize,
    args: &UnitArgs,
    device: &Device,
) -> Result<serde_json::Value> {
    let sizes = match args.uneven {
        true => 1..=args.records,
        false => args.records..=args.records,
    };
    let owners = sizes.cycle_of(batch);
    let setting = Setting {
        workload,
        batch,
        length: Length::Seconds(args.seconds),
        query_directions: false,
        precision: Precision::default(),
    };
    let trial = workload.trial(batch, device);
    let [records, units] = trial.units_in_turn(&owners, args.records as u64, setting)?;
    let steps = records.len();
    let (records, units) = (Times::of(&records), Times::of(&units));
    Ok(json!({
        "workload": workload.name(),
        "records": batch,
        "units": owners.last().map_or(0, |last| last + 1),
        "records_of_a_unit": args.records,
        "uneven": args.uneven,
        "steps": steps,
        "milliseconds_of_records": records.wall.median,
        "milliseconds_of_units": units.wall.median,
        "ratio": units.wall.median / records.wall.median,
    }))
}

/// Sizes one after another, for so many records.
trait CycleOf {
    fn cycle_of(self, records: usize) -> Vec<usize>;
}

impl CycleOf for std::ops::RangeInclusive<usize> {
    /// The unit of each record.
    fn cycle_of(self, records: usize) -> Vec<usize> {
        let units = self.cycle().enumerate();
        let owners = units.flat_map(|(unit, size)| std::iter::repeat_n(unit, size));
        owners.take(records).collect()
    }
}

/// Records with who belongs together.
pub struct Owned<'a, B> {
    records: &'a Synthetic<B>,
    units: Units,
}

impl<'a, B> Owned<'a, B> {
    /// Records of these units.
    pub fn new(records: &'a Synthetic<B>, owners: &[usize]) -> Self {
        let units = Units::of(owners.iter().map(|owner| Some(*owner)));
        Self { records, units }
    }
}

impl<B: Take> Records for Owned<'_, B> {
    type Batch = B;

    fn count(&self) -> usize {
        self.records.count()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> B {
        self.records.batch(indices, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> B {
        self.records.synthetic(seeds, device)
    }

    fn units(&self) -> Option<&Units> {
        Some(&self.units)
    }
}

/// Steps of two sessions in turn, so that whatever else the machine does hits both.
pub fn in_turn<'a, A, B, M>(
    mut records: Private<'a, A, M>,
    mut units: Private<'a, B, M>,
    length: Length,
) -> Result<[Vec<Elapsed>; 2]>
where
    A: Records,
    B: Records<Batch = A::Batch>,
    M: tacita::PrivateModel<A::Batch>,
{
    for _ in 0..WARM_UP {
        (records, units) = (records.step()?, units.step()?);
    }
    let mut times = [Vec::new(), Vec::new()];
    let mut total = 0.0;
    while !length.reached(times[0].len() as u64, total) {
        let start = Moment::now();
        records = records.step()?;
        let of_records = start.elapsed();
        let start = Moment::now();
        units = units.step()?;
        let of_units = start.elapsed();
        total += of_records.wall + of_units.wall;
        times[0].push(of_records);
        times[1].push(of_units);
    }
    Ok(times)
}

/// Steps that a plan must have for this.
pub fn most_steps(length: Length) -> u64 {
    WARM_UP + length.most()
}
