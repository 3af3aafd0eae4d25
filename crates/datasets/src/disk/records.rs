//! Records on a disk: read by position, and ahead of the step that needs them.

use super::file::{Fetched, RecordsFile};
use super::writer::Written;
use crate::chunk::Chunk;
use crate::targets::Targets;
use anyhow::{Result, ensure};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tacita::UnreadableRecords;

/// Bytes of one step that are read ahead at most. Of a larger step the rest is read when it is needed.
const MOST_AHEAD: usize = 64 << 20;
/// Records that are read at a time where all are wanted.
const CHUNK: usize = 4096;

/// The records of one file of an index.
#[derive(Debug, Clone)]
pub(crate) struct DiskRecords {
    file: Arc<RecordsFile>,
    /// None yet, of the kind that there are.
    targets: Targets,
    finish: Finish,
    ahead: Arc<Mutex<Ahead>>,
}

/// What is done to records after they are read: what was not known yet when the index was made.
#[derive(Clone, Default)]
struct Finish(Option<Arc<dyn Fn(&mut Chunk) + Send + Sync>>);

impl std::fmt::Debug for Finish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Finish({})", self.0.is_some())
    }
}

/// What was read before it was asked for.
#[derive(Debug, Default)]
struct Ahead {
    /// For the present step.
    ready: Fetched,
    /// For the next.
    coming: Option<JoinHandle<std::io::Result<Fetched>>>,
}

impl Ahead {
    /// What comes is here. What could not be read is asked for again, and then tells why.
    fn arrive(&mut self) {
        let arrived = self.coming.take().map(JoinHandle::join);
        self.ready = match arrived {
            Some(Ok(Ok(fetched))) => fetched,
            _ => Fetched::default(),
        };
    }
}

impl PartialEq for DiskRecords {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && Arc::ptr_eq(&self.ahead, &other.ahead)
    }
}

impl DiskRecords {
    /// Opens a file of an index; `targets` is of the kind that is expected.
    pub fn open(path: &Path, written: Written, targets: &Targets) -> Result<Self> {
        let file = RecordsFile::open(path, written)?;
        ensure!(
            file.form().is_none_or(|form| form.fits(targets)),
            "{} holds other targets",
            path.display()
        );
        Ok(Self {
            file: Arc::new(file),
            targets: targets.none_yet(),
            finish: Finish::default(),
            ahead: Arc::default(),
        })
    }

    /// How many records there are.
    pub fn count(&self) -> usize {
        self.file.count()
    }

    /// No targets, of the kind that there are.
    pub fn no_targets(&self) -> &Targets {
        &self.targets
    }

    /// The same records, to which this is done after they are read.
    #[must_use]
    pub fn finished_by(mut self, finish: impl Fn(&mut Chunk) + Send + Sync + 'static) -> Self {
        self.finish = Finish(Some(Arc::new(finish)));
        self.ahead = Arc::default();
        self
    }

    /// Reads records in any order.
    pub fn read(&self, indices: &[usize]) -> Result<Chunk, UnreadableRecords> {
        self.read_chunk(indices).map_err(|error| UnreadableRecords {
            problem: format!("{error:#}; is the disk with the index in order?"),
        })
    }

    fn read_chunk(&self, indices: &[usize]) -> Result<Chunk> {
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wanting: Vec<usize> = (indices.iter().copied())
            .filter(|index| ahead.ready.get(*index).is_none())
            .collect();
        wanting.sort_unstable();
        wanting.dedup();
        let fetched = self.file.fetch(&wanting, usize::MAX)?;
        let mut chunk = Chunk::none(&self.targets);
        for &index in indices {
            let bytes = ahead.ready.get(index).or_else(|| fetched.get(index));
            let (Some(bytes), Some(form)) = (bytes, self.file.form()) else {
                anyhow::bail!("the index is damaged");
            };
            form.read(bytes, &mut chunk)?;
        }
        if let Some(finish) = &self.finish.0 {
            finish(&mut chunk);
        }
        Ok(chunk)
    }

    /// What was asked for the last time is here now; begins to read what is asked for the next time.
    pub fn read_ahead(&self, mut indices: Vec<usize>) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.arrive();
        indices.retain(|index| *index < self.count());
        if indices.is_empty() {
            return;
        }
        let file = self.file.clone();
        let reader = thread::Builder::new().name("read ahead".into());
        // Without a thread the records are read when they are needed.
        ahead.coming = reader.spawn(move || file.fetch(&indices, MOST_AHEAD)).ok();
    }

    /// All records in order, some thousand at a time.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Chunk, UnreadableRecords>> + '_ {
        let count = self.count();
        (0..count).step_by(CHUNK).map(move |start| {
            let indices: Vec<usize> = (start..count.min(start + CHUNK)).collect();
            self.read(&indices)
        })
    }

    /// What is to be predicted of all records.
    pub fn targets(&self) -> Result<Targets> {
        let mut all = self.targets.clone();
        for chunk in self.chunks() {
            all.append(&chunk?.targets)?;
        }
        Ok(all)
    }
}
