//! What the account of the records said of all runs together.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tacita::AccountStanding;

/// What an account said when a run was reserved in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountFacts {
    /// Public name of the account.
    pub name: String,
    /// Identifier of the account.
    pub id: String,
    /// ε that everything under the account keeps together.
    pub epsilon: f64,
    /// Its δ.
    pub delta: f64,
    /// How many records the unit of the account may own.
    pub records_per_unit: u32,
    /// Runs and searches reserved by then, this one included.
    pub reserved: u64,
    /// ε of all of them together, proved for runs chosen in the light of earlier ones; none if it exceeds the total.
    pub spent_upper: Option<f64>,
    /// ε of all of them together, proved if all plans had been fixed beforehand; none if that is not known.
    pub if_fixed_beforehand_upper: Option<f64>,
}

impl AccountFacts {
    /// How an account stands.
    pub fn of(standing: &AccountStanding) -> Result<Self> {
        let total = standing.total();
        let exact = standing.epsilon_if_fixed_beforehand()?;
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        Ok(Self {
            name: standing.name().into(),
            id: standing.id().into(),
            epsilon: total.epsilon,
            delta: total.delta,
            records_per_unit: total.records_per_unit,
            reserved: standing.reservations().len() as u64,
            spent_upper: finite(standing.epsilon_spent()),
            if_fixed_beforehand_upper: exact.and_then(|exact| exact.upper_bound()).and_then(finite),
        })
    }
}
