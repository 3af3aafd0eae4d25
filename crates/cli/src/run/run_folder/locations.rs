//! Where the data of a run lie. Only the operator needs to know, so it is kept beside the folder of the
//! run and never in it: the folder may be published.

use super::RunRecord;
use crate::accounts::AccountPlace;
use crate::files::write_whole;
use crate::run::settings::Settings;
use crate::run_files::RunFiles;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Every path among the settings of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Locations {
    /// What to know before passing the file on.
    pub warning: String,
    /// The user's own data, a file or a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Their test records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
    /// The folder of public data sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// The folder with the copy of the records on the disk, unless that is the user's cache folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<PathBuf>,
    /// The initial weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<PathBuf>,
    /// The folder of the pre-trained model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pretrained: Option<PathBuf>,
    /// The account in which the run was reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<PathBuf>,
}

fn file_of_account(given: &str) -> Option<PathBuf> {
    Some(AccountPlace::of(given).ok()?.file)
}

const WARNING: &str = "NOT FOR PUBLICATION: where the data of a run lie on the operator's machine, for `tacita resume`";

impl Locations {
    /// The paths of settings, from the root.
    pub fn of(settings: &Settings) -> Self {
        let absolute = |path: &Option<PathBuf>| {
            let path = path.as_deref()?;
            Some(std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
        };
        Self {
            warning: WARNING.into(),
            data: absolute(&settings.own_data().cloned()),
            test: absolute(&settings.test),
            data_dir: absolute(&settings.data_dir),
            on_disk: absolute(
                &(settings.on_disk.clone()).filter(|folder| folder.as_os_str() != Settings::CACHE),
            ),
            start: absolute(&settings.start),
            pretrained: absolute(&settings.pretrained),
            // By name too: where the state of programs lies may change.
            account: absolute(&(settings.account.as_deref()).and_then(file_of_account)),
        }
    }

    /// Those of these that are given, else those of others.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            warning: other.warning,
            data: self.data.or(other.data),
            test: self.test.or(other.test),
            data_dir: self.data_dir.or(other.data_dir),
            on_disk: self.on_disk.or(other.on_disk),
            start: self.start.or(other.start),
            pretrained: self.pretrained.or(other.pretrained),
            account: self.account.or(other.account),
        }
    }

    /// The file beside the folder of a run or a search.
    pub fn file(folder: &Path) -> PathBuf {
        // Whatever way leads to it, as `.` does.
        let folder = folder
            .canonicalize()
            .unwrap_or_else(|_| folder.to_path_buf());
        let mut name = folder.file_name().unwrap_or_default().to_os_string();
        name.push(".operator.json");
        folder.with_file_name(name)
    }

    fn is_empty(&self) -> bool {
        let nothing = Self {
            warning: self.warning.clone(),
            ..Self::default()
        };
        *self == nothing
    }

    /// Writes the file beside a folder, unless there is nothing to say.
    pub fn write(&self, folder: &Path) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        write_whole(&Self::file(folder), text.as_bytes())
    }

    /// Reads the file beside a folder; nothing is known without it.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = Self::file(folder);
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is damaged; remove it", file.display())),
            Err(_) => Ok(Self::default()),
        }
    }

    /// What is known of the run of a folder: beside it, or beside the search that it is a part of.
    pub fn known(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
        let mut known = Self::read(&folder)?;
        // SEARCH/winner or SEARCH/runs/1.
        for search in folder.ancestors().skip(1).take(2) {
            if known.data.is_none() && RunFiles::of(search).is_of_search() {
                known = Self::read(search)?;
            }
        }
        Ok(known)
    }

    /// The paths that the settings of a run hold if an earlier version made it.
    pub fn of_earlier_version(settings: &Settings) -> Self {
        match settings.names_paths() {
            true => Self::of(settings),
            false => Self::default(),
        }
    }

    /// The settings of a run on its own with the paths that are given here, or else those it was begun with.
    /// What is given is kept for the next time.
    pub fn for_run(self, record: &RunRecord, folder: &Path) -> Result<Settings> {
        let keep = !self.is_empty() && record.search.is_none();
        let settings = self.or(Self::read(folder)?).into_settings(record, folder)?;
        if keep {
            Self::of(&settings).write(folder)?;
        }
        Ok(settings)
    }

    fn into_settings(self, record: &RunRecord, folder: &Path) -> Result<Settings> {
        let mut settings = record.settings.clone();
        if settings.names_paths() {
            // Made by an earlier version, which kept the paths in the folder; given ones take precedence.
            self.replace_in(&mut settings);
            return Ok(settings);
        }
        if settings.own_data().is_some() && self.data.is_none()
            || settings.test.is_some() && self.test.is_none()
        {
            bail!(
                "the folder of a run holds the name of its data, not their path, and {} is missing; say where \
                 they are: tacita resume {} --data FILE{}. Nothing more was spent",
                Self::file(folder).display(),
                folder.display(),
                if settings.test.is_some() {
                    " --test FILE"
                } else {
                    ""
                }
            );
        }
        self.replace_in(&mut settings);
        Ok(settings)
    }

    fn replace_in(self, settings: &mut Settings) {
        let own = [
            &mut settings.csv,
            &mut settings.parquet,
            &mut settings.jsonl,
            &mut settings.images,
        ];
        if let (Some(path), Some(data)) = (own.into_iter().find(|path| path.is_some()), self.data) {
            *path = Some(data);
        }
        if settings.test.is_some() {
            settings.test = self.test.or(settings.test.take());
        }
        if settings.start.is_some() {
            settings.start = self.start.or(settings.start.take());
        }
        if settings.pretrained.is_some() {
            settings.pretrained = self.pretrained.or(settings.pretrained.take());
        }
        settings.data_dir = self.data_dir.or(settings.data_dir.take());
        settings.on_disk = self.on_disk.or(settings.on_disk.take());
        if settings.account.is_some() {
            let path = self.account.map(|path| path.to_string_lossy().into_owned());
            settings.account = path.or(settings.account.take());
        }
    }
}
