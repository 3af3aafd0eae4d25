//! A plan with its keys and its ledger; statistics of the records, released before training.

use super::SessionError;
use super::exact_sum::ExactSum;
use super::told::Told;
use crate::mechanism::keys::Keys;
use crate::mechanism::ledger_file::{LedgerFile, LedgerFileError, LedgerLabel};
use crate::mechanism::noise::{NoiseHardening, NoiseStream};
use crate::mechanism::plan::CheckedPlan;
use crate::mechanism::ranks::{OneRank, Ranks, RanksError};
use crate::sensitivity::records::UnreadableRecords;
use std::path::Path;
use std::sync::Arc;
use tacita_accounting::Ledger;

/// Where the record of releases is kept.
#[derive(Debug)]
enum Record {
    File(Box<LedgerFile>),
    Memory { ledger: Ledger, next_round: u64 },
}

/// Longest statistic, so that what the noise generator cannot reach stays negligible.
pub(super) const MOST_STATISTIC_VALUES: u64 = 1 << 20;

/// A run that has been opened: its plan, its keys and its ledger.
///
/// ```
/// use tacita::{Keys, Opening, Plan};
///
/// let plan = Plan::with_noise(4.0, 1e-5)
///     .public_record_count(1000)
///     .expected_batch(50)
///     .steps(20)
///     .statistic(10.0)
///     .calibrate()?;
/// let mut opening = Opening::in_memory(plan, Keys::from_os()?);
/// // The mean of a column in [0, 1]: each record contributes at most 1.
/// let column = [0.25; 1000];
/// let sum = opening.statistic(1, column.iter().map(|value| vec![*value]))?;
/// let mean = sum.values[0] / 1000.0;
/// assert!((mean - 0.25).abs() < 0.1); // noise of 10 on a sum over 1000
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Opening {
    plan: CheckedPlan,
    keys: Keys,
    record: Record,
    hardening: NoiseHardening,
    ranks: Arc<dyn Ranks>,
}

/// A released statistic: noisy sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistic {
    /// The noisy sums.
    pub values: Vec<f64>,
    /// The standard deviation of the noise on each.
    pub noise_std: f64,
}

impl Opening {
    /// Keeps the ledger in the new file `ledger`; an existing one is refused.
    pub fn create(plan: CheckedPlan, keys: Keys, ledger: &Path) -> Result<Self, SessionError> {
        Self::create_labelled(plan, keys, ledger, LedgerLabel::default())
    }

    /// The same, with more than the plan in the first line of the ledger.
    pub fn create_labelled(
        plan: CheckedPlan,
        keys: Keys,
        ledger: &Path,
        label: LedgerLabel,
    ) -> Result<Self, SessionError> {
        Self::in_memory(plan, keys).into_new_file(ledger, label)
    }

    /// Binds a file of the run to the ledger by its content. Without a ledger file there is nothing
    /// to bind it to.
    pub fn bind_file(&mut self, file: &str, content: &[u8]) -> Result<(), SessionError> {
        match &mut self.record {
            Record::File(ledger) => Ok(ledger.bind(file, content)?),
            Record::Memory { .. } => Ok(()),
        }
    }

    /// Resumes after the last round of an existing ledger, with fresh keys.
    pub fn resume(plan: CheckedPlan, keys: Keys, ledger: &Path) -> Result<Self, SessionError> {
        Self::in_memory(plan, keys).into_existing_file(ledger)
    }

    /// Keeps the ledger in memory, where it is lost if the process dies. For experiments.
    pub fn in_memory(plan: CheckedPlan, keys: Keys) -> Self {
        Self {
            record: Record::Memory {
                ledger: plan.ledger().prefix(0),
                next_round: 0,
            },
            plan,
            keys,
            hardening: NoiseHardening::default(),
            ranks: Arc::new(OneRank),
        }
    }

    /// Makes the run one of several processes, of which this is one: all of them call this, with the same plan, before
    /// anything else. The first keeps the ledger and draws the noise; the others take its other keys.
    pub fn over(mut self, ranks: Arc<dyn Ranks>) -> Result<Self, SessionError> {
        self.ranks = ranks;
        if !self.ranks.is_alone() {
            if self.plan.records_per_unit().is_some() {
                // The records of a unit would have to be on one rank.
                let what = "a run whose unit of privacy has several records";
                self.ranks.only_alone(what)?;
            }
            let plan = serde_json::to_vec(self.plan.ledger()).unwrap_or_default();
            self.ranks.same("plans", &plan)?;
            let Self { keys, ranks, .. } = &mut self;
            keys.share(|bytes| ranks.receive_from_first(bytes))?;
        }
        Ok(self)
    }

    /// The processes of the run.
    pub fn ranks(&self) -> &Arc<dyn Ranks> {
        &self.ranks
    }

    /// Moves the ledger, which has no round yet, from memory to a new file.
    pub fn into_new_file(mut self, path: &Path, label: LedgerLabel) -> Result<Self, SessionError> {
        let (plan, private) = (self.plan.ledger(), self.is_private());
        let file = self.on_first(|| LedgerFile::create(path, plan, private, label))?;
        self.record = file.map_or(self.record, |file| Record::File(Box::new(file)));
        Ok(self)
    }

    /// The same with a file that exists: its rounds are spent.
    pub fn into_existing_file(mut self, path: &Path) -> Result<Self, SessionError> {
        let (plan, private) = (self.plan.ledger(), self.is_private());
        let file = self.on_first(|| LedgerFile::open(path, plan, private))?;
        self.record = file.map_or(self.record, |file| Record::File(Box::new(file)));
        // The others keep in memory what the first has in its file.
        let mut next = self.next_round().to_le_bytes().to_vec();
        self.ranks.receive_from_first(&mut next)?;
        let of_first = next.try_into().map_or(0, u64::from_le_bytes);
        if let Record::Memory { ledger, next_round } = &mut self.record {
            *ledger = self.plan.ledger().prefix(of_first);
            *next_round = of_first;
        }
        Ok(self)
    }

    /// What the first rank does alone, and what all of them fail with if it fails.
    fn on_first<T>(
        &self,
        work: impl FnOnce() -> Result<T, LedgerFileError>,
    ) -> Result<Option<T>, SessionError> {
        let done = self.ranks.is_first().then(work).transpose();
        self.ranks.agreed(done.map_err(SessionError::from))
    }

    pub(super) fn hardened(mut self, hardening: NoiseHardening) -> Self {
        self.hardening = hardening;
        self
    }

    /// Marks a run that shows raw quantities. Its ledger must not be marked as private.
    pub(crate) fn for_diagnostics(mut self) -> Self {
        self.keys = self.keys.for_diagnostics();
        self
    }

    /// The certified plan.
    pub fn plan(&self) -> &CheckedPlan {
        &self.plan
    }

    /// Whether keys came from the operating system and nothing raw is shown. If not, nothing
    /// downstream is private.
    pub fn is_private(&self) -> bool {
        self.keys.is_private()
    }

    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The round of the plan's ledger that comes next: statistics, then steps, then scores.
    pub fn next_round(&self) -> u64 {
        match &self.record {
            Record::File(file) => file.next_round(),
            Record::Memory { next_round, .. } => *next_round,
        }
    }

    /// What has been recorded so far.
    pub fn ledger(&self) -> Ledger {
        match &self.record {
            Record::File(file) => file.released(),
            Record::Memory { ledger, .. } => ledger.clone(),
        }
    }

    pub(super) fn close(self) -> Result<Ledger, SessionError> {
        match self.record {
            Record::File(file) => Ok(file.close()?),
            Record::Memory { ledger, .. } => Ok(ledger),
        }
    }

    /// Releases the sum of one vector of `length` values per record, with noise; the plan must ask
    /// for it ([`Plan::statistic`](crate::Plan::statistic)).
    ///
    /// # Guarantee
    /// A vector longer than 1 is scaled to length 1 and one with a non-finite value contributes 0. Vectors
    /// are rounded to a public grid and added as whole numbers, so one record moves the sum by at most 1,
    /// however many there are and in whatever order. Checked by
    /// `removing_a_record_moves_the_total_by_at_most_one`.
    pub fn statistic(
        &mut self,
        length: usize,
        records: impl Iterator<Item = Vec<f64>>,
    ) -> Result<Statistic, SessionError> {
        self.statistic_of_read(length, records.map(Ok))
    }

    /// The same of records that have to be read first: if one of them cannot be, nothing is released or spent.
    pub fn statistic_of_read(
        &mut self,
        length: usize,
        records: impl Iterator<Item = Result<Vec<f64>, UnreadableRecords>>,
    ) -> Result<Statistic, SessionError> {
        if self.next_round() >= self.plan.statistics() {
            return Err(SessionError::NotPlanned { what: "statistic" });
        }
        self.release_sum(length, records)
    }

    pub(super) fn release_sum(
        &mut self,
        length: usize,
        records: impl Iterator<Item = Result<Vec<f64>, UnreadableRecords>>,
    ) -> Result<Statistic, SessionError> {
        let multipliers = self.plan.multipliers_of_round(self.next_round());
        let (Some(noise_std), true) = (multipliers.first(), length as u64 <= MOST_STATISTIC_VALUES)
        else {
            return Err(SessionError::NotPlanned { what: "score" });
        };
        let noise_std = *noise_std;
        let mut sum = ExactSum::new(length, self.plan.public_record_count());
        let mut add = |values: Result<Vec<f64>, UnreadableRecords>| sum.add(&values?);
        let added = records.into_iter().try_for_each(&mut add);
        self.ranks.agreed(added)?;
        if !self.ranks.is_alone() {
            let mut steps = sum.to_steps(self.ranks.size());
            self.ranks.sum_to_first(&mut steps)?;
            sum.replace(steps);
        }
        let values = self.release(|opening, round| {
            let mut values = sum.into_values();
            opening
                .noise(round, 0)
                .add_normals_to_f64(0, noise_std, &mut values)?;
            Ok(values)
        })?;
        Ok(Statistic { values, noise_std })
    }

    /// Makes the next round of the plan durable in the ledger, on the first rank; then, and only then, `noisy` draws its
    /// noise there, and every rank gets what it returns.
    ///
    /// The round is spent once the ledger is written, whatever happens after.
    pub(super) fn release<T: Told>(
        &mut self,
        noisy: impl FnOnce(&Self, u64) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        if self.ranks.is_alone() {
            let round = self.admit()?;
            return noisy(self, round);
        }
        let mut released = None;
        if self.ranks.is_first() {
            released = Some(self.admit().and_then(|round| noisy(self, round)));
        }
        let mut released = self.ranks.agreed(released.transpose())?;
        let mut bytes = released.as_ref().map_or_else(Vec::new, Told::to_bytes);
        self.ranks.receive_from_first(&mut bytes)?;
        if released.is_none() {
            self.admit()?;
            released = T::of_bytes(&bytes);
        }
        released.ok_or(RanksError::Differ { what: "models" }.into())
    }

    /// The noise of one query of a round that has been admitted.
    pub(super) fn noise(&self, round: u64, query: u32) -> NoiseStream {
        NoiseStream::new(&self.keys, round, query, self.hardening)
    }

    /// Goes back to a round, to make it again with the same keys. Only a fixed seed may: it repeats
    /// what was released before, number by number.
    pub(super) fn rewind(&mut self, round: u64) {
        if !self.keys.is_fixed_seed() {
            return;
        }
        match &mut self.record {
            Record::File(file) => file.rewind(round),
            Record::Memory { ledger, next_round } => {
                *ledger = ledger.prefix(round);
                *next_round = round.min(*next_round);
            }
        }
    }

    /// Makes the next round of the plan durable in the ledger, before anything is released; on a rank that keeps no ledger
    /// file, counts it.
    fn admit(&mut self) -> Result<u64, SessionError> {
        let round = self.next_round();
        match &mut self.record {
            Record::File(file) => {
                file.admit(round)?;
            }
            Record::Memory { ledger, next_round } => {
                if let Some(round) = self.plan.ledger().round_at(round) {
                    ledger.push(round).map_err(LedgerFileError::from)?;
                }
                *next_round += 1;
            }
        }
        Ok(round)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::mechanism::plan::Plan;

    #[test]
    fn statistics_are_recorded_before_they_are_released_and_only_as_planned() {
        let plan = Plan::with_noise(4.0, 1e-5)
            .public_record_count(100)
            .expected_batch(10)
            .steps(2)
            .statistic(5.0)
            .calibrate()
            .unwrap();
        let forecast = plan.ledger().prefix(1);
        let mut opening = Opening::in_memory(plan, Keys::fixed_seed(1));
        let wrong = opening.statistic(2, [vec![1.0]].into_iter());
        assert!(matches!(wrong, Err(SessionError::StatisticLength { .. })));
        assert_eq!(opening.next_round(), 0, "nothing was spent");
        let released = opening
            .statistic(1, std::iter::repeat_n(vec![1.0], 100))
            .unwrap();
        assert_eq!(opening.ledger(), forecast);
        assert_eq!(released.noise_std, 5.0);
        // Five standard deviations: a false alarm in 2 million seeds, and the seed is fixed.
        assert!((released.values[0] - 100.0).abs() < 25.0);
        let second = opening.statistic(1, [vec![1.0]].into_iter());
        assert!(matches!(second, Err(SessionError::NotPlanned { .. })));
    }
}
