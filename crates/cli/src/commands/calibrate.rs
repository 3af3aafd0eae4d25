//! `tacita calibrate`: the least noise that keeps a budget, or the most steps.

use super::account::read_ledger;
use super::accountants::{Choice, Choices};
use super::run_size::SizeArgs;
use super::schedule::Schedule;
use super::statement::{circumstances, figure, short, to_json, up, warrant};
use crate::plot;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::PathBuf;
use tacita_accounting::calibrate::{Budget, estimated_noise, most_steps, smallest_noise};
use tacita_accounting::{
    Accountant, CltSchedule, FirstStep, Ledger, Pld, Reading, Round, Sampling,
};

/// Arguments of `tacita calibrate`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  tacita calibrate --epsilon 3 --delta 1e-5 --records 60000 --batch 512 --epochs 20
  tacita calibrate --epsilon 1.2 --delta 1e-5 --rate 0.01 --steps 5000 --growing-mu 2 --paper
  tacita calibrate --epsilon 3 --delta 1e-5 --rate 0.01 --noise 1.1 --most-steps
  tacita calibrate --epsilon 3 --delta 1e-5 --rate 0.01 --noise 1.1 --most-steps --spent ledger.json

The multiplier is rounded up and the ε shown is that of the multiplier shown in JSON. The multiplier
of a growing-μ schedule at step t of T is 1/(μ₀ ρ^(t/T)), t = 1..T; the one printed is 1/μ₀."
)]
pub struct Args {
    /// Budget ε
    #[arg(long, value_name = "E")]
    epsilon: f64,
    /// Budget δ
    #[arg(long, value_name = "D")]
    delta: f64,
    #[command(flatten)]
    size: SizeArgs,
    /// Let μ = 1/multiplier grow by this factor over the run (noise falls); may be repeated
    #[arg(long, value_name = "RHO", value_delimiter = ',')]
    growing_mu: Vec<f64>,
    /// Relative multipliers of the steps: a file with a JSON array, one number per step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["growing_mu", "steps", "epochs"])]
    shape: Option<PathBuf>,
    /// Pay for a side query (OSO) by raising the gradient's noise by this share, say 0.01
    #[arg(long, value_name = "SHARE")]
    side_query_increase: Option<f64>,
    /// Pay for a side query (a clip count) of this noise multiplier in every step
    #[arg(long, value_name = "Z", conflicts_with = "side_query_increase")]
    side_query_noise: Option<f64>,
    /// Give the most steps within the budget at --noise instead
    #[arg(long, requires = "noise", conflicts_with_all = ["steps", "epochs", "growing_mu", "shape", "paper", "side_query_increase"])]
    most_steps: bool,
    /// Noise multiplier for --most-steps
    #[arg(long, value_name = "Z", requires = "most_steps")]
    noise: Option<f64>,
    /// Ledger of rounds that were made already and count against the budget
    #[arg(long, value_name = "FILE", conflicts_with = "records_per_unit")]
    spent: Option<PathBuf>,
    /// Also give the growing-μ paper's own μ₀ (limit theorem) and what its schedule really costs
    #[arg(long, conflicts_with_all = ["shape", "spent", "records_per_unit"])]
    paper: bool,
    /// pld, rdp, gdp, zcdp, tcdp or all; gdp only estimates
    #[arg(long, value_name = "NAME", default_value = "pld", value_parser = Choices::parse)]
    accountant: Choices,
    /// Print JSON instead of a statement
    #[arg(long)]
    json: bool,
    /// Write the ledger that the calibrated run will make
    #[arg(long, value_name = "FILE")]
    write_ledger: Option<PathBuf>,
    /// Draw the privacy curve and the budget spent over the steps
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// One calibrated schedule.
struct Outcome {
    text: String,
    object: Value,
    name: String,
    ledger: Ledger,
}

/// Runs `tacita calibrate`.
pub fn run(args: &Args) -> Result<()> {
    let outcomes = outcomes(args)?;
    if let Some(path) = &args.write_ledger {
        let [only] = &outcomes[..] else {
            bail!(
                "--write-ledger writes one schedule, and {} were asked for",
                outcomes.len()
            );
        };
        std::fs::write(path, only.ledger.to_json() + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.plot {
        let ledgers: Vec<(String, Ledger)> = outcomes
            .iter()
            .map(|o| (o.name.clone(), o.ledger.clone()))
            .collect();
        plot::spent(path, &ledgers, args.delta)?;
    }
    if args.json {
        let mut objects: Vec<Value> = outcomes.into_iter().map(|o| o.object).collect();
        let printed = if objects.len() == 1 {
            objects.remove(0)
        } else {
            Value::Array(objects)
        };
        println!("{printed}");
    } else {
        let texts: Vec<String> = outcomes.into_iter().map(|o| o.text).collect();
        print!("{}", texts.join("\n"));
    }
    Ok(())
}

fn outcomes(args: &Args) -> Result<Vec<Outcome>> {
    let budget = Budget::new(args.epsilon, args.delta)?;
    let spent = match &args.spent {
        Some(path) => read_ledger(path)?.1,
        None => args.size.empty_ledger()?,
    };
    let mut outcomes = Vec::new();
    let mut refusal = None;
    for choice in args.accountant.list() {
        match outcomes_of(args, choice, budget, &spent) {
            Ok(found) => outcomes.extend(found),
            Err(error) => {
                refusal.get_or_insert(error);
            }
        }
    }
    match refusal {
        Some(error) if outcomes.is_empty() => Err(error),
        _ => Ok(outcomes),
    }
}

fn outcomes_of(
    args: &Args,
    choice: Choice,
    budget: Budget,
    spent: &Ledger,
) -> Result<Vec<Outcome>> {
    if let (true, Some(noise)) = (args.most_steps, args.noise) {
        return Ok(vec![longest(args, choice, budget, spent, noise)?]);
    }
    (schedules(args)?.iter())
        .map(|schedule| least_noise(args, choice, budget, spent, schedule))
        .collect()
}

fn schedules(args: &Args) -> Result<Vec<Schedule>> {
    if let Some(path) = &args.shape {
        return Ok(vec![Schedule::read(path)?]);
    }
    let steps = args.size.steps()?;
    if args.growing_mu.is_empty() {
        return Ok(vec![Schedule::Constant { steps }]);
    }
    let growing = |&growth| Schedule::GrowingMu { growth, steps };
    Ok(args.growing_mu.iter().map(growing).collect())
}

fn least_noise(
    args: &Args,
    choice: Choice,
    budget: Budget,
    spent: &Ledger,
    schedule: &Schedule,
) -> Result<Outcome> {
    let sampling = Sampling::Poisson {
        rate: args.size.rate()?,
    };
    let mut shape = schedule.shape(spent, sampling)?;
    if let Some(share) = args.side_query_increase {
        shape = shape.with_noise_increase(share)?;
    } else if let Some(noise_multiplier) = args.side_query_noise {
        shape = shape.with_side_query(noise_multiplier);
    }
    let accountant = choice.accountant();
    let found = match choice {
        Choice::Gdp => estimated_noise(&shape, budget, accountant.as_ref())?,
        _ => smallest_noise(&shape, budget, accountant.as_ref())?,
    };
    // The gradient's multiplier, of which the scale is less than all if it pays for a side query.
    let scale = found.noise_multiplier * (1.0 + args.side_query_increase.unwrap_or(0.0));
    let mut object = json!({
        "accountant": accountant.name(),
        "delta": args.delta,
        "epsilon": to_json(found.epsilon),
        "noise_multiplier": scale,
        "steps": schedule.steps(),
    });
    let mut text = format!(
        "noise multiplier {}{}\n",
        up(scale),
        schedule.describe(scale)
    );
    if let Some(share) = args.side_query_increase {
        // ν_q = (ν⁻² − ν_g⁻²)^(−1/2).
        let side = scale / (share * (2.0 + share)).sqrt();
        object["side_query_noise_multiplier"] = json!(side);
        text += &format!(
            "side query multiplier {} (in the same proportion in every step)\n",
            up(side)
        );
    }
    if let Schedule::GrowingMu { growth, .. } = schedule {
        object["growing_mu"] = json!(growth);
        object["mu_zero"] = json!(scale.recip());
    }
    text += &guarantee(args, choice, found.epsilon, &found.ledger);
    if args.paper {
        let (lines, figures) = paper(args, schedule)?;
        text += &lines;
        object["paper"] = figures;
    }
    Ok(Outcome {
        text,
        object,
        name: schedule.name(),
        ledger: found.ledger,
    })
}

fn longest(
    args: &Args,
    choice: Choice,
    budget: Budget,
    spent: &Ledger,
    noise: f64,
) -> Result<Outcome> {
    let sampling = Sampling::Poisson {
        rate: args.size.rate()?,
    };
    let queries = [Some(noise), args.side_query_noise]
        .into_iter()
        .flatten()
        .collect();
    let round = Round::new(sampling, queries)?;
    let accountant = choice.accountant();
    let steps = most_steps(spent, &round, budget, accountant.as_ref())?;
    ensure!(
        steps > 0,
        "not one step fits: it would cost more than epsilon = {} at delta = {}; use more noise",
        args.epsilon,
        short(args.delta)
    );
    let mut ledger = spent.clone();
    ledger.push(round.times(steps))?;
    let reading = accountant.epsilon(&ledger, args.delta)?;
    let object = json!({
        "accountant": accountant.name(),
        "delta": args.delta,
        "epsilon": to_json(reading),
        "noise_multiplier": noise,
        "steps": steps,
    });
    let after = match spent.rounds_made() {
        0 => String::new(),
        made => format!(", after the {made} already made"),
    };
    let text = format!("at most {steps} steps at noise multiplier {noise}{after}\n")
        + &guarantee(args, choice, reading, &ledger);
    Ok(Outcome {
        text,
        object,
        name: format!("{steps} steps"),
        ledger,
    })
}

fn guarantee(args: &Args, choice: Choice, reading: Reading, ledger: &Ledger) -> String {
    format!(
        "ε {} at δ = {}  ({})\n  accountant  {}\n{}",
        figure(reading),
        short(args.delta),
        warrant(reading),
        choice.describe(),
        circumstances(ledger)
    )
}

/// The paper's own calibration of the same schedule, and what it really costs.
fn paper(args: &Args, schedule: &Schedule) -> Result<(String, Value)> {
    let growth = match schedule {
        Schedule::GrowingMu { growth, .. } => *growth,
        _ => 1.0,
    };
    let paper = CltSchedule::growing_mu(
        args.epsilon,
        args.delta,
        args.size.rate()?,
        schedule.steps(),
        growth,
        FirstStep::One,
    )?;
    let truth = Pld::default().epsilon(&paper.ledger()?, args.delta)?;
    let text = format!(
        "\nthe paper's own calibration (limit theorem, no guarantee): μ₀ = {:.6}, multiplier {}\n  \
         it claims ε = {}; its schedule really has ε {}  ({})\n",
        paper.mu_zero,
        up(paper.mu_zero.recip()),
        args.epsilon,
        figure(truth),
        warrant(truth)
    );
    let figures = json!({
        "mu_total": paper.mu_total,
        "mu_zero": paper.mu_zero,
        "noise_multiplier": paper.mu_zero.recip(),
        "claimed_epsilon": { "estimate": args.epsilon },
        "epsilon": to_json(truth),
    });
    Ok((text, figures))
}
