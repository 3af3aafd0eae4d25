//! What whoever runs the training says of it, for the report.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// The table `[about]` of a settings file. All of it is public, and none of it changes the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AboutRun {
    /// What the model is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// Who answers for the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// Whom to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// How long the records and the model are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<String>,
    /// What one record is, such as `one visit to the ward`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// Longest text of a key.
const MOST_LETTERS: usize = 2000;

impl AboutRun {
    /// Refuses texts that a page cannot show.
    pub fn check(&self) -> Result<()> {
        for (key, text) in self.entries() {
            ensure!(
                !text.trim().is_empty() && text.chars().count() <= MOST_LETTERS,
                "`{key}` of [about] must have 1 to {MOST_LETTERS} letters, got {}; leave it out if there is nothing to say",
                text.trim().chars().count()
            );
        }
        Ok(())
    }

    /// What is said, by key.
    pub fn entries(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("purpose", &self.purpose),
            ("controller", &self.controller),
            ("contact", &self.contact),
            ("retention", &self.retention),
            ("record", &self.record),
        ];
        let said = all.into_iter();
        said.filter_map(|(key, text)| Some((key, text.as_deref()?)))
            .collect()
    }
}
