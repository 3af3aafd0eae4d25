//! Synthetic values: quick, the same on every machine, and never used where privacy rests on them.

/// The SplitMix64 generator (Steele, Lea and Flood 2014).
#[derive(Debug)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `limit`, which must be small beside 2⁶⁴.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// A value of mean 0 and variance 1, uniform.
    pub fn standard(&mut self) -> f32 {
        let unit = (self.bits() >> 40) as f32 / (1u64 << 24) as f32;
        (2.0 * unit - 1.0) * 3.0f32.sqrt()
    }
}
