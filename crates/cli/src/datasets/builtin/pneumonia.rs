//! Chest X-rays of children: mosaics of 64 × 64 pixels, or the authors' folders of JPEG files.

use super::{About, DataSet, image_set, strings};
use crate::datasets::formats::mosaic;
use crate::datasets::locate::{Found, Site};
use crate::datasets::own;
use crate::datasets::preparation::{Features, Picture};
use crate::datasets::records::ImageSize;
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

pub(super) fn read(found: &Found, features: Option<Features>) -> Result<DataSet> {
    let picture = Picture::new(SIZE)?;
    let part = |name: &str| match found.form {
        0 => mosaic::read(&found.folder, name, SIZE),
        _ => own::class_folders(&found.folder.join(name), &strings(&CLASSES), &picture),
    };
    let about = About {
        origin: "paediatric chest X-rays, D. Kermany, K. Zhang and M. Goldbaum 2018, Mendeley Data"
            .into(),
        licence: "CC BY 4.0".into(),
        caveats: vec![
            "images made grey and resized to 64 × 64 pixels".into(),
            "several images may be of one child: the unit of privacy here is the image".into(),
        ],
    };
    let parts = [part("train")?, part("test")?];
    image_set(SITE.name, picture, &CLASSES, parts, about, features)
}
