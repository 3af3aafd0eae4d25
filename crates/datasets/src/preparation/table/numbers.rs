//! Numbers as people write them: a decimal comma, groups of thousands, a currency or a percent sign.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How the numbers of a column are written; by default as in a program, such as 1234.5 or 1e6.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NumberFormat {
    /// What comes before the decimals, if not a point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What sets thousands apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Characters to take out, such as those of currencies.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub strip: String,
}

impl NumberFormat {
    /// Whether numbers are written as in a program.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// The number that a text stands for, which may be infinite or none at all.
    pub fn parse(&self, text: &str) -> Option<f64> {
        self.plain(text)?.parse().ok()
    }

    /// The text as in a program.
    fn plain<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        if self.is_plain() {
            return Some(text.into());
        }
        let decimal = self.decimal.unwrap_or('.');
        let mut plain = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                letter if letter == decimal => plain.push('.'),
                letter if Some(letter) == self.thousands || self.strip.contains(letter) => {}
                // Also the narrow spaces that set a currency apart.
                letter if letter.is_whitespace() => {}
                // A point where commas are declared is a mistake that would otherwise be a factor of a thousand.
                '.' => return None,
                letter => plain.push(letter),
            }
        }
        Some(plain.into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_declared_to_be_written() {
        let german = NumberFormat {
            decimal: Some(','),
            thousands: Some('.'),
            strip: "€%".into(),
        };
        for (text, number) in [
            ("1.234,56 €", Some(1234.56)),
            ("-0,5", Some(-0.5)),
            ("12\u{202f}%", Some(12.0)),
            ("7", Some(7.0)),
            ("1,2,3", None),
            ("$5", None),
            ("", None),
        ] {
            assert_eq!(german.parse(text), number, "{text}");
        }
        let plain = NumberFormat::default();
        assert_eq!(plain.parse("1e400"), Some(f64::INFINITY));
        assert_eq!(plain.parse("1,5"), None);
        let comma = NumberFormat {
            decimal: Some(','),
            ..NumberFormat::default()
        };
        assert_eq!((comma.parse("1,5"), comma.parse("1.5")), (Some(1.5), None));
    }
}
