//! What a run would be, on the terminal.

use crate::run::{DryRun, words};
use serde_json::json;
use tacita_accounting::decimal::{count, up};

/// Prints the plan, its guarantee, and an estimate of time and memory.
pub fn print(dry: &DryRun, as_json: bool) {
    let plan = &dry.run.plan;
    let estimate = dry.estimate;
    let seconds = estimate
        .map(|estimate| estimate.seconds_before + estimate.step_seconds * plan.steps() as f64);
    let upper = plan.epsilon().upper_bound().unwrap_or(f64::INFINITY);
    let parameters = estimate.map(|estimate| estimate.parameters);
    if as_json {
        let summary = json!({
            "epsilon": { "lower": plan.epsilon().lower_bound(), "upper": upper },
            "delta": plan.delta(),
            "steps": plan.steps(),
            "rate": plan.rate(),
            "noise_multiplier": plan.noise_multipliers(0)[0],
            "parameters": parameters,
            "trained_parameters": estimate.map(|estimate| estimate.trained),
            "seconds": seconds,
            "peak_bytes": estimate.and_then(|estimate| estimate.peak_bytes),
            "unit": if plan.records_per_unit().is_some() { "person" } else { "record" },
            "other_way": dry.other_way.map(|other| json!({
                "noise_multiplier": other.noise_multiplier,
                "noise_ratio": other.noise_ratio,
            })),
        });
        println!("{summary}");
        return;
    }
    let name = dry.run.settings.name_of_data();
    println!("{}", words(&dry.run, &name, parameters, dry.start.as_ref()));
    if let Some(estimate) = estimate.filter(|estimate| estimate.trained < estimate.parameters) {
        println!(
            "  trained     {} parameters{}; {} are frozen",
            count(estimate.trained as u64),
            match dry.run.settings.adapt {
                Some(adapt) => format!(" ({adapt})"),
                None => String::new(),
            },
            count((estimate.parameters - estimate.trained) as u64)
        );
    }
    println!(
        "  guarantee   ε ≤ {} at δ = {:e}",
        up(upper, 5),
        plan.delta()
    );
    if let (Some(other), Some(most)) = (dry.other_way, plan.records_per_unit()) {
        let better = match other.noise_ratio < 1.0 {
            true => "less",
            false => "more",
        };
        println!(
            "  other way   --draw-records, at most {most} of a person in the data, would take multiplier {:.4} for the same \
             guarantee: {:.2} times the noise on a mean gradient if everyone has {most} records, so {better}",
            other.noise_multiplier, other.noise_ratio
        );
    }
    if let Some(account) = &dry.account {
        println!(
            "  account     {}: ε ≤ {} of {} spent before this run, which it has room for",
            account.name(),
            up(account.epsilon_spent(), 5),
            account.total().epsilon
        );
    }
    match (seconds, estimate) {
        (Some(seconds), Some(estimate)) => {
            let memory = estimate.peak_bytes.map_or_else(
                || "unknown".to_string(),
                |bytes| format!("{} MiB", bytes >> 20),
            );
            println!(
                "  estimate    {} in all ({:.0} ms a step), {memory} of memory beside the data",
                duration(seconds),
                1e3 * estimate.step_seconds
            );
        }
        _ => println!(
            "  estimate    time and memory are not known before columns and classes are declared"
        ),
    }
    println!("A dry run: no data were opened and nothing was spent.");
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
