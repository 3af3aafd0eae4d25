//! Lists of names that are declared.

use crate::nearest::shown;
use anyhow::{Result, ensure};

/// Refuses a name that is declared twice, or could not be read as it is.
pub(crate) fn distinct(names: &[String], what: &str) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        ensure!(
            seen.insert(name.trim()),
            "the {what} {} is declared twice",
            shown(name)
        );
        ensure!(
            name.trim() == name,
            "the {what} {} has spaces at its ends, which are taken off the values read",
            shown(name)
        );
    }
    Ok(())
}
