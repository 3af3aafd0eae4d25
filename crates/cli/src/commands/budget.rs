//! `tacita budget`: accounts, each with one total for all runs on the same records.

use super::account::read_ledger;
use crate::accounts::{AccountPlace, public_name};
use crate::date::today;
use crate::report::facts::AccountFacts;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use tacita::{Account, AccountStanding, AccountTotal, Reservation, ReservedRelease};
use tacita_accounting::decimal::{exact, plain, up};

/// Arguments of `tacita budget`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
An account adds up all runs on the same records. Its total is fixed when it is opened. `tacita train --account NAME` \
reserves the whole plan of a run before it begins, and refuses a run that would exceed the total.

Examples:
  tacita budget patients --open --epsilon 4 --delta 1e-5
  tacita train --csv patients.csv --schema patients.toml --epsilon 1 --account patients
  tacita budget patients
  tacita budget patients --enter runs/earlier/ledger.jsonl"
)]
pub struct Args {
    /// Name of the account, or the path of its file; without it, all accounts are listed
    #[arg(value_name = "NAME")]
    account: Option<String>,
    /// Open it with the total of --epsilon and --delta, which is fixed from then on
    #[arg(long, requires_all = ["account", "epsilon", "delta"], conflicts_with = "enter")]
    open: bool,
    /// Total ε of everything released under the account
    #[arg(long, value_name = "E", requires = "open")]
    epsilon: Option<f64>,
    /// Total δ; below 1 / records
    #[arg(long, value_name = "D", requires = "open")]
    delta: Option<f64>,
    /// Keep the total for a person with up to K records [default: 1]
    #[arg(long, value_name = "K", requires = "open")]
    records_per_unit: Option<u32>,
    /// Count the whole plan of a ledger that was made without the account
    #[arg(long, value_name = "FILE", requires = "account")]
    enter: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `tacita budget`.
pub fn run(args: &Args) -> Result<()> {
    let Some(given) = &args.account else {
        return list(args.json);
    };
    let place = AccountPlace::of(given)?;
    if let (true, Some(epsilon), Some(delta)) = (args.open, args.epsilon, args.delta) {
        open(&place, given, epsilon, delta, args.records_per_unit)?;
    }
    if let Some(ledger) = &args.enter {
        enter(&place, ledger)?;
    }
    let standing = Account::read(&place.file, &place.witnesses, &[])?;
    if args.json {
        println!("{:#}", object(&standing)?);
    } else {
        print!("{}", text(&standing)?);
    }
    Ok(())
}

fn open(
    place: &AccountPlace,
    given: &str,
    epsilon: f64,
    delta: f64,
    records_per_unit: Option<u32>,
) -> Result<()> {
    let total = AccountTotal {
        epsilon,
        delta,
        records_per_unit: records_per_unit.unwrap_or(1),
    };
    if let Some(folder) = place.file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Account::open_new(&place.file, &place.witnesses, &public_name(given), total)?;
    Ok(())
}

fn enter(place: &AccountPlace, ledger: &std::path::Path) -> Result<()> {
    let record = tacita::read_ledger_file(ledger).ok();
    ensure!(
        record.as_ref().is_none_or(|record| record.private),
        "{} is of a run that is not private, which no total can hold: treat its model as the records themselves",
        ledger.display()
    );
    ensure!(
        record.is_none_or(|record| record.label.account.is_none()),
        "{} is of a run that was reserved in an account before it began; it is not counted twice",
        ledger.display()
    );
    let (_, plan) = read_ledger(ledger)?;
    let mut account = Account::open(&place.file, &place.witnesses, &[])?;
    account.enter(Reservation {
        // A new one each time: two runs may have the same plan.
        run: tacita::identifier()?,
        data: "entered".into(),
        date: today(),
        release: ReservedRelease::Run { plan },
        alone: false,
        entered: true,
    })?;
    Ok(())
}

fn list(as_json: bool) -> Result<()> {
    let mut objects = Vec::new();
    for name in AccountPlace::names()? {
        let place = AccountPlace::of(&name)?;
        let standing = Account::read(&place.file, &place.witnesses, &[])?;
        if as_json {
            objects.push(object(&standing)?);
        } else {
            let total = standing.total();
            println!(
                "{name}  ε ≤ {} of {} at δ = {}, {}",
                spent(&standing),
                plain(total.epsilon),
                exact(total.delta),
                reserved(&standing)
            );
        }
    }
    if as_json {
        println!("{:#}", json!(objects));
    }
    Ok(())
}

fn spent(standing: &AccountStanding) -> String {
    match standing.epsilon_spent() {
        value if value.is_finite() => up(value, 5),
        _ => "∞".into(),
    }
}

fn reserved(standing: &AccountStanding) -> String {
    match standing.reservations().len() {
        0 => "nothing reserved".into(),
        1 => "1 reserved".into(),
        several => format!("{several} reserved"),
    }
}

fn kind(release: &ReservedRelease) -> &'static str {
    match release {
        ReservedRelease::Run { .. } => "run",
        ReservedRelease::Grid { .. } => "grid search",
        ReservedRelease::BestOf { .. } | ReservedRelease::BestOfPoisson { .. } => "random search",
    }
}

fn object(standing: &AccountStanding) -> Result<serde_json::Value> {
    let room = standing.room();
    let reservations: Vec<_> = (standing.reservations().iter())
        .map(|reserved| {
            json!({
                "run": reserved.run,
                "data": reserved.data,
                "date": reserved.date,
                "kind": kind(&reserved.release),
                "entered": reserved.entered,
            })
        })
        .collect();
    let mut object = serde_json::to_value(AccountFacts::of(standing)?)?;
    object["share_left"] = json!(room.left / room.budget);
    object["exceeded"] = json!(standing.is_exceeded());
    object["reservations"] = json!(reservations);
    Ok(object)
}

fn text(standing: &AccountStanding) -> Result<String> {
    let (total, room) = (standing.total(), standing.room());
    let unit = match total.records_per_unit {
        1 => "one record".to_string(),
        records => format!("a person with up to {records} records"),
    };
    let mut lines = vec![
        format!("Account {}", standing.name()),
        format!(
            "  total       ε = {} at δ = {}, for {unit}, fixed when the account was opened",
            plain(total.epsilon),
            exact(total.delta)
        ),
    ];
    if standing.is_exceeded() {
        lines.push(
            "  EXCEEDED    what was released before, without the account, costs more than the total, which is not kept"
                .into(),
        );
    } else {
        lines.push(format!(
            "  spent       ε ≤ {}, {}; holds for runs chosen in the light of earlier ones",
            spent(standing),
            reserved(standing)
        ));
    }
    if let Some(fixed) = AccountFacts::of(standing)?.if_fixed_beforehand_upper {
        lines.push(format!(
            "  exactly     ε ≤ {}, only if all plans were fixed beforehand",
            up(fixed, 5)
        ));
    }
    lines.push(format!(
        "  left        {:.0} % of what may be spent in all",
        (100.0 * room.left / room.budget).floor()
    ));
    for reserved in standing.reservations() {
        let entered = if reserved.entered { ", entered" } else { "" };
        lines.push(format!(
            "  {}  {}: {}{entered} ({})",
            reserved.date,
            reserved.data,
            kind(&reserved.release),
            reserved.run
        ));
    }
    Ok(lines.join("\n") + "\n")
}
