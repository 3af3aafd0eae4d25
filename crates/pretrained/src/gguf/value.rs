//! A value of the metadata.

/// A value of a GGUF file's metadata. The widths of integers and of floating-point numbers are dropped.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer of any width.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(String),
    /// Integers of one width.
    Integers(Vec<i64>),
    /// Floating-point numbers.
    Reals(Vec<f64>),
    /// Truth values.
    Flags(Vec<bool>),
    /// Texts.
    Texts(Vec<String>),
}

impl Value {
    /// What it is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Real(value) => value.to_string(),
            Self::Flag(value) => value.to_string(),
            Self::Text(text) => format!("`{}`", text.chars().take(60).collect::<String>()),
            Self::Integers(list) => format!("a list of {} integers", list.len()),
            Self::Reals(list) => format!("a list of {} numbers", list.len()),
            Self::Flags(list) => format!("a list of {} truth values", list.len()),
            Self::Texts(list) => format!("a list of {} texts", list.len()),
        }
    }
}
