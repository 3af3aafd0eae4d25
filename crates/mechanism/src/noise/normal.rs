//! Standard normals from uniforms: Box–Muller in f64, without branches, so that it vectorises.
//!
//! Two 64-bit numbers make two normals (Box & Muller 1958): R cos θ and R sin θ with
//! R = √(−2 ln U) and θ uniform. There is no rejection, so the normal at an index depends on the
//! numbers at that index only.
//!
//! No fused multiply-add is used: it would make results differ between processors.

// Loops over lanes that index several arrays: the form the compiler vectorises.
#![allow(clippy::needless_range_loop)]

use crate::chacha::{Group, LANES, ROWS, Subkey};

/// Normals of one group, in the order of their index.
pub(super) type Normals = [[f64; LANES]; ROWS];

/// Added to a part's number to reach the numbers that extend its tail.
const EXTENSION: u32 = 1 << 31;

const TWO_TO_MINUS_64: f64 = 1.0 / (1u128 << 64) as f64;

/// The standard normals of a group. Those in rows `2 p` and `2 p + 1` of a lane are a pair, made
/// from the numbers at the same two places.
#[inline(always)]
pub(super) fn normals(stream: &Subkey, group: u64, tensor: u32, part: u32) -> Normals {
    let numbers = stream.group(group, tensor, part);
    let mut normals = [[0.0; LANES]; ROWS];
    let mut smallest = [u64::MAX; LANES];
    for pair in (0..ROWS).step_by(2) {
        for lane in 0..LANES {
            let number = numbers.number(pair, lane);
            smallest[lane] = smallest[lane].min(number);
            let radius = radius((number as f64 + 0.5) * TWO_TO_MINUS_64);
            let (cos, sin) = direction(numbers.number(pair + 1, lane));
            normals[pair][lane] = radius * cos;
            normals[pair + 1][lane] = radius * sin;
        }
    }
    if smallest.iter().any(|&number| needs_extension(number)) {
        let extension = stream.group_out_of_line(group, tensor, part | EXTENSION);
        extend_tails(&mut normals, &numbers, &extension);
    }
    normals
}

/// A radius number this small (probability 2^-32) leads beyond 6.66 standard deviations, where
/// 64 bits become coarse; a second number adds 64 more bits to it.
#[inline(always)]
fn needs_extension(number: u64) -> bool {
    number < 1 << 32
}

#[cold]
#[inline(never)]
fn extend_tails(normals: &mut Normals, numbers: &Group, extension: &Group) {
    for pair in (0..ROWS).step_by(2) {
        for lane in 0..LANES {
            let number = numbers.number(pair, lane);
            if needs_extension(number) {
                let below = (extension.number(pair, lane) as f64 + 0.5) * TWO_TO_MINUS_64;
                let radius = radius((number as f64 + below) * TWO_TO_MINUS_64);
                let (cos, sin) = direction(numbers.number(pair + 1, lane));
                normals[pair][lane] = radius * cos;
                normals[pair + 1][lane] = radius * sin;
            }
        }
    }
}

/// √(−2 ln u) for 0 < u ≤ 1.
#[inline(always)]
fn radius(uniform: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
    // 1024 exponents up, so that the shift below sees a positive number.
    const BIAS: u64 = 1024 << 52;
    const TWO_TO_52: f64 = (1u64 << 52) as f64;
    const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

    // u = 2^exponent · m with √½ ≤ m < √2.
    let bits = uniform.to_bits();
    let biased = bits.wrapping_sub(SQRT_HALF).wrapping_add(BIAS) >> 52;
    let exponent = f64::from_bits(TWO_TO_52.to_bits() | biased) - (TWO_TO_52 + 1024.0);
    let m = f64::from_bits(bits.wrapping_sub(biased << 52).wrapping_add(BIAS));

    // ln m = 2 artanh s = 2s + s³ P(s²), s = (m − 1)/(m + 1), |s| ≤ 0.1716. P is the Chebyshev
    // fit of Σ 2 z^k/(2k + 3) on [0, 0.0295] (mpmath 1.3 chebyfit, 7 terms): off by 3.2e-16,
    // which moves ln m by 5e-18 of itself.
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let p = polynomial(
        [
            0.666_666_666_666_667,
            0.399_999_999_998_994_44,
            0.285_714_286_260_032_7,
            0.222_222_111_302_598_78,
            0.181_828_894_556_749_47,
            0.153_317_106_182_107_73,
            0.146_165_854_248_886_23,
        ],
        z,
    );
    let ln_m = 2.0 * s + s * (z * p);
    let ln = exponent * LN_2_HIGH + (exponent * LN_2_LOW + ln_m);
    (-2.0 * ln).sqrt()
}

/// (cos θ, sin θ) of an angle uniform over 2^54 equally spaced ones.
///
/// The top two bits choose the quarter turn, the next 52 the position in it, and ten are unused.
#[inline(always)]
fn direction(number: u64) -> (f64, f64) {
    const SIGN: u64 = 1 << 63;
    const HALF_SPACING: f64 = f64::EPSILON / 2.0;
    // In [−½, ½), at the middle of its 2^-52 cell: quarter turns from the axis.
    let unit = f64::from_bits(1f64.to_bits() | number << 2 >> 12);
    let turn = unit - (1.5 - HALF_SPACING);
    // sin(πt/2)/t and cos(πt/2) as polynomials in t², t² ≤ ¼: Chebyshev fits (mpmath 1.3
    // chebyfit, 7 terms), off by 5e-18 and 5e-17.
    let square = turn * turn;
    let sin = turn
        * polynomial(
            [
                std::f64::consts::FRAC_PI_2,
                -0.645_964_097_506_244_3,
                0.079_692_626_246_043_01,
                -0.004_681_754_132_340_976,
                0.000_160_441_150_742_190_9,
                -3.598_643_352_982_31e-6,
                5.633_933_781_537_854e-8,
            ],
            square,
        );
    let cos = polynomial(
        [
            1.0,
            -1.233_700_550_136_151_3,
            0.253_669_507_899_864_75,
            -0.020_863_480_734_946_57,
            0.000_919_259_950_041_661,
            -2.520_013_526_428_479e-5,
            4.655_296_187_486_762_3e-7,
        ],
        square,
    );
    // Turn by 0, 1, 2 or 3 quarters: (c, s), (−s, c), (−c, −s), (s, −c).
    let odd = number >> 62 & 1 == 1;
    let (x, y) = if odd { (sin, cos) } else { (cos, sin) };
    (
        f64::from_bits(x.to_bits() ^ ((number ^ number << 1) & SIGN)),
        f64::from_bits(y.to_bits() ^ (number & SIGN)),
    )
}

/// Horner's rule, lowest coefficient first.
#[inline(always)]
fn polynomial<const N: usize>(coefficients: [f64; N], x: f64) -> f64 {
    let mut value = coefficients[N - 1];
    for index in (0..N - 1).rev() {
        value = value * x + coefficients[index];
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    /// The claim of docs/src/understanding/noise.md: a normal is within this of the exact function of its numbers.
    const LARGEST_ERROR: f64 = 1.0 / (1u64 << 48) as f64;

    fn pair(radius_number: u64, angle_number: u64) -> (f64, f64) {
        let radius = radius((radius_number as f64 + 0.5) * TWO_TO_MINUS_64);
        let (cos, sin) = direction(angle_number);
        (radius * cos, radius * sin)
    }

    #[test]
    #[allow(clippy::excessive_precision)]
    fn normals_match_fifty_digit_arithmetic() {
        // mpmath 1.3.0, 50 digits: R = sqrt(-2 log((x + 1/2) / 2^64)), the angle
        // pi/2 (q - 1/2 + (f + 1/2) / 2^52) with q the top two bits of y and f the next 52.
        let golden = [
            (
                0x0000000100000000,
                0x0000000000000000,
                4.7096400900495405,
                -4.709640090049539,
            ),
            (
                0x8000000000000000,
                0x4000000000000000,
                0.8325546111576976,
                0.8325546111576979,
            ),
            (
                0x0000010000000000,
                0xc000000000000000,
                -4.07866796067518,
                -4.078667960675181,
            ),
            (
                0xb504f333f9de6485,
                0x123456789abcdef0,
                0.7852843732226951,
                -0.27654228199713743,
            ),
            (
                0x8000000000000000,
                0x1ffffffffffffc00,
                1.1774100225154747,
                -2.053325663385679e-16,
            ),
            (
                0x91b7584a2265b1f5,
                0xcd613e30d8f16adf,
                -0.4684542548653012,
                -0.9526719454228456,
            ),
            (
                0x1027c4d1c386bbc4,
                0x1e2feb89414c343c,
                2.348386844554079,
                -0.1045560298753455,
            ),
            (
                0xc2ce6f447ed4d57b,
                0x78e510617311d8a3,
                -0.42404651496374346,
                0.6054148190987735,
            ),
            (
                0x612e7696a6cecc1b,
                0x35bf992dc9e9c616,
                1.198208775470118,
                0.7081595529796744,
            ),
            (
                0x7ce42c8218072e8c,
                0xe4b06ce60741c7a8,
                0.1375854764103299,
                -1.1901838267116436,
            ),
            (
                0x63ca828dd5f4b3b2,
                0x9b810e766ec9d286,
                -1.3643124998303613,
                0.15115951761552326,
            ),
            (
                0xc4647159c324c985,
                0xb2221a58008a05a6,
                -0.6571709939427534,
                -0.31345213162191526,
            ),
            (
                0x442e3d437204e52d,
                0xcd447e35b8b6d8fe,
                -0.7218094020643324,
                -1.4577466473680245,
            ),
            (
                0x9755d4c13a902931,
                0x1a2b8f1ff1fd42a2,
                1.0148796795922945,
                -0.14621426322213682,
            ),
        ];
        for (x, y, cos, sin) in golden {
            let (got_cos, got_sin) = pair(x, y);
            assert!(
                (got_cos - cos).abs() <= LARGEST_ERROR,
                "{x:x} {y:x}: {got_cos} {cos}"
            );
            assert!(
                (got_sin - sin).abs() <= LARGEST_ERROR,
                "{x:x} {y:x}: {got_sin} {sin}"
            );
        }
        // Nearest zero the 53 bits of f64 limit the radius itself: 2^64 - 1 becomes radius 0.
        assert!(pair(u64::MAX, 0).0.abs() <= 1e-8);
    }

    #[test]
    fn extended_tails_match_fifty_digit_arithmetic() {
        // As above with U = (2^64 x + e + 1/2) / 2^128. The first is the farthest normal there is.
        let golden = [
            (
                0x0,
                0x0000000000000000,
                0x123456789abcdef0,
                12.613534757615026,
                -4.441926778201498,
            ),
            (
                0x1,
                0x8000000000000000,
                0x9bcdef0123456789,
                -9.32646758515184,
                0.9638004350324155,
            ),
            (
                0xffffffff,
                0xffffffffffffffff,
                0x5555555555555555,
                1.723847915644286,
                6.433488005706185,
            ),
            (
                0xbc614e,
                0xdeadbeefdeadbeef,
                0xffff0000ffff0000,
                5.29407478062726,
                -5.295089988596758,
            ),
        ];
        for (x, e, y, cos, sin) in golden {
            let mut normals = [[0.0; LANES]; ROWS];
            let (mut numbers, mut extension) = (Group::zero(), Group::zero());
            for pair in (0..ROWS).step_by(2) {
                numbers.set(pair, 3, x);
                numbers.set(pair + 1, 3, y);
                extension.set(pair, 3, e);
            }
            extend_tails(&mut normals, &numbers, &extension);
            for pair in (0..ROWS).step_by(2) {
                let (got_cos, got_sin) = (normals[pair][3], normals[pair + 1][3]);
                assert!(
                    (got_cos - cos).abs() <= LARGEST_ERROR,
                    "{x:x}: {got_cos} {cos}"
                );
                assert!(
                    (got_sin - sin).abs() <= LARGEST_ERROR,
                    "{x:x}: {got_sin} {sin}"
                );
            }
        }
    }

    #[test]
    fn only_rare_radii_are_extended() {
        assert!(needs_extension(0) && needs_extension((1 << 32) - 1));
        assert!(!needs_extension(1 << 32));
        let mut normals = [[7.0; LANES]; ROWS];
        let mut numbers = Group::zero();
        for row in 0..ROWS {
            for lane in 0..LANES {
                numbers.set(row, lane, 1 << 32);
            }
        }
        extend_tails(&mut normals, &numbers, &Group::zero());
        assert_eq!(normals, [[7.0; LANES]; ROWS]);
    }

    #[test]
    fn a_rare_radius_is_extended_by_a_number_of_its_own() {
        // Found by search: a group of this stream whose lane 15 has a number below 2^32 in row 4.
        let stream = Subkey::derive(&Keys::fixed_seed(11).noise, [0; 4]);
        let group = 22_337_088;
        let (numbers, extension) = (stream.group(group, 0, 0), stream.group(group, 0, EXTENSION));
        let (number, below) = (numbers.number(4, 15), extension.number(4, 15));
        assert!(number < 1 << 32);
        let uniform = (number as f64 + below as f64 * TWO_TO_MINUS_64) * TWO_TO_MINUS_64;
        let normals = normals(&stream, group, 0, 0);
        let radius = normals[4][15].hypot(normals[5][15]);
        let expected = (-2.0 * uniform.ln()).sqrt();
        assert!((radius - expected).abs() < 1e-13, "{radius} {expected}");
        // The bits below matter: without them the radius would differ by more than that.
        let coarse = (-2.0 * ((number as f64 + 0.5) * TWO_TO_MINUS_64).ln()).sqrt();
        assert!((coarse - expected).abs() > 1e-12);
    }

    #[test]
    fn normals_agree_with_the_standard_library() {
        let stream = Subkey::derive(&Keys::fixed_seed(11).noise, [0; 4]);
        for group in 0..1000 {
            let numbers = stream.group(group, 0, 0);
            let normals = normals(&stream, group, 0, 0);
            for pair in (0..ROWS).step_by(2) {
                for lane in 0..LANES {
                    let uniform = (numbers.number(pair, lane) as f64 + 0.5) * TWO_TO_MINUS_64;
                    let radius = (-2.0 * uniform.ln()).sqrt();
                    let angle = numbers.number(pair + 1, lane);
                    let turn = ((angle << 2 >> 12) as f64 + 0.5) / (1u64 << 52) as f64 - 0.5;
                    let (sin, cos) = (std::f64::consts::FRAC_PI_2 * turn).sin_cos();
                    let (cos, sin) = match angle >> 62 {
                        0 => (cos, sin),
                        1 => (-sin, cos),
                        2 => (-cos, -sin),
                        _ => (sin, -cos),
                    };
                    // Both sides are off by about one unit in the last place.
                    assert!((normals[pair][lane] - radius * cos).abs() < 2.0 * LARGEST_ERROR);
                    assert!((normals[pair + 1][lane] - radius * sin).abs() < 2.0 * LARGEST_ERROR);
                }
            }
        }
    }
}
