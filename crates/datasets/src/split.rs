//! Which records are held out, decided record by record.

use sha2::{Digest, Sha256};

/// Whether a record is held out for testing: true for a share of all records, by a fixed hash of
/// the record alone.
///
/// # Guarantee
/// Adding or removing a record moves no other record from one part to the other, so the training
/// part of neighbouring data sets differs in that record at most. A hash of the position would not
/// do that. Equal records go to the same part. Checked by
/// `a_record_is_held_out_by_its_content_alone`.
pub fn is_held_out<'a>(fields: impl IntoIterator<Item = &'a [u8]>, share: f64) -> bool {
    let mut hash = Sha256::new();
    for field in fields {
        hash.update((field.len() as u64).to_le_bytes());
        hash.update(field);
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    // 53 bits are exact in double precision.
    ((u64::from_be_bytes(first) >> 11) as f64) < share * (1u64 << 53) as f64
}
