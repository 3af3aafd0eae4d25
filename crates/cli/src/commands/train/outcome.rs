//! What a run gave: accuracy and privacy, in words and in JSON.

use super::folder::RunFolder;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use tacita::Report;

/// A finished run.
#[derive(Debug)]
pub struct Outcome {
    /// Share of the public test records whose class was guessed.
    pub accuracy: f64,
    /// The privacy statement.
    pub report: Report,
    /// Time of training. Shown, but kept out of the run folder: it depends on the batches drawn.
    pub seconds: f64,
}

impl Outcome {
    /// The summary `--json` prints.
    pub fn summary(&self, folder: &Path) -> Value {
        json!({
            "accuracy": self.accuracy,
            "private": self.report.private,
            "epsilon": { "lower": self.report.epsilon_lower, "upper": self.report.epsilon_upper },
            "delta": self.report.delta,
            "steps": self.report.steps,
            "noise_multiplier": self.report.noise_multipliers[0],
            "seconds": self.seconds,
            "folder": folder,
        })
    }

    /// The summary for people.
    pub fn text(&self, folder: &RunFolder) -> String {
        let mut text = String::new();
        let accuracy = 100.0 * self.accuracy;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "Held-out accuracy {accuracy:.1} % on 1,797 public digits by other writers, after {:.1} s",
            self.seconds
        );
        let _ = writeln!(text, "\n{}", self.report);
        let _ = writeln!(text, "Written to {}", folder.path().display());
        for (path, what) in [
            (folder.model(), "the model (Burn's format)"),
            (folder.report(), "the privacy report"),
            (
                folder.ledger(),
                "every release, recorded before it was made",
            ),
        ] {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(text, "  {name:<14}{what}");
        }
        text
    }
}
