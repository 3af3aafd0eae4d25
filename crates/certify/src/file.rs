//! Histories in files: JSON, and the metadata of safetensors. No pickle is ever opened.

use crate::forms;
use crate::history::{History, HistoryError};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The key under which the metadata of a safetensors file has the history, as JSON text.
pub const METADATA_KEY: &str = "privacy_history";

/// Longest text that is read: some two million steps of different noise.
const MOST_BYTES: u64 = 256 << 20;

/// How the ledger file of a training run begins.
const RUN_LEDGER: &str = "{\"tacita_ledger\":";

/// Bytes of a safetensors file before its header.
const HEADER_LENGTH: usize = 8;

/// Reads the history in a JSON or safetensors file.
///
/// ```
/// let path = std::env::temp_dir().join(format!("history-{}.json", std::process::id()));
/// std::fs::write(&path, "[[1.0, 0.01, 500]]")?;
/// let history = tacita_certify::read_file(&path)?;
/// assert_eq!(history.source, "list of steps");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_file(path: &Path) -> Result<History, HistoryError> {
    let name = path.display().to_string();
    let failed = |error| HistoryError::File {
        path: name.clone(),
        error,
    };
    let kind = |what: &str| HistoryError::Kind {
        path: name.clone(),
        what: what.to_string(),
    };
    let mut file = File::open(path).map_err(failed)?;
    let mut start = Vec::new();
    (file.by_ref().take(HEADER_LENGTH as u64))
        .read_to_end(&mut start)
        .map_err(failed)?;
    if looks_like_a_pickle(&start) {
        return Err(kind(
            "this is a pickle, which can run any program and is not opened; in Python, \
             tacita.export_history(…) writes the history in it as JSON",
        ));
    }
    let length = <[u8; HEADER_LENGTH]>::try_from(&start[..]).map(u64::from_le_bytes);
    if let Ok(length) = length
        && !is_text(&start)
    {
        if length > MOST_BYTES {
            return Err(kind("this is neither JSON nor a safetensors file"));
        }
        let mut header = Vec::new();
        (file.take(length))
            .read_to_end(&mut header)
            .map_err(failed)?;
        return forms::read(&history_in(&header).map_err(|what| kind(&what))?);
    }
    let mut text = start;
    (file.take(MOST_BYTES + 1))
        .read_to_end(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(kind("this is longer than the 256 MiB that are read"));
    }
    let text =
        String::from_utf8(text).map_err(|_| kind("this is neither JSON nor a safetensors file"))?;
    if text.starts_with(RUN_LEDGER) {
        return Err(kind(
            "this is the ledger of a run of this program: tacita account --ledger",
        ));
    }
    forms::read(&text)
}

/// The history in the header of a safetensors file.
fn history_in(header: &[u8]) -> Result<String, String> {
    let header: Value = serde_json::from_slice(header)
        .map_err(|_| "this is neither JSON nor a safetensors file".to_string())?;
    let history = header
        .get("__metadata__")
        .and_then(|metadata| metadata.get(METADATA_KEY))
        .and_then(Value::as_str);
    history.map(str::to_string).ok_or_else(|| {
        format!(
            "the metadata of this safetensors file has no history; save it with \
             metadata={{\"{METADATA_KEY}\": tacita.export_history(…)}}"
        )
    })
}

/// PyTorch's checkpoints are zip archives of pickles, or pickles.
fn looks_like_a_pickle(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || matches!(start, [0x80, 2..=5, ..])
}

/// JSON begins with text; the length of a header, as eight bytes, ends with zeros.
fn is_text(start: &[u8]) -> bool {
    start
        .iter()
        .all(|byte| *byte >= b' ' || byte.is_ascii_whitespace())
}
