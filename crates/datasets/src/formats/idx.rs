//! The IDX format of MNIST: two zero bytes, the type (8: bytes), the number of dimensions, each
//! dimension in big-endian order, then the bytes.

use anyhow::{Context, Result, ensure};

/// An array of bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Idx {
    /// Sizes, the slowest first.
    pub dimensions: Vec<usize>,
    /// As many bytes as the product of the sizes.
    pub bytes: Vec<u8>,
}

/// Reads a whole file.
pub fn parse(file: &[u8]) -> Result<Idx> {
    let (head, rest) = file
        .split_first_chunk::<4>()
        .context("an IDX file has at least 4 bytes")?;
    ensure!(
        head[..3] == [0, 0, 8] && (1..=4).contains(&head[3]),
        "not an IDX file of bytes: it starts with {head:?}, not with [0, 0, 8, 1 to 4]"
    );
    let count = usize::from(head[3]);
    let (sizes, bytes) = rest
        .split_at_checked(4 * count)
        .context("an IDX file that ends in its header")?;
    let (sizes, _) = sizes.as_chunks::<4>();
    let dimensions: Vec<usize> = sizes
        .iter()
        .map(|size| u32::from_be_bytes(*size) as usize)
        .collect();
    let expected = dimensions
        .iter()
        .try_fold(1usize, |product, &size| product.checked_mul(size));
    ensure!(
        expected == Some(bytes.len()),
        "an IDX file of {dimensions:?} must hold as many bytes, but it holds {}",
        bytes.len()
    );
    Ok(Idx {
        dimensions,
        bytes: bytes.to_vec(),
    })
}
