//! How much work a reading may take.
//!
//! Every ledger is answered within seconds. Work is counted, not timed, so that a ledger has the same figures on every
//! machine and in every run; what is left out when it is used up makes a bound wider, never wrong.

use std::cell::Cell;

/// Work that is left, in units of about a nanosecond of one core of 2024.
#[derive(Debug)]
pub struct Effort {
    left: Cell<f64>,
}

impl Effort {
    /// This many units.
    pub(crate) fn new(units: f64) -> Self {
        Self {
            left: Cell::new(units.max(0.0)),
        }
    }

    /// Units left.
    pub(crate) fn left(&self) -> f64 {
        self.left.get()
    }

    /// Takes units away before they are used; none, now and ever after, if fewer are left.
    pub(crate) fn spend(&self, units: f64) -> Option<()> {
        let left = self.left.get() - units;
        // NaN is too much as well.
        if left >= 0.0 {
            self.left.set(left);
            Some(())
        } else {
            self.left.set(0.0);
            None
        }
    }

    /// Works with a part of what is left, at most `most`, and takes away what that used.
    pub(crate) fn with_part<T>(&self, most: f64, work: impl FnOnce(&Self) -> T) -> T {
        let part = Self::new(most.min(self.left()));
        let before = part.left();
        let done = work(&part);
        let used = before - part.left();
        // The work may have taken from the whole as well.
        self.left.set((self.left() - used).max(0.0));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_that_is_used_up_stays_so() {
        let effort = Effort::new(10.0);
        assert_eq!(effort.spend(7.0), Some(()));
        assert_eq!(effort.spend(4.0), None);
        assert_eq!(effort.spend(1.0), None);
        assert_eq!(Effort::new(1.0).spend(f64::NAN), None);
    }

    #[test]
    fn a_part_takes_from_the_whole_what_it_used() {
        let effort = Effort::new(10.0);
        effort.with_part(4.0, |part| {
            assert_eq!(part.spend(3.0), Some(()));
        });
        assert_eq!(effort.left(), 7.0);
        effort.with_part(5.0, |part| assert_eq!(part.spend(6.0), None));
        assert_eq!(effort.left(), 2.0);
    }
}
