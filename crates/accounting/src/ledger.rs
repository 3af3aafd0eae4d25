//! What was released: the only input of every accountant.
//!
//! A [`Ledger`] lists *rounds*. One round is everything a mechanism releases about one draw of
//! records: the gradient and any side query (a clip count, an OSO vector) share the draw, so they
//! are one joint Gaussian that sampling amplifies once.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How two data sets that must look alike may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One record is present in one data set and absent from the other. Poisson sampling and
    /// full-batch rounds are stated in this relation.
    AddOrRemoveOne,
    /// One record has a different value; the number of records is the same.
    ReplaceOne,
}

impl Neighbours {
    /// The name used in ledgers and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddOrRemoveOne => "add-or-remove-one",
            Self::ReplaceOne => "replace-one",
        }
    }
}

/// How the records of one round were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sampling {
    /// Each record is included independently with probability `rate`.
    Poisson {
        /// Inclusion probability, in (0, 1].
        rate: f64,
    },
    /// Every record takes part.
    Full {},
    /// A uniformly random subset of exactly `batch` of the `of` records.
    FixedSize {
        /// Records per draw.
        batch: u64,
        /// Records in the data set (public under replace-one).
        of: u64,
    },
    /// One pass over `batches` disjoint batches: each record is in exactly one of them
    /// (Yu et al. 2019, parallel composition). One round is one whole pass.
    Partition {
        /// Number of disjoint batches of the pass.
        batches: u64,
    },
}

impl Sampling {
    /// The name used in ledgers and error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson { .. } => "poisson",
            Self::Full {} => "full",
            Self::FixedSize { .. } => "fixed-size",
            Self::Partition { .. } => "partition",
        }
    }
}

/// One kind of round and how many times in a row it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// How records were drawn.
    pub sampling: Sampling,
    /// Noise standard deviation divided by sensitivity, for each query of the round.
    pub noise_multipliers: Vec<f64>,
    /// How many such rounds follow one another.
    #[serde(default = "once")]
    pub times: u64,
}

fn once() -> u64 {
    1
}

/// Why a ledger cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A Poisson rate that is not a probability.
    #[error("sampling rate must be in (0, 1], got {rate}; did you pass the batch size?")]
    Rate {
        /// The rate seen.
        rate: f64,
    },
    /// A fixed-size draw that cannot be made.
    #[error("fixed-size sampling needs 1 <= batch <= of, got batch {batch} of {of}")]
    FixedSize {
        /// Batch size seen.
        batch: u64,
        /// Record count seen.
        of: u64,
    },
    /// A partition without parts.
    #[error("partition sampling needs at least one batch, got {batches}")]
    Partition {
        /// Number seen.
        batches: u64,
    },
    /// A noise multiplier that is not a positive number.
    #[error("noise multiplier must be a finite number above 0, got {multiplier}")]
    NoiseMultiplier {
        /// The value seen.
        multiplier: f64,
    },
    /// A round that releases nothing.
    #[error("a round needs at least one noise multiplier; round {index} has none")]
    NoQuery {
        /// Position in the ledger.
        index: usize,
    },
    /// A round made zero times.
    #[error("a round must be made at least once; round {index} has times = 0")]
    ZeroTimes {
        /// Position in the ledger.
        index: usize,
    },
    /// A protected unit without records.
    #[error("records per unit must be at least 1, got 0")]
    NoRecords,
    /// Nothing was released.
    #[error("the ledger has no rounds; nothing was released, so there is nothing to account")]
    Empty,
    /// More rounds than can be counted exactly.
    #[error("the ledger has more than {limit} rounds in all")]
    TooManyRounds {
        /// The limit.
        limit: u64,
    },
    /// Not a ledger.
    #[error("not a valid ledger: {0}")]
    Json(#[from] serde_json::Error),
}

impl Round {
    /// A round made once, checked.
    ///
    /// ```
    /// use tacita_accounting::{Round, Sampling};
    /// let round = Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?;
    /// assert_eq!(round.times(500).times, 500);
    /// assert!(Round::new(Sampling::Poisson { rate: 1.5 }, vec![1.0]).is_err());
    /// # Ok::<(), tacita_accounting::LedgerError>(())
    /// ```
    pub fn new(sampling: Sampling, noise_multipliers: Vec<f64>) -> Result<Self, LedgerError> {
        let round = Self {
            sampling,
            noise_multipliers,
            times: 1,
        };
        round.check(0)?;
        Ok(round)
    }

    /// The same round made `times` times.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// The multiplier of the single Gaussian that releases as much as all queries together:
    /// (Σ zᵢ⁻²)^(−1/2), rounded down so that it never promises more noise than there is.
    ///
    /// Queries scaled to unit sensitivity and unit noise are one vector whose sensitivity is the
    /// 2-norm of the 1/zᵢ (Mironov 2017, Prop. 7 for the Gaussian; exact, not a composition bound).
    pub fn effective_noise_multiplier(&self) -> f64 {
        if let [only] = self.noise_multipliers[..] {
            return only;
        }
        // Each operation is off by at most one part in 2^53. Eight units cover the few there are
        // beside the sum, and the sum of as many queries.
        let down = 1.0 - (self.noise_multipliers.len() as f64).max(8.0) * f64::EPSILON;
        let precision: f64 = self.noise_multipliers.iter().map(|z| (z * z).recip()).sum();
        if !precision.is_normal() {
            // Squares overflowed or vanished: relative to the least multiplier they do not.
            let least = (self.noise_multipliers.iter()).fold(f64::INFINITY, |a, &b| a.min(b));
            let relative = |z: &f64| (least / z) * (least / z);
            let sum: f64 = self.noise_multipliers.iter().map(relative).sum();
            return least / sum.sqrt() * down;
        }
        precision.sqrt().recip() * down
    }

    fn check(&self, index: usize) -> Result<(), LedgerError> {
        match self.sampling {
            Sampling::Poisson { rate } if !(rate > 0.0 && rate <= 1.0) => {
                return Err(LedgerError::Rate { rate });
            }
            Sampling::FixedSize { batch, of } if batch == 0 || batch > of => {
                return Err(LedgerError::FixedSize { batch, of });
            }
            Sampling::Partition { batches: 0 } => {
                return Err(LedgerError::Partition { batches: 0 });
            }
            _ => {}
        }
        if self.noise_multipliers.is_empty() {
            return Err(LedgerError::NoQuery { index });
        }
        for &multiplier in &self.noise_multipliers {
            if !(multiplier > 0.0 && multiplier.is_finite()) {
                return Err(LedgerError::NoiseMultiplier { multiplier });
            }
        }
        if self.times == 0 {
            return Err(LedgerError::ZeroTimes { index });
        }
        Ok(())
    }

    fn same_kind(&self, other: &Self) -> bool {
        self.sampling == other.sampling && self.noise_multipliers == other.noise_multipliers
    }
}

/// Everything a run released, in order, run-length encoded.
///
/// ```
/// use tacita_accounting::{Ledger, Neighbours, Round, Sampling};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// let round = Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?;
/// ledger.push(round.clone())?;
/// ledger.push(round)?;
/// assert_eq!(ledger.rounds_made(), 2);
/// assert_eq!(ledger.rounds().len(), 1);
/// assert_eq!(Ledger::from_json(&ledger.to_json())?, ledger);
/// # Ok::<(), tacita_accounting::LedgerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedLedger")]
pub struct Ledger {
    neighbours: Neighbours,
    #[serde(skip_serializing_if = "is_one_record")]
    records_per_unit: u32,
    rounds: Vec<Round>,
    /// Σ times, kept so that appending is cheap.
    #[serde(skip)]
    rounds_made: u64,
}

/// A ledger as it stands in a file. Every way of reading one goes through the checks of
/// [`Ledger::push`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedLedger {
    neighbours: Neighbours,
    #[serde(default = "one_record")]
    records_per_unit: u32,
    rounds: Vec<Round>,
}

impl TryFrom<UncheckedLedger> for Ledger {
    type Error = LedgerError;

    fn try_from(read: UncheckedLedger) -> Result<Self, LedgerError> {
        let mut ledger = Self::new(read.neighbours).with_records_per_unit(read.records_per_unit)?;
        for round in read.rounds {
            ledger.push(round)?;
        }
        Ok(ledger)
    }
}

fn one_record() -> u32 {
    1
}

fn is_one_record(records: &u32) -> bool {
    *records == 1
}

/// Rounds are counted exactly in f64 up to here.
const MOST_ROUNDS: u64 = 1 << 53;

impl Ledger {
    /// A ledger with nothing released.
    pub fn new(neighbours: Neighbours) -> Self {
        Self {
            neighbours,
            records_per_unit: 1,
            rounds: Vec::new(),
            rounds_made: 0,
        }
    }

    /// The same ledger read for units (users, clients) that own up to this many records each.
    ///
    /// Neighbouring data sets then differ by a whole unit. Noise multipliers stay those of one
    /// record: noise over the most that one record can move the sum.
    ///
    /// ```
    /// use tacita_accounting::{Ledger, Neighbours};
    /// let ledger = Ledger::new(Neighbours::AddOrRemoveOne).with_records_per_unit(4)?;
    /// assert_eq!(ledger.records_per_unit(), 4);
    /// # Ok::<(), tacita_accounting::LedgerError>(())
    /// ```
    pub fn with_records_per_unit(mut self, records: u32) -> Result<Self, LedgerError> {
        if records == 0 {
            return Err(LedgerError::NoRecords);
        }
        self.records_per_unit = records;
        Ok(self)
    }

    /// How many records the protected unit may own; 1 unless said otherwise.
    pub fn records_per_unit(&self) -> u32 {
        self.records_per_unit
    }

    /// Reads and checks a ledger. Unknown keys are errors.
    pub fn from_json(json: &str) -> Result<Self, LedgerError> {
        serde_json::from_str::<UncheckedLedger>(json)?.try_into()
    }

    /// The ledger as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| unreachable!("plain data serialises"))
    }

    /// Appends a round; equal rounds in a row are counted together.
    pub fn push(&mut self, round: Round) -> Result<(), LedgerError> {
        round.check(self.rounds.len())?;
        if round.times > MOST_ROUNDS - self.rounds_made {
            return Err(LedgerError::TooManyRounds { limit: MOST_ROUNDS });
        }
        self.rounds_made += round.times;
        match self.rounds.last_mut() {
            Some(last) if last.same_kind(&round) => last.times += round.times,
            _ => self.rounds.push(round),
        }
        Ok(())
    }

    /// The neighbouring relation the noise was scaled for.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// The rounds in order.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// How many rounds were made in all; [`Self::rounds`] lists equal ones in a row once.
    pub fn rounds_made(&self) -> u64 {
        self.rounds_made
    }

    /// The first `count` rounds made (all, if there are fewer).
    #[must_use]
    pub fn prefix(&self, count: u64) -> Self {
        let mut left = count;
        let mut prefix = Self {
            neighbours: self.neighbours,
            records_per_unit: self.records_per_unit,
            rounds: Vec::new(),
            rounds_made: 0,
        };
        for round in &self.rounds {
            let times = round.times.min(left);
            if times == 0 {
                break;
            }
            prefix.rounds.push(round.clone().times(times));
            prefix.rounds_made += times;
            left -= times;
        }
        prefix
    }

    /// The kind of round number `index` (from 0), made once.
    pub fn round_at(&self, index: u64) -> Option<Round> {
        let mut first = 0;
        for round in &self.rounds {
            first += round.times;
            if index < first {
                return Some(round.clone().times(1));
            }
        }
        None
    }

    /// An error if nothing was released.
    pub fn check_not_empty(&self) -> Result<(), LedgerError> {
        if self.rounds.is_empty() {
            return Err(LedgerError::Empty);
        }
        Ok(())
    }
}
