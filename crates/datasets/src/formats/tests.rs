#![allow(clippy::unwrap_used)]

use super::*;
use crate::image_size::ImageSize;
use crate::testkit::{Folder, message, webp};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Three letters compressed by xz (Python 3, `lzma.compress(b"abc")`).
const XZ: &[u8] = &[
    253, 55, 122, 88, 90, 0, 0, 4, 230, 214, 180, 70, 2, 0, 33, 1, 22, 0, 0, 0, 116, 47, 229, 163,
    1, 0, 2, 97, 98, 99, 0, 0, 39, 118, 39, 26, 74, 9, 216, 44, 0, 1, 27, 3, 11, 47, 185, 16, 31,
    182, 243, 125, 1, 0, 0, 0, 0, 4, 89, 90,
];

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn files_are_found_and_read_plain_and_compressed() {
    let folder = Folder::new();
    folder.write("plain", "abc");
    folder.write("packed.gz", gzip(b"abc"));
    // Two frames, as parallel compressors write them: nothing is lost after the first.
    let zstd = |content: &[u8]| zstd::encode_all(content, 1).unwrap();
    folder.write("tight.zst", [zstd(b"a"), zstd(b"bc")].concat());
    folder.write("two.gz", [gzip(b"ab"), gzip(b"c")].concat());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(b"abc").unwrap();
    folder.write("b.bz2", bzip2.finish().unwrap());
    folder.write("x.xz", XZ);
    for name in ["plain", "packed", "tight", "two", "b", "x"] {
        let path = compressed::find(folder.path(), name).unwrap();
        assert_eq!(compressed::read(&path).unwrap(), b"abc");
        compressed::verify(&path, ABC).unwrap();
        assert_eq!(compressed::read_checked(&path, Some(ABC)).unwrap(), b"abc");
    }
    assert_eq!(compressed::find(folder.path(), "other"), None);
}

#[test]
fn unreadable_files_are_named_with_a_remedy() {
    let folder = Folder::new();
    let missing = message(compressed::read(&folder.path().join("none.csv")));
    assert!(
        missing.contains("there is no file") && missing.contains("none.csv"),
        "{missing}"
    );
    let cut = folder.write("cut.gz", &gzip(&[7; 5000])[..20]);
    let error = message(compressed::read(&cut));
    assert!(
        error.contains("cut.gz: the file is damaged or incomplete; fetch it again"),
        "{error}"
    );
    let no_zstd = folder.write("no.zst", "plain text");
    assert!(
        message(compressed::read(&no_zstd)).contains("no.zst: the file is damaged or incomplete")
    );
    let latin = folder.write("latin.txt", b"one\ntwo\nf\xfcnf\n");
    let error = message(compressed::read_text(&latin));
    assert!(
        error.contains("latin.txt, line 3: not UTF-8; save the file as UTF-8"),
        "{error}"
    );
    let other = folder.write("other.gz", gzip(b"abd"));
    let error = message(compressed::read_checked(&other, Some(ABC)));
    assert!(
        error.contains("is not the published file")
            && error.contains(ABC)
            && error.contains("remove it")
    );
}

#[test]
fn idx_arrays_are_read() {
    let file = [
        &[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3][..],
        &[1, 2, 3, 4, 5, 6],
    ]
    .concat();
    let array = idx::parse(&file).unwrap();
    assert_eq!(
        (array.dimensions, array.bytes),
        (vec![2, 3], vec![1, 2, 3, 4, 5, 6])
    );
}

#[test]
fn idx_files_of_other_content_are_refused() {
    assert!(message(idx::parse(b"\0")).contains("at least 4 bytes"));
    assert!(message(idx::parse(b"\x1f\x8b\x08\x00rest")).contains("starts with [31, 139, 8, 0]"));
    assert!(message(idx::parse(&[0, 0, 8, 3, 0, 0])).contains("ends in its header"));
    let short = [0, 0, 8, 1, 0, 0, 0, 5, 1, 2];
    assert!(message(idx::parse(&short)).contains("[5] must hold as many bytes, but it holds 2"));
    let huge = [[0, 0, 8, 4].as_slice(), &[255; 16]].concat();
    assert!(message(idx::parse(&huge)).contains("it holds 0"));
}

#[test]
fn cifar_records_are_read() {
    let mut file = vec![9u8];
    file.extend((0..3072).map(|value| value as u8));
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    cifar::append(&file, &mut pixels, &mut labels).unwrap();
    assert_eq!((labels, pixels), (vec![9], file[1..].to_vec()));
    let error = message(cifar::append(&file[1..], &mut Vec::new(), &mut Vec::new()));
    assert!(
        error.contains("records of 3073 bytes, but this one has 3072"),
        "{error}"
    );
}

#[test]
fn mosaics_are_cut_row_by_row_into_planes() {
    let folder = Folder::new();
    let colours: Vec<u8> = (0..16u8)
        .map(|at| (at % 4, at / 4))
        .flat_map(|(x, y)| [x, y, 10 * (x + y)])
        .collect();
    let file = webp(4, 4, &colours);
    folder.write("train_00.webp", &file);
    folder.write("train_labels.u8", [2, 0, 1]);
    let size = ImageSize {
        channels: 3,
        height: 2,
        width: 2,
    };
    let (pixels, labels) = mosaic::read(folder.path(), "train", size).unwrap();
    assert_eq!(labels, [2, 0, 1]);
    let second = [2, 3, 2, 3, 0, 0, 1, 1, 20, 30, 30, 40];
    assert_eq!((pixels.len(), &pixels[12..24]), (36, &second[..]));
    let grey = mosaic::tiles(
        &file,
        ImageSize {
            channels: 1,
            ..size
        },
    )
    .unwrap();
    assert_eq!(grey[8..12], [0, 1, 0, 1]);

    folder.write("train_labels.u8", [0; 5]);
    let error = message(mosaic::read(folder.path(), "train", size));
    assert!(
        error.contains("hold 4 images, but 5 are labelled; is a file missing?"),
        "{error}"
    );
    let error = message(mosaic::tiles(&file, ImageSize { width: 3, ..size }));
    assert!(
        error.contains("4 × 4 pixels cannot be cut into tiles of 3 × 2"),
        "{error}"
    );
    folder.write("train_00.webp", "RIFF");
    let error = message(mosaic::read(folder.path(), "train", size));
    assert!(
        error.contains("train_00.webp: a damaged WebP image"),
        "{error}"
    );
}

/// A grey JPEG of 8 × 8 pixels by hand: all quantisers 8, one code for a difference of five bits,
/// one for the end of a block. The five bits 00011 are -28, so every pixel is 128 - 28.
#[test]
fn grey_jpeg_images_are_read() {
    let one_code = [&[1][..], &[0; 15]].concat();
    let file = [
        &[0xff, 0xd8, 0xff, 0xdb, 0, 67, 0][..],
        &[8; 64],
        &[0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0],
        &[0xff, 0xc4, 0, 20, 0x00],
        &one_code,
        &[5, 0xff, 0xc4, 0, 20, 0x10],
        &one_code,
        &[
            0,
            0xff,
            0xda,
            0,
            8,
            1,
            1,
            0,
            0,
            63,
            0,
            0b0000_1101,
            0xff,
            0xd9,
        ],
    ]
    .concat();
    let image = picture::decode(&file).unwrap();
    assert_eq!((image.width, image.height), (8, 8));
    assert_eq!(image.values, [[100; 3]; 64]);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = idx::parse(&bytes);
        let _ = idx::parse(&[&[0, 0, 8], bytes.as_slice()].concat());
        let _ = cifar::append(&bytes, &mut Vec::new(), &mut Vec::new());
        let size = ImageSize { channels: 3, height: 2, width: 2 };
        let _ = mosaic::tiles(&bytes, size);
        let _ = mosaic::tiles(&[b"RIFF\x40\0\0\0WEBPVP8L", bytes.as_slice()].concat(), size);
    }

    #[test]
    fn random_compressed_files_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = Folder::new();
        for (name, start) in [("a.gz", &b"\x1f\x8b\x08\0\0\0\0\0\0\0"[..]), ("a.zst", b"\x28\xb5\x2f\xfd")] {
            let path = folder.write(name, [start, &bytes].concat());
            let _ = compressed::read(&path);
        }
    }
}
