//! The two sides of a federation: bytes in and out, parameters as bytes of f32.

use crate::border::detached;
use crate::errors::{Class, Failure};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tacita_federated::{
    Adversary, Client, ClientError, Descent, Figure, FileError, KeyError, Keys, MechanismError,
    Plan, PlanError, Server, ServerError,
};

/// (kind, members, text, ε, δ).
type FigureParts = (&'static str, u64, String, Option<f64>, f64);

fn parts(figure: &Figure) -> FigureParts {
    let (kind, members) = match figure.adversary {
        Adversary::Models => ("models", 0),
        Adversary::ModelsAndColluding { members } => ("models-and-colluding", members),
        Adversary::Server { colluding } => ("server", colluding),
    };
    (
        kind,
        members,
        figure.to_string(),
        figure.epsilon,
        figure.delta,
    )
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Account(error) => error.into(),
            error => Self::new(Class::Argument, error.to_string()),
        }
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        let class = match &error {
            ServerError::Mechanism(MechanismError::Ledger(_))
            | ServerError::LedgerBehind { .. }
            | ServerError::File(FileError::Damaged { .. }) => Class::Ledger,
            ServerError::Mechanism(MechanismError::Finished { .. }) => Class::Budget,
            _ => Class::Argument,
        };
        Self::new(class, error.to_string())
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::new(Class::Argument, error.to_string())
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::new(Class::Internal, error.to_string())
    }
}

fn json<T: for<'a> serde::Deserialize<'a>>(what: &str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::new(Class::Argument, format!("{what}: {error}")))
}

fn keys(seed: Option<u64>) -> Result<Keys, Failure> {
    Ok(match seed {
        None => Keys::from_os()?,
        Some(seed) => Keys::fixed_seed(seed),
    })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

fn wholes(bytes: &[u8]) -> Vec<i64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| i64::from_le_bytes(*word)).collect()
}

fn bytes_of<const N: usize>(py: Python<'_>, words: impl Iterator<Item = [u8; N]>) -> Py<PyBytes> {
    let bytes: Vec<u8> = words.flatten().collect();
    PyBytes::new(py, &bytes).unbind()
}

/// Certifies a plan: the scale of its noise, both ends of ε against the readers of the models, every figure.
#[pyfunction]
pub fn certify_federation(
    py: Python<'_>,
    plan: &str,
) -> PyResult<(f64, (f64, f64), Vec<FigureParts>)> {
    detached(py, || {
        let plan = json::<Plan>("the plan", plan)?.certify()?;
        let epsilon = plan.epsilon();
        let ends = (
            epsilon.lower_bound().unwrap_or(0.0),
            epsilon.upper_bound().unwrap_or(f64::INFINITY),
        );
        let figures = plan.figures().iter().map(parts).collect();
        Ok::<_, Failure>((plan.scale(), ends, figures))
    })
}

/// The server's side.
#[pyclass(frozen, module = "tacita._tacita")]
pub struct FederatedServer(Mutex<Server>);

impl FederatedServer {
    fn lock(&self) -> MutexGuard<'_, Server> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl FederatedServer {
    /// Begins a run in a folder, or in memory.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        folder: Option<PathBuf>,
        plan: &str,
        descent: &str,
        model: &[u8],
        seed: Option<u64>,
    ) -> PyResult<Self> {
        detached(py, || {
            let plan = json::<Plan>("the plan", plan)?.certify()?;
            let descent = json::<Descent>("the optimiser", descent)?;
            let (keys, model) = (keys(seed)?, floats(model));
            let server = match folder {
                Some(folder) => Server::create(&folder, plan, keys, model, descent)?,
                None => Server::in_memory(plan, keys, model, descent)?,
            };
            Ok::<_, Failure>(Self(Mutex::new(server)))
        })
    }

    /// Resumes the run of a folder.
    #[staticmethod]
    fn resume(py: Python<'_>, folder: PathBuf, seed: Option<u64>) -> PyResult<Self> {
        detached(py, || {
            let server = Server::resume(&folder, keys(seed)?)?;
            Ok::<_, Failure>(Self(Mutex::new(server)))
        })
    }

    /// Draws the clients of the next round; with a committee, all of which is asked as well.
    fn open_round(
        &self,
        py: Python<'_>,
        enrolled: Vec<u64>,
        committee: Vec<u64>,
    ) -> PyResult<(Vec<u64>, Vec<u64>)> {
        detached(py, || {
            let asked = self.lock().open_round_with(&enrolled, &committee)?;
            Ok::<_, Failure>((asked.drawn, asked.committee))
        })
    }

    fn order(
        &self,
        py: Python<'_>,
        client: u64,
        drawn: bool,
        of_committee: bool,
    ) -> PyResult<Py<PyBytes>> {
        let order = detached(py, || self.lock().order_as(client, drawn, of_committee))?;
        Ok(PyBytes::new(py, &order).unbind())
    }

    /// What is wrong with an answer, or nothing.
    fn receive(
        &self,
        py: Python<'_>,
        clients: Vec<u64>,
        message: &[u8],
    ) -> PyResult<Option<String>> {
        detached(py, || {
            let received = self.lock().receive_from_site(&clients, message);
            Ok::<_, Failure>(received.err().map(|fault| fault.to_string()))
        })
    }

    fn faults(&self) -> Vec<(String, u64)> {
        let faults = self.lock().faults().into_iter();
        faults
            .map(|(fault, times)| (fault.to_string(), times))
            .collect()
    }

    /// Ends the round: its number and the standard deviation of the noise on the mean.
    fn close_round(&self, py: Python<'_>) -> PyResult<(u64, f64)> {
        detached(py, || {
            let released = self.lock().close_round()?;
            Ok::<_, Failure>((released.round, released.noise_std))
        })
    }

    /// The same with a sum of secure aggregation, as bytes of i64; none if the round is void.
    fn close_round_with(
        &self,
        py: Python<'_>,
        sum: &[u8],
        present: u64,
    ) -> PyResult<Option<(u64, f64)>> {
        detached(py, || {
            let released = self.lock().close_round_with(wholes(sum), present)?;
            Ok::<_, Failure>(released.map(|released| (released.round, released.noise_std)))
        })
    }

    fn abandon_round(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || self.lock().abandon_round())
    }

    fn model(&self, py: Python<'_>) -> Py<PyBytes> {
        let server = self.lock();
        bytes_of(py, server.model().iter().map(|value| value.to_le_bytes()))
    }

    fn figures(&self, py: Python<'_>, so_far: bool) -> PyResult<Vec<FigureParts>> {
        detached(py, || {
            let server = self.lock();
            let figures = match so_far {
                true => server.figures_so_far(),
                false => server.figures(),
            };
            Ok::<_, Failure>(figures.iter().map(parts).collect())
        })
    }

    /// Rounds that are spent, and rounds of the plan.
    #[getter]
    fn rounds(&self) -> (u64, u64) {
        let server = self.lock();
        (server.next_round(), server.plan().plan().rounds)
    }

    #[getter]
    fn noise_multiplier(&self) -> f64 {
        self.lock().plan().scale()
    }

    #[getter]
    fn is_finished(&self) -> bool {
        self.lock().is_finished()
    }

    #[getter]
    fn is_complete(&self) -> bool {
        self.lock().is_complete()
    }

    #[getter]
    fn is_private(&self) -> bool {
        self.lock().is_private()
    }
}

/// What an order says that a client needs: (round, whether to contribute, whether to add noise, model).
#[pyfunction]
pub fn read_order(py: Python<'_>, order: &[u8]) -> PyResult<(u64, bool, bool, Py<PyBytes>)> {
    let client = detached(py, || Client::asked(order))?;
    let order = client.order();
    let model = bytes_of(py, order.model.iter().map(|value| value.to_le_bytes()));
    Ok((
        order.round,
        order.contribute,
        order.share_std.is_some(),
        model,
    ))
}

/// The answer to an order, for one update or the several of a site.
#[pyfunction]
pub fn answer_order(py: Python<'_>, order: &[u8], updates: Vec<Vec<u8>>) -> PyResult<Py<PyBytes>> {
    let answer = detached(py, || {
        let updates: Vec<Vec<f32>> = updates.iter().map(|update| floats(update)).collect();
        Client::asked(order)?.answer_for(updates.iter().map(Vec::as_slice))
    })?;
    Ok(PyBytes::new(py, &answer).unbind())
}

/// What a client hands to secure aggregation: bytes of i64.
#[pyfunction]
pub fn masked_answer(py: Python<'_>, order: &[u8], update: &[u8]) -> PyResult<Py<PyBytes>> {
    let steps = detached(py, || Client::asked(order)?.masked_answer(&floats(update)))?;
    Ok(bytes_of(py, steps.iter().map(|step| step.to_le_bytes())))
}
