//! A private step on records that are read from a disk, beside the same step on records in memory.
//!
//! A table of random numbers is written in shards of Parquet. Processes of their own tell the time to open it and the
//! memory that training takes, in either way; one process makes steps in turn, on the same model and the same draws.

use super::clock::{peak_resident_mib, resident_mib};
use super::table_of_numbers;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use tacita::optim::OptimizerRule;
use tacita::{Keys, Plan, Records, Session, SessionOptions};
use tacita_cli::models::{Bench, Erase, Kind, ModelName, ModelSpec, Scored};
use tacita_datasets::{OnDisk, Opened, Options, RecordSet, Source, open};
use tacita_mechanism::sampling::PoissonSampler;

/// Steps before any is timed.
const WARM_UP: u64 = 5;

/// Arguments of `tacita-lab bench on-disk`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The table is made if it is not there; it and the index stay, so that a second run finds them. `cold` steps find nothing of \
the index in the memory of the operating system, which is told to forget it before every one of them.

Examples:
  tacita-lab bench on-disk --folder /var/tmp/rows --rows 100000
  tacita-lab bench on-disk --folder /var/tmp/rows --out crates/lab/results/on-disk.json")]
pub struct OnDiskArgs {
    /// Where the table and the index lie
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Rows of the table
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    rows: usize,
    /// Columns of numbers
    #[arg(long, value_name = "N", default_value_t = 30)]
    columns: usize,
    /// Files of the table
    #[arg(long, value_name = "N", default_value_t = 20)]
    shards: usize,
    /// Records per step
    #[arg(
        long,
        value_name = "B,...",
        value_delimiter = ',',
        default_value = "512,4096"
    )]
    batch: Vec<u64>,
    /// Timed steps of each kind
    #[arg(long, value_name = "N", default_value_t = 100)]
    steps: u64,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// File for the figures, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Open the table in one way, make a few steps and print what that took
    #[arg(long, hide = true)]
    only: Option<String>,
}

/// Runs `tacita-lab bench on-disk`.
pub fn run(args: &OnDiskArgs) -> Result<()> {
    ensure!(
        args.rows >= 1000 && args.columns > 0 && args.shards > 0 && args.steps > 0,
        "a table has 1000 rows, a column and a file at least, and a step is timed at least once"
    );
    if let Some(way) = &args.only {
        println!("{}", alone(args, way == "disk")?);
        return Ok(());
    }
    let table = args
        .folder
        .join(format!("table-{}x{}", args.rows, args.columns));
    if !table.exists() {
        table_of_numbers::write(&table, args.rows, args.columns, args.shards)?;
    }
    let index = args.folder.join("index");
    if index.exists() {
        fs::remove_dir_all(&index)?;
    }
    let making = in_own_process(args, "disk")?;
    let alone = json!({
        "disk, index made": making,
        "disk, index there": in_own_process(args, "disk")?,
        "memory": in_own_process(args, "memory")?,
    });
    let (memory, disk) = (training(args, false)?.0, training(args, true)?.0);
    let mut steps = Vec::new();
    for model in [ModelName::Logistic, ModelName::Mlp] {
        for &batch in &args.batch {
            let spec = ModelSpec {
                name: model,
                shape: memory.shape(),
                classes: 2,
                hidden: None,
                seed: Some(1),
            };
            let stepper = spec.make::<Stepper>(&tacita_cli::device::host())?;
            let question = Question {
                batch,
                rows: args.rows,
                steps: args.steps,
                index: &index,
            };
            steps.push(stepper.alternate(&memory, &disk, &question)?);
        }
    }
    let figures = json!({
        "command": std::env::args().skip(1).collect::<Vec<_>>().join(" "),
        "rows": args.rows,
        "columns": args.columns,
        "shards": args.shards,
        "cores": std::thread::available_parallelism()?.get(),
        "load_average": fs::read_to_string("/proc/loadavg").ok().map(|text| text.trim().to_string()),
        "table_bytes": bytes(&table)?,
        "index_bytes": bytes(&index)?,
        "own_process": alone,
        "steps": steps,
        "draws": draws(&args.batch)?,
    });
    let text = format!("{figures:#}\n");
    print!("{text}");
    if let Some(out) = &args.out {
        fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))?;
    }
    Ok(())
}

/// The records to train on, and the seconds it took to open them.
fn training(args: &OnDiskArgs, on_disk: bool) -> Result<(RecordSet, f64)> {
    let mut schema = String::from("[label]\ncolumn = \"ill\"\nclasses = [\"0\", \"1\"]\n");
    for column in 0..args.columns {
        schema += &format!("[columns.x{column}]\nmin = 0\nmax = 1\n");
    }
    let options = Options {
        schema: toml::from_str(&schema)?,
        quiet: true,
        on_disk: on_disk.then(|| OnDisk {
            folder: args.folder.join("index"),
            again: false,
        }),
        ..Options::default()
    };
    let file = args
        .folder
        .join(format!("table-{}x{}", args.rows, args.columns));
    let begun = Instant::now();
    let Opened::Ready(data) = open(&Source::Parquet { file }, &options)? else {
        bail!("all bounds are declared");
    };
    Ok((data.training, begun.elapsed().as_secs_f64()))
}

fn alone(args: &OnDiskArgs, on_disk: bool) -> Result<Value> {
    let idle = resident_mib();
    let (records, seconds) = training(args, on_disk)?;
    let spec = ModelSpec {
        name: ModelName::Logistic,
        shape: records.shape(),
        classes: 2,
        hidden: None,
        seed: Some(1),
    };
    let question = Question {
        batch: args.batch.iter().copied().max().unwrap_or(512),
        rows: args.rows,
        steps: 20,
        index: Path::new(""),
    };
    spec.make::<Stepper>(&tacita_cli::device::host())?
        .go(&records, &question)?;
    Ok(json!({ "open_seconds": seconds, "peak_mib": peak_resident_mib(), "idle_mib": idle }))
}

fn in_own_process(args: &OnDiskArgs, way: &str) -> Result<Value> {
    let output = Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .args(["--only", way])
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut figures: Value = serde_json::from_slice(&output.stdout)?;
    figures["batch"] = json!(args.batch.iter().max());
    Ok(figures)
}

/// Bytes of all files of a folder.
fn bytes(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        total += match path.is_dir() {
            true => bytes(&path)?,
            false => path.metadata()?.len(),
        };
    }
    Ok(total)
}

/// Microseconds of a draw: a function of the sample, not of the records.
fn draws(batches: &[u64]) -> Result<Vec<Value>> {
    const DRAWS: u64 = 200;
    let keys = Keys::fixed_seed(1);
    let mut lines = Vec::new();
    for records in [10_000_000, 100_000_000] {
        for &batch in batches {
            let sampler = PoissonSampler::new(batch as f64 / records as f64, records)?;
            let begun = Instant::now();
            let drawn: usize = (0..DRAWS)
                .map(|step| sampler.draw(&keys, step).indices().len())
                .sum();
            let micros = begun.elapsed().as_secs_f64() * 1e6 / DRAWS as f64;
            let mean = drawn as f64 / DRAWS as f64;
            lines.push(json!({ "records": records, "batch": batch, "drawn": mean, "microseconds": micros }));
        }
    }
    Ok(lines)
}

struct Question<'a> {
    batch: u64,
    rows: usize,
    steps: u64,
    index: &'a Path,
}

/// A model that makes steps on records wherever they are.
struct Stepper;

trait Steps {
    /// Makes steps.
    fn go(self: Box<Self>, records: &RecordSet, question: &Question<'_>) -> Result<()>;

    /// Times steps in memory, on the disk, and on the disk when the system has forgotten it, in turn.
    fn alternate(
        self: Box<Self>,
        memory: &RecordSet,
        disk: &RecordSet,
        question: &Question<'_>,
    ) -> Result<Value>;
}

impl Erase for Stepper {
    type Object = dyn Steps;

    fn erase<R: Kind, M: Scored<R::Batch>>(bench: Bench<R, M>) -> Box<dyn Steps> {
        Box::new(bench)
    }
}

/// One of the ways to train, with a session of its own.
struct Way<'a, R, M> {
    records: &'a R,
    session: Session,
    model: M,
    optimizer: tacita::optim::Optimizer,
    milliseconds: Vec<f64>,
}

impl<'a, R: Records, M: Scored<R::Batch>> Way<'a, R, M> {
    fn new(records: &'a R, model: &M, question: &Question<'_>) -> Result<Self> {
        let plan = Plan::with_noise(1.0, 1e-9)
            .public_record_count(question.rows as u64)
            .expected_batch(question.batch)
            .steps(question.steps + WARM_UP)
            .calibrate()?;
        let options = SessionOptions::default();
        Ok(Self {
            session: Session::open_in_memory(plan, Keys::fixed_seed(1), model, records, options)?,
            records,
            model: model.clone(),
            optimizer: OptimizerRule::heavy_ball(0.9).into(),
            milliseconds: Vec::new(),
        })
    }

    fn step(&mut self, device: &burn::tensor::Device) -> Result<()> {
        let begun = Instant::now();
        let round = self.session.open_round()?;
        let bounded = round.clip(&self.model, self.records, device)?;
        let noisy = round.release(bounded)?;
        self.model = self.optimizer.step(0.1, self.model.clone(), &noisy);
        self.milliseconds.push(begun.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    /// The time that half of the steps keep below, and that a tenth does: others who use the machine spoil the first.
    fn spread(&mut self) -> [f64; 2] {
        let timed = &mut self.milliseconds[WARM_UP as usize..];
        timed.sort_by(f64::total_cmp);
        [timed[timed.len() / 2], timed[timed.len() / 10]]
    }
}

impl<R: Kind, M: Scored<R::Batch>> Steps for Bench<R, M> {
    fn go(self: Box<Self>, records: &RecordSet, question: &Question<'_>) -> Result<()> {
        let records = R::of(records).context("records of another kind")?;
        let mut way = Way::new(records, &self.model, question)?;
        (0..question.steps).try_for_each(|_| way.step(&self.device))
    }

    fn alternate(
        self: Box<Self>,
        memory: &RecordSet,
        disk: &RecordSet,
        question: &Question<'_>,
    ) -> Result<Value> {
        let of = |set| R::of(set).context("records of another kind");
        let (memory, disk) = (of(memory)?, of(disk)?);
        // What is read ahead belongs to one run at a time, so the cold steps are made after the others.
        let mut ways = [
            Way::new(memory, &self.model, question)?,
            Way::new(disk, &self.model, question)?,
        ];
        for step in 0..question.steps + WARM_UP {
            for turn in 0..2 {
                ways[((step + turn) % 2) as usize].step(&self.device)?;
            }
        }
        let [memory, warm] = ways.each_mut().map(Way::spread);
        let mut cold = Way::new(disk, &self.model, question)?;
        for _ in 0..question.steps + WARM_UP {
            forget(question.index)?;
            cold.step(&self.device)?;
        }
        let cold = cold.spread();
        Ok(json!({
            "parameters": self.model.num_params(),
            "batch": question.batch,
            "memory_ms": memory,
            "disk_ms": warm,
            "disk_cold_ms": cold,
            "ratio": [warm[0] / memory[0], warm[1] / memory[1]],
            "ratio_cold": [cold[0] / memory[0], cold[1] / memory[1]],
        }))
    }
}

/// Tells the operating system to forget what it holds of the files of a folder.
fn forget(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            forget(&path)?;
            continue;
        }
        let done = Command::new("dd")
            .arg(format!("if={}", path.display()))
            .args(["iflag=nocache", "count=0", "status=none"])
            .status()?;
        ensure!(done.success(), "dd could not drop {}", path.display());
    }
    Ok(())
}
