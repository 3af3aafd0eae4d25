//! The hash chain of a ledger: each line carries the SHA-256 of the chain before it and of itself.

use crate::error::VerifyError;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// What stands between the contents of a line and its hash.
const FIELD: &str = ",\"chain\":\"";

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// The lines of a ledger whose chain is whole.
pub(crate) struct Lines {
    /// What each line says, without its hash.
    pub lines: Vec<Map<String, Value>>,
    /// The hash of all of them: whoever knows it knows the whole ledger.
    pub head: String,
    /// Whether a last line without its newline follows: it was cut short by a crash, or by somebody.
    pub torn: bool,
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the lines of a ledger and follows their chain.
pub(crate) fn follow(bytes: &[u8]) -> Result<Lines, VerifyError> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = whole.map_or(0, |last| last + 1);
    let mut read = Lines {
        lines: Vec::new(),
        head: String::new(),
        torn: whole < bytes.len(),
    };
    for (index, line) in bytes[..whole].split_inclusive(|b| *b == b'\n').enumerate() {
        let broken = |reason| VerifyError::Ledger {
            line: index + 1,
            reason,
        };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (body, hash) = parts(line).ok_or(broken("it has no checksum"))?;
        let next = Sha256::new().chain_update(&read.head).chain_update(&body);
        if hexadecimal(&next.finalize()) != hash {
            return Err(broken(
                "its checksum does not follow from the lines before it: the ledger was edited",
            ));
        }
        match serde_json::from_str(&body) {
            Ok(Value::Object(says)) => read.lines.push(says),
            _ => return Err(broken("it is not a JSON object")),
        }
        read.head = hash.to_string();
    }
    Ok(read)
}

/// A line without its hash, as it was hashed, and the hash.
fn parts(line: &[u8]) -> Option<(String, &str)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix("\"}")?;
    let (open, hash) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((format!("{}}}", open.strip_suffix(FIELD)?), hash))
}
