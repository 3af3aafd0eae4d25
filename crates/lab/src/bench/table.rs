//! What was measured, as a line of a table or as JSON.

use super::measure::{Measured, Spread, Times};
use serde_json::{Value, json};

/// The head of the table.
pub const HEADER: &str = "\
workload       batch  steps  plain ms (10-90 %)        private ms (10-90 %)      ratio   cpu   \
MiB plain  private  ratio";

/// One line of the table.
pub fn line(measured: &Measured) -> String {
    let spread = |spread: Spread| {
        format!(
            "{:.1} ({:.1}-{:.1})",
            spread.median, spread.low, spread.high
        )
    };
    let ratio = |ratio: Option<f64>| ratio.map_or("-".to_string(), |ratio| format!("{ratio:.2}"));
    let memory = |index: usize| {
        measured
            .memory
            .map_or("-".to_string(), |memory| format!("{:.0}", memory[index]))
    };
    format!(
        "{:<13}  {:>5}  {:>5}  {:<24}  {:<24}  {:>5}  {:>5}  {:>9}  {:>7}  {:>5}",
        measured.setting.workload.name(),
        measured.setting.batch,
        measured.steps,
        spread(measured.plain.wall),
        spread(measured.private.wall),
        ratio(Some(wall_ratio(measured))),
        ratio(cpu_ratio(measured)),
        memory(0),
        memory(1),
        ratio(memory_ratio(measured)),
    )
}

/// Everything measured, as JSON.
pub fn to_json(measured: &Measured, threads: Option<usize>) -> Value {
    let kind = |times: Times, peak: Option<f64>| {
        let mut object = times_to_json(times);
        object["peak_mib"] = peak.into();
        object
    };
    let [plain_peak, private_peak] = [0, 1].map(|index| measured.memory.map(|m| m[index]));
    json!({
        "workload": measured.setting.workload.name(),
        "batch": measured.setting.batch,
        "steps": measured.steps,
        "records_per_pass": measured.records_per_pass,
        "threads": threads.unwrap_or_else(rayon::current_num_threads),
        "query_directions": measured.setting.query_directions,
        "precision": measured.setting.precision,
        "plain": kind(measured.plain, plain_peak),
        "private": kind(measured.private, private_peak),
        "private_on_gpu_mib": measured.on_gpu,
        "ratio": {
            "wall": wall_ratio(measured),
            "cpu": cpu_ratio(measured),
            "peak": memory_ratio(measured),
        },
    })
}

/// Times of one kind of step, as JSON.
pub fn times_to_json(times: Times) -> Value {
    let spread =
        |spread: Spread| json!({ "median": spread.median, "p10": spread.low, "p90": spread.high });
    json!({ "wall_ms": spread(times.wall), "cpu_ms": times.cpu.map(spread) })
}

fn wall_ratio(measured: &Measured) -> f64 {
    measured.private.wall.median / measured.plain.wall.median
}

fn cpu_ratio(measured: &Measured) -> Option<f64> {
    let medians = measured.private.cpu.zip(measured.plain.cpu);
    medians.map(|(private, plain)| private.median / plain.median)
}

fn memory_ratio(measured: &Measured) -> Option<f64> {
    measured.memory.map(|[plain, private]| private / plain)
}
