//! The image of a DICOM file: from stored values to colours.

use super::super::colours::{Colours, levels, pixels};
use super::attributes::{Attributes, Syntax};
use anyhow::{Context, Result, bail, ensure};

/// What of a file makes the image.
pub(super) struct Image<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Values of a pixel, 1 or 3.
    pub(super) samples: usize,
    pub(super) photometric: &'a str,
    /// Whether all of one colour come before the next.
    pub(super) is_planar: bool,
    /// Bytes of a value, 1 or 2.
    pub(super) bytes: usize,
    /// Bits of them that are used.
    pub(super) bits: u32,
    pub(super) is_signed: bool,
    pub(super) slope: f64,
    pub(super) intercept: f64,
    pub(super) window: Option<(f64, f64)>,
    /// The frames, or their fragments.
    pub(super) pixels: &'a [u8],
    pub(super) is_big_endian: bool,
}

impl<'a> Image<'a> {
    pub(super) fn of(file: &Attributes<'a>) -> Result<Self> {
        let whole = |element| file.whole(element);
        let (height, width) = (whole(0x0010), whole(0x0011));
        let allocated = whole(0x0100).unwrap_or(8);
        let samples = whole(0x0002).unwrap_or(1);
        ensure!(
            (allocated == 8 || allocated == 16) && (samples == 1 || samples == 3 && allocated == 8),
            "a DICOM image of {samples} values of {allocated} bits a pixel; grey of 8 or 16 bits and colour of 3 × 8 \
             can be read"
        );
        let bits = whole(0x0101).unwrap_or(allocated);
        ensure!(
            (1..=allocated).contains(&bits),
            "a DICOM image of {bits} bits in {allocated}"
        );
        let width_of_window = file.number(0x1051).filter(|width| *width >= 1.0);
        Ok(Self {
            width: usize::from(width.context("a DICOM file without an image")?),
            height: usize::from(height.context("a DICOM file without an image")?),
            samples: usize::from(samples),
            photometric: file.text(0x0004).unwrap_or("MONOCHROME2"),
            is_planar: whole(0x0006) == Some(1),
            bytes: usize::from(allocated / 8),
            bits: u32::from(bits),
            is_signed: whole(0x0103) == Some(1),
            slope: file.number(0x1053).unwrap_or(1.0),
            intercept: file.number(0x1052).unwrap_or(0.0),
            window: file.number(0x1050).zip(width_of_window),
            pixels: file.pixels.context("a DICOM file without an image")?,
            is_big_endian: file.syntax == Syntax::BigEndian,
        })
    }

    /// Values of a frame.
    fn values(&self) -> usize {
        self.width * self.height * self.samples
    }

    /// The first frame of uncompressed bytes.
    pub(super) fn colours(&self, bytes: &[u8]) -> Result<Colours> {
        let frame = bytes.get(..self.values() * self.bytes);
        let frame = frame.context("a DICOM file whose image is cut off")?;
        let values = match self.samples {
            1 => pixels(&self.grey(self.raw(frame)), 1),
            _ => self.colour(frame)?,
        };
        Ok(Colours {
            width: self.width,
            height: self.height,
            values,
        })
    }

    /// The stored values, with their sign.
    fn raw(&self, frame: &[u8]) -> Vec<f64> {
        let unused = 32 - self.bits;
        let number = |value: u32| match self.is_signed {
            true => f64::from((value << unused) as i32 >> unused),
            false => f64::from((value << unused) >> unused),
        };
        match self.bytes {
            1 => frame.iter().map(|byte| number(u32::from(*byte))).collect(),
            _ => (frame.chunks_exact(2))
                .map(|pair| {
                    let pair = [pair[0], pair[1]];
                    number(u32::from(match self.is_big_endian {
                        true => u16::from_be_bytes(pair),
                        false => u16::from_le_bytes(pair),
                    }))
                })
                .collect(),
        }
    }

    /// Grey levels through the window that the file asks for [3, C.11.2.1.2.1], or of the whole range of 8 bits, or
    /// from the darkest to the brightest.
    pub(super) fn grey(&self, raw: Vec<f64>) -> Vec<u8> {
        let values = raw
            .into_iter()
            .map(|value| value * self.slope + self.intercept);
        let mut levels: Vec<u8> = match self.window {
            Some((center, width)) => {
                let (center, width) = (center - 0.5, (width - 1.0).max(f64::MIN_POSITIVE));
                let level = |value: f64| ((value - center) / width + 0.5) * 255.0;
                values
                    .map(|value| level(value).clamp(0.0, 255.0).round() as u8)
                    .collect()
            }
            None if self.bits == 8 && !self.is_signed => values
                .map(|value| value.clamp(0.0, 255.0).round() as u8)
                .collect(),
            None => levels(values.collect::<Vec<f64>>().into_iter()),
        };
        if self.photometric == "MONOCHROME1" {
            for level in &mut levels {
                *level = u8::MAX - *level;
            }
        }
        levels
    }

    fn colour(&self, frame: &[u8]) -> Result<Vec<[u8; 3]>> {
        let mut colours = match self.is_planar {
            false => pixels(frame, 3),
            true => {
                let plane = self.width * self.height;
                (0..plane)
                    .map(|at| [frame[at], frame[plane + at], frame[2 * plane + at]])
                    .collect()
            }
        };
        match self.photometric {
            "RGB" => {}
            "YBR_FULL" => colours
                .iter_mut()
                .for_each(|pixel| *pixel = from_ybr(*pixel)),
            other => bail!("a DICOM image in {other}; convert it to RGB"),
        }
        Ok(colours)
    }
}

/// ITU-R BT.601, as [3, C.7.6.3.1.2] has it.
fn from_ybr(pixel: [u8; 3]) -> [u8; 3] {
    let [y, b, r] = pixel.map(f64::from);
    let (b, r) = (b - 128.0, r - 128.0);
    let colours = [
        y + 1.402 * r,
        y - 0.344_136 * b - 0.714_136 * r,
        y + 1.772 * b,
    ];
    colours.map(|level| level.round().clamp(0.0, 255.0) as u8)
}
