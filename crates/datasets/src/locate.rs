//! Where the files of a public set are looked for.

use super::download::{self, Download};
use super::formats::compressed;
use anyhow::{Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The files of a public set, and where they come from.
#[derive(Debug)]
pub struct Site {
    /// The name of the set.
    pub name: &'static str,
    /// Folders it goes by, the first being ours.
    pub folders: &'static [&'static str],
    /// The forms it comes in: for each, names that must all be there (compressed or not).
    pub forms: &'static [&'static [&'static str]],
    /// What to download for one of the forms; empty if nobody offers it without an account.
    pub downloads: &'static [Download],
    /// Where a person can get it.
    pub home: &'static str,
}

/// A folder that holds a set in one of its forms.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The folder.
    pub folder: PathBuf,
    /// Which of the forms.
    pub form: usize,
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Where the user keeps what can be had again.
pub fn cache_folder() -> Option<PathBuf> {
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    cache
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".cache")))
        .map(|cache| cache.join("tacita"))
}

/// Folders of data sets, in the order they are searched.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// `--data-dir`: a folder of sets, or the set itself.
    pub data_dir: Option<PathBuf>,
    /// Other folders of sets.
    pub others: Vec<PathBuf>,
    /// Where downloads go.
    pub downloads: Option<PathBuf>,
}

impl Places {
    /// `--data-dir`, `TACITA_DATA`, the user's cache, and where Debian puts data sets.
    pub fn of_user(data_dir: Option<&Path>) -> Self {
        let cache = cache_folder();
        let mut others: Vec<PathBuf> = variable("TACITA_DATA")
            .map(PathBuf::from)
            .into_iter()
            .collect();
        others.extend(cache.clone());
        others.push("/usr/share/datasets".into());
        Self {
            data_dir: data_dir.map(Path::to_path_buf),
            others,
            downloads: data_dir.map(Path::to_path_buf).or(cache),
        }
    }

    /// The folders in which a set may be.
    fn candidates(&self, site: &Site) -> Vec<PathBuf> {
        let within = |place: &PathBuf| {
            site.folders
                .iter()
                .map(|name| place.join(name))
                .collect::<Vec<_>>()
        };
        let mut candidates: Vec<PathBuf> = self.data_dir.iter().flat_map(within).collect();
        candidates.extend(self.data_dir.clone());
        candidates.extend(self.others.iter().flat_map(within));
        candidates
    }

    /// Finds a set; downloads it if it is nowhere and that is allowed.
    pub fn find(&self, site: &Site, may_download: bool, quiet: bool) -> Result<Found> {
        let candidates = self.candidates(site);
        if let Some(found) = candidates.iter().find_map(|folder| form(site, folder)) {
            return Ok(found);
        }
        let Some(folder) = self
            .downloads
            .as_ref()
            .map(|place| place.join(site.folders[0]))
        else {
            bail!(
                "{}",
                by_hand(site, &candidates, "there is no folder to download to")
            );
        };
        if site.downloads.is_empty() {
            bail!(
                "{}",
                by_hand(
                    site,
                    &candidates,
                    "nobody offers it for download without an account"
                )
            );
        }
        if !may_download {
            bail!("{}", by_hand(site, &candidates, "downloads are turned off"));
        }
        for file in site.downloads {
            download::fetch(file, &folder, quiet).map_err(|error| {
                error.context(by_hand(site, &candidates, "the download failed"))
            })?;
        }
        match form(site, &folder) {
            Some(found) => Ok(found),
            None => bail!(
                "{}",
                by_hand(site, &candidates, "the download is not complete")
            ),
        }
    }
}

/// The form in which a folder holds a set.
fn form(site: &Site, folder: &Path) -> Option<Found> {
    let form = site.forms.iter().position(|files| {
        files
            .iter()
            .all(|file| compressed::find(folder, file).is_some())
    })?;
    Some(Found {
        folder: folder.to_path_buf(),
        form,
    })
}

/// Says which files to put where.
fn by_hand(site: &Site, candidates: &[PathBuf], why: &str) -> String {
    let mut text = format!("the data set {} was not found, and {why}.", site.name);
    for folder in candidates.iter().filter(|folder| folder.is_dir()) {
        for files in site.forms {
            let missing: Vec<_> = files
                .iter()
                .filter(|file| compressed::find(folder, file).is_none())
                .copied()
                .collect();
            if missing.len() < files.len() {
                text += &format!("\n  {} lacks {}", folder.display(), missing.join(", "));
            }
        }
    }
    text += &format!("\nGet it from {}, and put", site.home);
    for (at, files) in site.forms.iter().enumerate() {
        let or = if at == 0 { "" } else { "or " };
        text += &format!("\n  {or}{} (each may end in .gz or .zst)", files.join(", "));
    }
    text += "\ninto one of these folders:";
    for folder in candidates {
        text += &format!("\n  {}", folder.display());
    }
    text
}
