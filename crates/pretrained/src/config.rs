//! `config.json`: which network a folder holds, and its sizes.

use crate::error::PretrainedError;
use serde_json::{Map, Value};
use std::path::Path;

/// The keys of a config, read with their names in errors.
#[derive(Debug, Clone)]
pub struct Config {
    keys: Map<String, Value>,
}

impl Config {
    /// `config.json` of a folder.
    pub fn read(folder: &Path) -> Result<Self, PretrainedError> {
        Self::read_file(&folder.join("config.json"))
    }

    /// A config from a file of any name.
    pub fn read_file(path: &Path) -> Result<Self, PretrainedError> {
        let text = std::fs::read_to_string(path).map_err(|source| PretrainedError::File {
            what: "read",
            path: path.into(),
            source,
        })?;
        Self::parse(&text).map_err(|why| PretrainedError::Damaged {
            path: path.into(),
            why,
        })
    }

    /// A config from its text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let keys = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { keys })
    }

    /// The kind of network, as `bert`.
    pub fn model_type(&self) -> &str {
        self.text("model_type", "")
    }

    /// A text, or what it is if the config says nothing.
    pub fn text<'a>(&'a self, key: &str, otherwise: &'a str) -> &'a str {
        let value = self.keys.get(key).and_then(Value::as_str);
        value.unwrap_or(otherwise)
    }

    /// A size that must be given.
    pub fn size(&self, key: &'static str) -> Result<usize, PretrainedError> {
        let value = self.keys.get(key);
        let size = value.and_then(Value::as_u64).filter(|size| *size > 0);
        let size = size.and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| PretrainedError::Config {
            key,
            seen: value.map_or("nothing".into(), Value::to_string),
            known: "it must be a whole number above 0".into(),
        })
    }

    /// A size, or what it is if the config says nothing.
    pub fn size_or(&self, key: &'static str, otherwise: usize) -> Result<usize, PretrainedError> {
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(otherwise),
            Some(_) => self.size(key),
        }
    }

    /// A number, or what it is if the config says nothing.
    pub fn number(&self, key: &'static str, otherwise: f64) -> Result<f64, PretrainedError> {
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(otherwise),
            Some(value) => value.as_f64().ok_or_else(|| PretrainedError::Config {
                key,
                seen: value.to_string(),
                known: "it must be a number".into(),
            }),
        }
    }

    /// A switch, or what it is if the config says nothing.
    pub fn switch(&self, key: &str, otherwise: bool) -> bool {
        let value = self.keys.get(key).and_then(Value::as_bool);
        value.unwrap_or(otherwise)
    }

    /// Any other key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.keys.get(key)
    }
}
