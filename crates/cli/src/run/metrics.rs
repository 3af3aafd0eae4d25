//! What may be published of a run's course, a line for some of its steps.

use crate::files::{hide_time, write_whole};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// One line: a function of the plan and of released values only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Steps made.
    pub step: u64,
    /// The clipping threshold.
    pub threshold: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// The score on public test records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_score: Option<f64>,
}

/// The lines so far, in memory and in a file.
#[derive(Debug)]
pub struct Metrics {
    file: File,
    lines: Vec<Metric>,
}

impl Metrics {
    /// Begins anew, or continues after a step: later lines of an earlier attempt are dropped.
    pub fn open(path: &Path, after: u64) -> Result<Self> {
        let old = fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<Metric> = (old.lines())
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|metric: &Metric| metric.step <= after)
            .collect();
        let mut kept = String::new();
        for line in &lines {
            kept.push_str(&serde_json::to_string(line)?);
            kept.push('\n');
        }
        // Whole or not at all: a run killed here must not lose the course of its earlier steps.
        write_whole(path, kept.as_bytes())?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { file, lines })
    }

    /// Adds a line. A failure to write is not worth ending a run for; the report has the lines.
    pub fn add(&mut self, metric: Metric) {
        if let Ok(line) = serde_json::to_string(&metric) {
            let _ = writeln!(self.file, "{line}");
            hide_time(&self.file);
        }
        self.lines.push(metric);
    }

    /// All lines.
    pub fn into_lines(self) -> Vec<Metric> {
        self.lines
    }
}
