//! How the values of a tensor are stored, and what they are in single precision.
//!
//! Quantised values lie in blocks with a scale of their own. The layouts are those of ggml
//! (`ggml-common.h`); a test compares each with the Python package `gguf` 0.19.0.

use half::{bf16, f16};

/// How the values of a tensor are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names by which users know them")]
pub enum Encoding {
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// Brain floats.
    BF16,
    /// 4 bits, a scale for 32 values.
    Q4_0,
    /// 4 bits, a scale and a minimum for 32 values.
    Q4_1,
    /// 5 bits, a scale for 32 values.
    Q5_0,
    /// 5 bits, a scale and a minimum for 32 values.
    Q5_1,
    /// 8 bits, a scale for 32 values.
    Q8_0,
    /// 4 bits, scales and minima of 6 bits for 32 values each.
    Q4_K,
    /// 5 bits, scales and minima of 6 bits for 32 values each.
    Q5_K,
    /// 6 bits, scales of 8 bits for 16 values each.
    Q6_K,
}

/// Codes of encodings that exist and are not read, for messages.
const OTHERS: [(u32, &str); 21] = [
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
];

impl Encoding {
    pub(super) fn of_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            7 => Self::Q5_1,
            8 => Self::Q8_0,
            12 => Self::Q4_K,
            13 => Self::Q5_K,
            14 => Self::Q6_K,
            30 => Self::BF16,
            _ => return None,
        })
    }

    /// The name of an encoding that is not read.
    pub(super) fn name_of_other(code: u32) -> Option<&'static str> {
        let found = OTHERS.iter().find(|(other, _)| *other == code);
        found.map(|(_, name)| *name)
    }

    /// Values of a block.
    pub fn block_values(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::BF16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 => 32,
            Self::Q4_K | Self::Q5_K | Self::Q6_K => 256,
        }
    }

    /// Bytes of a block.
    pub fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
            Self::Q4_0 => 2 + 16,
            Self::Q4_1 => 4 + 16,
            Self::Q5_0 => 2 + 4 + 16,
            Self::Q5_1 => 4 + 4 + 16,
            Self::Q8_0 => 2 + 32,
            Self::Q4_K => 4 + 12 + 128,
            Self::Q5_K => 4 + 12 + 32 + 128,
            Self::Q6_K => 128 + 64 + 16 + 2,
        }
    }

    /// The values of some blocks, in single precision. Bytes of an incomplete last block are left out.
    pub fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let blocks = bytes.chunks_exact(self.block_bytes());
        let mut values = Vec::with_capacity(blocks.len() * self.block_values());
        for block in blocks {
            match self {
                Self::F32 => {
                    values.push(f32::from_le_bytes([block[0], block[1], block[2], block[3]]))
                }
                Self::F16 => values.push(half(block)),
                Self::BF16 => values.push(bf16::from_le_bytes([block[0], block[1]]).to_f32()),
                Self::Q4_0 => four_bits(&mut values, half(block), &block[2..], |q| q - 8.0, 0.0),
                Self::Q4_1 => four_bits(
                    &mut values,
                    half(block),
                    &block[4..],
                    |q| q,
                    half(&block[2..]),
                ),
                Self::Q5_0 => five_bits(&mut values, half(block), &block[2..], 16.0, 0.0),
                Self::Q5_1 => five_bits(
                    &mut values,
                    half(block),
                    &block[4..],
                    0.0,
                    half(&block[2..]),
                ),
                Self::Q8_0 => {
                    let scale = half(block);
                    values.extend(block[2..].iter().map(|&q| scale * f32::from(q as i8)));
                }
                Self::Q4_K => sub_blocks(&mut values, block, None, &block[16..]),
                Self::Q5_K => sub_blocks(&mut values, block, Some(&block[16..48]), &block[48..]),
                Self::Q6_K => six_bits(&mut values, block),
            }
        }
        values
    }
}

/// The half-precision number at the beginning.
fn half(bytes: &[u8]) -> f32 {
    f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
}

/// 32 values in 16 bytes: the low halves are the first 16.
fn four_bits(values: &mut Vec<f32>, scale: f32, bytes: &[u8], shift: fn(f32) -> f32, minimum: f32) {
    let value = |q: u8| scale * shift(f32::from(q)) + minimum;
    values.extend(bytes.iter().map(|byte| value(byte & 15)));
    values.extend(bytes.iter().map(|byte| value(byte >> 4)));
}

/// 32 fifth bits in 4 bytes, then the others as in [`four_bits`].
fn five_bits(values: &mut Vec<f32>, scale: f32, bytes: &[u8], zero: f32, minimum: f32) {
    let high = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let low = &bytes[4..];
    for position in 0..32 {
        let q = match position < 16 {
            true => low[position] & 15,
            false => low[position - 16] >> 4,
        };
        let q = q | (((high >> position) & 1) as u8) << 4;
        values.push(scale * (f32::from(q) - zero) + minimum);
    }
}

/// The scale and the minimum of sub-block `index` of 8, six bits each, packed into 12 bytes.
fn scale_and_minimum(packed: &[u8], index: usize) -> (f32, f32) {
    let (scale, minimum) = match index {
        0..4 => (packed[index] & 63, packed[index + 4] & 63),
        _ => (
            packed[index + 4] & 15 | packed[index - 4] >> 6 << 4,
            packed[index + 4] >> 4 | packed[index] >> 6 << 4,
        ),
    };
    (f32::from(scale), f32::from(minimum))
}

/// 8 sub-blocks of 32 values. Two of them share 32 bytes, the first in their low halves; a sub-block's
/// fifth bits are one bit of each byte of `fifth`.
fn sub_blocks(values: &mut Vec<f32>, block: &[u8], fifth: Option<&[u8]>, low: &[u8]) {
    let (scale_of_scales, scale_of_minima) = (half(block), half(&block[2..]));
    for index in 0..8 {
        let (scale, minimum) = scale_and_minimum(&block[4..16], index);
        let (scale, minimum) = (scale_of_scales * scale, scale_of_minima * minimum);
        for position in 0..32 {
            let byte = low[index / 2 * 32 + position];
            let q = if index % 2 == 0 { byte & 15 } else { byte >> 4 };
            let high = fifth.map_or(0, |bits| bits[position] >> index & 1);
            values.push(scale * f32::from(q | high << 4) - minimum);
        }
    }
}

/// Two halves of 128 values: 4 × 32, of which the low four bits lie in 64 bytes and the high two in 32.
fn six_bits(values: &mut Vec<f32>, block: &[u8]) {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let scale_of_scales = half(&block[208..]);
    for index in 0..256 {
        let (part, within) = (index / 128, index % 128);
        let (quarter, position) = (within / 32, within % 32);
        let byte = low[part * 64 + quarter % 2 * 32 + position];
        let q = if quarter < 2 { byte & 15 } else { byte >> 4 };
        let q = q | (high[part * 32 + position] >> (2 * quarter) & 3) << 4;
        let scale = scale_of_scales * f32::from(scales[index / 16] as i8);
        values.push(scale * (f32::from(q) - 32.0));
    }
}
