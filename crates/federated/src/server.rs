//! The server's side: one folder, one certified plan, one round after the other.
//!
//! ```text
//! Server::open_round   writes the ledger, then draws the clients of the round
//! Server::order        what is sent to each of them
//! Server::receive      what came back: checked, and added as whole numbers
//! Server::close_round  draws noise, divides by the expected cohort, moves the model, writes the checkpoint
//! ```

use crate::checkpoint::{Checkpoint, FileError, read, write_whole};
use crate::guarantee::mechanism::{Mechanism, MechanismError};
use crate::guarantee::{Asked, CertifiedPlan, Fault, Figure, Plan, PlanError, Released, Scale};
use crate::message::{Order, RunId, Update};
use crate::optimiser::{Descent, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tacita_accounting::Ledger;
use tacita_mechanism::{KeyError, Keys, fresh_key};
use thiserror::Error;

/// Why the server refuses.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The plan, its ledger or a round out of turn.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A file of the run.
    #[error("{0}; nothing of this round was released")]
    File(#[from] FileError),
    /// No identity for the run.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A run is there already.
    #[error(
        "{path} holds a run already; resume it, or choose another folder; nothing was released"
    )]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The model is ahead of its ledger.
    #[error(
        "the checkpoint was made after {checkpoint} rounds, and the ledger holds {ledger}: entries were lost; restore the \
         ledger from a copy; nothing was released"
    )]
    LedgerBehind {
        /// Rounds of the checkpoint.
        checkpoint: u64,
        /// Rounds of the ledger.
        ledger: u64,
    },
    /// A number of the optimiser that means nothing.
    #[error("{what} must be a finite number in its range, got {value}; nothing was released")]
    Descent {
        /// Which.
        what: &'static str,
        /// The value seen.
        value: f64,
    },
    /// A model with a value that is no number.
    #[error("value {index} of the initial model is not finite; nothing was released")]
    NotFinite {
        /// Where.
        index: usize,
    },
}

impl From<PlanError> for ServerError {
    fn from(error: PlanError) -> Self {
        Self::Mechanism(error.into())
    }
}

/// What the folder's `run.json` holds: public.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RunFile {
    tacita_federation: u32,
    run: String,
    private: bool,
    parameters: usize,
    plan: Plan,
    /// The scale that was found, so that a resumed run makes the very same rounds without a search.
    noise_multiplier: f64,
    descent: Descent,
}

const FORMAT: u32 = 1;

/// The server of a federation.
///
/// ```
/// use tacita_federated::{Client, Descent, Keys, Plan, Scale, Server};
///
/// let plan = Plan::new(100, 20.0, 2, Scale::Epsilon(3.0), 1e-4).certify()?;
/// let mut server = Server::in_memory(plan, Keys::from_os()?, vec![0.0; 3], Descent::at(0.5))?;
/// let enrolled: Vec<u64> = (0..100).collect();
/// while !server.is_finished() {
///     for client in server.open_round(&enrolled)?.drawn {
///         let task = Client::asked(&server.order(client)?)?;
///         let answer = task.answer(&[1.0, 2.0, -3.0])?;
///         server.receive(client, &answer)?;
///     }
///     server.close_round()?;
/// }
/// for figure in server.figures() {
///     println!("{figure}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    mechanism: Mechanism,
    run: RunId,
    descent: Descent,
    state: State,
    folder: Option<PathBuf>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounds = self.plan().plan().rounds;
        write!(f, "Server(round {} of {rounds})", self.next_round())
    }
}

fn from_hex(text: &str) -> Option<RunId> {
    let mut run = RunId::default();
    if text.len() != 2 * run.len() {
        return None;
    }
    for (at, byte) in run.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(run)
}

impl Server {
    /// Begins a run in a new folder: `run.json`, `ledger.jsonl`, `checkpoint.safetensors`.
    pub fn create(
        folder: &Path,
        plan: CertifiedPlan,
        keys: Keys,
        model: Vec<f32>,
        descent: Descent,
    ) -> Result<Self, ServerError> {
        let ledger = folder.join(LEDGER);
        if ledger.exists() || folder.join(RUN).exists() {
            let path = folder.into();
            return Err(ServerError::Exists { path });
        }
        check(&model, &descent)?;
        plan.check_model(model.len())?;
        let run = fresh_key::identifier()?;
        std::fs::create_dir_all(folder).map_err(|source| FileError::Io {
            action: "make",
            path: folder.into(),
            source,
        })?;
        let file = RunFile {
            tacita_federation: FORMAT,
            run: run.clone(),
            private: keys.is_private(),
            parameters: model.len(),
            plan: plan.plan().clone(),
            noise_multiplier: plan.scale(),
            descent,
        };
        let state = State::new(model, descent.optimiser);
        let json = serde_json::to_vec_pretty(&file).unwrap_or_else(|_| unreachable!("plain data"));
        write_whole(&folder.join(RUN), &json)?;
        Checkpoint::write(0, &state, &folder.join(CHECKPOINT))?;
        // The ledger last: a folder without one has released nothing.
        let mechanism = Mechanism::create(plan, keys, state.model.len(), Some(&ledger))?;
        Ok(Self {
            mechanism,
            run: from_hex(&run).unwrap_or_default(),
            descent,
            state,
            folder: Some(folder.into()),
        })
    }

    /// A run whose ledger is lost if the process dies. For tests and experiments.
    pub fn in_memory(
        plan: CertifiedPlan,
        keys: Keys,
        model: Vec<f32>,
        descent: Descent,
    ) -> Result<Self, ServerError> {
        check(&model, &descent)?;
        let mechanism = Mechanism::create(plan, keys, model.len(), None)?;
        Ok(Self {
            mechanism,
            run: from_hex(&fresh_key::identifier()?).unwrap_or_default(),
            descent,
            state: State::new(model, descent.optimiser),
            folder: None,
        })
    }

    /// Resumes a run that stopped or was killed, with fresh keys. Rounds that its ledger holds are spent, whether or not
    /// their result was saved; they are not repeated.
    pub fn resume(folder: &Path, keys: Keys) -> Result<Self, ServerError> {
        let path = folder.join(RUN);
        let damaged = |why: String| FileError::Damaged {
            path: path.clone(),
            why,
        };
        let file: RunFile =
            serde_json::from_slice(&read(&path)?).map_err(|error| damaged(error.to_string()))?;
        if file.tacita_federation != FORMAT {
            return Err(damaged("its format is unknown".into()).into());
        }
        let run = from_hex(&file.run).ok_or_else(|| damaged("run is no identity".into()))?;
        // The same rounds as before, to the last bit, and the ledger will say if they are not.
        let scale = Scale::NoiseMultiplier(file.noise_multiplier);
        let plan = Plan { scale, ..file.plan };
        let plan = plan.certify()?;
        let checkpoint_path = folder.join(CHECKPOINT);
        let Checkpoint { rounds, state } = Checkpoint::read(&checkpoint_path)?;
        let wanted = State::new(state.model.clone(), file.descent.optimiser);
        if state.model.len() != file.parameters || state.memory.len() != wanted.memory.len() {
            return Err(FileError::Damaged {
                path: checkpoint_path,
                why: "it is of another model or optimiser".into(),
            }
            .into());
        }
        let ledger = folder.join(LEDGER);
        let mechanism = Mechanism::resume(plan, keys, state.model.len(), &ledger)?;
        if mechanism.next_round() < rounds {
            return Err(ServerError::LedgerBehind {
                checkpoint: rounds,
                ledger: mechanism.next_round(),
            });
        }
        Ok(Self {
            mechanism,
            run,
            descent: file.descent,
            state,
            folder: Some(folder.into()),
        })
    }

    /// The certified plan.
    pub fn plan(&self) -> &CertifiedPlan {
        self.mechanism.plan()
    }

    /// The model: public, since it is made of released values.
    pub fn model(&self) -> &[f32] {
        &self.state.model
    }

    /// The round to come, from 0; after the last one the number of rounds.
    pub fn next_round(&self) -> u64 {
        self.mechanism.next_round()
    }

    /// Whether every round of the plan is spent, and none is open.
    pub fn is_finished(&self) -> bool {
        self.next_round() >= self.plan().plan().rounds && self.mechanism.terms().is_none()
    }

    /// Whether keys came from the operating system. If not, nothing is private.
    pub fn is_private(&self) -> bool {
        self.mechanism.keys().is_private()
    }

    /// What the whole plan promises, and against whom.
    pub fn figures(&self) -> Vec<Figure> {
        self.plan().figures()
    }

    /// What the rounds that are spent have cost so far, and against whom.
    pub fn figures_so_far(&self) -> Vec<Figure> {
        self.mechanism.figures_so_far()
    }

    /// What counts as spent.
    pub fn spent(&self) -> Ledger {
        self.mechanism.spent()
    }

    /// Writes the ledger, then draws the clients of the next round among those that are enrolled. An identity must be
    /// a client's own and stay it: two of them are two chances to be drawn.
    pub fn open_round(&mut self, enrolled: &[u64]) -> Result<Asked, ServerError> {
        Ok(self.mechanism.open(enrolled, &[])?)
    }

    /// The same where a public committee makes the noise: all of its members are asked, drawn or not.
    pub fn open_round_with(
        &mut self,
        enrolled: &[u64],
        committee: &[u64],
    ) -> Result<Asked, ServerError> {
        Ok(self.mechanism.open(enrolled, committee)?)
    }

    /// What is sent to a client that was drawn.
    pub fn order(&self, client: u64) -> Result<Vec<u8>, ServerError> {
        self.order_as(client, true, false)
    }

    /// What is sent to a client that was drawn, that is of the committee, or both.
    pub fn order_as(
        &self,
        client: u64,
        drawn: bool,
        of_committee: bool,
    ) -> Result<Vec<u8>, ServerError> {
        let (round, terms) = self.mechanism.terms().ok_or(MechanismError::NotOpen)?;
        let order = Order {
            run: self.run,
            round,
            client,
            contribute: drawn,
            clip: self.plan().plan().clip,
            threshold: terms.threshold,
            share_std: terms.share_std.filter(|_| of_committee),
            model: self.state.model.clone(),
        };
        Ok(order.encode())
    }

    /// Takes a client's answer. `client` is who the transport says has sent it.
    ///
    /// A faulty one contributes nothing, and nobody else notices.
    pub fn receive(&mut self, client: u64, message: &[u8]) -> Result<(), Fault> {
        self.receive_from_site(&[client], message)
    }

    /// Takes the answer of a site that holds the records of several clients that were drawn: the sum of their clipped
    /// updates ([`Client::answer_for`](crate::Client::answer_for)), in answer to an order for the first of them.
    ///
    /// That none of them adds more than the threshold to it rests on the site, which has their records anyway. The
    /// server sees to it that all of them together do not. No more than [`Bound::MOST_TOGETHER`](crate::Bound) of them.
    pub fn receive_from_site(&mut self, clients: &[u64], message: &[u8]) -> Result<(), Fault> {
        let fault = |mechanism: &mut Mechanism, fault| {
            mechanism.note(fault);
            Err(fault)
        };
        let Ok(update) = Update::decode(message) else {
            return fault(&mut self.mechanism, Fault::Unreadable);
        };
        if update.run != self.run {
            return fault(&mut self.mechanism, Fault::OtherRun);
        }
        if Some(&update.client) != clients.first() {
            return fault(&mut self.mechanism, Fault::OtherClient);
        }
        self.mechanism.receive(update.round, clients, &update.steps)
    }

    /// Adds a vector that was clipped in this process, where there are no messages.
    pub fn receive_steps(&mut self, client: u64, steps: &[i32]) -> Result<(), Fault> {
        let round = self.mechanism.terms().map_or(0, |(round, _)| round);
        self.mechanism.receive(round, &[client], steps)
    }

    /// Whether every client that was drawn has answered. As secret as the draw.
    pub fn is_complete(&self) -> bool {
        self.mechanism.is_complete()
    }

    /// Faulty messages of the open round, by kind. They tell nothing of records, but with the draw they are secret.
    pub fn faults(&self) -> BTreeMap<Fault, u64> {
        self.mechanism.faults()
    }

    /// Ends the round: noise, division by the expected cohort, a step of the optimiser, the checkpoint. Clients that have
    /// not answered contribute nothing.
    pub fn close_round(&mut self) -> Result<Released, ServerError> {
        let released = self.mechanism.close()?;
        self.descend(&released)?;
        Ok(released)
    }

    /// Ends a round whose sum, noise included, was decoded under secure aggregation with so many members of the
    /// committee. None if they are too few: the round is void, and spent.
    pub fn close_round_with(
        &mut self,
        sum: Vec<i64>,
        present: u64,
    ) -> Result<Option<Released>, ServerError> {
        let released = self.mechanism.close_with_sum(sum, present)?;
        if let Some(released) = &released {
            self.descend(released)?;
        }
        Ok(released)
    }

    /// Ends a round that cannot be completed, because connections failed. It is void, and spent.
    pub fn abandon_round(&mut self) -> Result<u64, ServerError> {
        Ok(self.mechanism.abandon()?)
    }

    /// Ends the run. Rounds that were never opened are given back.
    pub fn finish(self) -> Result<Ledger, ServerError> {
        Ok(self.mechanism.finish()?)
    }

    fn descend(&mut self, released: &Released) -> Result<(), ServerError> {
        let rounds = self.plan().plan().rounds;
        (self.state).descend(&self.descent, released.round, rounds, &released.mean);
        if let Some(folder) = &self.folder {
            Checkpoint::write(released.round + 1, &self.state, &folder.join(CHECKPOINT))?;
        }
        Ok(())
    }
}

const RUN: &str = "run.json";
const LEDGER: &str = "ledger.jsonl";
const CHECKPOINT: &str = "checkpoint.safetensors";

fn check(model: &[f32], descent: &Descent) -> Result<(), ServerError> {
    if let Some((what, value)) = descent.unsound() {
        return Err(ServerError::Descent { what, value });
    }
    match model.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(ServerError::NotFinite { index }),
        None => Ok(()),
    }
}
