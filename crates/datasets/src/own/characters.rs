//! The bytes of a text file, and its characters in UTF-8.

use crate::formats::compressed;
use crate::schema::TextEncoding;
use anyhow::Result;
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::io::Read;
use std::path::Path;

/// The content of a file, or of standard input if it is called `-`.
pub(super) fn bytes(path: &Path) -> Result<Box<dyn Read>> {
    match path.as_os_str() == "-" {
        true => Ok(Box::new(std::io::stdin())),
        false => compressed::open(path),
    }
}

/// The characters of a file in UTF-8. A byte order mark takes precedence over what is declared, and is taken off.
pub(super) fn characters(
    file: impl Read + 'static,
    encoding: Option<TextEncoding>,
) -> Box<dyn Read> {
    decoded(file, encoding, true)
}

/// The same of a private file whose first line is a record: what is declared alone decides how it is read. Otherwise two
/// bytes of that record would change what all others are.
pub(super) fn characters_of_records(
    file: impl Read + 'static,
    encoding: Option<TextEncoding>,
) -> Box<dyn Read> {
    decoded(file, encoding, false)
}

fn decoded(
    file: impl Read + 'static,
    encoding: Option<TextEncoding>,
    mark_decides: bool,
) -> Box<dyn Read> {
    let declared = match encoding {
        None | Some(TextEncoding::Utf8) => None,
        Some(TextEncoding::Latin1) => Some(encoding_rs::WINDOWS_1252),
        Some(TextEncoding::Utf16Le) => Some(encoding_rs::UTF_16LE),
        Some(TextEncoding::Utf16Be) => Some(encoding_rs::UTF_16BE),
    };
    let reader = DecodeReaderBytesBuilder::new()
        .encoding(declared)
        .bom_sniffing(mark_decides)
        .bom_override(mark_decides)
        .strip_bom(true)
        // Bytes that are not UTF-8 are found where they are, unless another encoding was declared.
        .utf8_passthru(declared.is_none())
        .build(file);
    Box::new(reader)
}
