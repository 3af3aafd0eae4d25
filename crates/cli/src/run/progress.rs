//! What is shown during a run. Nothing here depends on the data but through released values, unless the
//! time left is asked for.

use super::guard_rails;
use super::outcome::Output;
use super::planned_run::PlannedRun;
use super::run_folder::{RunRecord, StartedFrom};
use super::spending::Spending;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use tacita::Progress;
use tacita_accounting::decimal::{count, up};

/// Lines of a whole run where there is no bar. They have no times, which would tell of the records.
const LINES: u64 = 10;

/// The plan in words, then a bar with the steps and ε so far.
pub struct ProgressLine {
    bar: ProgressBar,
    spending: Spending,
    /// Steps between two lines, where there is no terminal to draw a bar on.
    lines_every: Option<u64>,
}

impl ProgressLine {
    /// Says what will be done and draws an empty bar.
    pub fn start(
        run: &PlannedRun,
        record: &RunRecord,
        parameters: usize,
        output: Output,
    ) -> Result<Self> {
        let spending = Spending::forecast(&run.plan)?;
        if output.quiet {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            return Ok(Self {
                bar,
                spending,
                lines_every: None,
            });
        }
        let start = record.start.as_ref();
        eprintln!("{}", words(run, &record.name, Some(parameters), start));
        let style = ProgressStyle::with_template(match output.timing {
            true => "  {bar:30} step {pos}/{len}  ε so far ≈ {msg}  {eta} left (NOT PRIVATE)",
            false => "  {bar:30} step {pos}/{len}  ε so far ≈ {msg}",
        });
        let bar = ProgressBar::new(run.plan.steps());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("0.00");
        let lines = !std::io::stderr().is_terminal();
        Ok(Self {
            bar,
            spending,
            lines_every: lines.then(|| run.plan.steps().div_ceil(LINES)),
        })
    }

    /// Begins at the step of a checkpoint, so that the time left is that of what remains.
    pub fn begin_after(&self, step: u64) {
        self.bar
            .set_message(format!("{:.2}", self.spending.at(step)));
        self.bar.set_position(step);
        self.bar.reset_eta();
    }

    /// Moves the bar.
    pub fn show(&self, at: &Progress) {
        self.bar
            .set_message(format!("{:.2}", self.spending.at(at.step)));
        self.bar.set_position(at.step);
        if (self.lines_every).is_some_and(|every| at.step.is_multiple_of(every)) {
            let steps = self.bar.length().unwrap_or(at.step);
            eprintln!(
                "  step {}/{steps}  ε so far ≈ {:.2}",
                at.step,
                self.spending.at(at.step)
            );
        }
    }

    /// Takes the bar away; the summary follows.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A run in a few lines.
pub fn words(
    run: &PlannedRun,
    name: &str,
    parameters: Option<usize>,
    start: Option<&StartedFrom>,
) -> String {
    let plan = &run.plan;
    let mut lines = Vec::new();
    if let Some(seed) = run.settings.seed {
        lines.push(format!(
            "NOT PRIVATE: --seed {seed} fixes the noise, so anyone can subtract it. For experiments only."
        ));
    }
    let own = run.settings.own_data().is_some();
    let counted = match plan.records_per_unit() {
        Some(_) => "people",
        None => "records",
    };
    lines.push(format!(
        "Training {}{} on {name}, {} {counted}",
        run.model.name.name(),
        parameters.map_or_else(String::new, |parameters| {
            format!(" ({} parameters)", count(parameters as u64))
        }),
        count(plan.public_record_count())
    ));
    lines.push(format!(
        "  plan        {} steps, expected batch {} (Poisson, rate {:.4})",
        plan.steps(),
        plan.expected_batch(),
        plan.rate()
    ));
    if let Some(most) = plan.records_per_unit() {
        lines.push(format!(
            "  unit        one person; at most {most} records of each in a step, drawn anew every time"
        ));
    }
    if own {
        // The same words whatever the data: which records those are depends on them.
        lines.push(
            "  records     those that cannot be used are left out and not mentioned; `tacita check` lists them"
                .into(),
        );
    }
    let settings = &run.settings;
    if let (Some(preset), Some(because)) = (settings.preset, settings.preset_because()) {
        let name = format!("{preset:?}").to_lowercase();
        lines.push(format!("  preset      {name}: {because}"));
    }
    if let Some(features) = settings.features {
        lines.push(format!(
            "  features    {}, which cost no privacy",
            features.name()
        ));
    }
    if let Some(start) = start {
        lines.push(format!(
            "  start       {:?}, whose records are not covered: {}",
            start.file,
            start.extent()
        ));
    }
    if let Some(because) = run.because() {
        lines.push(format!("  model       {because}"));
    }
    let mut policy = settings
        .clipping
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    if settings.per_layer {
        policy.push_str(" per layer");
    }
    if let Some(ratio) = settings.threshold_decay {
        policy.push_str(&format!(", threshold decay {ratio}"));
    }
    if let Some(ratio) = settings.growing_mu {
        policy.push_str(&format!(", growing mu {ratio}"));
    }
    lines.push(format!(
        "  policy      clipping {policy}; {} at rate {} ({})",
        run.optimizer,
        settings.learning_rate.unwrap_or(f64::NAN),
        settings.rate_schedule.unwrap_or_default(),
    ));
    let noise: Vec<String> = (plan.noise_multipliers(0).iter())
        .map(|z| format!("{z:.4}"))
        .collect();
    let last = plan.noise_multipliers(plan.steps() - 1)[0];
    let falling = if last == plan.noise_multipliers(0)[0] {
        String::new()
    } else {
        format!(" to {last:.4}")
    };
    lines.push(format!(
        "  noise       multiplier {}{falling}, certified before the first step",
        noise.join(", ")
    ));
    if let Some(claim) = plan.claim() {
        let upper = plan.epsilon().upper_bound().unwrap_or(f64::INFINITY);
        lines.push(format!(
            "  claim       ε ≈ {} by the paper's accountant; certified: ε ≤ {}",
            claim.epsilon,
            up(upper, 5)
        ));
    }
    let warnings = guard_rails::warnings(run);
    lines.extend((warnings.iter()).map(|warning| format!("  warning     {warning}")));
    lines.join("\n")
}
