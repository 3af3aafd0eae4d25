//! Photographs turned the way up that their file says.

use super::colours::Colours;
use exif::{In, Reader, Tag};
use std::io::Cursor;

/// The image as it was seen, by the orientation in its EXIF data.
pub(super) fn upright(image: Colours, file: &[u8]) -> Colours {
    match orientation(file) {
        Some(orientation @ 2..=8) => turned(&image, orientation),
        _ => image,
    }
}

fn orientation(file: &[u8]) -> Option<u32> {
    let exif = Reader::new()
        .read_from_container(&mut Cursor::new(file))
        .ok()?;
    exif.get_field(Tag::Orientation, In::PRIMARY)?
        .value
        .get_uint(0)
}

/// The eight ways of EXIF 2.3, 4.6.4: where the first row and the first column are seen.
fn turned(image: &Colours, orientation: u32) -> Colours {
    let (width, height) = match orientation {
        5..=8 => (image.height, image.width),
        _ => (image.width, image.height),
    };
    let (last_column, last_row) = (image.width - 1, image.height - 1);
    let source = |x: usize, y: usize| match orientation {
        2 => (last_column - x, y),
        3 => (last_column - x, last_row - y),
        4 => (x, last_row - y),
        5 => (y, x),
        6 => (y, last_row - x),
        7 => (last_column - y, last_row - x),
        8 => (last_column - y, x),
        _ => (x, y),
    };
    let values = (0..width * height).map(|at| {
        let (x, y) = source(at % width, at / width);
        image.values[y * image.width + x]
    });
    Colours {
        width,
        height,
        values: values.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns a and b, in two rows a b / c d: how each orientation of the standard shows them.
    #[test]
    fn every_orientation_is_the_one_of_the_standard() {
        let image = |width, letters: &[u8]| Colours {
            width,
            height: letters.len() / width,
            values: letters.iter().map(|letter| [*letter; 3]).collect(),
        };
        let stored = image(3, b"abcdef");
        for (orientation, width, seen) in [
            (2, 3, b"cbafed"),
            (3, 3, b"fedcba"),
            (4, 3, b"defabc"),
            (5, 2, b"adbecf"),
            (6, 2, b"daebfc"),
            (7, 2, b"fcebda"),
            (8, 2, b"cfbead"),
        ] {
            assert_eq!(
                turned(&stored, orientation),
                image(width, seen),
                "{orientation}"
            );
        }
    }
}
