//! Records on a disk: read by position, and ahead of the step that needs them.

use super::file::{Fetched, RecordsFile};
use super::writer::Written;
use crate::chunk::Chunk;
use crate::targets::Targets;
use anyhow::{Result, ensure};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tacita::UnreadableRecords;

/// Bytes of one step that are read ahead at most. Of a larger step the rest is read when it is needed.
const MOST_AHEAD: usize = 64 << 20;
/// How long it is worth to wait for a record that is being read ahead: as long as reading it takes where the operating
/// system has it in memory.
const PATIENCE: Duration = Duration::from_micros(1);
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
struct Finish(Option<Arc<Done>>);

type Done = dyn Fn(&mut Chunk) + Send + Sync;

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
    /// Reads for the next one; none before the first step.
    reader: Option<Reader>,
}

/// A thread that reads what it is asked for, and ends when nobody can ask any more.
#[derive(Debug)]
struct Reader {
    ask: Sender<Vec<usize>>,
    answers: Receiver<io::Result<Fetched>>,
    /// Records that were asked for and have not come; 0 if they are not wanted any more.
    asked: Option<u32>,
}

impl Reader {
    /// None if no thread is to be had: records are then read when they are needed.
    fn start(file: &Arc<RecordsFile>) -> Option<Self> {
        let (ask, questions) = channel::<Vec<usize>>();
        let (answer, answers) = channel();
        let file = file.clone();
        let read = move || {
            for indices in questions {
                if answer.send(file.fetch(&indices, MOST_AHEAD)).is_err() {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name("read ahead".into());
        thread.spawn(read).ok().map(|_| Self {
            ask,
            answers,
            asked: None,
        })
    }
}

impl Ahead {
    /// What was asked for is here, unless it would take longer to wait for it than to read it. What could not be read is
    /// asked for again, and then tells why.
    fn arrive(&mut self) {
        self.ready = Fetched::default();
        let Some(reader) = self.reader.as_mut().filter(|reader| reader.asked.is_some()) else {
            return;
        };
        let patience = PATIENCE * reader.asked.unwrap_or(0);
        let answer = reader.answers.recv_timeout(patience);
        if matches!(answer, Err(RecvTimeoutError::Timeout)) {
            // It comes too late.
            reader.asked = Some(0);
            return;
        }
        let is_of_this_step = reader.asked.take() != Some(0);
        if let (Ok(Ok(fetched)), true) = (answer, is_of_this_step) {
            self.ready = fetched;
        }
    }

    fn ask(&mut self, file: &Arc<RecordsFile>, indices: Vec<usize>) {
        if self.reader.is_none() {
            self.reader = Reader::start(file);
        }
        if let Some(reader) = self.reader.as_mut().filter(|reader| reader.asked.is_none()) {
            let count = indices.len() as u32;
            reader.asked = reader.ask.send(indices).ok().map(|()| count);
        }
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
        ahead.ask(&self.file, indices);
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
