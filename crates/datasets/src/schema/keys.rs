//! Names and texts as TOML holds them.

/// A name as a key.
pub(crate) fn key(name: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_string(),
        false => quoted(name),
    }
}

/// A text in quotes, in one line: a key may not be in several.
pub(crate) fn quoted(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007f")
}
