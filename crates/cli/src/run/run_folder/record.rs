//! What a run folder says of its run, written before the first step.

use super::{Locations, StartedFrom};
use crate::models::{ModelName, ModelSpec};
use crate::pretrained::PretrainedBase;
use crate::report::facts::AccountFacts;
use crate::run::settings::Settings;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tacita::{SearchKind, SearchOfRun};
use tacita_datasets::{About, InputPreparation, Preparation, Shape};

/// What `resume` and `predict` need to know, written before the first step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Format of this file.
    pub tacita_run: u32,
    /// Version of the program that started the run.
    pub version: String,
    /// Name of the data set.
    pub name: String,
    /// Every setting.
    pub settings: Settings,
    /// The model.
    pub model: ModelName,
    /// Its input.
    pub shape: Shape,
    /// The scale of the noise.
    pub scale: f64,
    /// Records as declared.
    pub public_record_count: u64,
    /// How inputs are prepared.
    pub preparation: Preparation,
    /// Where the records come from.
    pub about: About,
    /// A released histogram that gave bounds of columns, and the standard deviation of its noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<(Vec<f32>, f64)>,
    /// Identifier of the run; none of a run of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The day it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// Commit of the program that started it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What its account said when it was reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountFacts>,
    /// The weights it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartedFrom>,
    /// The search it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<PartOfSearch>,
}

/// What a run of a search states instead of its own ε, which does not pay for the search. Kept with the run from
/// its start, so that it stays true wherever the folder is copied and whoever resumes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartOfSearch {
    /// ε of the whole search, an upper bound.
    pub epsilon_upper: f64,
    /// δ of the whole search.
    pub delta: f64,
    /// What of the search the run is.
    pub part: Part,
}

/// Which part of a search a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// One of a grid, all of which may be shown.
    Grid,
    /// One of a random search, of which nothing is to be seen: the guarantee covers the best one alone.
    Secret,
    /// The published best of a random search.
    Winner,
}

impl PartOfSearch {
    /// The same as the first line of the run's ledger holds it, so that it stays true of the ledger alone.
    pub fn in_ledger(self) -> SearchOfRun {
        SearchOfRun {
            kind: match self.part {
                Part::Grid => SearchKind::Grid,
                Part::Secret | Part::Winner => SearchKind::Random,
            },
            epsilon_upper: self.epsilon_upper,
            delta: self.delta,
        }
    }
}

/// The first line of the settings of a run on the user's own data.
const NAMES_NOT_PATHS: &str = "# The data are named, not their paths. To train on them again, give the path too, as with --csv FILE.\n";

impl RunRecord {
    /// The only format there is.
    pub const FORMAT: u32 = 1;

    /// Rounds of the ledger before the first step: bounds of columns, and their means and spreads.
    pub fn statistics(&self) -> u64 {
        let standard = match &self.preparation.input {
            InputPreparation::Table(table) => table.standard.is_some(),
            _ => false,
        };
        u64::from(self.histogram.is_some()) + u64::from(standard)
    }

    /// The model, to be built again.
    pub fn model_spec(&self) -> ModelSpec {
        ModelSpec {
            name: self.model,
            shape: self.shape,
            classes: self.preparation.classes.len(),
            hidden: self.settings.hidden,
            seed: None,
        }
    }

    /// The pre-trained model that the run fine-tuned, if it did: where it is said to lie now, or where it lay.
    pub fn pretrained(
        &self,
        given: Option<&Path>,
        folder: &Path,
    ) -> Result<Option<PretrainedBase>> {
        if self.settings.pretrained.is_none() {
            return Ok(None);
        }
        let known = match given {
            Some(given) => Some(given.to_path_buf()),
            None => Locations::known(folder)?.pretrained,
        };
        let known = known.with_context(|| {
            format!(
                "the folder of a run holds what it changed of a pre-trained model, not the model, and {} is missing, \
                 which says where that lies; say it with --pretrained DIR",
                Locations::file(folder).display()
            )
        })?;
        let settings = Settings {
            pretrained: Some(known),
            ..self.settings.clone()
        };
        settings.pretrained_base()
    }

    /// The record as its file holds it.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// The settings as their own file holds them.
    pub fn settings_text(&self) -> Result<String> {
        let mut settings = self.settings.to_toml()?;
        if self.settings.own_data().is_some() {
            settings.insert_str(0, NAMES_NOT_PATHS);
        }
        Ok(settings)
    }
}
