//! What an account has admitted, and what is left of its total.

use super::AccountTotal;
use super::error::AccountError;
use super::line::{Header, Reservation, ReservedRelease};
use crate::mechanism::ledger_file::AccountOfRun;
use crate::mechanism::noise::missing_tail_delta;
use crate::mechanism::plan::TAIL_SHARE;
use crate::mechanism::search::MOST_NORMALS;
use std::path::Path;
use tacita_accounting::{
    AccountError as Unaccountable, Accountant, FilterError, Ledger, Neighbours, Pld, RandomRuns,
    RdpFilter, Reading,
};

/// What was reserved in an account, and what is left.
#[derive(Debug, Clone)]
pub struct AccountStanding {
    header: Header,
    reservations: Vec<Reservation>,
    filter: RdpFilter,
    /// Nothing more may be reserved, whatever the filter says.
    closed: bool,
    /// The chain after each line.
    heads: Vec<String>,
    /// The line of each reservation, from 1.
    lines_of: Vec<u64>,
}

/// What an account has left for one more plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Room {
    /// Rényi divergence left at the order of the filter.
    pub left: f64,
    /// Rényi divergence in all.
    pub budget: f64,
}

/// The order of the filter for a total; an error if no filter can keep it.
pub(super) fn order_of(total: AccountTotal, unit: Ledger) -> Result<f64, AccountError> {
    let AccountTotal { epsilon, delta, .. } = total;
    if epsilon == 0.0 {
        return Err(Unaccountable::Argument {
            what: "total epsilon",
            range: "above 0",
            value: epsilon,
        }
        .into());
    }
    // What is no budget is refused as such, not as one that is too large.
    let filter = RdpFilter::for_budget(epsilon, delta * (1.0 - TAIL_SHARE), unit)?;
    if missing_tail_delta(MOST_NORMALS, epsilon) > TAIL_SHARE * delta {
        return Err(AccountError::TooLarge { epsilon, delta });
    }
    Ok(filter.order())
}

impl AccountStanding {
    pub(super) fn new(header: &Header) -> Result<Self, AccountError> {
        Ok(Self {
            filter: empty_filter(header)?,
            header: header.clone(),
            reservations: Vec::new(),
            closed: false,
            heads: Vec::new(),
            lines_of: Vec::new(),
        })
    }

    /// Public name of the account.
    pub fn name(&self) -> &str {
        &self.header.name
    }

    /// Identifier of the account.
    pub fn id(&self) -> &str {
        &self.header.id
    }

    /// The total, and for whom it holds.
    pub fn total(&self) -> AccountTotal {
        AccountTotal {
            epsilon: self.header.epsilon,
            delta: self.header.delta,
            records_per_unit: self.header.records_per_unit,
        }
    }

    /// Everything reserved and not given back.
    pub fn reservations(&self) -> &[Reservation] {
        &self.reservations
    }

    /// ε of everything reserved so far together, at the δ of the total, for runs chosen in the light of earlier ones.
    /// Above the total only if what was released before, without the account, exceeds it.
    pub fn epsilon_spent(&self) -> f64 {
        match self.reservations.as_slice() {
            [] => 0.0,
            [only] if only.alone => self.header.epsilon,
            _ if self.closed => f64::INFINITY,
            _ => self.filter.epsilon_spent(),
        }
    }

    /// Whether what was released without the account exceeds the total, so that it is not kept.
    pub fn is_exceeded(&self) -> bool {
        // One that is alone takes the whole total and keeps it.
        self.closed && !matches!(self.reservations.as_slice(), [only] if only.alone)
    }

    /// ε of everything reserved so far together, if all plans had been fixed beforehand; none if a random search is among
    /// them, which has no exact figure.
    pub fn epsilon_if_fixed_beforehand(&self) -> Result<Option<Reading>, AccountError> {
        let mut whole = self.unit()?;
        for reserved in &self.reservations {
            let Some(plan) = reserved.release.plan() else {
                return Ok(None);
            };
            for round in plan.rounds() {
                whole.push(round.clone())?;
            }
        }
        if whole.rounds().is_empty() {
            return Ok(None);
        }
        Ok(Some(Pld::default().epsilon(&whole, self.accounted())?))
    }

    /// What is left for one more plan.
    pub fn room(&self) -> Room {
        Room {
            left: if self.closed { 0.0 } else { self.filter.left() },
            budget: self.filter.budget(),
        }
    }

    /// Whether a plan could be reserved now, by itself or beside the others.
    pub fn admits(&self, release: &ReservedRelease) -> Result<bool, AccountError> {
        Ok(match self.judge(release)? {
            Verdict::Beside | Verdict::Alone => true,
            Verdict::Refused => false,
        })
    }

    /// δ that accountants get: the rest pays for tails.
    pub fn accounted(&self) -> f64 {
        self.header.delta * (1.0 - TAIL_SHARE)
    }

    /// An error unless the account holds what a ledger or a witness saw of it.
    pub fn check(&self, path: &Path, seen: &AccountOfRun) -> Result<(), AccountError> {
        if self.has_head(seen.line, &seen.head) {
            return Ok(());
        }
        Err(AccountError::RolledBack {
            path: path.into(),
            line: seen.line,
            lines: self.lines(),
        })
    }

    pub(super) fn has_head(&self, line: u64, head: &str) -> bool {
        let index = usize::try_from(line)
            .ok()
            .and_then(|line| line.checked_sub(1));
        index
            .and_then(|index| self.heads.get(index))
            .map(String::as_str)
            == Some(head)
    }

    pub(super) fn lines(&self) -> u64 {
        self.heads.len() as u64
    }

    pub(super) fn head(&self) -> &str {
        self.heads.last().map_or("", String::as_str)
    }

    pub(super) fn push_head(&mut self, head: &str) {
        self.heads.push(head.into());
    }

    /// Whether a run or a search is reserved, and was not given back.
    pub fn holds(&self, run: &str) -> bool {
        self.reservations.iter().any(|reserved| reserved.run == run)
    }

    /// What the run of a reservation that is there already keeps of the account.
    pub(super) fn mark_of(
        &self,
        reservation: &Reservation,
    ) -> Result<Option<AccountOfRun>, AccountError> {
        let known = (self.reservations.iter()).position(|known| known.run == reservation.run);
        let Some(index) = known else {
            return Ok(None);
        };
        if self.reservations[index].release != reservation.release {
            return Err(AccountError::OtherPlan {
                run: reservation.run.clone(),
            });
        }
        let line = self.lines_of[index];
        Ok(Some(AccountOfRun {
            id: self.header.id.clone(),
            run: reservation.run.clone(),
            line,
            head: self.heads[line as usize - 1].clone(),
        }))
    }

    /// The reservation as it may be written, or why it is refused.
    pub(super) fn admitted(
        &self,
        path: &Path,
        mut reservation: Reservation,
    ) -> Result<Reservation, AccountError> {
        reservation.entered = false;
        reservation.alone = match self.judge(&reservation.release)? {
            Verdict::Beside => false,
            Verdict::Alone => true,
            Verdict::Refused => {
                return Err(AccountError::Spent {
                    path: path.into(),
                    spent: self.epsilon_spent(),
                    epsilon: self.header.epsilon,
                    delta: self.header.delta,
                    fitting: String::new(),
                });
            }
        };
        Ok(reservation)
    }

    /// Counts a reservation whose line was just written.
    pub(super) fn count(&mut self, reservation: Reservation) -> Result<(), AccountError> {
        self.admit(&reservation)?;
        self.reservations.push(reservation);
        self.lines_of.push(self.lines());
        Ok(())
    }

    /// Forgets a reservation that was given back.
    pub(super) fn without(&mut self, run: &str) -> Result<(), AccountError> {
        let kept = |index: &usize| self.reservations[*index].run != run;
        let kept: Vec<usize> = (0..self.reservations.len()).filter(kept).collect();
        self.lines_of = kept.iter().map(|index| self.lines_of[*index]).collect();
        self.reservations = (kept.into_iter())
            .map(|index| self.reservations[index].clone())
            .collect();
        (self.filter, self.closed) = (empty_filter(&self.header)?, false);
        for reserved in self.reservations.clone() {
            self.admit(&reserved)?;
        }
        Ok(())
    }

    /// Rényi divergence of something at the order of the account.
    pub(super) fn cost(&self, release: &ReservedRelease) -> Result<f64, AccountError> {
        let cost = match self.random_runs(release)? {
            Some((runs, candidates)) => self.filter.cost_of_best_of(&runs, &candidates)?,
            None => self.filter.cost_of_run(&self.for_unit(release.plan())?)?,
        };
        Ok(cost)
    }

    fn judge(&self, release: &ReservedRelease) -> Result<Verdict, AccountError> {
        if self.closed {
            return Ok(Verdict::Refused);
        }
        if self.clone().try_filter(release)? {
            return Ok(Verdict::Beside);
        }
        // The first plan of all was fixed before anything was seen.
        if self.reservations.is_empty() && release.plan().is_some() {
            let plan = self.for_unit(release.plan())?;
            let exact = Pld::default().epsilon(&plan, self.accounted())?;
            let within = |upper: f64| upper <= self.header.epsilon;
            if exact.upper_bound().is_some_and(within) {
                return Ok(Verdict::Alone);
            }
        }
        Ok(Verdict::Refused)
    }

    /// Counts something that is reserved. What the filter does not admit closes the account.
    fn admit(&mut self, reserved: &Reservation) -> Result<(), AccountError> {
        if reserved.alone || !self.try_filter(&reserved.release)? {
            self.closed = true;
        }
        Ok(())
    }

    fn try_filter(&mut self, release: &ReservedRelease) -> Result<bool, AccountError> {
        let admitted = match self.random_runs(release)? {
            Some((runs, candidates)) => self.filter.admit_best_of(&runs, &candidates),
            None => self.filter.admit_run(&self.for_unit(release.plan())?),
        };
        match admitted {
            Ok(()) => Ok(true),
            Err(FilterError::Spent { .. }) => Ok(false),
            Err(FilterError::Account(error)) => Err(error.into()),
            Err(error) => Err(Unaccountable::Unsupported {
                accountant: "filter",
                what: error.to_string(),
                remedy: "leave it out",
            }
            .into()),
        }
    }

    /// The distribution of a random search and its candidates as this account reads them.
    fn random_runs(
        &self,
        release: &ReservedRelease,
    ) -> Result<Option<(RandomRuns, Vec<Ledger>)>, AccountError> {
        let (runs, candidates) = match release {
            ReservedRelease::Run { .. } | ReservedRelease::Grid { .. } => return Ok(None),
            ReservedRelease::BestOf {
                candidates,
                shape,
                gamma,
            } => (
                RandomRuns::TruncatedNegativeBinomial {
                    shape: *shape,
                    gamma: *gamma,
                },
                candidates,
            ),
            ReservedRelease::BestOfPoisson { candidates, mean } => {
                (RandomRuns::Poisson { mean: *mean }, candidates)
            }
        };
        let read = candidates.iter().map(|plan| self.for_unit(Some(plan)));
        Ok(Some((runs, read.collect::<Result<_, _>>()?)))
    }

    /// A plan as it reads for the unit of the account. Multipliers are those of one record in any ledger.
    fn for_unit(&self, plan: Option<&Ledger>) -> Result<Ledger, AccountError> {
        let Some(plan) = plan else {
            return Err(tacita_accounting::LedgerError::Empty.into());
        };
        plan.check_not_empty()?;
        Ok((plan.clone()).with_records_per_unit(self.header.records_per_unit)?)
    }

    fn unit(&self) -> Result<Ledger, AccountError> {
        unit_of(&self.header)
    }
}

enum Verdict {
    /// The filter admits it.
    Beside,
    /// It is the first, keeps the total by itself, and leaves nothing.
    Alone,
    Refused,
}

fn unit_of(header: &Header) -> Result<Ledger, AccountError> {
    let unit = Ledger::new(Neighbours::AddOrRemoveOne);
    Ok(unit.with_records_per_unit(header.records_per_unit)?)
}

fn empty_filter(header: &Header) -> Result<RdpFilter, AccountError> {
    let accounted = header.delta * (1.0 - TAIL_SHARE);
    Ok(RdpFilter::new(
        header.epsilon,
        accounted,
        header.order,
        unit_of(header)?,
    )?)
}
