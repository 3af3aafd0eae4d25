//! The ChaCha20 generator, many blocks at a time.
//!
//! Every random number of a run is a pure function of a key and a position, so any thread, or a
//! GPU kernel, can produce its part. A position is spread over two calls of the ChaCha20
//! permutation, as in XChaCha20 (draft-irtf-cfrg-xchacha-03): [`Subkey::derive`] turns a key and
//! four words (for noise: step and query) into a subkey, and the subkey's blocks are numbered by
//! the other four words (block number, tensor, part).
//!
//! The block function is RFC 8439 §2.3 with all twenty rounds; its test vectors are checked below.
//! Blocks are made [`LANES`] at a time and read word by word across them, so that vector registers
//! hold the same word of neighbouring blocks and nothing is transposed.

// Loops over lanes that index several arrays: the form the compiler vectorises.
#![allow(clippy::needless_range_loop)]

use zeroize::Zeroizing;

/// Blocks made side by side. Part of the stream's definition: changing it changes the numbers.
pub const LANES: usize = 64;

/// Rows of one group: a block holds eight 64-bit numbers.
pub const ROWS: usize = 8;

/// 64-bit numbers in a group.
pub const GROUP: usize = ROWS * LANES;

/// A group of blocks: `words[word][lane]`.
pub struct Group([[u32; LANES]; 16]);

impl Group {
    /// Number `LANES * row + lane`: words `2 * row` (low) and `2 * row + 1` of block `lane`.
    #[inline(always)]
    pub fn number(&self, row: usize, lane: usize) -> u64 {
        u64::from(self.0[2 * row][lane]) | u64::from(self.0[2 * row + 1][lane]) << 32
    }

    /// One of the sixteen words of block `lane`.
    #[inline(always)]
    pub fn word(&self, word: usize, lane: usize) -> u32 {
        self.0[word][lane]
    }

    #[cfg(test)]
    pub(crate) fn zero() -> Self {
        Self([[0; LANES]; 16])
    }

    #[cfg(test)]
    pub(crate) fn set(&mut self, row: usize, lane: usize, number: u64) {
        self.0[2 * row][lane] = number as u32;
        self.0[2 * row + 1][lane] = (number >> 32) as u32;
    }
}

const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// A 256-bit key, wiped from memory when dropped. It has no `Debug`, `Clone` or serialised form.
pub struct Key(pub(crate) Zeroizing<[u32; 8]>);

impl Key {
    /// A key that everyone knows, for checks on synthetic records: nothing private may be drawn from it.
    pub fn public() -> Self {
        Self(Zeroizing::new([0; 8]))
    }
}

/// The key of one stream of numbers.
pub struct Subkey(Zeroizing<[u32; 8]>);

impl Subkey {
    /// HChaCha20: the permutation without the final addition, first and last rows.
    pub fn derive(key: &Key, position: [u32; 4]) -> Self {
        let mut state = initial(&key.0, position).map(|word| [word]);
        permute(&mut state);
        let word = |index: usize| state[index][0];
        Self(Zeroizing::new([
            word(0),
            word(1),
            word(2),
            word(3),
            word(12),
            word(13),
            word(14),
            word(15),
        ]))
    }

    /// The subkey as a key, for keys that are derived from a seed.
    pub fn into_key(self) -> Key {
        Key(self.0)
    }

    /// Blocks `LANES * group` and following, with `tensor` and `part` as nonce.
    ///
    /// `group` must be below 2^58, so that the block number fits 64 bits.
    #[inline(always)]
    pub fn group(&self, group: u64, tensor: u32, part: u32) -> Group {
        let first = group * LANES as u64;
        let start = initial(&self.0, [first as u32, (first >> 32) as u32, tensor, part]);
        let mut words = start.map(|word| [word; LANES]);
        // The first block number is a multiple of LANES, so the lanes' numbers have no carry.
        for lane in 0..LANES {
            words[12][lane] |= lane as u32;
        }
        permute(&mut words);
        for word in 0..16 {
            for lane in 0..LANES {
                words[word][lane] = words[word][lane].wrapping_add(start[word]);
            }
        }
        for lane in 0..LANES {
            words[12][lane] = words[12][lane].wrapping_add(lane as u32);
        }
        Group(words)
    }

    /// One block at each of [`LANES`] positions, whose four words are the caller's.
    #[inline(always)]
    pub fn blocks(&self, positions: &[[u32; LANES]; 4]) -> Group {
        let mut start = initial(&self.0, [0; 4]).map(|word| [word; LANES]);
        start[12..].copy_from_slice(positions);
        let mut words = start;
        permute(&mut words);
        for word in 0..16 {
            for lane in 0..LANES {
                words[word][lane] = words[word][lane].wrapping_add(start[word][lane]);
            }
        }
        Group(words)
    }

    /// [`Subkey::group`] for callers off the fast path.
    #[inline(never)]
    pub fn group_out_of_line(&self, group: u64, tensor: u32, part: u32) -> Group {
        self.group(group, tensor, part)
    }
}

#[inline(always)]
fn initial(key: &[u32; 8], position: [u32; 4]) -> [u32; 16] {
    let mut state = [0; 16];
    state[..4].copy_from_slice(&CONSTANTS);
    state[4..12].copy_from_slice(key);
    state[12..].copy_from_slice(&position);
    state
}

/// Twenty rounds over `L` independent states.
#[inline(always)]
fn permute<const L: usize>(state: &mut [[u32; L]; 16]) {
    for _ in 0..10 {
        quarter_round(state, 0, 4, 8, 12);
        quarter_round(state, 1, 5, 9, 13);
        quarter_round(state, 2, 6, 10, 14);
        quarter_round(state, 3, 7, 11, 15);
        quarter_round(state, 0, 5, 10, 15);
        quarter_round(state, 1, 6, 11, 12);
        quarter_round(state, 2, 7, 8, 13);
        quarter_round(state, 3, 4, 9, 14);
    }
}

#[inline(always)]
fn quarter_round<const L: usize>(
    state: &mut [[u32; L]; 16],
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) {
    // One loop with the whole quarter round in it: long enough not to be unrolled, so it is
    // vectorised over the lanes for whatever registers the processor has.
    for lane in 0..L {
        let (mut x, mut y) = (state[a][lane], state[b][lane]);
        let (mut z, mut w) = (state[c][lane], state[d][lane]);
        x = x.wrapping_add(y);
        w = (w ^ x).rotate_left(16);
        z = z.wrapping_add(w);
        y = (y ^ z).rotate_left(12);
        x = x.wrapping_add(y);
        w = (w ^ x).rotate_left(8);
        z = z.wrapping_add(w);
        y = (y ^ z).rotate_left(7);
        (state[a][lane], state[b][lane]) = (x, y);
        (state[c][lane], state[d][lane]) = (z, w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key bytes 00, 01, … 1f, as in both documents.
    const KEY: [u32; 8] = [
        0x0302_0100,
        0x0706_0504,
        0x0b0a_0908,
        0x0f0e_0d0c,
        0x1312_1110,
        0x1716_1514,
        0x1b1a_1918,
        0x1f1e_1d1c,
    ];

    fn block(key: [u32; 8], number: u64, tensor: u32, part: u32) -> [u32; 16] {
        let group = Subkey(Zeroizing::new(key)).group(number / LANES as u64, tensor, part);
        let lane = number as usize % LANES;
        std::array::from_fn(|word| (group.number(word / 2, lane) >> (32 * (word % 2))) as u32)
    }

    #[test]
    fn block_function_matches_rfc_8439() {
        // §2.3.2: counter 1, nonce 00:00:00:09:00:00:00:4a:00:00:00:00.
        assert_eq!(
            block(KEY, 0x0900_0000 << 32 | 1, 0x4a00_0000, 0),
            [
                0xe4e7_f110,
                0x1559_3bd1,
                0x1fdd_0f50,
                0xc471_20a3,
                0xc7f4_d1c7,
                0x0368_c033,
                0x9aaa_2204,
                0x4e6c_d4c3,
                0x4664_82d2,
                0x09aa_9f07,
                0x05d7_c214,
                0xa202_8bd9,
                0xd19c_12b5,
                0xb94e_16de,
                0xe883_d0cb,
                0x4e3c_50a2,
            ]
        );
        // Appendix A.1, vector 1: all-zero key, nonce and counter; first and last word.
        let zero = block([0; 8], 0, 0, 0);
        assert_eq!((zero[0], zero[15]), (0xade0_b876, 0x8665_eeb2));
        // Appendix A.1, vector 5: all-zero key and counter, nonce ending in 2.
        let nonce = block([0; 8], 0, 0, 0x0200_0000);
        assert_eq!((nonce[0], nonce[15]), (0x374d_c6c2, 0x6ded_1b53));
    }

    #[test]
    fn subkeys_match_the_xchacha_draft() {
        // draft-irtf-cfrg-xchacha-03, §2.2.1.
        let position = [0x0900_0000, 0x4a00_0000, 0, 0x2759_4131];
        let subkey = Subkey::derive(&Key(Zeroizing::new(KEY)), position);
        assert_eq!(
            *subkey.0,
            [
                0x423b_4182,
                0xfe7b_b227,
                0x5042_0ed3,
                0x737d_878a,
                0xd5e4_f9a0,
                0x53a8_748a,
                0x13c4_2ec1,
                0xdcec_d326,
            ]
        );
    }

    #[test]
    fn every_lane_is_the_block_of_its_number() {
        // Against one state at a time, with block numbers that use both counter words.
        for number in [0, 63, 64, (1 << 32) - 1, 1 << 32, (1 << 63) + 7] {
            let start = initial(&KEY, [number as u32, (number >> 32) as u32, 5, 6]);
            let mut state = start.map(|word| [word]);
            permute(&mut state);
            let expected: [u32; 16] =
                std::array::from_fn(|word| state[word][0].wrapping_add(start[word]));
            assert_eq!(block(KEY, number, 5, 6), expected, "block {number}");
        }
    }

    #[test]
    fn blocks_at_positions_of_a_group_are_that_group() {
        let subkey = Subkey(Zeroizing::new(KEY));
        let (group, tensor, part) = (1 << 30, 7, 9);
        let first = group * LANES as u64;
        let positions = [
            std::array::from_fn(|lane| first as u32 + lane as u32),
            [(first >> 32) as u32; LANES],
            [tensor; LANES],
            [part; LANES],
        ];
        let (blocks, group) = (subkey.blocks(&positions), subkey.group(group, tensor, part));
        for lane in 0..LANES {
            for word in 0..16 {
                assert_eq!(blocks.word(word, lane), group.word(word, lane));
            }
        }
    }
}
