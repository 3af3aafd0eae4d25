//! `tacita-lab bench scaling`: time per step as the batch and the model grow.

use super::measure::{InTurn, Length, Made, Times};
use super::table::times_to_json;
use super::workload::{Workload, mlp_of_width};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::path::PathBuf;
use tacita::ops::Precision;
use tacita_cli::device::host;
use tacita_cli::files::write_whole;
use tacita_cli::plot::{Chart, Series, Stroke, render};

/// The first batch size.
const SMALLEST_BATCH: usize = 16;
/// The first hidden width of the growing mlp.
const SMALLEST_WIDTH: usize = 32;
/// Without a largest batch, it is this many times the workload's usual one.
const TIMES_USUAL: usize = 8;
/// Steps of each kind made before any is timed.
const WARM_UP: u64 = 2;
/// Growth above this is pointed out: linear growth, and the scatter of medians of a few steps.
const REMARKABLE: f64 = 1.2;

/// Arguments of `tacita-lab bench scaling`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
First the batch of the workload doubles, then the hidden width of the mlp (784, W, W, 10). Beside each \
time stands the exponent k between this point and the one before: time grows as size to the k. A batch \
that does not fit the engine's memory is cut into passes, as in training.

Examples:
  tacita-lab bench scaling --workload cnn --largest 8192 --plot scaling.svg
  tacita-lab bench scaling --workload transformer --threads 1 --json")]
pub struct ScalingArgs {
    /// Model whose batch grows
    #[arg(long, value_name = "NAME")]
    workload: Workload,
    /// Largest batch [default: 8 times the workload's usual one]
    #[arg(long, value_name = "B")]
    largest: Option<usize>,
    /// Largest hidden width of the mlp
    #[arg(long, value_name = "W", default_value_t = 2048)]
    widest: usize,
    /// Timed steps of each kind at each point
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// Draw both curves as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Two points of each curve, two steps each, to see that it works
    #[arg(long)]
    quick: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One size and its times.
struct Point {
    /// Batch size or parameters: what time should be proportional to, at most.
    size: usize,
    /// Records of one step.
    batch: usize,
    /// Records of one private pass: fewer if the batch is cut.
    records_per_pass: usize,
    plain: Times,
    private: Times,
}

/// Times as one size doubles.
struct Curve {
    title: String,
    /// What grows.
    size: &'static str,
    points: Vec<Point>,
}

/// Runs `tacita-lab bench scaling`.
pub fn run(args: &ScalingArgs) -> Result<()> {
    let (largest, widest, steps) = if args.quick {
        (2 * SMALLEST_BATCH, 2 * SMALLEST_WIDTH, 2)
    } else {
        let usual = args.workload.default_batch();
        let largest = args.largest.unwrap_or(TIMES_USUAL * usual);
        (largest, args.widest, args.steps)
    };
    for (flag, value, least) in [
        ("--largest", largest, 2 * SMALLEST_BATCH),
        ("--widest", widest, 2 * SMALLEST_WIDTH),
    ] {
        ensure!(
            value >= least,
            "{flag} must be at least {least} for two points of a curve, got {value}"
        );
    }
    let curves = [
        over_batch(args.workload, largest, steps)?,
        over_parameters(widest, steps)?,
    ];
    if let Some(path) = &args.plot {
        write_whole(path, render(&curves.each_ref().map(chart)).as_bytes())?;
    }
    if args.json {
        let threads = args.threads.unwrap_or_else(rayon::current_num_threads);
        let [batch, parameters] = curves.each_ref().map(to_json);
        let object = json!({
            "workload": args.workload.name(),
            "threads": threads,
            "steps": steps,
            "batch": batch,
            "parameters": parameters,
        });
        println!("{object}");
    } else {
        for curve in &curves {
            println!("{}", table(curve));
        }
    }
    Ok(())
}

fn doubling(from: usize, to: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(from), |size| Some(2 * size)).take_while(move |size| *size <= to)
}

fn in_turn(steps: u64) -> InTurn {
    InTurn {
        warm_up: WARM_UP,
        length: Length::Steps(steps),
        query_directions: false,
        precision: Precision::Single,
    }
}

fn over_batch(workload: Workload, largest: usize, steps: u64) -> Result<Curve> {
    let device = host();
    let point = |batch| {
        let made = workload.trial(batch, &device).in_turn(in_turn(steps))?;
        Ok(Point::new(batch, batch, &made))
    };
    Ok(Curve {
        title: format!("{}: time over batch size", workload.name()),
        size: "batch",
        points: doubling(SMALLEST_BATCH, largest)
            .map(point)
            .collect::<Result<_>>()?,
    })
}

fn over_parameters(widest: usize, steps: u64) -> Result<Curve> {
    let device = host();
    let batch = Workload::Mlp.default_batch();
    let point = |width| {
        let made = mlp_of_width(width, batch, &device).in_turn(in_turn(steps))?;
        Ok(Point::new(made.parameters, batch, &made))
    };
    Ok(Curve {
        title: format!("mlp, batch {batch}: time over parameters"),
        size: "parameters",
        points: doubling(SMALLEST_WIDTH, widest)
            .map(point)
            .collect::<Result<_>>()?,
    })
}

impl Point {
    fn new(size: usize, batch: usize, made: &Made) -> Self {
        Self {
            size,
            batch,
            records_per_pass: made.records_per_pass.min(batch),
            plain: Times::of(&made.plain),
            private: Times::of(&made.private),
        }
    }

    /// k of plain and private time, which grow as size to the k since the point before.
    fn exponents(&self, before: &Self) -> [f64; 2] {
        let growth = (self.size as f64 / before.size as f64).ln();
        [(self.plain, before.plain), (self.private, before.private)]
            .map(|(now, then)| (now.wall.median / then.wall.median).ln() / growth)
    }
}

impl Curve {
    /// Each point, and its exponents if there is one before it.
    fn with_exponents(&self) -> impl Iterator<Item = (&Point, Option<[f64; 2]>)> {
        let before = std::iter::once(None).chain(self.points.iter().map(Some));
        (self.points.iter().zip(before))
            .map(|(point, before)| (point, before.map(|before| point.exponents(before))))
    }
}

fn table(curve: &Curve) -> String {
    let mut lines = vec![
        curve.title.clone(),
        format!(
            "{:>10}  {:>8}  {:>10}  {:>5}  {:>10}  {:>5}  {:>13}",
            curve.size, "per pass", "plain ms", "k", "private ms", "k", "private/plain"
        ),
    ];
    let mut steepest = f64::NEG_INFINITY;
    for (point, exponents) in curve.with_exponents() {
        let [plain, private] = match exponents {
            Some(exponents) => exponents.map(|k| format!("{k:.2}")),
            None => ["", ""].map(String::from),
        };
        steepest = (exponents.into_iter().flatten()).fold(steepest, f64::max);
        let [plain_ms, private_ms] = [point.plain, point.private].map(|times| times.wall.median);
        lines.push(format!(
            "{:>10}  {:>8}  {plain_ms:>10.2}  {plain:>5}  {private_ms:>10.2}  {private:>5}  {:>13.2}",
            point.size,
            point.records_per_pass,
            private_ms / plain_ms
        ));
    }
    lines.push(if steepest <= REMARKABLE {
        format!("Nowhere steeper than size to the {steepest:.2}.\n")
    } else {
        format!("Steeper than linear: size to the {steepest:.2} somewhere above. Measure again on a quiet machine.\n")
    });
    lines.join("\n")
}

fn to_json(curve: &Curve) -> Value {
    let points = curve.with_exponents().map(|(point, exponents)| {
        json!({
            "size": point.size,
            "batch": point.batch,
            "records_per_pass": point.records_per_pass,
            "plain": times_to_json(point.plain),
            "private": times_to_json(point.private),
            "exponent": exponents.map(|[plain, private]| json!({ "plain": plain, "private": private })),
        })
    });
    points.collect()
}

fn chart(curve: &Curve) -> Chart {
    let series = |name: &str, colour: usize, times: fn(&Point) -> Times| {
        let at = |point: &Point| (point.size as f64, times(point).wall.median);
        Series {
            name: name.into(),
            colour,
            stroke: Stroke::Solid,
            points: curve.points.iter().map(at).collect(),
            lower: Vec::new(),
        }
    };
    let first = &curve.points[0];
    let last = &curve.points[curve.points.len() - 1];
    let start = last.private.wall.median * first.size as f64 / last.size as f64;
    let proportional = Series {
        name: "proportional to the last private point".into(),
        colour: 5,
        stroke: Stroke::Dotted,
        points: vec![
            (first.size as f64, start),
            (last.size as f64, last.private.wall.median),
        ],
        lower: Vec::new(),
    };
    Chart {
        log_x: true,
        log_y: true,
        series: vec![
            series("plain", 0, |point| point.plain),
            series("private", 1, |point| point.private),
            proportional,
        ],
        ..Chart::new(&curve.title, curve.size, "ms per step")
    }
}
