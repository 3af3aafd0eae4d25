//! The ledger, held by Python and read by the accountants.

use crate::border::detached;
use crate::errors::{Class, Failure};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tacita_accounting as accounting;
use tacita_accounting::{
    Accountant, Gdp, Neighbours, Pld, Rdp, Reading, Round, Sampling, Tcdp, Zcdp,
};

/// Rounds of releases. Readers share the rounds they see, so that one thread may append while another reads.
#[pyclass(frozen, module = "tacita._tacita")]
pub struct Ledger(Mutex<Arc<accounting::Ledger>>);

/// Lower and upper end.
pub type Ends = (f64, f64);

/// A round as the package sees it: (kind, numbers of the kind, noise multipliers, times).
type RoundParts = (&'static str, Vec<f64>, Vec<f64>, u64);

impl Ledger {
    /// The rounds as they are now.
    pub fn now(&self) -> Arc<accounting::Ledger> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<accounting::Ledger>> {
        // A ledger is changed as a whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<accounting::Ledger> for Ledger {
    fn from(ledger: accounting::Ledger) -> Self {
        Self(Mutex::new(Arc::new(ledger)))
    }
}

#[pymethods]
impl Ledger {
    #[new]
    fn new(py: Python<'_>, neighbours: &str, records_per_unit: u32) -> PyResult<Self> {
        let neighbours = match neighbours {
            "add-or-remove-one" => Neighbours::AddOrRemoveOne,
            "replace-one" => Neighbours::ReplaceOne,
            other => {
                let message = format!(
                    "neighbours must be \"add-or-remove-one\" or \"replace-one\", got \"{other}\""
                );
                return Err(Failure::new(Class::Argument, message).into_exception(py));
            }
        };
        detached(py, || {
            let ledger = accounting::Ledger::new(neighbours);
            ledger
                .with_records_per_unit(records_per_unit)
                .map(Self::from)
        })
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        detached(py, || accounting::Ledger::from_json(text).map(Self::from))
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let ledger = self.now();
        detached(py, || Ok::<_, Failure>(ledger.to_json()))
    }

    /// Appends `times` rounds of each list of noise multipliers, all drawn alike.
    fn push(
        &self,
        py: Python<'_>,
        kind: &str,
        numbers: Vec<f64>,
        rounds: Vec<Vec<f64>>,
        times: u64,
    ) -> PyResult<()> {
        detached(py, || {
            let sampling = sampling(kind, &numbers)?;
            let mut rest = accounting::Ledger::new(Neighbours::AddOrRemoveOne);
            for noise_multipliers in rounds {
                rest.push(Round::new(sampling, noise_multipliers)?.times(times))?;
            }
            self.append(&rest)
        })
    }

    /// Appends the rounds of another ledger. The package checks that relation and unit agree.
    fn extend(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let other = other.now();
        detached(py, || self.append(&other))
    }

    fn copy(&self) -> Self {
        Self(Mutex::new(self.now()))
    }

    fn prefix(&self, py: Python<'_>, steps: u64) -> PyResult<Self> {
        let ledger = self.now();
        detached(py, || Ok::<_, Failure>(ledger.prefix(steps).into()))
    }

    fn with_records_per_unit(&self, py: Python<'_>, records: u32) -> PyResult<Self> {
        let ledger = self.now();
        detached(py, || {
            let ledger = accounting::Ledger::clone(&ledger);
            ledger.with_records_per_unit(records).map(Self::from)
        })
    }

    #[getter]
    fn neighbours(&self) -> &'static str {
        self.now().neighbours().name()
    }

    #[getter]
    fn records_per_unit(&self) -> u32 {
        self.now().records_per_unit()
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.now().rounds_made()
    }

    fn rounds(&self) -> Vec<RoundParts> {
        self.now().rounds().iter().map(parts).collect()
    }

    fn equals(&self, other: &Self) -> bool {
        self.now() == other.now()
    }

    fn epsilon(&self, py: Python<'_>, delta: f64, accountant: &str) -> PyResult<Ends> {
        let ledger = self.now();
        detached(py, || {
            let accountant = accountant_named(accountant)?;
            ends(accountant.epsilon(&ledger, delta)?)
        })
    }

    fn delta(&self, py: Python<'_>, epsilon: f64, accountant: &str) -> PyResult<Ends> {
        let ledger = self.now();
        detached(py, || {
            let accountant = accountant_named(accountant)?;
            ends(accountant.delta(&ledger, epsilon)?)
        })
    }

    /// δ brackets at several ε, from one composition.
    fn curve(&self, py: Python<'_>, epsilons: Vec<f64>) -> PyResult<Vec<Ends>> {
        let ledger = self.now();
        detached(py, || {
            let readings = Pld::default().curve(&ledger, &epsilons)?;
            readings
                .into_iter()
                .map(ends)
                .collect::<Result<Vec<_>, Failure>>()
        })
    }

    /// μ of the limit theorem, and whether it is exact.
    fn gdp_mu(&self, py: Python<'_>) -> PyResult<(f64, bool)> {
        let ledger = self.now();
        detached(py, || Gdp.mu(&ledger).map(|mu| (mu.mu, mu.is_exact)))
    }
}

impl Ledger {
    /// All rounds of another ledger, or none.
    fn append(&self, other: &accounting::Ledger) -> Result<(), Failure> {
        let mut shared = self.lock();
        // A copy only if somebody is reading.
        let ledger = Arc::make_mut(&mut shared);
        let before = ledger.rounds_made();
        for round in other.rounds() {
            if let Err(error) = ledger.push(round.clone()) {
                *ledger = ledger.prefix(before);
                return Err(error.into());
            }
        }
        Ok(())
    }
}

/// How records are drawn, from the name in ledgers and the numbers that belong to it.
fn sampling(kind: &str, numbers: &[f64]) -> Result<Sampling, Failure> {
    match (kind, numbers) {
        ("poisson", &[rate]) => Ok(Sampling::Poisson { rate }),
        ("full", &[]) => Ok(Sampling::Full {}),
        ("fixed-size", &[batch, of]) => Ok(Sampling::FixedSize {
            batch: batch as u64,
            of: of as u64,
        }),
        ("partition", &[batches]) => Ok(Sampling::Partition {
            batches: batches as u64,
        }),
        _ => Err(Failure::new(
            Class::Argument,
            format!(
                "unknown sampling \"{kind}\"; known are poisson, full, fixed-size and partition"
            ),
        )),
    }
}

fn parts(round: &Round) -> RoundParts {
    let numbers = match round.sampling {
        Sampling::Poisson { rate } => vec![rate],
        Sampling::Full {} => vec![],
        Sampling::FixedSize { batch, of } => vec![batch as f64, of as f64],
        Sampling::Partition { batches } => vec![batches as f64],
    };
    let noise_multipliers = round.noise_multipliers.clone();
    (
        round.sampling.name(),
        numbers,
        noise_multipliers,
        round.times,
    )
}

/// The accountants that prove something; the limit theorem is not among them.
pub fn accountant_named(name: &str) -> Result<Box<dyn Accountant>, Failure> {
    match name {
        "pld" => Ok(Box::new(Pld::default())),
        "rdp" => Ok(Box::new(Rdp)),
        "tcdp" => Ok(Box::new(Tcdp::new())),
        "zcdp" => Ok(Box::new(Zcdp)),
        "gdp" => Err(Failure::new(
            Class::Argument,
            "the gdp accountant only estimates and guarantees nothing; see Ledger.gdp_mu()",
        )),
        other => Err(Failure::new(
            Class::Argument,
            format!("accountant must be \"pld\", \"rdp\", \"tcdp\" or \"zcdp\", got \"{other}\""),
        )),
    }
}

/// The two ends of a proved reading; nothing but 0 is below an upper bound alone.
pub fn ends(reading: Reading) -> Result<Ends, Failure> {
    match (reading.lower_bound(), reading.upper_bound()) {
        (lower, Some(upper)) => Ok((lower.unwrap_or(0.0), upper)),
        _ => Err(Failure::new(Class::Unsupported, "an estimate is no bound")),
    }
}
