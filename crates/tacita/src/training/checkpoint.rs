//! All that a run needs to be resumed: parameters, optimiser, learned threshold and rate, average.
//!
//! Everything in it was released, so a private run's checkpoint may be published. It holds no key.
//! The file is in the safetensors format and is replaced as a whole: written beside, synchronised,
//! renamed.

use crate::mechanism::ledger_file::hide_time;
use crate::sensitivity::clipping::ThresholdState;
use crate::training::optim::{LearningRateState, OptimizerRule, OptimizerState};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a checkpoint could not be used. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The run keeps none.
    #[error("to resume, the run must keep a ledger and a checkpoint: name both files")]
    NotKept,
    /// The file could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// Read or write.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Not a checkpoint or model.
    #[error("{} cannot be used: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A checkpoint of something else.
    #[error(
        "the checkpoint belongs to another model or optimiser; resume with the ones it was made with"
    )]
    OtherRun,
}

/// The state of a run after `step` steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Steps made.
    pub step: u64,
    /// Values of each trainable parameter.
    pub parameters: Vec<Vec<f32>>,
    /// The optimiser's state.
    pub optimizer: Option<OptimizerState>,
    /// What the learning rate has learned.
    pub rate: LearningRateState,
    /// What the threshold has learned.
    pub thresholds: ThresholdState,
    /// Steps averaged and the average.
    pub average: Option<(u64, Vec<Vec<f32>>)>,
}

/// Everything but the vectors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scalars {
    tacita_checkpoint: u32,
    step: u64,
    optimizer: Option<(OptimizerRule, i32)>,
    rate: f64,
    thresholds: Vec<f64>,
    averaged_steps: Option<u64>,
}

const FORMAT: u32 = 1;
/// Key of the scalars in the file's metadata.
const SCALARS: &str = "tacita";

impl Checkpoint {
    /// Replaces the file by this checkpoint, atomically.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let failed = |source| CheckpointError::File {
            what: "write",
            path: path.into(),
            source,
        };
        let bytes = self.bytes().map_err(|why| CheckpointError::Damaged {
            path: path.into(),
            why,
        })?;
        replace_file(path, &bytes).map_err(failed)
    }

    /// Reads a checkpoint.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|source| CheckpointError::File {
            what: "read",
            path: path.into(),
            source,
        })?;
        Self::parse(&bytes).map_err(|why| CheckpointError::Damaged {
            path: path.into(),
            why,
        })
    }

    /// The contents of the file, for a process that takes the place of this one's run.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        self.bytes().map_err(in_message)
    }

    /// A checkpoint from such contents.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::parse(bytes).map_err(in_message)
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let scalars = Scalars {
            tacita_checkpoint: FORMAT,
            step: self.step,
            optimizer: (self.optimizer.as_ref()).map(|state| (state.rule, state.time)),
            rate: self.rate.rate,
            thresholds: self.thresholds.learned.clone(),
            averaged_steps: self.average.as_ref().map(|(steps, _)| *steps),
        };
        let scalars = serde_json::to_string(&scalars).map_err(|error| error.to_string())?;
        let vectors: Vec<(String, Vec<u8>)> = self
            .vectors()
            .map(|(name, values)| (name, values.iter().flat_map(|v| v.to_le_bytes()).collect()))
            .collect();
        let views = vectors.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            view.map(|view| (name.as_str(), view))
        });
        let views = views.collect::<Result<Vec<_>, _>>();
        let views = views.map_err(|error| error.to_string())?;
        let metadata = HashMap::from([(SCALARS.to_string(), scalars)]);
        serialize(views, Some(metadata)).map_err(|error| error.to_string())
    }

    /// Every vector with its name in the file.
    fn vectors(&self) -> impl Iterator<Item = (String, &Vec<f32>)> {
        let memory = self.optimizer.iter().flat_map(|state| {
            state.memory.iter().enumerate().flat_map(|(index, slots)| {
                let slots = slots.iter().enumerate();
                slots.map(move |(slot, values)| (format!("optimizer.{index}.{slot}"), values))
            })
        });
        let average = self.average.as_ref().map(|(_, values)| values);
        [
            named("parameter", Some(&self.parameters)),
            named("momentum", self.rate.momentum.as_ref()),
            named("direction", self.thresholds.directions.as_ref()),
            named("average", average),
        ]
        .into_iter()
        .flatten()
        .chain(memory)
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let scalars = metadata
            .metadata()
            .as_ref()
            .and_then(|map| map.get(SCALARS));
        let scalars = scalars.ok_or("it lacks the state of a run")?;
        let scalars: Scalars = serde_json::from_str(scalars).map_err(|error| error.to_string())?;
        if scalars.tacita_checkpoint != FORMAT {
            return Err(format!(
                "its format {} is unknown",
                scalars.tacita_checkpoint
            ));
        }
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
        let all = |kind: &str| -> Vec<Vec<f32>> {
            let names = (0..).map(|index| format!("{kind}.{index}"));
            names.map_while(|name| vector(&name)).collect()
        };
        let some = |kind: &str| Some(all(kind)).filter(|vectors| !vectors.is_empty());
        let parameters = all("parameter");
        let memory = || (0..parameters.len()).map(|index| all(&format!("optimizer.{index}")));
        Ok(Self {
            step: scalars.step,
            optimizer: scalars.optimizer.map(|(rule, time)| OptimizerState {
                rule,
                time,
                memory: memory().collect(),
            }),
            rate: LearningRateState {
                rate: scalars.rate,
                momentum: some("momentum"),
            },
            thresholds: ThresholdState {
                learned: scalars.thresholds,
                directions: some("direction"),
            },
            average: scalars.averaged_steps.map(|steps| (steps, all("average"))),
            parameters,
        })
    }
}

fn in_message(why: String) -> CheckpointError {
    let path = "the state of the first rank".into();
    CheckpointError::Damaged { path, why }
}

/// Vectors of one kind, numbered.
fn named<'a>(kind: &str, vectors: Option<&'a Vec<Vec<f32>>>) -> Vec<(String, &'a Vec<f32>)> {
    let vectors = vectors.into_iter().flatten().enumerate();
    vectors
        .map(|(index, values)| (format!("{kind}.{index}"), values))
        .collect()
}

/// Writes a file beside, synchronises it and renames it over `path`: at any moment one of the two is
/// whole.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // A full disk: the old checkpoint stays.
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    hide_time(&file);
    fs::rename(&beside, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn example() -> Checkpoint {
        Checkpoint {
            step: 7,
            parameters: vec![vec![1.0, -2.5], vec![0.1]],
            optimizer: Some(OptimizerState {
                rule: OptimizerRule::adam(),
                time: 7,
                memory: vec![
                    vec![vec![0.5, 0.25], vec![1e-9, 3.0]],
                    vec![vec![0.0], vec![1.0]],
                ],
            }),
            rate: LearningRateState {
                rate: 0.1 + 1e-17,
                momentum: None,
            },
            thresholds: ThresholdState {
                learned: vec![0.3],
                directions: Some(vec![vec![1.0, 2.0], vec![3.0]]),
            },
            average: Some((7, vec![vec![0.5, 0.5], vec![0.5]])),
        }
    }

    #[test]
    fn a_checkpoint_comes_back_bit_for_bit() {
        let example = example();
        assert_eq!(
            Checkpoint::parse(&example.bytes().unwrap()).unwrap(),
            example
        );
        let path = std::env::temp_dir().join(format!("tacita-checkpoint-{}", std::process::id()));
        example.write(&path).unwrap();
        let read = Checkpoint::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(read, example);
    }

    #[test]
    fn damaged_files_are_refused_and_never_panic() {
        let bytes = example().bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(Checkpoint::parse(&bytes[..length]).is_err());
        }
        let missing = Checkpoint::read(Path::new("/nonexistent/checkpoint"));
        assert!(matches!(missing, Err(CheckpointError::File { .. })));
    }
}
