//! Canaries: what an attack thinks of each, and what the coin said.

/// Scores of canaries and the coins that decided which of them were in. Each coin is fair and tossed by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Coins {
    /// Whether each was in, the ones that the attack finds likeliest first.
    ranked: Vec<bool>,
}

/// Why scores and coins cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadCoins {
    /// There is a score for each canary, and a coin.
    Counts {
        /// How many scores.
        scores: usize,
        /// How many coins.
        coins: usize,
    },
    /// There are no canaries.
    None,
}

impl std::fmt::Display for BadCoins {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Counts { scores, coins } => {
                write!(to, "there are {scores} scores of {coins} canaries")
            }
            Self::None => write!(to, "there are no canaries"),
        }
    }
}

impl std::error::Error for BadCoins {}

/// How many guesses an attack made, and how many were right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guesses {
    /// All canaries, guessed or not.
    pub canaries: u64,
    /// Those of which it said "in" or "out".
    pub made: u64,
    /// Those of which it said so rightly.
    pub right: u64,
}

impl Coins {
    /// Canaries in order; a larger score says "in". A score that is no number says nothing: it counts as the middle.
    pub fn new(scores: &[f64], coins: &[bool]) -> Result<Self, BadCoins> {
        if scores.len() != coins.len() {
            return Err(BadCoins::Counts {
                scores: scores.len(),
                coins: coins.len(),
            });
        }
        if scores.is_empty() {
            return Err(BadCoins::None);
        }
        let mut known: Vec<f64> = scores.iter().copied().filter(|s| !s.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        let middle = known.get(known.len() / 2).copied().unwrap_or(0.0);
        let of = |at: usize| {
            if scores[at].is_nan() {
                middle
            } else {
                scores[at]
            }
        };
        let mut order: Vec<usize> = (0..scores.len()).collect();
        // Ties keep the order of the canaries, which the coins had no part in.
        order.sort_by(|a, b| of(*b).total_cmp(&of(*a)));
        Ok(Self {
            ranked: order.into_iter().map(|at| coins[at]).collect(),
        })
    }

    /// How many canaries there are.
    pub fn count(&self) -> u64 {
        self.ranked.len() as u64
    }

    /// How many were in.
    pub fn included(&self) -> u64 {
        self.ranked.iter().filter(|coin| **coin).count() as u64
    }

    /// Says "in" of the first half of `made` canaries, "out" of the last, and nothing of the others. The number must
    /// not depend on the coins.
    pub fn guess(&self, made: u64) -> Guesses {
        let made = made.min(self.count()) as usize;
        let (highest, lowest) = (made.div_ceil(2), made / 2);
        let inside = self.ranked[..highest].iter().filter(|coin| **coin).count();
        let outside = self.ranked[self.ranked.len() - lowest..].iter();
        let outside = outside.filter(|coin| !**coin).count();
        Guesses {
            canaries: self.count(),
            made: made as u64,
            right: (inside + outside) as u64,
        }
    }

    /// How often an attack with this many false alarms among those left out finds one that was in, for the first so
    /// many canaries of the ranking: (found, false alarms).
    pub fn named(&self, first: usize) -> (u64, u64) {
        let named = &self.ranked[..first.min(self.ranked.len())];
        let found = named.iter().filter(|coin| **coin).count() as u64;
        (found, named.len() as u64 - found)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_made_at_both_ends() {
        let coins = Coins::new(
            &[0.9, 0.1, 0.5, f64::NAN, 0.7],
            &[true, true, false, true, false],
        );
        let coins = coins.unwrap();
        let guess = |made| {
            let guesses = coins.guess(made);
            (guesses.made, guesses.right)
        };
        assert_eq!((guess(1), guess(2), guess(3)), ((1, 1), (2, 1), (3, 2)));
        assert_eq!(guess(99).0, 5);
        assert_eq!((coins.count(), coins.included()), (5, 3));
        assert_eq!((coins.named(2), coins.named(3)), ((2, 0), (2, 1)));
    }

    #[test]
    fn counts_must_agree() {
        assert!(Coins::new(&[1.0], &[]).is_err());
        assert_eq!(Coins::new(&[], &[]), Err(BadCoins::None));
    }
}
