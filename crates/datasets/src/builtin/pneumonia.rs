//! Chest X-rays of children: mosaics of 64 × 64 pixels, or the authors' folders of JPEG files.

use super::{About, DataSet, image_set, strings};
use crate::formats::mosaic;
use crate::locate::{Found, Site};
use crate::own;
use crate::preparation::{Features, Picture};
use crate::records::ImageSize;
use crate::split::is_held_out;
use anyhow::Result;

const CLASSES: [&str; 2] = ["NORMAL", "PNEUMONIA"];
const SIZE: ImageSize = ImageSize {
    channels: 1,
    height: 64,
    width: 64,
};

pub(super) const SITE: Site = Site {
    name: "pneumonia",
    folders: &["pneumonia", "chest-xray-pneumonia-64", "chest_xray"],
    forms: &[
        &[
            "train_labels.u8",
            "train_00.webp",
            "test_labels.u8",
            "test_00.webp",
        ],
        &[
            "train/NORMAL",
            "train/PNEUMONIA",
            "test/NORMAL",
            "test/PNEUMONIA",
        ],
    ],
    downloads: &[],
    home: "https://data.mendeley.com/datasets/rscbjbr9sj (ChestXRay2017.zip, folder chest_xray)",
};

type Part = (Vec<u8>, Vec<u16>);

/// The images as they are published.
pub(super) fn read(found: &Found, features: Option<Features>) -> Result<DataSet> {
    data_set(SITE.name, published(found)?, None, features)
}

/// Share of all images that is held out when they are split anew.
const TEST_SHARE: f64 = 0.1;

/// The published test images come from elsewhere, as it seems: a linear model of 32 × 32 pixels has 96 % on
/// held-out training images and 75 % on them. Split anew, both parts are alike.
pub(super) fn read_resplit(found: &Found, features: Option<Features>) -> Result<DataSet> {
    let mut parts = [Part::default(), Part::default()];
    for (pixels, labels) in published(found)? {
        for (image, label) in pixels.chunks(SIZE.values()).zip(labels) {
            let part = &mut parts[usize::from(is_held_out([image], TEST_SHARE))];
            part.0.extend(image);
            part.1.push(label);
        }
    }
    let caveat = "split anew: a tenth of all images, chosen by a hash of each, is the test set, so images of one \
                  child may be on both sides";
    data_set("pneumonia-resplit", parts, Some(caveat), features)
}

fn published(found: &Found) -> Result<[Part; 2]> {
    let part = |name: &str| match found.form {
        0 => mosaic::read(&found.folder, name, SIZE),
        _ => {
            let picture = Picture::new(SIZE)?;
            own::class_folders(&found.folder.join(name), &strings(&CLASSES), &picture)
        }
    };
    Ok([part("train")?, part("test")?])
}

fn data_set(
    name: &str,
    parts: [Part; 2],
    caveat: Option<&str>,
    features: Option<Features>,
) -> Result<DataSet> {
    let mut caveats = strings(&[
        "images made grey and resized to 64 × 64 pixels",
        "several images may be of one child: the unit of privacy here is the image",
    ]);
    caveats.extend(caveat.map(String::from));
    let about = About {
        origin: "paediatric chest X-rays, D. Kermany, K. Zhang and M. Goldbaum 2018, Mendeley Data"
            .into(),
        licence: "CC BY 4.0".into(),
        caveats,
    };
    image_set(name, Picture::new(SIZE)?, &CLASSES, parts, about, features)
}
