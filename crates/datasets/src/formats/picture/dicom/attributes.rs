//! The attributes of a DICOM file that describe its image [5, 7.1; 10, 7.1].

use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;

/// How a file is encoded [5, 10 and A].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Syntax {
    /// Without the types of values.
    Implicit,
    /// With them.
    Explicit,
    /// With them, the higher byte first.
    BigEndian,
    /// The image is JPEG of 8 bits.
    Jpeg,
    /// The image is in run lengths.
    RunLengths,
    /// Something that is not read here.
    Other(String),
}

/// The group of attributes that describe an image, and the image.
pub(super) struct Attributes<'a> {
    pub(super) syntax: Syntax,
    /// Values of group 0028 by element.
    values: HashMap<u16, &'a [u8]>,
    pub(super) pixels: Option<&'a [u8]>,
}

/// Types of values whose length has four bytes after two that are not used.
const LONG: [&[u8; 2]; 13] = [
    b"OB", b"OD", b"OF", b"OL", b"OV", b"OW", b"SQ", b"SV", b"UC", b"UN", b"UR", b"UT", b"UV",
];
const UNDEFINED: u32 = u32::MAX;
/// Sequences within sequences.
const DEEPEST: usize = 16;

impl<'a> Attributes<'a> {
    /// Reads what comes after the mark of the format.
    pub(super) fn read(file: &'a [u8]) -> Result<Self> {
        let mut found = Self {
            syntax: Syntax::Explicit,
            values: HashMap::new(),
            pixels: None,
        };
        let mut cursor = Cursor {
            rest: file,
            is_explicit: true,
            is_big_endian: false,
        };
        let mut in_head = true;
        while !cursor.rest.is_empty() {
            // The head of a file is always explicit and the lower byte first.
            if in_head && cursor.group() != Some(0x0002) {
                in_head = false;
                cursor.is_explicit = found.syntax != Syntax::Implicit;
                cursor.is_big_endian = found.syntax == Syntax::BigEndian;
            }
            let (group, element, length) = cursor.tag()?;
            if (group, element) == (0x7fe0, 0x0010) {
                found.pixels = Some(match length {
                    UNDEFINED => cursor.rest,
                    length => cursor.value(length)?,
                });
                break;
            }
            if length == UNDEFINED {
                cursor.skip_sequence(0)?;
                continue;
            }
            let value = cursor.value(length)?;
            match (group, element) {
                (0x0002, 0x0010) => found.syntax = syntax(value),
                (0x0028, element) => {
                    found.values.insert(element, value);
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// A whole number of two bytes.
    pub(super) fn whole(&self, element: u16) -> Option<u16> {
        let value = self.values.get(&element)?.get(..2)?;
        let pair = [value[0], value[1]];
        Some(match self.syntax {
            Syntax::BigEndian => u16::from_be_bytes(pair),
            _ => u16::from_le_bytes(pair),
        })
    }

    /// A text, the first one of several.
    pub(super) fn text(&self, element: u16) -> Option<&'a str> {
        let text = std::str::from_utf8(self.values.get(&element)?).ok()?;
        Some(text.split('\\').next()?.trim_matches([' ', '\0']))
    }

    /// A number written as a text.
    pub(super) fn number(&self, element: u16) -> Option<f64> {
        let number: f64 = self.text(element)?.parse().ok()?;
        Some(number).filter(|number| number.is_finite())
    }
}

fn syntax(uid: &[u8]) -> Syntax {
    let uid = String::from_utf8_lossy(uid);
    let uid = uid.trim_matches([' ', '\0']);
    match uid.strip_prefix("1.2.840.10008.1.2") {
        Some("") => Syntax::Implicit,
        Some(".1") => Syntax::Explicit,
        Some(".2") => Syntax::BigEndian,
        Some(".4.50") => Syntax::Jpeg,
        Some(".5") => Syntax::RunLengths,
        _ => Syntax::Other(
            uid.chars()
                .filter(|c| c.is_ascii_digit() || *c == '.')
                .collect(),
        ),
    }
}

/// What is left of the file.
struct Cursor<'a> {
    rest: &'a [u8],
    is_explicit: bool,
    is_big_endian: bool,
}

impl<'a> Cursor<'a> {
    fn value(&mut self, length: u32) -> Result<&'a [u8]> {
        let cut = self.rest.split_at_checked(length as usize);
        let (value, rest) = cut.context("it ends within a value")?;
        self.rest = rest;
        Ok(value)
    }

    fn short(&mut self) -> Result<u16> {
        let value = self.value(2)?;
        let pair = [value[0], value[1]];
        Ok(match self.is_big_endian {
            true => u16::from_be_bytes(pair),
            false => u16::from_le_bytes(pair),
        })
    }

    fn long(&mut self) -> Result<u32> {
        let value = self.value(4)?;
        let four = [value[0], value[1], value[2], value[3]];
        Ok(match self.is_big_endian {
            true => u32::from_be_bytes(four),
            false => u32::from_le_bytes(four),
        })
    }

    /// The group that comes next, in the order of the head of a file.
    fn group(&self) -> Option<u16> {
        let pair = self.rest.get(..2)?;
        Some(u16::from_le_bytes([pair[0], pair[1]]))
    }

    /// Group, element and length of what comes next.
    fn tag(&mut self) -> Result<(u16, u16, u32)> {
        let (group, element) = (self.short()?, self.short()?);
        // Items have no type.
        if !self.is_explicit || group == 0xfffe {
            return Ok((group, element, self.long()?));
        }
        let kind = self.value(2)?;
        let length = match LONG.iter().any(|long| *long == kind) {
            true => {
                self.short()?;
                self.long()?
            }
            false => u32::from(self.short()?),
        };
        Ok((group, element, length))
    }

    /// Goes over a sequence of undefined length.
    fn skip_sequence(&mut self, depth: usize) -> Result<()> {
        ensure!(depth < DEEPEST, "sequences too deep");
        loop {
            match self.tag()? {
                // The end of an item or of a sequence.
                (0xfffe, 0xe00d | 0xe0dd, _) => return Ok(()),
                (_, _, UNDEFINED) => self.skip_sequence(depth + 1)?,
                (0xfffe, 0xe000, length) | (_, _, length) => {
                    self.value(length)?;
                }
            }
        }
    }
}

/// The fragments of a compressed image, without the table of their places [5, A.4].
pub(super) fn fragments(pixels: &[u8]) -> Result<Vec<&[u8]>> {
    let mut cursor = Cursor {
        rest: pixels,
        is_explicit: false,
        is_big_endian: false,
    };
    let mut fragments = Vec::new();
    while !cursor.rest.is_empty() {
        match cursor.tag()? {
            (0xfffe, 0xe000, length) => fragments.push(cursor.value(length)?),
            (0xfffe, 0xe0dd, _) => break,
            _ => bail!("a fragment was expected"),
        }
    }
    ensure!(fragments.len() >= 2, "an image without fragments");
    Ok(fragments.split_off(1))
}
