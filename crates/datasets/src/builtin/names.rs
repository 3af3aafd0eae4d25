//! Surnames of 18 languages, one file each, split into training and test by a hash of the record.

use super::{About, DataSet, Texts, public_set, strings};
use crate::Options;
use crate::download::{Checksum, Download};
use crate::formats::compressed;
use crate::locate::{Found, Site};
use crate::preparation::{Characters, Features, InputPreparation, NGrams, Preparation, TextCounts};
use crate::split::is_held_out;
use anyhow::{Context, Result, bail};
use std::collections::HashMap;

/// Characters of a name that are used; 13 names of 20,050 have more.
const LENGTH: usize = 15;
const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,;'-";
/// Share of names held out.
const TEST_SHARE: f64 = 0.2;

macro_rules! languages {
    ($(($language:literal, $sha256:literal)),* $(,)?) => {
        const LANGUAGES: &[&str] = &[$($language),*];
        const FILES: &[&str] = &[$(concat!($language, ".txt")),*];
        const DOWNLOADS: &[Download] = &[$(Download {
            url: concat!(
                "https://raw.githubusercontent.com/spro/practical-pytorch/master/data/names/",
                $language,
                ".txt"
            ),
            file: concat!($language, ".txt"),
            checksum: Checksum::Content($sha256),
        }),*];
    };
}

languages![
    (
        "Arabic",
        "6f424a8dbe51cbbbabab7a57d38b617210125e4e3991f3c657cb79b8f104bafc"
    ),
    (
        "Chinese",
        "09ba8f1f7e38dbc99372d461b26ad4433b811fc6bfa6a3ecca6fe11a9a777465"
    ),
    (
        "Czech",
        "e17ab0ec47616a72c39cb85c783f70c3663ab64488721e5d8378f146d2226be7"
    ),
    (
        "Dutch",
        "924f32b635170eae561f84538632138fc07d4c8bbd70ba3fb980de1ecc4d2af3"
    ),
    (
        "English",
        "9cca037066d3d5989e24bc01801416162de506b5e28e15b7c092a47905d29bf2"
    ),
    (
        "French",
        "81e65b36c60ed5b89a17422f6edcadbb89546f38ad69e960e64e7ba682012a95"
    ),
    (
        "German",
        "7449cd590b97a733e18d613a4155decd77ec35dc5f8aadd7a82204dce4f051db"
    ),
    (
        "Greek",
        "3555b5186de7f401e6d991b088e9e644ca3099116477818c25ab5793801389e6"
    ),
    (
        "Irish",
        "cf8c7013256252a88d2503127b87282a11f21b2ff6db1bded68834c19a1ec058"
    ),
    (
        "Italian",
        "f88414c27d0606a11a678b4859277828c2565d6cc4d9ee932deef6e94f3b35e4"
    ),
    (
        "Japanese",
        "e0e717e114fec3e7eade4d9dabe0067c475f43147e36a22b47902ee76ad9e67f"
    ),
    (
        "Korean",
        "cd54221ccb362a6cba4c78828838cf3268a0e59744767a37cf6ec4b74036b136"
    ),
    (
        "Polish",
        "45bab898af2f60ed3a728bbf6980e28821011a7caa53227553b5785903a40826"
    ),
    (
        "Portuguese",
        "50a8735f41f4f73757c8ce5b16cb0275cd86b2b214bcbc8c9805f508cb131c53"
    ),
    (
        "Russian",
        "0cfe53ac18041e8f63666aa77313e0a3ff378facb132abee052d8ebdc8c3d62c"
    ),
    (
        "Scottish",
        "78d0252711d87d948ea86fe34826c51d2d794a8e52d15b5d6f7b6244d45d62dd"
    ),
    (
        "Spanish",
        "1bcb462ed3316756a85781d68232bddae04498fdddd5d9219c53fd1fbdeba7a7"
    ),
    (
        "Vietnamese",
        "f3f9e4164ab47601178a6e45b216464a64122f49d05541f24bf18a757253281d"
    ),
];

pub(super) const SITE: Site = Site {
    name: "names",
    folders: &["names"],
    forms: &[FILES],
    downloads: DOWNLOADS,
    home: "https://github.com/spro/practical-pytorch (data/names)",
};

/// Equal names of a language on the same side, so that no test name was trained on.
pub(super) fn read(found: &Found, options: &Options) -> Result<DataSet> {
    let caveat = "its 2,000 Arabic names are 108 different ones; equal names of a language are on the same side of the split";
    data_set(SITE.name, found, options, caveat, |_| None)
}

/// Every name on a side of its own, as a split at random has it: the k-th of equal names is hashed with k.
/// That too moves no other name when one is added or removed, since equal names are alike.
pub(super) fn read_random_split(found: &Found, options: &Options) -> Result<DataSet> {
    let caveat = "split name by name: its 2,000 Arabic names are 108 different ones, nearly all of which are on both sides, so \
                  that accuracies are higher than on new names";
    data_set("names-random-split", found, options, caveat, Some)
}

/// The set, each name on the side that a hash of its language, itself and its `mark` puts it on; a mark
/// is made of how many equal names came before.
fn data_set(
    set: &str,
    found: &Found,
    options: &Options,
    caveat: &str,
    mark: impl Fn(u64) -> Option<u64>,
) -> Result<DataSet> {
    let characters = InputPreparation::Characters(Characters {
        alphabet: ALPHABET.into(),
        length: LENGTH,
    });
    let preparation = Preparation {
        input: match options.features {
            None => characters,
            Some(Features::NGrams) => InputPreparation::NGrams(NGrams::default()),
            Some(Features::Counts) => InputPreparation::Counts(TextCounts::default()),
            Some(other) => bail!(
                "--features {} is not for names; n-grams and counts are",
                other.name()
            ),
        },
        classes: strings(LANGUAGES),
    };
    let mut parts = [
        Texts::new(&preparation, None),
        Texts::new(&preparation, None),
    ];
    for (label, (file, language)) in FILES.iter().zip(LANGUAGES).enumerate() {
        let path = compressed::find(&found.folder, file)
            .with_context(|| format!("{} lacks {file}", found.folder.display()))?;
        let list = compressed::read_text(&path)?;
        let mut seen = HashMap::new();
        for name in list.lines().map(str::trim).filter(|name| !name.is_empty()) {
            let before = seen.entry(name).or_insert(0);
            let mark = mark(*before).map(u64::to_le_bytes);
            *before += 1;
            let fields = [language.as_bytes(), name.as_bytes()];
            let fields = fields.into_iter().chain(mark.iter().map(|mark| &mark[..]));
            let test = is_held_out(fields, TEST_SHARE);
            parts[usize::from(test)].push(name, label)?;
        }
    }
    let about = About {
        origin: "surnames of 18 languages, S. Robertson, practical-pytorch".into(),
        licence: "MIT".into(),
        caveats: vec![
            "the set comes without a split: a fifth of the names, chosen by a hash of language and name, is the test set".into(),
            caveat.into(),
        ],
    };
    let parts = parts.map(Texts::into_parts);
    public_set(set, preparation.clone(), parts, None, about)
}
