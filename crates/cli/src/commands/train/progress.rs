//! What is shown while a run goes on. Nothing here depends on the data.

use super::Args;
use super::spending::Spending;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tacita::{CheckedPlan, Progress};

/// The plan in words, then a bar with the steps, ε so far and the time left.
pub struct ProgressLine {
    bar: ProgressBar,
    spending: Spending,
}

impl ProgressLine {
    /// Says what will be done and draws an empty bar.
    pub fn start(args: &Args, plan: &CheckedPlan, parameters: usize, spending: Spending) -> Self {
        if args.quiet {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            return Self { bar, spending };
        }
        if let Some(seed) = args.seed {
            eprintln!(
                "NOT PRIVATE: --seed {seed} fixes the noise, so anyone can subtract it. For \
                 experiments only."
            );
        }
        eprintln!(
            "Training a CNN of {parameters} parameters on {} handwritten digits",
            plan.public_record_count()
        );
        eprintln!(
            "  plan        {} steps, expected batch {} (Poisson, rate {:.4}), AUTO-S clipping",
            plan.steps(),
            plan.expected_batch(),
            plan.rate()
        );
        let noise: Vec<String> = (plan.noise_multipliers(0).iter())
            .map(|z| format!("{z:.4}"))
            .collect();
        eprintln!(
            "  noise       multiplier {}, certified before the first step",
            noise.join(", ")
        );
        let style = ProgressStyle::with_template(
            "  {bar:30} step {pos}/{len}  ε so far ≈ {msg}  {eta} left",
        );
        let bar = ProgressBar::new(plan.steps());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message("0.00");
        Self { bar, spending }
    }

    /// Moves the bar.
    pub fn show(&self, at: &Progress) {
        self.bar
            .set_message(format!("{:.2}", self.spending.at(at.step)));
        self.bar.set_position(at.step);
    }

    /// Takes the bar away; the summary follows.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
