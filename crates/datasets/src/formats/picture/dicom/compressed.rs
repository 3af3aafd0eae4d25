//! Compressed images of DICOM files.

use super::super::colours::Colours;
use super::super::web::jpeg as decode_jpeg;
use super::attributes::fragments;
use super::image::Image;
use anyhow::{Context, Result, ensure};

/// JPEG of 8 bits, with its own idea of colours.
pub(super) fn jpeg(image: &Image<'_>) -> Result<Colours> {
    let fragments = fragments(image.pixels)?;
    // A frame may be cut into fragments; the next frame begins as a file does.
    let next = fragments
        .iter()
        .skip(1)
        .position(|fragment| fragment.starts_with(&[0xff, 0xd8]));
    let frame = fragments[..next.map_or(fragments.len(), |next| next + 1)].concat();
    let mut colours = decode_jpeg(&frame)?;
    ensure!(
        (colours.width, colours.height) == (image.width, image.height),
        "a DICOM image of another size than it says"
    );
    if image.samples == 1 {
        let raw = colours.values.iter().map(|pixel| f64::from(pixel[0]));
        let levels = image.grey(raw.collect());
        colours.values = levels.into_iter().map(|level| [level; 3]).collect();
    }
    Ok(colours)
}

/// Run lengths: a segment for every byte of a pixel, the higher bytes first [5, G].
pub(super) fn run_lengths(image: &Image<'_>) -> Result<Vec<u8>> {
    let fragments = fragments(image.pixels)?;
    let frame = fragments[0];
    let header = |at: usize| {
        let four = frame
            .get(4 * at..4 * at + 4)
            .context("a segment is missing")?;
        Ok::<_, anyhow::Error>(u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
    };
    let segments = image.samples * image.bytes;
    ensure!(header(0)? == segments, "an unusual number of segments");
    let plane = image.width * image.height;
    let mut bytes = vec![0; plane * segments];
    for segment in 0..segments {
        let start = header(1 + segment)?;
        let packed = frame.get(start..).context("a segment is missing")?;
        // Values are written the lower byte first, colours pixel by pixel.
        let (sample, high) = (segment / image.bytes, segment % image.bytes);
        let place = sample * image.bytes + (image.bytes - 1 - high);
        let step = segments;
        for (at, byte) in unpacked(packed, plane)?.into_iter().enumerate() {
            let target = match image.is_planar {
                true => sample * plane * image.bytes + at * image.bytes + (image.bytes - 1 - high),
                false => at * step + place,
            };
            bytes[target] = byte;
        }
    }
    Ok(bytes)
}

fn unpacked(mut packed: &[u8], length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let (&head, rest) = packed.split_first().context("a segment that is cut off")?;
        packed = rest;
        match head as i8 {
            -128 => {}
            head @ 0.. => {
                let run = packed.split_at_checked(head as usize + 1);
                let (run, rest) = run.context("a segment that is cut off")?;
                bytes.extend_from_slice(run);
                packed = rest;
            }
            head => {
                let (&byte, rest) = packed.split_first().context("a segment that is cut off")?;
                let length = bytes.len() + usize::from(head.unsigned_abs()) + 1;
                bytes.resize(length, byte);
                packed = rest;
            }
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}
