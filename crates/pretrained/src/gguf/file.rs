//! An open file.

use super::header::Header;
use super::{Encoding, GgufError, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Tensors begin at multiples of this unless the file says otherwise.
const USUAL_ALIGNMENT: i64 = 32;

/// A tensor as the list of tensors has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its sizes, slowest first: `[rows, columns]`.
    pub shape: Vec<usize>,
    /// How it is stored.
    pub encoding: Encoding,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// An open GGUF file. Metadata and the list of tensors are in memory, tensors are read when asked for.
#[derive(Debug)]
pub struct Gguf<R = BufReader<File>> {
    reader: R,
    metadata: BTreeMap<String, Value>,
    tensors: BTreeMap<String, TensorInfo>,
    data: u64,
}

impl Gguf {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, GgufError> {
        Self::read(BufReader::new(File::open(path)?))
    }
}

impl<R: Read + Seek> Gguf<R> {
    /// Reads the metadata and the list of tensors, and checks that every tensor lies inside the file.
    pub fn read(mut reader: R) -> Result<Self, GgufError> {
        let length = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(0))?;
        let mut begins = Vec::new();
        reader.by_ref().take(4).read_to_end(&mut begins)?;
        if begins != *b"GGUF" {
            return Err(GgufError::NotGguf { begins });
        }
        let mut header = Header::new(&mut reader, length);
        header.position = 4;
        let version = header.u32("the version")?;
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version { version });
        }
        let tensors = header.u64("the number of tensors")?;
        let entries = header.u64("the number of metadata entries")?;
        let metadata = header.metadata(entries)?;
        let alignment = match metadata.get("general.alignment") {
            None => USUAL_ALIGNMENT,
            Some(Value::Integer(alignment)) => *alignment,
            Some(_) => 0,
        };
        if alignment < 8 || alignment % 8 != 0 {
            return Err(GgufError::Alignment { alignment });
        }
        let alignment = alignment as u64;
        let tensors = header.tensors(tensors, alignment)?;
        let data = header.position.checked_next_multiple_of(alignment);
        for (name, info) in &tensors {
            let end = data
                .and_then(|data| data.checked_add(info.offset))
                .and_then(|begin| begin.checked_add(info.bytes));
            if end.is_none_or(|end| end > length) {
                let data = data.unwrap_or(length);
                return Err(GgufError::Truncated {
                    what: format!("tensor `{name}`"),
                    needed: info.bytes,
                    left: length.saturating_sub(data.saturating_add(info.offset)),
                });
            }
        }
        Ok(Self {
            reader,
            metadata,
            tensors,
            data: data.unwrap_or(length),
        })
    }

    /// All tensors by name.
    pub fn tensors(&self) -> &BTreeMap<String, TensorInfo> {
        &self.tensors
    }

    /// All metadata by key.
    pub fn metadata(&self) -> &BTreeMap<String, Value> {
        &self.metadata
    }

    /// The values of a tensor in single precision, in the order of its shape.
    pub fn values(&mut self, tensor: &str) -> Result<Vec<f32>, GgufError> {
        let info = self.tensors.get(tensor);
        let info = info.ok_or_else(|| GgufError::MissingTensor {
            tensor: tensor.to_owned(),
        })?;
        self.reader.seek(SeekFrom::Start(self.data + info.offset))?;
        // The tensor lies inside the file, so this is no more than the file has.
        let mut bytes = vec![0; info.bytes as usize];
        self.reader.read_exact(&mut bytes)?;
        Ok(info.encoding.decode(&bytes))
    }

    /// SHA-256 of the whole file.
    pub fn sha256(&mut self) -> Result<String, GgufError> {
        let mut hash = Sha256::new();
        let mut piece = vec![0; 1 << 20];
        self.reader.seek(SeekFrom::Start(0))?;
        loop {
            match self.reader.read(&mut piece)? {
                0 => break,
                count => hash.update(&piece[..count]),
            }
        }
        let digest = hash.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Metadata that must be a text.
    pub fn text(&self, key: &str, needed_for: &'static str) -> Result<&str, GgufError> {
        match self.get(key, needed_for)? {
            Value::Text(text) => Ok(text),
            other => Err(unexpected(key, other, "a text")),
        }
    }

    /// Metadata that must be a positive integer.
    pub fn size(&self, key: &str, needed_for: &'static str) -> Result<usize, GgufError> {
        match self.get(key, needed_for)? {
            Value::Integer(value) if (1..=1 << 40).contains(value) => Ok(*value as usize),
            other => Err(unexpected(key, other, "a positive integer")),
        }
    }

    /// Metadata that must be a positive number.
    pub fn number(&self, key: &str, needed_for: &'static str) -> Result<f64, GgufError> {
        match self.get(key, needed_for)? {
            Value::Real(value) if value.is_finite() && *value > 0.0 => Ok(*value),
            other => Err(unexpected(key, other, "a positive number")),
        }
    }

    /// Metadata that must be a list of texts.
    pub fn texts(&self, key: &str, needed_for: &'static str) -> Result<&[String], GgufError> {
        match self.get(key, needed_for)? {
            Value::Texts(texts) => Ok(texts),
            other => Err(unexpected(key, other, "a list of texts")),
        }
    }

    fn get(&self, key: &str, needed_for: &'static str) -> Result<&Value, GgufError> {
        self.metadata.get(key).ok_or_else(|| GgufError::Missing {
            key: key.to_owned(),
            needed_for,
        })
    }
}

pub(crate) fn unexpected(key: &str, seen: &Value, expected: &'static str) -> GgufError {
    GgufError::Unexpected {
        key: key.to_owned(),
        seen: seen.describe(),
        expected,
    }
}
