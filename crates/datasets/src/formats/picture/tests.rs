#![allow(clippy::unwrap_used)]

use super::*;
use ::tiff::encoder::{TiffEncoder, colortype};
use ::tiff::tags::Tag;
use proptest::prelude::*;
use std::io::Cursor;

fn image(width: usize, values: &[[u8; 3]]) -> Colours {
    Colours {
        width,
        height: values.len() / width,
        values: values.to_vec(),
    }
}

/// Two pixels beside each other, red and blue, turned by a quarter if asked for.
fn tiff_of(orientation: Option<u16>) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    let mut image = encoder.new_image::<colortype::RGB8>(2, 1).unwrap();
    if let Some(orientation) = orientation {
        image
            .encoder()
            .write_tag(Tag::Orientation, orientation)
            .unwrap();
    }
    image.write_data(&[255, 0, 0, 0, 0, 255]).unwrap();
    file.into_inner()
}

#[test]
fn tiff_files_are_read_and_turned_upright() {
    let (red, blue) = ([255, 0, 0], [0, 0, 255]);
    assert_eq!(decode(&tiff_of(None)).unwrap(), image(2, &[red, blue]));
    assert_eq!(decode(&tiff_of(Some(3))).unwrap(), image(2, &[blue, red]));
    assert_eq!(decode(&tiff_of(Some(6))).unwrap(), image(1, &[red, blue]));
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).unwrap();
    encoder
        .write_image::<colortype::Gray16>(1, 2, &[0x7fff, 0xffff])
        .unwrap();
    let grey = decode(&file.into_inner()).unwrap();
    assert_eq!(grey, image(1, &[[127; 3], [255; 3]]));
}

/// 24 bits a pixel, the lowest row first, rows filled up to four bytes.
#[test]
fn bmp_files_are_read() {
    let pixels = [[0, 0, 255, 255, 0, 0, 0, 0], [0, 255, 0, 9, 9, 9, 0, 0]].concat();
    let number = |value: u32| value.to_le_bytes();
    let mut file = b"BM".to_vec();
    for value in [70, 0, 54, 40, 2, 2] {
        file.extend(number(value));
    }
    file.extend([1, 0, 24, 0]);
    for value in [0, 16, 0, 0, 0, 0] {
        file.extend(number(value));
    }
    file.extend(pixels);
    let expected = image(2, &[[0, 255, 0], [9, 9, 9], [255, 0, 0], [0, 0, 255]]);
    assert_eq!(decode(&file).unwrap(), expected);
}

/// A DICOM file in the explicit or implicit encoding.
fn dicom_of(syntax: &str, attributes: &[(u16, &[u8; 2], &[u8])], pixels: &[u8]) -> Vec<u8> {
    let is_implicit = syntax == "1.2.840.10008.1.2";
    let mut file = [vec![0; 128], b"DICM".to_vec()].concat();
    let mut push = |group: u16, element: u16, kind: &[u8; 2], value: &[u8], implicit: bool| {
        file.extend(group.to_le_bytes());
        file.extend(element.to_le_bytes());
        let length = value.len() as u32;
        match (implicit, kind) {
            (true, _) => file.extend(length.to_le_bytes()),
            (false, b"OW" | b"OB" | b"SQ") => {
                file.extend(kind);
                file.extend([0, 0]);
                file.extend(length.to_le_bytes());
            }
            (false, _) => {
                file.extend(kind);
                file.extend((length as u16).to_le_bytes());
            }
        }
        file.extend(value);
    };
    push(0x0002, 0x0010, b"UI", syntax.as_bytes(), false);
    push(0x0010, 0x0010, b"PN", b"Smith^John", is_implicit);
    for (element, kind, value) in attributes {
        push(0x0028, *element, kind, value, is_implicit);
    }
    push(0x7fe0, 0x0010, b"OW", pixels, is_implicit);
    file
}

fn two_bytes(value: u16) -> [u8; 2] {
    value.to_le_bytes()
}

#[test]
fn dicom_files_are_read_through_their_window() {
    let [two, sixteen, twelve, one] = [2, 16, 12, 1].map(two_bytes);
    let size: [(u16, &[u8; 2], &[u8]); 4] = [
        (0x0010, b"US", &one),
        (0x0011, b"US", &two),
        (0x0100, b"US", &sixteen),
        (0x0101, b"US", &twelve),
    ];
    // Stored 1000 and 1100 are −24 and 76 Hounsfield units; the window goes from −24 to 76.
    let window: [(u16, &[u8; 2], &[u8]); 3] = [
        (0x1050, b"DS", b"26.5\\40 "),
        (0x1051, b"DS", b"101 "),
        (0x1052, b"DS", b"-1024 "),
    ];
    let pixels = [1000, 1100].map(two_bytes).concat();
    let grey = |levels: [u8; 2]| image(2, &levels.map(|level| [level; 3]));
    for syntax in ["1.2.840.10008.1.2", "1.2.840.10008.1.2.1"] {
        let file = dicom_of(syntax, &[&size[..], &window].concat(), &pixels);
        assert_eq!(decode(&file).unwrap(), grey([0, 255]), "{syntax}");
        // Without a window from the darkest to the brightest, here turned round.
        let inverted: (u16, &[u8; 2], &[u8]) = (0x0004, b"CS", b"MONOCHROME1 ");
        let file = dicom_of(syntax, &[&size[..], &[inverted]].concat(), &pixels);
        assert_eq!(decode(&file).unwrap(), grey([255, 0]), "{syntax}");
        // A file that ends early, and one whose image is compressed in a way that is not read.
        assert!(decode(&file[..file.len() - 1]).is_err());
    }
    let unknown = dicom_of("1.2.840.10008.1.2.4.90", &size, &pixels);
    let error = format!("{:#}", decode(&unknown).unwrap_err());
    assert!(
        error.contains("1.2.840.10008.1.2.4.90") && !error.contains("Smith"),
        "{error}"
    );
}

#[test]
fn dicom_files_in_colour_and_in_run_lengths_are_read() {
    let [one, two, three, eight] = [1, 2, 3, 8].map(two_bytes);
    let colour: Vec<(u16, &[u8; 2], &[u8])> = vec![
        (0x0002, b"US", &three),
        (0x0004, b"CS", b"RGB "),
        (0x0006, b"US", &one),
        (0x0010, b"US", &one),
        (0x0011, b"US", &two),
        (0x0100, b"US", &eight),
    ];
    let file = dicom_of("1.2.840.10008.1.2.1", &colour, &[1, 2, 3, 4, 5, 6]);
    let expected = image(2, &[[1, 3, 5], [2, 4, 6]]);
    assert_eq!(decode(&file).unwrap(), expected);
    // The same in three segments: a literal run, a repeated one, and one of both.
    let mut frame = vec![0; 64];
    for (at, value) in [3_u32, 64, 68, 72].into_iter().enumerate() {
        frame[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
    }
    frame.extend([1, 1, 2, 128, 255, 4, 128, 128, 0, 5, 0, 6]);
    let mut pixels = vec![0xfe, 0xff, 0x00, 0xe0, 0, 0, 0, 0, 0xfe, 0xff, 0x00, 0xe0];
    pixels.extend((frame.len() as u32).to_le_bytes());
    pixels.extend(&frame);
    pixels.extend([0xfe, 0xff, 0xdd, 0xe0, 0, 0, 0, 0]);
    let mut file = dicom_of("1.2.840.10008.1.2.5", &colour, &pixels);
    let place = file.len() - pixels.len() - 4;
    file[place..place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(decode(&file).unwrap(), image(2, &[[1, 4, 5], [2, 4, 6]]));
}

proptest! {
    #[test]
    fn damaged_images_never_panic(at in 0usize..400, change in 1u8..=255, cut in 0usize..400) {
        let size: [(u16, &[u8; 2], &[u8]); 2] = [(0x0010, b"US", &[1, 0]), (0x0011, b"US", &[2, 0])];
        for file in [
            tiff_of(Some(6)),
            dicom_of("1.2.840.10008.1.2.1", &size, &[1, 2]),
            dicom_of("1.2.840.10008.1.2.5", &size, &[0xfe, 0xff, 0x00, 0xe0, 0, 0, 0, 0]),
        ] {
            let mut damaged = file.clone();
            let place = at % damaged.len();
            damaged[place] ^= change;
            let _ = decode(&damaged);
            let _ = decode(&file[..cut.min(file.len())]);
        }
    }
}
