//! The file of an index while it is written.

use super::form::{Form, Unit};
use crate::chunk::Chunk;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a written file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    /// How a record lies in it; none if there are no records.
    pub form: Option<Form>,
    /// How many records there are, which is private.
    pub count: usize,
    /// The length of the file.
    pub bytes: u64,
}

/// Appends records to a new file.
pub(crate) struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    /// Where each record ends, if they are not equally long.
    ends: Option<BufWriter<File>>,
    unit: Unit,
    written: Written,
    buffer: Vec<u8>,
}

/// The file of ends beside one of records.
pub(super) fn ends_of(path: &Path) -> PathBuf {
    path.with_extension("ends")
}

/// A new file that only its owner can read, where the system knows such a thing.
pub(super) fn create(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| cannot(path))
}

fn cannot(path: &Path) -> String {
    format!(
        "cannot write the index of the records, {}; free some space, or name another folder: --on-disk=DIR. Nothing was \
         spent",
        path.display()
    )
}

impl Writer {
    /// Of records of a unit.
    pub fn new(path: &Path, unit: Unit) -> Result<Self> {
        let buffered = |path: &Path| Ok::<_, anyhow::Error>(BufWriter::new(create(path)?));
        Ok(Self {
            path: path.to_path_buf(),
            file: buffered(path)?,
            ends: (unit.varies())
                .then(|| buffered(&ends_of(path)))
                .transpose()?,
            unit,
            written: Written {
                form: None,
                count: 0,
                bytes: 0,
            },
            buffer: Vec::new(),
        })
    }

    /// Appends the records of a chunk.
    pub fn append(&mut self, chunk: &Chunk) -> Result<()> {
        let Some(form) = Form::of(self.unit, chunk) else {
            return Ok(());
        };
        ensure!(
            *self.written.form.get_or_insert(form.clone()) == form,
            "the records of one file are of several kinds"
        );
        for at in 0..chunk.targets.len() {
            self.buffer.clear();
            form.write(chunk, at, &mut self.buffer);
            self.written.bytes += self.buffer.len() as u64;
            self.file
                .write_all(&self.buffer)
                .and_then(|()| match &mut self.ends {
                    Some(ends) => ends.write_all(&self.written.bytes.to_le_bytes()),
                    None => Ok(()),
                })
                .with_context(|| cannot(&self.path))?;
        }
        self.written.count += chunk.targets.len();
        Ok(())
    }

    /// Everything is on the disk when it returns.
    pub fn finish(self) -> Result<Written> {
        for file in std::iter::once(self.file).chain(self.ends) {
            file.into_inner()
                .map_err(std::io::IntoInnerError::into_error)
                .and_then(|file| file.sync_all())
                .with_context(|| cannot(&self.path))?;
        }
        Ok(self.written)
    }
}
