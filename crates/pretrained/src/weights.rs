//! Named tensors of a pre-trained model, read once and checked against its config.

use crate::error::PretrainedError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One file of weights.
const FILE: &str = "model.safetensors";
/// Which shard holds which tensor.
const INDEX: &str = "model.safetensors.index.json";
/// Formats that run code when they are opened.
const PICKLES: [&str; 4] = ["bin", "pt", "pth", "ckpt"];

/// Named tensors in single precision. Each is taken once; what is left at the end has no place in the network.
#[derive(Debug, Default)]
pub struct Weights {
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    sha256: String,
}

impl Weights {
    /// Those of a folder as the Hugging Face hub lays it out: `model.safetensors`, or shards with their index.
    pub fn read(folder: &Path) -> Result<Self, PretrainedError> {
        Self::read_files(&files(folder)?)
    }

    /// Those of safetensors files of any names.
    pub fn read_files(files: &[PathBuf]) -> Result<Self, PretrainedError> {
        let mut hash = Sha256::new();
        let mut tensors = BTreeMap::new();
        for file in files {
            let bytes = std::fs::read(file).map_err(|source| PretrainedError::File {
                what: "read",
                path: file.clone(),
                source,
            })?;
            hash.update(&bytes);
            let damaged = |error: safetensors::SafeTensorError| PretrainedError::Damaged {
                path: file.clone(),
                why: error.to_string(),
            };
            for (name, view) in SafeTensors::deserialize(&bytes).map_err(damaged)?.iter() {
                if let Some(numbers) = numbers(name, &view)? {
                    tensors.insert(name.to_owned(), (view.shape().to_vec(), numbers));
                }
            }
        }
        let digest = hash.finalize();
        Ok(Self {
            tensors,
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// Tensors that come from elsewhere, with the SHA-256 of their source.
    pub fn of(
        tensors: impl IntoIterator<Item = (String, Vec<usize>, Vec<f32>)>,
        sha256: String,
    ) -> Self {
        let tensors = tensors.into_iter();
        Self {
            tensors: tensors
                .map(|(name, shape, values)| (name, (shape, values)))
                .collect(),
            sha256,
        }
    }

    /// SHA-256 of the file, or of the shards one after the other in the order of their names.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Whether any name begins so.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        self.tensors.keys().any(|name| name.starts_with(prefix))
    }

    /// Takes the prefix off names that have it, as `bert.` of a model that was saved with a head.
    pub fn strip_prefix(&mut self, prefix: &str) {
        let tensors = std::mem::take(&mut self.tensors);
        self.tensors = tensors
            .into_iter()
            .map(|(name, tensor)| match name.strip_prefix(prefix) {
                Some(rest) => (rest.to_owned(), tensor),
                None => (name, tensor),
            })
            .collect();
    }

    /// Leaves out tensors that the network does not need, such as heads of the original task.
    pub fn discard(&mut self, unneeded: impl Fn(&str) -> bool) {
        self.tensors.retain(|name, _| !unneeded(name));
    }

    /// Takes a tensor, row by row.
    pub fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, PretrainedError> {
        let Some((seen, values)) = self.tensors.remove(name) else {
            return Err(PretrainedError::Missing {
                name: name.into(),
                shape: shape.to_vec(),
            });
        };
        if seen != shape || values.len() != shape.iter().product::<usize>() {
            return Err(PretrainedError::Shape {
                name: name.into(),
                seen,
                expected: shape.to_vec(),
            });
        }
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(PretrainedError::NotFinite { name: name.into() }),
        }
    }

    /// Refuses tensors that nobody took.
    pub fn finish(self) -> Result<(), PretrainedError> {
        let names: Vec<String> = self.tensors.into_keys().collect();
        match names.is_empty() {
            true => Ok(()),
            false => Err(PretrainedError::Extra { names }),
        }
    }
}

/// The files of weights in a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, PretrainedError> {
    let (whole, index) = (folder.join(FILE), folder.join(INDEX));
    if whole.is_file() {
        return Ok(vec![whole]);
    }
    if index.is_file() {
        return shards(folder, &index);
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let pickle = entries.map(|entry| entry.path()).find(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| PICKLES.contains(&extension))
    });
    Err(PretrainedError::NoWeights {
        folder: folder.into(),
        pickle: pickle.and_then(|path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        }),
    })
}

/// The files that an index names, each once, in the order of their names.
fn shards(folder: &Path, index: &Path) -> Result<Vec<PathBuf>, PretrainedError> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let damaged = |why: String| PretrainedError::Damaged {
        path: index.into(),
        why,
    };
    let text = std::fs::read_to_string(index).map_err(|source| PretrainedError::File {
        what: "read",
        path: index.into(),
        source,
    })?;
    let index: Index = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    for name in &names {
        // A folder is read, nothing beside it.
        if Path::new(name).file_name() != Some(name.as_ref()) || !name.ends_with(".safetensors") {
            return Err(damaged(format!(
                "`{name}` is not the name of a safetensors file"
            )));
        }
    }
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// The numbers of a tensor; none for a buffer of whole numbers, such as positions, that no network learns.
fn numbers(name: &str, view: &TensorView<'_>) -> Result<Option<Vec<f32>>, PretrainedError> {
    let bytes = view.data();
    Ok(match view.dtype() {
        Dtype::F32 => Some(
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|number| f32::from_le_bytes(*number))
                .collect(),
        ),
        Dtype::F16 => Some(
            bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|number| half::f16::from_le_bytes(*number).to_f32())
                .collect(),
        ),
        Dtype::BF16 => Some(
            bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|number| half::bf16::from_le_bytes(*number).to_f32())
                .collect(),
        ),
        Dtype::I64 if name.ends_with("position_ids") => None,
        other => {
            return Err(PretrainedError::Type {
                name: name.into(),
                dtype: format!("{other:?}"),
            });
        }
    })
}
