//! What a run whose unit is a person promises about one record.
//!
//! A record that is added to a person, taken away or changed, while the person stays, does not remove the person from
//! the data: it exchanges what they contribute for something else. That is two steps of the relation of the guarantee,
//! out with the person and in again. If each is (ε, δ′), both together are (2ε, (1 + e^ε) δ′) (Dwork & Roth 2014,
//! Theorem 2.2, for groups of two). So the figure is larger than that of the person, who may be present or absent: it
//! holds against somebody who knows that the person took part, and everything else.

use super::facts::{Facts, Tuning};
use super::figures;
use anyhow::Result;
use serde::Serialize;

/// Attempts to find a δ′, each a hundred times smaller.
const ATTEMPTS: i32 = 12;

/// What is promised about one record of a person whose other records stay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OneRecord {
    /// Certified ε at the δ of the guarantee.
    pub epsilon_upper: f64,
}

/// The figure of a run whose unit is a person, by its own plan; none if it means nothing, or if the unit is a record.
pub fn of(facts: &Facts) -> Result<Option<OneRecord>> {
    let of_search = matches!(facts.tuning, Tuning::PartOfSearch { .. });
    if facts.data.records_per_person.is_none() || of_search {
        return Ok(None);
    }
    for attempt in 1..=ATTEMPTS {
        let delta = facts.delta * 10_f64.powi(-2 * attempt);
        let Some(upper) = figures::upper_of_group(&facts.plan, delta)? else {
            return Ok(None);
        };
        // What is kept for the noise generator's tail counts each time as well.
        let both = (1.0 + upper.exp()) * (delta + facts.delta_reserved) * (1.0 + 1e-9);
        if both <= facts.delta {
            let epsilon_upper = 2.0 * upper;
            let means_something = epsilon_upper <= figures::MEANINGLESS;
            return Ok(means_something.then_some(OneRecord { epsilon_upper }));
        }
    }
    Ok(None)
}
