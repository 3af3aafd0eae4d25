//! The proved ends of ε, by the accountant.

use crate::error::VerifyError;
use serde_json::Value;
use tacita_accounting::{AccountError, Accountant, Ledger, LedgerError, Pld, Rdp, Reading};

/// What is proved about ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    /// The proved lower end, if there is one.
    pub lower: Option<f64>,
    /// The proved upper end.
    pub upper: f64,
    /// Who says so.
    pub accountant: &'static str,
}

/// The least upper bound that is proved for a plan at δ.
pub(crate) fn of_plan(plan: &Value, delta: f64) -> Result<Bracket, VerifyError> {
    let ledger = Ledger::from_json(&plan.to_string()).map_err(AccountError::from)?;
    ledger.check_not_empty().map_err(AccountError::from)?;
    let pld = Pld::default();
    let (accountant, reading) = match pld.supports(&ledger) {
        Ok(()) => (pld.name(), pld.epsilon(&ledger, delta)?),
        Err(_) => (Rdp.name(), Rdp.epsilon(&ledger, delta)?),
    };
    let (lower, upper) = match reading {
        Reading::Bracket { lower, upper } => (Some(lower), upper),
        Reading::UpperBound(upper) => (None, upper),
        Reading::Estimate(_) => return Err(AccountError::from(LedgerError::Empty).into()),
    };
    Ok(Bracket {
        lower,
        upper,
        accountant,
    })
}
