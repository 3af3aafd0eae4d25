//! What a run costs whoever owns several of its records.

use super::facts::{Facts, Tuning};
use super::figures;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use tacita_accounting::{Ledger, Neighbours};

/// How many records are told of.
pub const RECORDS: [u32; 3] = [2, 5, 10];

pub use super::figures::MEANINGLESS;

/// What a run costs whoever owns up to so many records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupCost {
    /// Records of one person at most.
    pub records: u32,
    /// Certified ε at the δ of the guarantee; none if it is not finite or too large to mean anything.
    pub epsilon_upper: Option<f64>,
}

/// The costs of a run whose guarantee is that of its own plan, for one record.
pub fn of(facts: &Facts) -> Result<Vec<GroupCost>> {
    let plan = &facts.plan;
    let of_search = matches!(facts.tuning, Tuning::PartOfSearch { .. });
    if facts.data.records_per_person.is_some() {
        // The guarantee is for people already, however many records they have.
        return Ok(Vec::new());
    }
    if of_search || plan.records_per_unit() != 1 || plan.neighbours() != Neighbours::AddOrRemoveOne
    {
        return Ok(Vec::new());
    }
    of_plan(plan, facts.delta - facts.delta_reserved)
}

/// The costs of a plan at the δ that accountants get.
pub fn of_plan(plan: &Ledger, accounted: f64) -> Result<Vec<GroupCost>> {
    of_each(|records| {
        let unit = plan.clone().with_records_per_unit(records)?;
        figures::upper_of_group(&unit, accounted)
    })
}

/// The costs by any bound on ε.
pub fn of_each(upper: impl Fn(u32) -> Result<Option<f64>>) -> Result<Vec<GroupCost>> {
    let cost = |records| {
        Ok(GroupCost {
            records,
            epsilon_upper: upper(records)?,
        })
    };
    RECORDS.into_iter().map(cost).collect()
}
