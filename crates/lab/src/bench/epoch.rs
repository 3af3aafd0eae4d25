//! `tacita-lab bench epoch`: one private epoch of MNIST, from the draw to the checkpoint.

use super::clock::{Elapsed, Moment, peak_resident_mib, resident_mib};
use super::data_clock::{DataClock, Timed};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use tacita_accounting::decimal::count;
use tacita_cli::device::host;
use tacita_cli::models::{Bench, Erase, Kind, Scored};
use tacita_cli::run::{PlannedRun, PublicFacts, RunFolder, Settings};
use tacita_datasets::random::SplitMix;
use tacita_datasets::{
    self as datasets, Builtin, ImageSize, Images, InputKind, Opened, RecordSet, Source,
};

/// Arguments of `tacita-lab bench epoch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Trains the default model of `tacita train --data mnist` for one epoch with Poisson sampling, a ledger \
on disk and checkpoints, as that command does; only evaluation is left out. The seed is fixed, so that \
the run is an experiment: times of a private run depend on its draws and are not shown.

Without MNIST in the usual places (TACITA_DATA and others), as many synthetic images are taken.

Examples:
  tacita-lab bench epoch
  tacita-lab bench epoch --threads 1 --json")]
pub struct EpochArgs {
    /// Expected records per step
    #[arg(long, value_name = "B", default_value_t = 256,
          value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// A thousand synthetic images, to see that it works
    #[arg(long)]
    quick: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where images come from.
struct Data {
    images: Images,
    name: &'static str,
    /// Why MNIST was not taken.
    note: Option<String>,
}

/// What was measured.
struct Epoch {
    model: String,
    parameters: usize,
    steps: u64,
    elapsed: Elapsed,
    drawing: f64,
    batching: f64,
    peak_mib: Option<f64>,
}

/// Runs `tacita-lab bench epoch`.
pub fn run(args: &EpochArgs) -> Result<()> {
    let idle = resident_mib();
    let data = data(args.quick)?;
    let records = data.images.labels().len() as u64;
    let settings = Settings {
        data: Some(Builtin::Mnist),
        batch: Some(args.batch.min(records)),
        epochs: Some(1.0),
        seed: Some(1),
        ..Settings::default()
    };
    let images = RecordSet::Images(data.images);
    let public = PublicFacts {
        records,
        shape: images.shape(),
        target: tacita_datasets::TargetKind::Class,
        kind: InputKind::Other,
        classes: datasets::known(Builtin::Mnist).classes,
        estimates_bounds: false,
        private_test: false,
        public_test: false,
    };
    let run = PlannedRun::new(settings, public)?;
    let epoch = run.model.make::<AnyModel>(&host())?.epoch(&run, &images)?;
    let peak_mib = (peak_resident_mib().zip(idle)).map(|(peak, idle)| peak - idle);
    let epoch = Epoch { peak_mib, ..epoch };
    if args.json {
        let threads = args.threads.unwrap_or_else(rayon::current_num_threads);
        let data = (data.name, data.note.as_deref());
        println!("{}", to_json(&epoch, data, records, args.batch, threads));
        return Ok(());
    }
    if let Some(note) = &data.note {
        println!("Synthetic images: {note}");
    }
    println!("{}", words(&epoch, data.name, records, args.batch));
    Ok(())
}

/// MNIST if it is there, else as many synthetic images. Nothing is downloaded.
fn data(quick: bool) -> Result<Data> {
    if quick {
        return synthetic(1_000, "a quick look was asked for".into());
    }
    let options = datasets::Options {
        offline: true,
        quiet: true,
        ..datasets::Options::default()
    };
    match datasets::open(&Source::Builtin(Builtin::Mnist), &options) {
        Ok(Opened::Ready(data)) => {
            let RecordSet::Images(images) = data.training else {
                anyhow::bail!("MNIST should be images");
            };
            Ok(Data {
                images,
                name: "mnist",
                note: None,
            })
        }
        Ok(Opened::NeedsBounds(_)) => anyhow::bail!("MNIST should be images, not a table"),
        Err(error) => synthetic(60_000, format!("{error:#}")),
    }
}

fn synthetic(count: usize, note: String) -> Result<Data> {
    let size = ImageSize {
        channels: 1,
        height: 28,
        width: 28,
    };
    let mut random = SplitMix(0);
    let pixels = (0..count * size.values()).map(|_| random.below(256) as u8);
    let pixels = pixels.collect();
    let labels: Vec<u16> = (0..count).map(|_| random.below(10) as u16).collect();
    Ok(Data {
        images: Images::new(size, 255, 10, pixels, labels)?,
        name: "synthetic",
        note: Some(note),
    })
}

/// A model of any type that makes an epoch.
trait Timer {
    fn epoch(self: Box<Self>, run: &PlannedRun, images: &RecordSet) -> Result<Epoch>;
}

struct AnyModel;

impl Erase for AnyModel {
    type Object = dyn Timer;

    fn erase<R: Kind, M: Scored<R::Batch>>(bench: Bench<R, M>) -> Box<dyn Timer> {
        Box::new(bench)
    }
}

impl<R: Kind, M: Scored<R::Batch>> Timer for Bench<R, M> {
    fn epoch(self: Box<Self>, run: &PlannedRun, images: &RecordSet) -> Result<Epoch> {
        let clock = DataClock::default();
        let records = Timed {
            records: R::of(images).context("the model should take images")?,
            clock: &clock,
        };
        let parameters = self.model.num_params();
        let path = std::env::temp_dir().join(format!("tacita-bench-epoch-{}", std::process::id()));
        let folder = TemporaryFolder(RunFolder::create(Some(&path), "epoch")?);
        let start = Moment::now();
        let trained = run
            .trainer()
            .keys(run.keys()?)
            .ledger(folder.0.ledger())
            .checkpoint(folder.0.checkpoint(), run.checkpoint_every())
            // Asked once before each step.
            .stop_when(|| {
                clock.begin_step();
                false
            })
            .fit(self.model, &records, &self.device)?;
        self.device.sync()?;
        Ok(Epoch {
            model: run.model.name.name(),
            parameters,
            steps: trained.steps,
            elapsed: start.elapsed(),
            drawing: clock.drawing(),
            batching: clock.batching(),
            peak_mib: None,
        })
    }
}

/// A run folder that goes when the epoch is over.
struct TemporaryFolder(RunFolder);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed stays among the temporary files of the system.
        let _ = std::fs::remove_dir_all(self.0.path());
    }
}

fn to_json(
    epoch: &Epoch,
    (data, note): (&str, Option<&str>),
    records: u64,
    batch: u64,
    threads: usize,
) -> Value {
    json!({
        "data": data,
        "data_note": note,
        "records": records,
        "batch": batch,
        "model": epoch.model,
        "parameters": epoch.parameters,
        "threads": threads,
        "steps": epoch.steps,
        "wall_s": epoch.elapsed.wall / 1e3,
        "cpu_s": epoch.elapsed.cpu.map(|cpu| cpu / 1e3),
        "waited_for_data_s": {
            "drawing": epoch.drawing,
            "batching": epoch.batching,
            "all": epoch.drawing + epoch.batching,
        },
        "peak_mib": epoch.peak_mib,
    })
}

fn words(epoch: &Epoch, data: &str, records: u64, batch: u64) -> String {
    let wall = epoch.elapsed.wall / 1e3;
    let cpu =
        (epoch.elapsed.cpu).map_or("unknown".to_string(), |cpu| format!("{:.2} s", cpu / 1e3));
    let waited = epoch.drawing + epoch.batching;
    let peak = (epoch.peak_mib).map_or("unknown".to_string(), |peak| format!("{peak:.0} MiB"));
    format!(
        "One private epoch of {} ({} parameters) on {data}, {} records, expected batch {batch}: {} steps\n  \
         wall time         {wall:.2} s\n  \
         processor time    {cpu}\n  \
         waiting for data  {waited:.3} s ({:.1} % of wall time): drawing {:.3} s, batching {:.3} s\n  \
         peak memory       {peak} above the idle process, data included",
        epoch.model,
        count(epoch.parameters as u64),
        count(records),
        epoch.steps,
        100.0 * waited / wall,
        epoch.drawing,
        epoch.batching,
    )
}
