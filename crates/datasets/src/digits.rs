//! The embedded handwritten digits: 8 × 8 images of ten classes.
//!
//! E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning
//! Repository 1998, CC BY 4.0. See `data/README.md`.

use anyhow::{Context, Result, ensure};
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::ops::Range;

const PACKED: &[u8] = include_bytes!("../data/digits.zlib");
const TRAINING: usize = 3823;
const TEST: usize = 1797;
const PIXELS: usize = 64;

/// Images of handwritten digits, with their classes.
#[derive(Debug)]
pub struct Digits {
    /// 64 grey levels and a class for each record.
    records: Vec<[u8; PIXELS + 1]>,
}

impl Digits {
    /// Width and height of an image.
    pub const WIDTH: usize = 8;
    /// Grey levels run from 0 to this.
    pub const WHITE: u8 = 16;

    /// The official training set, which `tacita train` treats as private.
    pub fn training() -> Result<Self> {
        Self::read(0..TRAINING)
    }

    /// The official test set, by other writers, which is public.
    pub fn test() -> Result<Self> {
        Self::read(TRAINING..TRAINING + TEST)
    }

    /// The grey levels of all records one after the other, and their classes.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<u16>) {
        let levels = self.records.iter().flat_map(|record| &record[..PIXELS]);
        let classes = self.records.iter().map(|record| u16::from(record[PIXELS]));
        (levels.copied().collect(), classes.collect())
    }

    fn read(range: Range<usize>) -> Result<Self> {
        let mut bytes = Vec::new();
        ZlibDecoder::new(PACKED)
            .read_to_end(&mut bytes)
            .context("the embedded digits are damaged")?;
        let (records, rest) = bytes.as_chunks::<{ PIXELS + 1 }>();
        ensure!(
            rest.is_empty() && records.len() == TRAINING + TEST,
            "the embedded digits are damaged: {} bytes",
            bytes.len()
        );
        Ok(Self {
            records: records[range].to_vec(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Counts of the file `optdigits.names` that comes with the set.
    #[test]
    fn class_counts_are_those_the_authors_state() {
        let counts = |digits: Digits| {
            let mut counts = [0; 10];
            for record in digits.records {
                counts[usize::from(record[PIXELS])] += 1;
            }
            counts
        };
        let training = [376, 389, 380, 389, 387, 376, 377, 387, 380, 382];
        let test = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180];
        assert_eq!(counts(Digits::training().unwrap()), training);
        assert_eq!(counts(Digits::test().unwrap()), test);
    }
}
