//! A run's whole plan, reserved in the account of its data before anything is spent.

use super::planned_run::{DraftRun, PlannedRun};
use super::run_folder::RunRecord;
use super::settings::Settings;
use crate::accounts::{AccountPlace, seen_beside};
use crate::date::today;
use crate::report::facts::AccountFacts;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use tacita::{
    Account, AccountError, AccountOfRun, AccountStanding, Reservation, ReservedRelease, TAIL_SHARE,
};
use tacita_accounting::decimal::{down, up};
use tacita_accounting::{Accountant, Ledger, Pld};

/// A reservation that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Reserved {
    /// What the ledger keeps of it.
    pub mark: AccountOfRun,
    /// What the report says of it.
    pub facts: AccountFacts,
}

/// Refuses settings that cannot be counted in an account.
pub fn check(settings: &Settings) -> Result<()> {
    ensure!(
        settings.account.is_none() || settings.seed.is_none(),
        "--account counts what private runs spend, and a run with --seed is not private; leave one of them out"
    );
    Ok(())
}

/// Reserves something under this identifier in the account of the settings, if they name one. `folder` is where the run
/// or the search will be.
pub fn reserve(
    settings: &Settings,
    run: &str,
    data: &str,
    release: ReservedRelease,
    folder: &Path,
    seen: &[AccountOfRun],
) -> Result<Option<Reserved>> {
    let Some(given) = &settings.account else {
        return Ok(None);
    };
    let place = AccountPlace::of(given)?;
    let seen = [seen, &seen_beside(folder)].concat();
    let mut account = Account::open(&place.file, &place.witnesses, &seen)?;
    let mark = account.reserve(Reservation {
        run: run.into(),
        data: data.into(),
        date: today(),
        release,
        alone: false,
        entered: false,
    })?;
    let facts = AccountFacts::of(account.standing())?;
    Ok(Some(Reserved { mark, facts }))
}

impl PlannedRun {
    /// Reserves the plan of this run.
    pub(super) fn reserve(&self, run: &str, data: &str, folder: &Path) -> Result<Option<Reserved>> {
        let plan = self.plan.ledger().clone();
        let release = ReservedRelease::Run { plan };
        let reserved = reserve(&self.settings, run, data, release, folder, &[]);
        reserved.map_err(|error| self.with_what_fits(error))
    }

    /// What would be left of the account after this run, or why it would be refused. Nothing is reserved.
    pub(super) fn room(&self) -> Result<Option<AccountStanding>> {
        let Some(given) = &self.settings.account else {
            return Ok(None);
        };
        let place = AccountPlace::of(given)?;
        let standing = Account::read(&place.file, &place.witnesses, &[])?;
        let release = ReservedRelease::Run {
            plan: self.plan.ledger().clone(),
        };
        if !standing.admits(&release)? {
            let refused = AccountError::Spent {
                path: place.file,
                spent: standing.epsilon_spent(),
                epsilon: standing.total().epsilon,
                delta: standing.total().delta,
                fitting: String::new(),
            };
            return Err(self.with_what_fits(refused.into()));
        }
        Ok(Some(standing))
    }

    /// Says with a refusal what would fit.
    fn with_what_fits(&self, error: anyhow::Error) -> anyhow::Error {
        let Some(given) = &self.settings.account else {
            return error;
        };
        match error.downcast::<AccountError>() {
            Ok(AccountError::Spent {
                path,
                spent,
                epsilon,
                delta,
                ..
            }) => {
                // Only a hint: without it the refusal stands.
                let standing = AccountPlace::of(given)
                    .and_then(|place| Ok(Account::read(&place.file, &place.witnesses, &[])?));
                let words = standing.and_then(|standing| self.what_fits(&standing));
                AccountError::Spent {
                    path,
                    spent,
                    epsilon,
                    delta,
                    fitting: words.unwrap_or_default(),
                }
                .into()
            }
            Ok(other) => other.into(),
            Err(error) => error,
        }
    }

    /// The largest ε and the most steps of such a run that an account has room for.
    fn what_fits(&self, standing: &AccountStanding) -> Result<String> {
        let admits = |plan: Ledger| standing.admits(&ReservedRelease::Run { plan });
        let mut ways = Vec::new();
        let draft = DraftRun::new(self.settings.clone(), self.facts)?;
        let shape = draft.plan.shape()?;
        let (mut low, mut high) = (self.plan.scale(), self.plan.scale());
        for _ in 0..8 {
            high *= 2.0;
            if admits(shape.ledger(high)?)? {
                break;
            }
            low = high;
        }
        if admits(shape.ledger(high)?)? {
            for _ in 0..9 {
                let middle = (low * high).sqrt();
                match admits(shape.ledger(middle)?)? {
                    true => high = middle,
                    false => low = middle,
                }
            }
            let delta = self.plan.delta() * (1.0 - TAIL_SHARE);
            let reading = Pld::default().epsilon(&shape.ledger(high)?, delta)?;
            // The noise for a budget below what that noise costs for certain is larger.
            let lower = reading.lower_bound().unwrap_or(0.0);
            if lower > 0.0 {
                ways.push(format!("--epsilon {}", down(lower, 3)));
            }
        }
        let most = self.most_steps(&admits)?;
        if most > 0 {
            let scale = up(self.plan.scale(), 6);
            ways.push(format!("--noise {scale} --steps {most}"));
        }
        Ok(match ways.as_slice() {
            [] => "; no run of this kind fits any more".into(),
            ways => format!(
                "; what fits is the same run with {}",
                ways.join(", or with ")
            ),
        })
    }

    /// The most steps at the noise of this plan.
    fn most_steps(&self, admits: &impl Fn(Ledger) -> Result<bool, AccountError>) -> Result<u64> {
        let (before, steps) = (self.plan.statistics(), self.plan.steps());
        let whole = self.plan.ledger();
        let shortened = |steps: u64| -> Result<Ledger> {
            let mut plan = whole.prefix(before + steps);
            for score in 0..self.plan.scores() {
                let round = whole.round_at(before + self.plan.steps() + score);
                plan.push(round.context("the plan has no such round")?)?;
            }
            Ok(plan)
        };
        let (mut fits, mut too_many) = (0, steps);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            match admits(shortened(middle)?)? {
                true => fits = middle,
                false => too_many = middle,
            }
        }
        Ok(fits)
    }
}

/// Gives back what a run reserved that ended before it released anything.
pub fn give_back(settings: &Settings, run: &str) -> Result<()> {
    let Some(given) = &settings.account else {
        return Ok(());
    };
    let place = AccountPlace::of(given)?;
    Ok(Account::open(&place.file, &place.witnesses, &[])?.give_back(run)?)
}

/// Refuses to resume a run whose account does not hold its reservation: the file is an older one, or another.
pub fn check_resumed(
    folder: &Path,
    record: &RunRecord,
    mark: Option<&AccountOfRun>,
    file: Option<&Path>,
) -> Result<()> {
    let Some(mark) = mark else {
        return Ok(());
    };
    let named = record.settings.account.as_deref().unwrap_or_default();
    let place = match file {
        Some(file) => AccountPlace::of(&file.to_string_lossy())?,
        None => AccountPlace::of(named)?,
    };
    let remedy = || {
        format!(
            "{} was reserved in the account {named:?}; say where it is: tacita resume {} --account FILE. Nothing more \
             was spent",
            folder.display(),
            folder.display()
        )
    };
    let standing = Account::read(&place.file, &place.witnesses, &[]).with_context(remedy)?;
    ensure!(
        standing.id() == mark.id,
        "{} is another account than the one of this run. {}",
        place.file.display(),
        remedy()
    );
    standing.check(&place.file, mark)?;
    ensure!(
        standing.holds(&mark.run),
        "what {} had reserved was given back: it ended before it released anything, and this is a copy that was made \
         before. Start a new run. Nothing was spent",
        folder.display()
    );
    Ok(())
}
