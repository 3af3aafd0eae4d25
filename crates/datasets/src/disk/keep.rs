//! Where records are kept that are read from files: in memory, or in an index on a disk.

use super::form::Unit;
use super::index::Wanted;
use super::records::DiskRecords;
use super::writer::Writer;
use crate::chunk::{Chunk, Values};
use crate::targets::Targets;
use anyhow::{Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use tacita::UnreadableRecords;

/// Records in memory before they are written.
const CHUNK: usize = 4096;

/// Keeps prepared records in an index on a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnDisk {
    /// The folder of indices.
    pub folder: PathBuf,
    /// Read the data even if there is an index of them.
    pub again: bool,
}

/// Records as they were read.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    /// In memory.
    Memory(Chunk),
    /// In an index.
    Disk(DiskRecords),
}

/// Records while they are read.
pub(crate) struct Part {
    /// The ones that are in memory.
    pub chunk: Chunk,
    file: Option<Writer>,
}

/// How the user wants records to be kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// On a disk, if at all.
    pub on_disk: Option<&'a OnDisk>,
    /// Say nothing.
    pub quiet: bool,
    /// Whether records belong to people.
    pub by_person: bool,
}

/// What is to be read, and how it is kept.
pub(crate) struct Keep<'a> {
    /// What the user asked for.
    pub asked: Asked<'a>,
    /// All that decides how records are prepared, but for their files.
    pub prepared_by: String,
    /// The file, folder or pattern.
    pub path: &'a Path,
    /// The files of it.
    pub files: &'a [PathBuf],
    /// Whether each of them is a record.
    pub files_are_records: bool,
    /// What the values of records are.
    pub unit: Unit,
    /// None yet, of the kind that there are.
    pub targets: &'a Targets,
}

impl Part {
    fn of(targets: &Targets, file: Option<Writer>) -> Self {
        Self {
            chunk: Chunk::none(targets),
            file,
        }
    }

    /// Writes what is in memory if that has become much; `ready` makes it what is kept.
    pub fn settle(&mut self, ready: impl FnOnce(Values) -> Values) -> Result<()> {
        match self.chunk.targets.len() < CHUNK {
            true => Ok(()),
            false => self.write(ready),
        }
    }

    /// Writes what is in memory, unless that is where it stays.
    pub fn write(&mut self, ready: impl FnOnce(Values) -> Values) -> Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let none = Chunk::none(&self.chunk.targets);
        let mut chunk = std::mem::replace(&mut self.chunk, none);
        if chunk.targets.is_empty() {
            return Ok(());
        }
        chunk.values = ready(chunk.values);
        file.append(&chunk)
    }
}

impl Part {
    /// Says whose the records are, of which none was written.
    pub fn own(&mut self, own: impl FnOnce(Targets) -> Targets) {
        self.chunk.targets = own(std::mem::take(&mut self.chunk.targets));
    }
}

impl Keep<'_> {
    /// Reads the records by `read`, or opens the index that was made of them before: what `read` returned, the records
    /// to train on, and those held out.
    pub fn read<P: Serialize + DeserializeOwned>(
        &self,
        mut read: impl FnMut(&mut [Part; 2]) -> Result<P>,
    ) -> Result<(P, [Kept; 2])> {
        let Some(on_disk) = self.asked.on_disk else {
            let mut parts = [None, None].map(|file| Part::of(self.targets, file));
            let found = read(&mut parts)?;
            return Ok((found, parts.map(|part| Kept::Memory(part.chunk))));
        };
        ensure!(
            self.path.as_os_str() != "-",
            "standard input is read once and cannot be told from another, so no index is made of it; give a file, or leave \
             --on-disk out"
        );
        ensure!(
            !self.asked.by_person,
            "records of people are kept in memory, because all records of a person belong together; leave --on-disk or \
             --person out. Nothing was spent"
        );
        let wanted = Wanted {
            folder: &on_disk.folder,
            name: self.name()?,
            files: self.files,
            files_are_records: self.files_are_records,
            unit: self.unit,
            targets: self.targets,
            again: on_disk.again,
            quiet: self.asked.quiet,
        };
        let (found, parts) = wanted.open(&mut |writers| {
            let mut parts = writers.map(|file| Part::of(self.targets, Some(file)));
            let found = read(&mut parts)?;
            let mut files = parts.into_iter().filter_map(|part| part.file);
            match (files.next(), files.next()) {
                (Some(training), Some(held_out)) => Ok((found, [training, held_out])),
                _ => unreachable!("both parts have a file"),
            }
        })?;
        Ok((found, parts.map(Kept::Disk)))
    }

    /// A hash of all that decides how records are prepared, but not of the records.
    fn name(&self) -> Result<String> {
        let path = std::path::absolute(self.path)?;
        let hash = Sha256::digest(format!("{path:?}\n{}", self.prepared_by));
        Ok(crate::hex::hex(&hash[..8]))
    }
}

impl Kept {
    /// How many records there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Memory(chunk) => chunk.targets.len(),
            Self::Disk(disk) => disk.count(),
        }
    }

    /// Targets of the kind that there are, but perhaps none of them.
    pub fn kind_of_targets(&self) -> &Targets {
        match self {
            Self::Memory(chunk) => &chunk.targets,
            Self::Disk(disk) => disk.no_targets(),
        }
    }

    /// What is to be predicted of all records.
    pub fn targets(&self) -> Result<Cow<'_, Targets>> {
        Ok(match self {
            Self::Memory(chunk) => Cow::Borrowed(&chunk.targets),
            Self::Disk(disk) => Cow::Owned(disk.targets()?),
        })
    }

    /// All records in order, some at a time.
    pub fn chunks(
        &self,
    ) -> Box<dyn Iterator<Item = Result<Cow<'_, Chunk>, UnreadableRecords>> + '_> {
        match self {
            Self::Memory(chunk) => Box::new(std::iter::once(Ok(Cow::Borrowed(chunk)))),
            Self::Disk(disk) => Box::new(disk.chunks().map(|chunk| chunk.map(Cow::Owned))),
        }
    }
}
