//! Hashes in writing.

/// Bytes as hexadecimal digits, two each.
///
/// ```
/// assert_eq!(tacita_datasets::hex(&[0, 171]), "00ab");
/// ```
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
