//! Files as they are or compressed; the checksum is of the content, which all copies share.

use crate::hex;
use anyhow::{Context, Result, bail, ensure};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// What may follow the name of a file.
const SUFFIXES: [&str; 5] = ["", ".gz", ".zst", ".bz2", ".xz"];

/// The file `name` of a folder, compressed or not, or the folder of that name.
pub fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    SUFFIXES
        .iter()
        .map(|suffix| folder.join(format!("{name}{suffix}")))
        .find(|path| path.exists())
}

/// The content of a file, decompressed by the end of its name.
pub fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).with_context(|| match path.exists() {
        true => format!("cannot read {}", path.display()),
        false => format!("there is no file {}", path.display()),
    })?;
    ensure!(!path.is_dir(), "{} is a folder, not a file", path.display());
    let file = BufReader::new(file);
    // Each of them may be several files one after the other.
    Ok(match path.extension().and_then(|end| end.to_str()) {
        Some("gz" | "tgz") => Box::new(MultiGzDecoder::new(file)),
        Some("zst") => Box::new(
            zstd::stream::read::Decoder::with_buffer(file)
                .with_context(|| format!("{} is not Zstandard", path.display()))?,
        ),
        Some("bz2") => Box::new(MultiBzDecoder::new(file)),
        Some("xz") => Box::new(XzReader::new(file, true)),
        _ => Box::new(file),
    })
}

/// The name of a file without what says that it is compressed.
pub fn plain_name(path: &Path) -> PathBuf {
    match path.extension().and_then(|end| end.to_str()) {
        Some("gz" | "zst" | "bz2" | "xz") => path.with_extension(""),
        _ => path.to_path_buf(),
    }
}

/// All of a file, decompressed.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).with_context(|| {
        format!(
            "cannot read {}: the file is damaged or incomplete; fetch it again",
            path.display()
        )
    })?;
    Ok(bytes)
}

/// All of a text file, decompressed.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read(path)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        anyhow::anyhow!(
            "{}, line {line}: not UTF-8; save the file as UTF-8",
            path.display()
        )
    })
}

/// A file whose content must have a known checksum.
pub fn read_checked(path: &Path, sha256: Option<&str>) -> Result<Vec<u8>> {
    let bytes = read(path)?;
    if let Some(expected) = sha256 {
        check(path, &hex(&Sha256::digest(&bytes)), expected)?;
    }
    Ok(bytes)
}

/// Checks the content of a file without keeping it.
pub fn verify(path: &Path, expected: &str) -> Result<()> {
    let mut reader = open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = reader
            .read(&mut buffer)
            .with_context(|| format!("{} is damaged or incomplete", path.display()))?;
        if count == 0 {
            return check(path, &hex(&hash.finalize()), expected);
        }
        hash.update(&buffer[..count]);
    }
}

fn check(path: &Path, found: &str, expected: &str) -> Result<()> {
    if found != expected {
        bail!(
            "{} is not the published file: the SHA-256 of its content is {found}, not {expected}; \
             remove it and try again",
            path.display()
        );
    }
    Ok(())
}
