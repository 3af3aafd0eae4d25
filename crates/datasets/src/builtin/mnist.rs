//! MNIST and Fashion-MNIST, which share a format.

use super::{About, Builtin, DataSet, image_set};
use crate::download::{Checksum, Download};
use crate::formats::{compressed, idx};
use crate::locate::{Found, Site};
use crate::preparation::{Features, Picture};
use crate::records::ImageSize;
use anyhow::{Context, Result, ensure};
use std::path::Path;

const FILES: &[&str] = &[
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
];

/// A compressed file of a folder on the web.
macro_rules! file {
    ($folder:literal, $name:literal, $sha256:literal) => {
        Download {
            url: concat!($folder, $name, ".gz"),
            file: concat!($name, ".gz"),
            checksum: Checksum::Content($sha256),
        }
    };
}

/// The mirror of the PyTorch project: the authors' own site asks for a password.
pub(super) const MNIST: Site = Site {
    name: "mnist",
    folders: &["mnist"],
    forms: &[FILES],
    downloads: &[
        file!(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "train-images-idx3-ubyte",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        file!(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "train-labels-idx1-ubyte",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
        ),
        file!(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "t10k-images-idx3-ubyte",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        file!(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "t10k-labels-idx1-ubyte",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
        ),
    ],
    home: "https://ossci-datasets.s3.amazonaws.com/mnist/ (a copy of http://yann.lecun.com/exdb/mnist/)",
};

/// The authors' own files; the Debian package `dataset-fashion-mnist` installs the same.
pub(super) const FASHION: Site = Site {
    name: "fashion-mnist",
    folders: &["fashion-mnist"],
    forms: &[FILES],
    downloads: &[
        file!(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "train-images-idx3-ubyte",
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
        ),
        file!(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "train-labels-idx1-ubyte",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
        ),
        file!(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "t10k-images-idx3-ubyte",
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
        ),
        file!(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "t10k-labels-idx1-ubyte",
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
        ),
    ],
    home: "https://github.com/zalandoresearch/fashion-mnist, or the Debian package dataset-fashion-mnist",
};

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const CLOTHES: [&str; 10] = [
    "T-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
];
const SIZE: ImageSize = ImageSize {
    channels: 1,
    height: 28,
    width: 28,
};

/// Reads one of the two sets.
pub(super) fn read(set: Builtin, found: &Found, features: Option<Features>) -> Result<DataSet> {
    let (site, classes, about) = match set {
        Builtin::Mnist => (
            &MNIST,
            DIGITS,
            About {
                origin: "MNIST, Y. LeCun, C. Cortes and C. Burges".into(),
                licence: "CC BY-SA 3.0".into(),
                caveats: Vec::new(),
            },
        ),
        _ => (
            &FASHION,
            CLOTHES,
            About {
                origin: "Fashion-MNIST, H. Xiao, K. Rasul and R. Vollgraf 2017, arXiv:1708.07747"
                    .into(),
                licence: "MIT (Zalando SE)".into(),
                caveats: Vec::new(),
            },
        ),
    };
    let training = part(&found.folder, site, 0)?;
    let test = part(&found.folder, site, 2)?;
    image_set(
        site.name,
        Picture::new(SIZE)?,
        &classes,
        [training, test],
        about,
        features,
    )
}

/// The images and labels that start with file `first`.
fn part(folder: &Path, site: &Site, first: usize) -> Result<(Vec<u8>, Vec<u16>)> {
    let array = |number: usize| {
        let path = compressed::find(folder, FILES[number])
            .with_context(|| format!("{} lacks {}", folder.display(), FILES[number]))?;
        let sha256 = match site.downloads[number].checksum {
            Checksum::Content(sha256) | Checksum::File(sha256) => sha256,
        };
        let bytes = compressed::read_checked(&path, Some(sha256))?;
        idx::parse(&bytes).with_context(|| format!("{}", path.display()))
    };
    let (images, labels) = (array(first)?, array(first + 1)?);
    ensure!(
        images.dimensions == [labels.bytes.len(), SIZE.height, SIZE.width],
        "{}: {:?} images of 28 × 28 and {} labels were expected to agree",
        folder.display(),
        images.dimensions,
        labels.bytes.len()
    );
    Ok((
        images.bytes,
        labels.bytes.into_iter().map(u16::from).collect(),
    ))
}
