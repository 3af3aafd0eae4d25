//! CIFAR-10: the authors' binary archive, the folder inside it, or lossless mosaics.

use super::{About, DataSet, image_set};
use crate::download::{Checksum, Download};
use crate::formats::{cifar, compressed, mosaic};
use crate::locate::{Found, Site};
use crate::preparation::{Features, Picture};
use crate::records::ImageSize;
use anyhow::{Context, Result, ensure};
use std::io::Read;
use std::path::Path;

const ARCHIVE: &str = "cifar-10-binary.tar.gz";
const TEST: &str = "test_batch.bin";

pub(super) const SITE: Site = Site {
    name: "cifar10",
    folders: &["cifar10", "cifar-10", "cifar-10-batches-bin"],
    forms: &[
        &[
            "train_labels.u8",
            "train_00.webp",
            "test_labels.u8",
            "test_00.webp",
        ],
        &[
            "data_batch_1.bin",
            "data_batch_2.bin",
            "data_batch_3.bin",
            "data_batch_4.bin",
            "data_batch_5.bin",
            TEST,
        ],
        &[ARCHIVE],
    ],
    downloads: &[Download {
        url: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        file: ARCHIVE,
        checksum: Checksum::File(
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        ),
    }],
    home: "https://www.cs.toronto.edu/~kriz/cifar.html",
};

const CLASSES: [&str; 10] = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
];
const SIZE: ImageSize = ImageSize {
    channels: 3,
    height: 32,
    width: 32,
};

type Part = (Vec<u8>, Vec<u16>);

pub(super) fn read(found: &Found, features: Option<Features>) -> Result<DataSet> {
    let mut about = About {
        origin: "CIFAR-10, A. Krizhevsky 2009".into(),
        licence: "none stated; cite the author".into(),
        caveats: Vec::new(),
    };
    let parts = match found.form {
        0 => {
            about.caveats = mosaic_caveats(&found.folder);
            [
                mosaic::read(&found.folder, "train", SIZE)?,
                mosaic::read(&found.folder, "test", SIZE)?,
            ]
        }
        1 => folder(&found.folder)?,
        _ => archive(&found.folder.join(ARCHIVE))?,
    };
    image_set(
        SITE.name,
        Picture::new(SIZE)?,
        &CLASSES,
        parts,
        about,
        features,
    )
}

/// A copy rebuilt from several sources lists the images it has in lossy form only.
fn mosaic_caveats(folder: &Path) -> Vec<String> {
    let lossy: usize = ["train", "test"]
        .iter()
        .filter_map(|part| {
            std::fs::read_to_string(folder.join(format!("{part}_jpeg_fallback.txt"))).ok()
        })
        .map(|list| list.lines().count())
        .sum();
    match lossy {
        0 => Vec::new(),
        _ => vec![format!(
            "a reconstructed copy: {lossy} of its images are decoded JPEG, and the order of the test set is not the authors'"
        )],
    }
}

fn folder(folder: &Path) -> Result<[Part; 2]> {
    let mut parts = [Part::default(), Part::default()];
    for file in SITE.forms[1] {
        let path = compressed::find(folder, file)
            .with_context(|| format!("{} lacks {file}", folder.display()))?;
        let (pixels, labels) = &mut parts[usize::from(*file == TEST)];
        cifar::append(&compressed::read(&path)?, pixels, labels)
            .with_context(|| format!("{}", path.display()))?;
    }
    Ok(parts)
}

fn archive(path: &Path) -> Result<[Part; 2]> {
    let damaged = || format!("{} is damaged; remove it and try again", path.display());
    let mut parts = [Part::default(), Part::default()];
    let mut archive = tar::Archive::new(compressed::open(path)?);
    let mut batches = 0;
    for entry in archive.entries().with_context(damaged)? {
        let mut entry = entry.with_context(damaged)?;
        let name = entry.path().with_context(damaged)?.into_owned();
        if name.extension().is_none_or(|end| end != "bin") {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).with_context(damaged)?;
        let (pixels, labels) = &mut parts[usize::from(name.ends_with(TEST))];
        cifar::append(&bytes, pixels, labels).with_context(damaged)?;
        batches += 1;
    }
    ensure!(
        batches == SITE.forms[1].len(),
        "{} holds {batches} batches, not {}",
        path.display(),
        SITE.forms[1].len()
    );
    Ok(parts)
}
