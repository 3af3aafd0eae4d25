//! `tacita account`: what a plan or a run's ledger costs.

use super::accountants::{Choice, Choices};
use super::run_size::SizeArgs;
use super::statement::{check_finite, circumstances, figure, short, to_json, warrant};
use crate::plot;
use crate::report::figures;
use crate::report::risk::{Risk, risk};
use crate::run::{PartOfSearch, RunFolder};
use crate::tune;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Map, Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use tacita::{LedgerRecord, SearchKind};
use tacita_accounting::decimal::{exact, up};
use tacita_accounting::{
    Accountant, Ledger, Pld, Reading, SharedWork, check_delta, check_epsilon, whole_grid,
};

/// Arguments of `tacita account`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  tacita account --ledger runs/digits-1/ledger.jsonl --delta 1e-5
  tacita account --records 60000 --batch 512 --epochs 10 --noise 1.0 --delta 1e-5 --accountant all
  tacita account --ledger a.json --ledger b.json --delta 1e-5 --plot spent.svg

Bounds (≤) are proved, floating point included. Estimates (≈) guarantee nothing."
)]
pub struct Args {
    /// Ledger of a run or of a plan, - for a plan from standard input; several are also stated together
    #[arg(long, value_name = "FILE", conflicts_with_all = ["records", "rate", "steps", "noise", "records_per_unit"])]
    ledger: Vec<PathBuf>,
    #[command(flatten)]
    size: SizeArgs,
    /// Noise multiplier of the plan (noise std / sensitivity); several for joint queries, 4.0,28.5
    #[arg(long, value_name = "Z", value_delimiter = ',')]
    noise: Vec<f64>,
    /// Give ε at this δ
    #[arg(long, value_name = "D", required_unless_present = "epsilon")]
    delta: Option<f64>,
    /// Give δ at this ε
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// pld, rdp, gdp, zcdp, tcdp or all
    #[arg(long, value_name = "NAME", default_value = "pld", value_parser = Choices::parse)]
    accountant: Choices,
    /// Also state what it means: attacks, suspicions, guesses at a record (needs --delta)
    #[arg(long, requires = "delta")]
    risk: bool,
    /// Print JSON instead of a statement
    #[arg(long)]
    json: bool,
    /// Draw the privacy curve and the budget spent over the steps (needs --delta)
    #[arg(long, value_name = "FILE.svg", requires = "delta")]
    plot: Option<PathBuf>,
}

/// What one accountant says of one ledger.
struct Answer {
    risk: Option<Risk>,
    choice: Choice,
    epsilon: Option<Reading>,
    delta: Option<Reading>,
}

/// Runs `tacita account`.
pub fn run(args: &Args) -> Result<()> {
    if let Some(delta) = args.delta {
        check_delta(delta)?;
    }
    if let Some(epsilon) = args.epsilon {
        check_epsilon(epsilon)?;
    }
    let ledgers = ledgers(args)?;
    let mut texts = Vec::new();
    let mut objects = Vec::new();
    let work = shared_work(args, ledgers.len());
    for (name, ledger) in &ledgers {
        let answers = answers(args, ledger, &work).with_context(|| name.clone())?;
        let label = if ledgers.len() > 1 { name.as_str() } else { "" };
        texts.push(text(args, label, ledger, &answers));
        objects.extend(answers.iter().map(|answer| object(args, label, answer)));
    }
    if ledgers.len() > 1 {
        let runs: Vec<Ledger> = ledgers.iter().map(|(_, ledger)| ledger.clone()).collect();
        let joint = whole_grid(&runs).map_err(anyhow::Error::from);
        match joint.and_then(|joint| Ok((answers(args, &joint, &work)?, joint))) {
            Ok((answers, joint)) => {
                let label = "all together, if they are about the same records";
                texts.push(text(args, label, &joint, &answers));
                objects.extend(
                    answers
                        .iter()
                        .map(|answer| object(args, "all together", answer)),
                );
            }
            Err(error) => eprintln!("no figure for all together: {error:#}"),
        }
    }
    if let Some(path) = &args.plot {
        let delta = args.delta.ok_or_else(|| anyhow!("--plot needs --delta"))?;
        plot::spent(path, &ledgers, delta)?;
    }
    if args.json {
        let printed = match <[Value; 1]>::try_from(objects) {
            Ok([only]) => only,
            Err(several) => Value::Array(several),
        };
        println!("{printed}");
    } else {
        print!("{}", texts.join("\n"));
    }
    Ok(())
}

fn ledgers(args: &Args) -> Result<Vec<(String, Ledger)>> {
    if args.ledger.is_empty() {
        if args.size.is_empty() {
            bail!(
                "nothing to account: give --ledger FILE, or --records N --batch B --epochs K \
                 --noise Z"
            );
        }
        ensure!(
            !args.noise.is_empty(),
            "give the noise multiplier: --noise Z"
        );
        return Ok(vec![("plan".to_string(), args.size.ledger(&args.noise)?)]);
    }
    args.ledger.iter().map(|path| read_ledger(path)).collect()
}

/// Longest ledger that is read: some two million rounds of different noise.
const MOST_BYTES: u64 = 256 << 20;

fn check_size(name: &str, bytes: u64) -> Result<()> {
    ensure!(
        bytes <= MOST_BYTES,
        "{name} is longer than the {} MiB that are read; count equal rounds together (\"times\"), or give \
         rounds that are nearly alike the noise of the least noisy among them",
        MOST_BYTES >> 20
    );
    Ok(())
}

/// How the ledger file of a training run begins.
const RUN_LEDGER: &str = "{\"tacita_ledger\":";

/// The ledger of one run of a search does not pay for the choice among them. Of a run of a random search it says
/// nothing at all; of a run of a grid it is what that run alone costs, and that is said. Its first line tells, wherever
/// it was copied; of a ledger of an earlier version, the record beside it.
fn of_a_search(path: &Path, ledger: &LedgerRecord) -> Result<()> {
    let shown = path.display();
    ensure!(
        !ledger.is_secret(),
        "{shown} is of one of the secret runs of a random search, of which only the best may be seen; it does not say \
         what publishing anything costs"
    );
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = Path::new(".").join(folder);
    tune::refuse_secret(&folder)?;
    let beside = || (RunFolder::open(&folder).ok()).and_then(|(_, record)| record.search);
    let search = (ledger.label.search).or_else(|| beside().map(PartOfSearch::in_ledger));
    let Some(search) = search else {
        return Ok(());
    };
    let guarantee = format!(
        "ε ≤ {} at δ = {}",
        up(search.epsilon_upper, 5),
        exact(search.delta)
    );
    ensure!(
        search.kind == SearchKind::Grid,
        "{shown} is of the best run of a random search, whose ledger alone does not say what publishing it costs; \
         the guarantee is that of the search: {guarantee}"
    );
    eprintln!(
        "PART OF A SEARCH: {shown} is of one run of a grid. The figures are of this run alone; all that the search \
         published, the choice included, keeps {guarantee}."
    );
    Ok(())
}

/// Reads a ledger or the ledger file of a run; errors name the file.
pub fn read_ledger(path: &Path) -> Result<(String, Ledger)> {
    let name = path.display().to_string();
    let mut json = String::new();
    if name == "-" {
        std::io::stdin()
            .take(MOST_BYTES + 1)
            .read_to_string(&mut json)
            .context("cannot read standard input")?;
    } else {
        if let Ok(size) = std::fs::metadata(path).map(|file| file.len()) {
            check_size(&name, size)?;
        }
        json = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    }
    check_size(&name, json.len() as u64)?;
    let ledger = if json.starts_with(RUN_LEDGER) {
        let record = tacita::read_ledger_file(path)?;
        if !record.private {
            eprintln!(
                "NOT PRIVATE: {name} is of a run with a fixed seed, whose noise anyone can subtract, or with diagnostics. \
                 The figures are those the plan would have with secret keys."
            );
        }
        of_a_search(path, &record)?;
        // The whole plan, even if the run stopped early: stopping may depend on what was seen.
        record.plan
    } else {
        Ledger::from_json(&json).with_context(|| name.clone())?
    };
    ledger.check_not_empty().with_context(|| name.clone())?;
    Ok((name, ledger))
}

/// The work of all that is asked for at once: each ledger, and all together if they are several.
fn shared_work(args: &Args, ledgers: usize) -> SharedWork {
    let asked = usize::from(args.delta.is_some()) + usize::from(args.epsilon.is_some());
    let stated = if ledgers > 1 { ledgers + 1 } else { ledgers };
    let accountants: Vec<_> = (args.accountant.list().iter())
        .map(|choice| choice.accountant())
        .collect();
    let all = accountants.iter().map(AsRef::as_ref);
    let curve = Pld::default();
    let curves = std::iter::repeat_n(
        &curve as &dyn Accountant,
        if args.risk { stated } else { 0 },
    );
    SharedWork::among((0..asked * stated).flat_map(|_| all.clone()).chain(curves))
}

/// The answers of the accountants asked for. One that was asked for by name must answer; of all,
/// those that cannot treat the ledger are left out, unless none can.
fn answers(args: &Args, ledger: &Ledger, work: &SharedWork) -> Result<Vec<Answer>> {
    let mut answers = Vec::new();
    let mut refusal = None;
    for choice in args.accountant.list() {
        match answer(args, choice, ledger, work) {
            Ok(answer) => answers.push(answer),
            Err(error) => {
                refusal.get_or_insert(error);
            }
        }
    }
    if let Some(error) = refusal.filter(|_| answers.is_empty()) {
        return Err(error);
    }
    if args.risk {
        let risk = risk_of(args, ledger, &answers, work)?;
        answers
            .iter_mut()
            .for_each(|answer| answer.risk.clone_from(&risk));
    }
    Ok(answers)
}

fn answer(args: &Args, choice: Choice, ledger: &Ledger, work: &SharedWork) -> Result<Answer> {
    let accountant = choice.accountant();
    let epsilon = match args.delta {
        Some(delta) => Some(check_finite(work.epsilon(&*accountant, ledger, delta)?)?),
        None => None,
    };
    let delta = match args.epsilon {
        Some(epsilon) => Some(check_finite(work.delta(&*accountant, ledger, epsilon)?)?),
        None => None,
    };
    Ok(Answer {
        risk: None,
        choice,
        epsilon,
        delta,
    })
}

/// The risks of a ledger. They are those of its certified curve, whatever accountants were asked for.
fn risk_of(
    args: &Args,
    ledger: &Ledger,
    answers: &[Answer],
    work: &SharedWork,
) -> Result<Option<Risk>> {
    let uppers = answers.iter().filter_map(|answer| answer.epsilon);
    let upper = uppers.filter_map(Reading::upper_bound).reduce(f64::min);
    match (args.delta, upper) {
        (Some(delta), Some(upper)) if upper <= figures::MEANINGLESS => {
            let curve = figures::curve_sharing(ledger, figures::CURVE_END * upper, work)?;
            Ok(risk(&curve, delta))
        }
        _ => Ok(None),
    }
}

fn object(args: &Args, label: &str, answer: &Answer) -> Value {
    let mut object = Map::new();
    if !label.is_empty() {
        object.insert("ledger".to_string(), json!(label));
    }
    let name = answer.choice.accountant().name();
    object.insert("accountant".to_string(), json!(name));
    match (answer.epsilon, answer.delta) {
        (Some(epsilon), delta) => {
            object.insert("delta".to_string(), json!(args.delta));
            object.insert("epsilon".to_string(), to_json(epsilon));
            if let Some(delta) = delta {
                let at = json!({ "epsilon": args.epsilon, "delta": to_json(delta) });
                object.insert("at_epsilon".to_string(), at);
            }
        }
        (None, Some(delta)) => {
            object.insert("epsilon".to_string(), json!(args.epsilon));
            object.insert("delta".to_string(), to_json(delta));
        }
        (None, None) => {}
    }
    if let Some(risk) = &answer.risk {
        object.insert("risk".to_string(), json!(risk));
    }
    Value::Object(object)
}

fn text(args: &Args, label: &str, ledger: &Ledger, answers: &[Answer]) -> String {
    let mut text = String::new();
    if !label.is_empty() {
        text += &format!("{label}\n");
    }
    for answer in answers {
        let name = match args.accountant {
            Choices::All => format!("{:<5} ", answer.choice.accountant().name()),
            Choices::One(_) => String::new(),
        };
        let lines = [
            (answer.epsilon, "ε", "δ", args.delta),
            (answer.delta, "δ", "ε", args.epsilon),
        ];
        for (reading, what, given, value) in lines {
            if let (Some(reading), Some(value)) = (reading, value) {
                let figure = figure(reading);
                text += &format!(
                    "{name}{what} {figure} at {given} = {}  ({})\n",
                    short(value),
                    warrant(reading)
                );
            }
        }
    }
    let risk = answers.iter().find_map(|answer| answer.risk.as_ref());
    for sentence in risk.iter().flat_map(|risk| risk.sentences()) {
        text += &format!("  risk        {sentence}\n");
    }
    if let (Choices::One(choice), [_]) = (args.accountant, answers) {
        text += &format!("  accountant  {}\n", choice.describe());
    }
    text + &circumstances(ledger)
}
