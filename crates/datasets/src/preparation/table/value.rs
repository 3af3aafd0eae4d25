//! A value of a table as its file holds it.

use std::borrow::Cow;

/// A value of one column of one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// The file says that there is none.
    None,
    /// A text, without spaces at its ends.
    Text(&'a str),
    /// Bytes that are no text.
    Bytes(&'a [u8]),
    /// A number in double precision.
    Number(f64),
    /// A number in single precision.
    Single(f32),
    /// A whole number.
    Integer(i64),
    /// One that is too large for a sign.
    Unsigned(u64),
    /// A date or a time.
    Moment {
        /// As the file holds it: days, milliseconds and so on.
        raw: i64,
        /// Seconds since the beginning of 1970.
        seconds: f64,
    },
}

impl<'a> Value<'a> {
    /// The value as a CSV file would hold it. A date is its number, as it always was in the hash that splits
    /// records.
    pub fn text(self) -> Option<Cow<'a, str>> {
        Some(match self {
            Self::None => "".into(),
            Self::Text(text) => text.into(),
            Self::Bytes(_) => return None,
            Self::Number(number) => number.to_string().into(),
            Self::Single(number) => number.to_string().into(),
            Self::Integer(number) | Self::Moment { raw: number, .. } => number.to_string().into(),
            Self::Unsigned(number) => number.to_string().into(),
        })
    }

    /// The bytes by which a record is held out for testing or not.
    pub fn bytes(self) -> Cow<'a, [u8]> {
        match self {
            Self::Text(text) => text.as_bytes().into(),
            Self::Bytes(bytes) => bytes.into(),
            other => other
                .text()
                .map_or_else(Vec::new, |text| text.into_owned().into_bytes())
                .into(),
        }
    }

    /// The value for people, who do not count days from 1970.
    pub fn shown(self) -> Cow<'a, str> {
        match self {
            Self::Moment { seconds, .. } => super::dates::iso(seconds).into(),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes),
            other => other.text().unwrap_or_default(),
        }
    }
}
