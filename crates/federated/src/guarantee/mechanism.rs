//! One round after the other: ledger, draw, sum, noise, in the only order there is.

use super::adversary::{Figure, figures_after};
use super::committee::NoiseBy;
use super::plan::{CertifiedPlan, PlanError, Terms};
use super::sum::CohortSum;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tacita_accounting::Ledger;
use tacita_mechanism::Keys;
use tacita_mechanism::ledger_file::{LedgerFile, LedgerFileError, LedgerLabel};
use tacita_mechanism::noise::{NoiseError, NoiseHardening, NoiseStream};
use tacita_mechanism::sampling::{PoissonSampler, SamplingError};
use thiserror::Error;

/// Why the mechanism refuses.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// The plan is refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The ledger cannot be written or read.
    #[error(transparent)]
    Ledger(#[from] LedgerFileError),
    /// The rate is none.
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    /// Noise was not drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// All rounds are made.
    #[error("all {rounds} rounds of the plan are spent; nothing was released")]
    Finished {
        /// Rounds of the plan.
        rounds: u64,
    },
    /// There is a round already.
    #[error("round {round} is still open; close it first; nothing was released")]
    Open {
        /// The open round.
        round: u64,
    },
    /// There is no round.
    #[error("no round is open; open one first; nothing was released")]
    NotOpen,
    /// A sum of another length.
    #[error(
        "the sum has {seen} values, and the model has {expected} parameters; nothing was released"
    )]
    OtherLength {
        /// Values.
        seen: usize,
        /// Parameters.
        expected: usize,
    },
    /// Single updates would be sent to a server that is not to see them, or the reverse.
    #[error("{0}; nothing was released")]
    OtherNoise(&'static str),
}

/// What is wrong with a client's message. Whoever sent it contributes nothing to the round; the guarantee of all others
/// is what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Error)]
#[non_exhaustive]
pub enum Fault {
    /// It is no message of this protocol.
    #[error("not a message of this protocol")]
    Unreadable,
    /// It is of another run.
    #[error("a message of another run")]
    OtherRun,
    /// It is of another round: too late, or too early.
    #[error("a message of another round")]
    OtherRound,
    /// It names another client than the one that sent it.
    #[error("a message that names another client")]
    OtherClient,
    /// The client was not drawn.
    #[error("a message of a client that was not asked")]
    NotAsked,
    /// The client has sent one already. The first one holds.
    #[error("a second message in one round")]
    Twice,
    /// It has another number of values than the model has parameters.
    #[error("a vector of another length than the model's")]
    OtherLength,
    /// It is longer than the threshold.
    #[error("a vector that is longer than the threshold")]
    TooLong,
}

/// Who is asked in a round: as secret as the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Drawn: they contribute an update.
    pub drawn: Vec<u64>,
    /// The committee: they add their share of noise, drawn or not. Empty where the server makes the noise.
    pub committee: Vec<u64>,
}

/// What one round released: public.
#[derive(Debug, Clone, PartialEq)]
pub struct Released {
    /// The round, from 0.
    pub round: u64,
    /// The noisy sum of clipped updates, divided by the expected cohort.
    pub mean: Vec<f32>,
    /// The standard deviation of the noise on each value, at least.
    pub noise_std: f64,
}

/// An open round.
struct Open {
    number: u64,
    terms: Terms,
    waiting: BTreeSet<u64>,
    heard: BTreeSet<u64>,
    sum: CohortSum,
    faults: BTreeMap<Fault, u64>,
}

/// Where the record of releases is kept.
enum Books {
    File(Box<LedgerFile>),
    Memory(u64),
}

/// The plan, its keys, its ledger, and at most one open round.
pub(crate) struct Mechanism {
    plan: CertifiedPlan,
    keys: Keys,
    books: Books,
    length: usize,
    open: Option<Open>,
}

impl Mechanism {
    /// A federation whose ledger is a new file, or is kept in memory and lost with the process.
    pub fn create(
        plan: CertifiedPlan,
        keys: Keys,
        length: usize,
        ledger: Option<&Path>,
    ) -> Result<Self, MechanismError> {
        plan.check_model(length)?;
        let books = match ledger {
            None => Books::Memory(0),
            Some(path) => {
                let label = LedgerLabel::default();
                let file = LedgerFile::create(path, plan.ledger(), keys.is_private(), label)?;
                Books::File(Box::new(file))
            }
        };
        Ok(Self::new(plan, keys, books, length))
    }

    /// Resumes after the last round of a ledger, with fresh keys. What it holds is spent.
    pub fn resume(
        plan: CertifiedPlan,
        keys: Keys,
        length: usize,
        ledger: &Path,
    ) -> Result<Self, MechanismError> {
        plan.check_model(length)?;
        let file = LedgerFile::open(ledger, plan.ledger(), keys.is_private())?;
        Ok(Self::new(plan, keys, Books::File(Box::new(file)), length))
    }

    fn new(plan: CertifiedPlan, keys: Keys, books: Books, length: usize) -> Self {
        Self {
            plan,
            keys,
            books,
            length,
            open: None,
        }
    }

    pub fn plan(&self) -> &CertifiedPlan {
        &self.plan
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The round to come, or the number of rounds.
    pub fn next_round(&self) -> u64 {
        match &self.books {
            Books::File(file) => file.next_round(),
            Books::Memory(next) => *next,
        }
    }

    /// What counts as spent.
    pub fn spent(&self) -> Ledger {
        self.plan.ledger.prefix(self.next_round())
    }

    /// What the rounds made so far have cost, by adversary.
    pub fn figures_so_far(&self) -> Vec<Figure> {
        figures_after(&self.plan, self.next_round())
    }

    /// Writes the ledger, then draws the clients of the next round. From here on the round is spent.
    ///
    /// # Guarantee
    /// Every enrolled client takes part with the plan's rate, by a coin of its own; an identity that is listed twice
    /// counts once. No message can leave, and no noise be drawn, before the entry is on disk.
    pub fn open(&mut self, enrolled: &[u64], committee: &[u64]) -> Result<Asked, MechanismError> {
        if let Some(open) = &self.open {
            return Err(MechanismError::Open { round: open.number });
        }
        let (number, rounds) = (self.next_round(), self.plan.plan.rounds);
        if number >= rounds {
            return Err(MechanismError::Finished { rounds });
        }
        let members: BTreeSet<u64> = committee.iter().copied().collect();
        let wanted = match &self.plan.plan.noise {
            NoiseBy::Server => 0,
            NoiseBy::Committee(committee) => committee.members,
        };
        if members.len() as u64 != wanted {
            return Err(MechanismError::OtherNoise(
                "the committee must have as many members as the plan says",
            ));
        }
        let terms = self.plan.terms(number)?;
        let enrolled: Vec<u64> = enrolled
            .iter()
            .copied()
            .collect::<BTreeSet<u64>>()
            .into_iter()
            .collect();
        let sampler = PoissonSampler::new(self.plan.rate(), enrolled.len())?;
        match &mut self.books {
            Books::File(file) => {
                file.admit(number)?;
            }
            Books::Memory(next) => *next += 1,
        }
        let sample = sampler.draw(&self.keys, number);
        let drawn: Vec<u64> = sample
            .indices()
            .iter()
            .map(|index| enrolled[*index])
            .collect();
        self.open = Some(Open {
            number,
            terms,
            waiting: drawn.iter().copied().collect(),
            heard: BTreeSet::new(),
            sum: CohortSum::new(terms.bound, self.length),
            faults: BTreeMap::new(),
        });
        let committee = members.into_iter().collect();
        Ok(Asked { drawn, committee })
    }

    /// The open round and what is fixed for it.
    pub fn terms(&self) -> Option<(u64, Terms)> {
        self.open.as_ref().map(|open| (open.number, open.terms))
    }

    /// Notes a message that is no contribution.
    pub fn note(&mut self, fault: Fault) {
        if let Some(open) = &mut self.open {
            *open.faults.entry(fault).or_default() += 1;
        }
    }

    /// Adds the vector that was sent for a round: a client's, or the sum of those of several clients of one site.
    ///
    /// # Guarantee
    /// A client that was not drawn, one that was heard already and a vector that is too long move nothing.
    pub fn receive(&mut self, round: u64, clients: &[u64], vector: &[i32]) -> Result<(), Fault> {
        let added = self.add(round, clients, vector);
        if let Err(fault) = added {
            self.note(fault);
        }
        added
    }

    fn add(&mut self, round: u64, clients: &[u64], vector: &[i32]) -> Result<(), Fault> {
        let open = self.open.as_mut().ok_or(Fault::OtherRound)?;
        if round != open.number {
            return Err(Fault::OtherRound);
        }
        if clients.is_empty() || !clients.iter().all(|client| open.waiting.contains(client)) {
            return Err(Fault::NotAsked);
        }
        for client in clients {
            // Those that the message names besides are heard as well: it is the one message they have.
            if !open.heard.insert(*client) {
                return Err(Fault::Twice);
            }
        }
        if vector.len() != self.length {
            return Err(Fault::OtherLength);
        }
        match open.sum.add(clients.len() as u64, vector) {
            true => Ok(()),
            false => Err(Fault::TooLong),
        }
    }

    /// Whether every client that was drawn has been heard. As secret as the draw.
    pub fn is_complete(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| open.heard == open.waiting)
    }

    /// How many messages were faulty, by kind; of the open round. For the operator's eyes, not for the models' readers.
    pub fn faults(&self) -> BTreeMap<Fault, u64> {
        let faults = self.open.as_ref().map(|open| open.faults.clone());
        faults.unwrap_or_default()
    }

    /// Ends the round: draws noise, and returns the noisy mean.
    ///
    /// # Guarantee
    /// The noise is that of the plan whoever was drawn and whoever stayed away, and the divisor is the *expected*
    /// cohort: nothing but the sum depends on the clients. Checked by `drop_outs_change_neither_noise_nor_divisor`.
    pub fn close(&mut self) -> Result<Released, MechanismError> {
        if self.plan.plan.noise != NoiseBy::Server {
            return Err(MechanismError::OtherNoise(
                "under noise by a committee, only a sum that has its noise may be released",
            ));
        }
        let open = self.open.take().ok_or(MechanismError::NotOpen)?;
        let (noise_std, cohort) = (open.terms.noise_std, self.plan.plan.expected_cohort);
        let mut noise = NoiseStream::new(&self.keys, open.number, 0, NoiseHardening::Grid);
        let mean = noise.noisy_sum(0, noise_std, open.sum.into_sum(), (1.0 / cohort) as f32)?;
        Ok(Released {
            round: open.number,
            mean,
            noise_std: noise_std / cohort,
        })
    }

    /// Ends the round with a sum that was decoded under secure aggregation, in which so many members of the committee
    /// took part. None if they are too few: the round is void, and nothing was decoded.
    ///
    /// # Guarantee
    /// Whether a round is void depends on connections, and neither on records nor on the draw. Members beyond those that
    /// are needed add noise.
    pub fn close_with_sum(
        &mut self,
        sum: Vec<i64>,
        present: u64,
    ) -> Result<Option<Released>, MechanismError> {
        let NoiseBy::Committee(committee) = self.plan.plan.noise else {
            return Err(MechanismError::OtherNoise(
                "the server makes the noise, so it needs the clients' vectors, not their sum",
            ));
        };
        if sum.len() != self.length {
            return Err(MechanismError::OtherLength {
                seen: sum.len(),
                expected: self.length,
            });
        }
        let open = self.open.take().ok_or(MechanismError::NotOpen)?;
        if !committee.suffices(present) {
            return Ok(None);
        }
        let (noise_std, cohort) = (open.terms.noise_std, self.plan.plan.expected_cohort);
        let sum = CohortSum::decoded(open.terms.bound, sum);
        Ok(Some(Released {
            round: open.number,
            mean: sum.into_values(1.0 / cohort),
            noise_std: noise_std / cohort,
        }))
    }

    /// Ends the round without a release: it is void, and spent.
    pub fn abandon(&mut self) -> Result<u64, MechanismError> {
        let open = self.open.take().ok_or(MechanismError::NotOpen)?;
        Ok(open.number)
    }

    /// Ends the run: rounds that were reserved on disk and never opened are given back.
    pub fn finish(self) -> Result<Ledger, MechanismError> {
        match self.books {
            Books::File(file) => Ok(file.close()?),
            Books::Memory(next) => Ok(self.plan.ledger.prefix(next)),
        }
    }
}
