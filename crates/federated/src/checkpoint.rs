//! The model and its optimiser on disk, so that a server that was killed resumes.

use crate::optimiser::State;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file of the run cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system failed.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is not what was written.
    #[error("{path} was changed or damaged ({why}); restore it from a copy")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// A checkpoint: after so many rounds the state was this.
pub(crate) struct Checkpoint {
    pub rounds: u64,
    pub state: State,
}

const MODEL: &str = "model";
const ROUNDS: &str = "rounds";
const TIME: &str = "time";

impl Checkpoint {
    /// Writes the file as a whole, or not at all.
    pub fn write(rounds: u64, state: &State, path: &Path) -> Result<(), FileError> {
        let bytes =
            |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
        let mut vectors = vec![(MODEL.to_string(), bytes(&state.model))];
        for (slot, memory) in state.memory.iter().enumerate() {
            vectors.push((format!("memory.{slot}"), bytes(memory)));
        }
        let views = vectors.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            view.map(|view| (name.as_str(), view))
        });
        let damaged = |why: safetensors::SafeTensorError| FileError::Damaged {
            path: path.into(),
            why: why.to_string(),
        };
        let views = views.collect::<Result<Vec<_>, _>>().map_err(damaged)?;
        let metadata = HashMap::from([
            (ROUNDS.to_string(), rounds.to_string()),
            (TIME.to_string(), state.time.to_string()),
        ]);
        let bytes = serialize(views, Some(metadata)).map_err(damaged)?;
        write_whole(path, &bytes)
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let bytes = read(path)?;
        Self::parse(&bytes).map_err(|why| FileError::Damaged {
            path: path.into(),
            why,
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let metadata = metadata.metadata().clone().unwrap_or_default();
        let field = |name: &str| metadata.get(name).ok_or(format!("it has no {name}"));
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let vector = |name: &str| -> Option<Vec<f32>> {
            let (numbers, _) = file.tensor(name).ok()?.data().as_chunks::<4>();
            Some(
                numbers
                    .iter()
                    .map(|number| f32::from_le_bytes(*number))
                    .collect(),
            )
        };
        let memory = (0..).map_while(|slot| vector(&format!("memory.{slot}")));
        Ok(Self {
            rounds: field(ROUNDS)?.parse().map_err(|_| "rounds is no number")?,
            state: State {
                model: vector(MODEL).ok_or("it has no model")?,
                memory: memory.collect(),
                time: field(TIME)?.parse().map_err(|_| "time is no number")?,
            },
        })
    }
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> FileError {
    let path = path.to_path_buf();
    move |source| FileError::Io {
        action,
        path: path.clone(),
        source,
    }
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(failed("read", path))
}

/// Writes a file beside the old one, and puts it in its place once it is on disk.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let new = path.with_extension("new");
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(failed("write", &new))?;
    fs::rename(&new, path).map_err(failed("replace", path))
}
