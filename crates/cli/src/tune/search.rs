//! From a space to a published search: what both kinds of it share.

use super::certificate::Certificate;
use super::page::{Found, Shown};
use super::secret;
use super::space::{Candidate, Mode, Space};
use super::worker::Task;
use crate::accounts::AccountPlace;
use crate::date::today;
use crate::device::DeviceName;
use crate::files::{self, hide_times, write_lasting};
use crate::report::facts::{AccountFacts, Facts};
use crate::run::{Locations, Output, Part, PartOfSearch, PublicFacts, reserve};
use crate::run_files::RunFiles;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tacita::{Account, AccountOfRun, ReservedRelease};
use tacita_accounting::decimal::{count, exact, plain, up};
use tacita_accounting::whole_grid;

/// Starts a search, or resumes the one of the folder. None if Ctrl-C came first.
pub fn search(
    text: &str,
    out: &Path,
    device: Option<DeviceName>,
    output: Output,
) -> Result<Option<Found>> {
    let search = Search::certified(text, out, device, output)?;
    let _lock = search.open(text)?;
    if let Some(found) = Found::read(out)? {
        // Published; what was interrupted after that is finished.
        search.remove_secrets()?;
        return Ok(Some(found));
    }
    search.announce();
    search.reserve()?;
    let found = match search.space.mode {
        Mode::Grid => search.grid(),
        Mode::Random => search.random(),
    };
    // However it ended: the time of its runs lies between its files.
    let hidden = hide_times(out);
    let found = found?;
    hidden?;
    Ok(found)
}

/// What a search would be: its guarantee, and each candidate with its noise. Nothing is made or spent.
pub fn preview(text: &str, device: Option<DeviceName>, output: Output) -> Result<String> {
    let search = Search::certified(text, Path::new(""), device, output)?;
    let mut lines = search.announcement();
    for (candidate, settings) in search.candidates.iter().zip(&search.certificate.settings) {
        let noise = settings.noise.unwrap_or(f64::NAN);
        lines.push(format!(
            "  noise multiplier {}  {}",
            plain(noise),
            candidate.name
        ));
    }
    lines.push("Nothing was made or spent.".into());
    Ok(lines.join("\n") + "\n")
}

pub(super) struct Search {
    pub out: PathBuf,
    pub output: Output,
    private: bool,
    pub seed: Option<u64>,
    pub space: Space,
    pub candidates: Vec<Candidate>,
    pub certificate: Certificate,
}

impl Search {
    /// Reads a space and certifies all its runs.
    fn certified(
        text: &str,
        out: &Path,
        device: Option<DeviceName>,
        output: Output,
    ) -> Result<Self> {
        let space = Space::parse(text)?;
        let mut candidates = space.candidates()?;
        let settings = space.settings()?;
        let facts = PublicFacts::read(&settings, output.quiet)?;
        for settings in candidates
            .iter_mut()
            .map(|candidate| &mut candidate.settings)
        {
            settings.device = device.or(settings.device);
            // Once a number is drawn, an error would tell of it.
            settings.device.unwrap_or_default().open()?;
            // The schema as it is now, whatever becomes of its file.
            *settings = settings.clone().complete()?;
        }
        space.check_score(&settings, facts)?;
        reserve::check(&settings)?;
        let certificate =
            Certificate::new(&space, &candidates, facts).context("nothing was spent")?;
        Ok(Self {
            private: settings.seed.is_none(),
            seed: settings.seed,
            out: out.to_path_buf(),
            output,
            space,
            candidates,
            certificate,
        })
    }

    /// Makes the folder, or checks that it belongs to this very space and to data with the same public
    /// facts; one process at a time.
    fn open(&self, text: &str) -> Result<File> {
        let shown = self.out.display();
        let (copy, plans) = (
            self.out.join(RunFiles::SPACE_OF_SEARCH),
            self.out.join("plans.sha256"),
        );
        let (hash, public) = (self.certificate.hash()?, self.space.public_text()?);
        files::make(&self.out)?;
        // Where a folder cannot be locked, its copy of the space is, once it is there.
        let lock = match cfg!(unix) {
            true => Some(files::lock(&self.out)?),
            false => None,
        };
        let mut entries =
            fs::read_dir(&self.out).with_context(|| format!("cannot read {shown}"))?;
        // A search that died between its first two files has begun nothing.
        let only_plans = |entry: std::io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.path() == plans) && !copy.exists()
        };
        if !entries.all(only_plans) {
            let known = fs::read_to_string(&copy).ok();
            // An earlier version kept the text as it was, with the paths in it.
            ensure!(
                known.is_some_and(|known| known == text || same_space(&known, &public)),
                "{shown} exists already and does not hold this search; give --out another folder, or the \
                 unchanged file to resume it. Nothing was spent"
            );
            let certified = fs::read_to_string(&plans).ok();
            ensure!(
                certified.as_deref() == Some(&hash),
                "the runs of {shown} were certified for other plans: the number of records, the schema, the \
                 test records or the weights to start from have changed since, or the program. Restore them to resume, \
                 or give --out another folder. Nothing was spent"
            );
        } else {
            write_lasting(&plans, hash.as_bytes())?;
            write_lasting(&copy, public.as_bytes())?;
            write_lasting(&self.date_file(), today().as_bytes())?;
        }
        if let Some(candidate) = self.candidates.first() {
            Locations::of(&candidate.settings).write(&self.out)?;
        }
        lock.map_or_else(|| files::lock(&copy), Ok)
    }

    /// Reserves the whole search in the account of its data, once, before its first run.
    fn reserve(&self) -> Result<()> {
        let settings = &self.certificate.settings[0];
        if settings.account.is_none() {
            return Ok(());
        }
        let file = self.out.join("account.json");
        let known = match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is damaged; restore it", file.display()))?,
            Err(_) => {
                // On disk before the account is asked, so that the same search asks again under the same name.
                let unasked = AccountOfRun {
                    id: String::new(),
                    run: tacita::identifier()?,
                    line: 0,
                    head: String::new(),
                };
                write_lasting(&file, serde_json::to_string(&unasked)?.as_bytes())?;
                unasked
            }
        };
        let ledgers = &self.certificate.ledgers;
        let release = match self.space.mode {
            Mode::Grid => ReservedRelease::Grid {
                plan: whole_grid(ledgers)?,
            },
            Mode::Random => ReservedRelease::best_of(self.space.distribution()?, ledgers.clone()),
        };
        let (data, seen) = (settings.name_of_data(), [known.clone()]);
        let reserved = reserve::reserve(settings, &known.run, &data, release, &self.out, &seen)?;
        if let Some(reserved) = reserved {
            ensure!(
                known.line == 0 || known.id == reserved.mark.id,
                "this search was reserved in another account; restore it. Nothing more was spent"
            );
            write_lasting(&file, serde_json::to_string(&reserved.mark)?.as_bytes())?;
        }
        Ok(())
    }

    /// The day the search began. Nothing says when its runs did.
    fn date_file(&self) -> PathBuf {
        self.out.join("date.txt")
    }

    /// How the account of the data stands, if there is one.
    fn account(&self) -> Result<Option<AccountFacts>> {
        let Some(given) = &self.certificate.settings[0].account else {
            return Ok(None);
        };
        let place = AccountPlace::of(given)?;
        let standing = Account::read(&place.file, &place.witnesses, &[])?;
        AccountFacts::of(&standing).map(Some)
    }

    /// Public knowledge only: nothing here depends on what was drawn.
    fn announce(&self) {
        if !self.output.quiet {
            eprintln!("{}", self.announcement().join("\n"));
        }
    }

    fn announcement(&self) -> Vec<String> {
        let certificate = &self.certificate;
        let mut lines = Vec::new();
        if !self.private {
            lines.push("NOT PRIVATE: a fixed seed. For experiments only.".to_string());
        }
        let what = match self.space.mode {
            Mode::Grid => format!("{} runs, all of which may be shown", self.candidates.len()),
            Mode::Random => format!(
                "a secret random number of runs over {} candidates; only the best will be shown",
                count(self.candidates.len() as u64)
            ),
        };
        lines.push(format!("Search of {what}"));
        lines.push(format!(
            "  guarantee   ε ≤ {} at δ = {} for the whole search, certified before its first run",
            up(certificate.epsilon_upper(), 5),
            exact(certificate.delta)
        ));
        lines
    }

    /// Runs at a time.
    pub fn parallel(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.space.parallel.unwrap_or(cores)
    }

    /// A run to be made.
    pub fn task(&self, folder: PathBuf, candidate: usize, index: usize) -> Task {
        let mut settings = self.certificate.settings[candidate].clone();
        // A seed of its own, or equal settings would give equal runs.
        settings.seed = self.seed.map(|seed| seed.wrapping_add(index as u64));
        Task {
            folder,
            settings,
            ledger: self.certificate.ledgers[candidate].clone(),
            search: PartOfSearch {
                epsilon_upper: self.certificate.epsilon_upper(),
                delta: self.certificate.delta,
                part: match self.space.mode {
                    Mode::Grid => Part::Grid,
                    Mode::Random => Part::Secret,
                },
            },
        }
    }

    /// A random search leaves nothing but what it publishes; a grid publishes everything.
    pub fn remove_secrets(&self) -> Result<()> {
        if self.space.mode == Mode::Grid {
            return hide_times(&self.out);
        }
        secret::remove_all_but_published(&self.out)
    }

    /// Writes what may be shown.
    pub fn publish(&self, runs: Option<Vec<Shown>>, winner: Option<Shown>) -> Result<Found> {
        let certificate = &self.certificate;
        let run = winner.as_ref().or(runs.iter().flatten().next());
        let facts = run.and_then(|run| facts(&self.out.join(&run.folder)));
        let found = Found::new(
            &self.space,
            self.private,
            certificate,
            self.candidates.len(),
            runs,
            winner,
            facts.as_ref(),
        )?;
        let found = Found {
            begun: fs::read_to_string(self.date_file()).ok(),
            account: self.account()?,
            ..found
        };
        found.write(&self.out)?;
        Ok(found)
    }
}

/// The facts of a published run, if it was not lost.
fn facts(run: &Path) -> Option<Facts> {
    let text = fs::read_to_string(RunFiles::of(run).facts()).ok()?;
    serde_json::from_str(&text).ok()
}

/// Whether the space that a folder keeps is the given one, even if an earlier version wrote its keys otherwise.
fn same_space(known: &str, public: &str) -> bool {
    let read_again = || Space::parse(known).and_then(|space| space.public_text());
    known == public || read_again().is_ok_and(|again| again == public)
}
