//! The file of an index while it is read, by position.

use super::form::Form;
use super::writer::{Written, ends_of};
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Records closer together than this are read at once: reading over a gap is cheaper than asking again.
const GAP: u64 = 4096;
/// Bytes that are asked for at once.
const MOST_AT_ONCE: u64 = 1 << 20;
/// Threads that wait for the disk: a disk answers many questions in the time of one.
const THREADS: usize = 8;
/// Records that are read before it is known whether the disk has to be waited for...
const PROBE: usize = 64;
/// ...which is so if each of them takes longer than this.
const WAIT: Duration = Duration::from_micros(20);

/// An open file of records.
#[derive(Debug)]
pub(super) struct RecordsFile {
    file: File,
    ends: Option<File>,
    written: Written,
}

/// Bytes of some records.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// Ascending.
    indices: Vec<usize>,
    /// Where each record ends in the bytes.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl Fetched {
    /// The bytes of a record, if they are here.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let at = self.indices.binary_search(&index).ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.get(start..self.ends[at])
    }

    fn append(&mut self, other: Self) {
        let before = self.bytes.len();
        self.indices.extend(other.indices);
        self.ends
            .extend(other.ends.into_iter().map(|end| before + end));
        self.bytes.extend(other.bytes);
    }
}

impl RecordsFile {
    /// Opens what was written, if it is whole.
    pub fn open(path: &Path, written: Written) -> Result<Self> {
        let open = |path: &Path| {
            File::open(path).with_context(|| format!("cannot open {}", path.display()))
        };
        let file = open(path)?;
        let varies = written
            .form
            .as_ref()
            .is_some_and(|form| form.size().is_none());
        let ends = varies.then(|| open(&ends_of(path))).transpose()?;
        let length = |file: &File| Ok::<_, io::Error>(file.metadata()?.len());
        let size = written.form.as_ref().and_then(Form::size);
        let whole = length(&file)? == written.bytes
            && size.is_none_or(|size| size as u64 * written.count as u64 == written.bytes)
            && match &ends {
                Some(ends) => length(ends)? == 8 * written.count as u64,
                None => true,
            };
        ensure!(
            whole,
            "{} has another length than it should",
            path.display()
        );
        Ok(Self {
            file,
            ends,
            written,
        })
    }

    /// How many records there are.
    pub fn count(&self) -> usize {
        self.written.count
    }

    /// How a record lies in it.
    pub fn form(&self) -> Option<&Form> {
        self.written.form.as_ref()
    }

    /// Reads records in ascending order, each once; the first of them if `most` bytes do not hold all.
    ///
    /// What the operating system has in memory one thread reads fastest. A disk is asked by several.
    pub fn fetch(&self, indices: &[usize], most: usize) -> io::Result<Fetched> {
        let (first, rest) = indices.split_at(indices.len().min(PROBE));
        let begun = Instant::now();
        let mut all = self.fetch_in_order(first, most)?;
        let waits = begun.elapsed() > WAIT * first.len() as u32;
        let left = most.saturating_sub(all.bytes.len());
        if rest.is_empty() || left == 0 {
            return Ok(all);
        }
        if !waits {
            all.append(self.fetch_in_order(rest, left)?);
            return Ok(all);
        }
        let shares: Vec<&[usize]> = rest.chunks(rest.len().div_ceil(THREADS)).collect();
        let most = left / shares.len();
        thread::scope(|scope| {
            let readers: Vec<_> = (shares.iter())
                .map(|share| {
                    let read = move || self.fetch_in_order(share, most);
                    thread::Builder::new().spawn_scoped(scope, read)
                })
                .collect();
            for (reader, share) in readers.into_iter().zip(&shares) {
                let read = match reader.map(thread::ScopedJoinHandle::join) {
                    Ok(Ok(read)) => read?,
                    // No thread was to be had.
                    _ => self.fetch_in_order(share, most)?,
                };
                all.append(read);
            }
            Ok(all)
        })
    }

    fn fetch_in_order(&self, indices: &[usize], most: usize) -> io::Result<Fetched> {
        let mut fetched = Fetched::default();
        let mut run: Vec<(usize, u64, u64)> = Vec::new();
        for &index in indices {
            let (start, end) = self.place(index)?;
            if let (Some((_, first, _)), Some((_, _, last))) = (run.first(), run.last())
                && (start.saturating_sub(*last) > GAP || end - first > MOST_AT_ONCE)
            {
                self.read_run(&run, &mut fetched)?;
                run.clear();
                if fetched.bytes.len() >= most {
                    return Ok(fetched);
                }
            }
            run.push((index, start, end));
        }
        self.read_run(&run, &mut fetched)?;
        Ok(fetched)
    }

    /// Reads neighbours, and keeps what was asked for.
    fn read_run(&self, run: &[(usize, u64, u64)], fetched: &mut Fetched) -> io::Result<()> {
        let (Some((_, first, _)), Some((_, _, last))) = (run.first(), run.last()) else {
            return Ok(());
        };
        let mut bytes = vec![0; (last - first) as usize];
        read_at(&self.file, &mut bytes, *first)?;
        for (index, start, end) in run {
            let record = &bytes[(start - first) as usize..(end - first) as usize];
            fetched.bytes.extend_from_slice(record);
            fetched.indices.push(*index);
            fetched.ends.push(fetched.bytes.len());
        }
        Ok(())
    }

    /// Where a record lies.
    fn place(&self, index: usize) -> io::Result<(u64, u64)> {
        if index >= self.written.count {
            return Err(io::Error::other("there is no such record in the index"));
        }
        let place = match (self.form().and_then(Form::size), &self.ends) {
            (Some(size), _) => {
                let size = size as u64;
                (index as u64 * size, (index as u64 + 1) * size)
            }
            (None, Some(ends)) => {
                let mut bytes = [0; 16];
                match index {
                    0 => read_at(ends, &mut bytes[8..], 0)?,
                    _ => read_at(ends, &mut bytes, 8 * (index as u64 - 1))?,
                }
                let number = u128::from_le_bytes(bytes);
                (number as u64, (number >> 64) as u64)
            }
            (None, None) => (0, 0),
        };
        match place.0 <= place.1 && place.1 <= self.written.bytes {
            true => Ok(place),
            false => Err(io::Error::other("the index is damaged")),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}
