//! Several readings that are asked for at once, answered in the time of one or two.

use crate::accountant::{AccountError, Accountant, Reading};
use crate::effort::Effort;
use crate::ledger::Ledger;
use std::cell::Cell;

/// Units of work of all readings together: some four seconds.
const WORK: f64 = 6e9;
/// An accountant leaves the rest of what it is given to whatever steers it.
const TAKEN: f64 = 0.4;

/// Readings that share a limit of work. What one leaves, those after it may use, so that figures of ordinary ledgers are
/// those of a reading alone; where the work is used up brackets are wider, never wrong. A single reading has no other
/// limit than its own.
///
/// ```
/// use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Rdp, Round, Sampling, SharedWork};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?.times(500))?;
/// let (pld, rdp) = (Pld::default(), Rdp);
/// let shared = SharedWork::among([&pld as &dyn Accountant, &rdp]);
/// assert_eq!(shared.epsilon(&pld, &ledger, 1e-5)?, pld.epsilon(&ledger, 1e-5)?);
/// assert_eq!(shared.epsilon(&rdp, &ledger, 1e-5)?, rdp.epsilon(&ledger, 1e-5)?);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug)]
pub struct SharedWork {
    left: Effort,
    /// The most work of the readings still to come.
    asked: Cell<f64>,
    alone: bool,
}

impl SharedWork {
    /// The accountant of each reading to come.
    pub fn among<'a>(readings: impl IntoIterator<Item = &'a dyn Accountant>) -> Self {
        let works = readings.into_iter().map(Accountant::most_work);
        let works: Vec<f64> = works.filter(|work| *work > 0.0).collect();
        Self {
            left: Effort::new(WORK),
            asked: Cell::new(works.iter().sum()),
            alone: works.len() <= 1,
        }
    }

    /// ε at δ.
    pub fn epsilon(
        &self,
        accountant: &dyn Accountant,
        ledger: &Ledger,
        delta: f64,
    ) -> Result<Reading, AccountError> {
        match self.is_free(accountant) {
            true => accountant.epsilon(ledger, delta),
            false => self.share(accountant, |effort| {
                accountant.epsilon_sharing(ledger, delta, effort)
            }),
        }
    }

    /// δ at ε.
    pub fn delta(
        &self,
        accountant: &dyn Accountant,
        ledger: &Ledger,
        epsilon: f64,
    ) -> Result<Reading, AccountError> {
        if self.is_free(accountant) {
            return accountant.delta(ledger, epsilon);
        }
        let deltas = self.deltas(accountant, ledger, &[epsilon])?;
        Ok(deltas[0])
    }

    /// δ at several ε: one reading.
    pub fn deltas(
        &self,
        accountant: &dyn Accountant,
        ledger: &Ledger,
        epsilons: &[f64],
    ) -> Result<Vec<Reading>, AccountError> {
        self.share(accountant, |effort| {
            accountant.deltas_sharing(ledger, epsilons, effort)
        })
    }

    /// Whether a reading has its own limit only.
    fn is_free(&self, accountant: &dyn Accountant) -> bool {
        self.alone || accountant.most_work() == 0.0
    }

    /// Reads with a fair share of what is left.
    fn share<T>(&self, accountant: &dyn Accountant, read: impl FnOnce(&Effort) -> T) -> T {
        let (work, asked) = (accountant.most_work(), self.asked.get());
        let share = if asked > work { work / asked } else { 1.0 };
        self.asked.set((asked - work).max(0.0));
        let effort = Effort::new(share * self.left.left() / TAKEN);
        let before = effort.left();
        let read = read(&effort);
        let used = (before - effort.left()).min(self.left.left());
        let _ = self.left.spend(used);
        read
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ledger::{Neighbours, Round, Sampling};
    use crate::{Pld, Rdp, Tcdp};

    /// Takes all that it is given.
    #[derive(Default)]
    struct Greedy(Cell<f64>);

    impl Accountant for Greedy {
        fn name(&self) -> &'static str {
            "greedy"
        }

        fn supports(&self, _: &Ledger) -> Result<(), AccountError> {
            Ok(())
        }

        fn epsilon(&self, _: &Ledger, _: f64) -> Result<Reading, AccountError> {
            self.0.set(f64::INFINITY);
            Ok(Reading::UpperBound(0.0))
        }

        fn epsilon_sharing(
            &self,
            _: &Ledger,
            _: f64,
            effort: &Effort,
        ) -> Result<Reading, AccountError> {
            let given = TAKEN * effort.left();
            effort.spend(given).unwrap();
            self.0.set(self.0.get() + given);
            Ok(Reading::UpperBound(given))
        }

        fn most_work(&self) -> f64 {
            1e9
        }

        fn delta(&self, _: &Ledger, _: f64) -> Result<Reading, AccountError> {
            Ok(Reading::UpperBound(1.0))
        }
    }

    #[test]
    fn however_many_readings_are_asked_for_they_take_no_more_than_the_limit() {
        let ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        for readings in [2, 3, 50, 4000] {
            let greedy = Greedy::default();
            let shared = SharedWork::among((0..readings).map(|_| &greedy as &dyn Accountant));
            for _ in 0..readings {
                let given = shared.epsilon(&greedy, &ledger, 1e-5).unwrap();
                // As much as any other.
                let share = WORK / f64::from(readings);
                assert!((given.upper_bound().unwrap() / share - 1.0).abs() < 1e-6);
            }
            assert!(greedy.0.get() <= WORK * (1.0 + 1e-9));
        }
    }

    /// Dozens of kinds of rounds for units of several records, which take all the work that there is.
    #[test]
    fn what_shares_its_work_still_holds_the_truth() {
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne)
            .with_records_per_unit(3)
            .unwrap();
        for kind in 0..60_u32 {
            let sampling = Sampling::Poisson { rate: 0.01 };
            let noise = 2.0 + f64::from(kind) / 100.0;
            ledger
                .push(Round::new(sampling, vec![noise]).unwrap().times(3))
                .unwrap();
        }
        let pld = Pld::default();
        let alone = pld.epsilon(&ledger, 1e-6).unwrap();
        let (low, high) = (alone.lower_bound().unwrap(), alone.upper_bound().unwrap());
        for readings in [30, 3000] {
            let all = [&pld as &dyn Accountant, &Rdp, &Tcdp::new()];
            let shared = SharedWork::among((0..readings).flat_map(|_| all));
            for accountant in all {
                let name = accountant.name();
                let epsilon = shared.epsilon(accountant, &ledger, 1e-6).unwrap();
                assert!(epsilon.upper_bound().unwrap() >= low, "{name} {epsilon:?}");
                assert!(epsilon.lower_bound().unwrap_or(0.0) <= high);
                let deltas = shared.deltas(accountant, &ledger, &[low, 2.0 * high]);
                let deltas = deltas.unwrap();
                assert!(deltas[0].upper_bound().unwrap() >= 0.99e-6, "{name}");
                assert!(deltas[1].lower_bound().unwrap_or(0.0) <= 1e-6, "{name}");
                let one = shared.delta(accountant, &ledger, low).unwrap();
                assert!(one.upper_bound().unwrap() >= 0.99e-6, "{name}");
            }
        }
    }
}
