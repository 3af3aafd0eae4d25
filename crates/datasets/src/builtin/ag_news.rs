//! AG News: tables of class, title and description.

use super::{About, DataSet, Texts, public_set, strings};
use crate::Options;
use crate::download::{Checksum, Download};
use crate::formats::compressed;
use crate::locate::{Found, Site};
use crate::preparation::Preparation;
use crate::texts;
use anyhow::{Context, Result};

const CLASSES: [&str; 4] = ["World", "Sports", "Business", "Sci/Tech"];
/// Words of an article that are used; few have more.
const LENGTH: usize = 64;

const TRAINING_SHA256: &str = "76a0a2d2f92b286371fe4d4044640910a04a803fdd2538e0f3f29a5c6f6b672e";
const TEST_SHA256: &str = "521465c2428ed7f02f8d6db6ffdd4b5447c1c701962353eb2c40d548c3c85699";

pub(super) const SITE: Site = Site {
    name: "ag-news",
    folders: &["ag-news", "ag_news_csv", "ag-news-partial"],
    forms: &[
        &["train.csv", "test.csv"],
        &["train_partial.csv", "test.csv"],
    ],
    downloads: &[
        Download {
            url: "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/train.csv",
            file: "train.csv",
            checksum: Checksum::Content(TRAINING_SHA256),
        },
        Download {
            url: "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/test.csv",
            file: "test.csv",
            checksum: Checksum::Content(TEST_SHA256),
        },
    ],
    home: "https://github.com/mhjabreel/CharCnn_Keras (data/ag_news_csv)",
};

pub(super) fn read(found: &Found, options: &Options) -> Result<DataSet> {
    let vectors = texts::vectors(options)?;
    let preparation = Preparation {
        input: texts::preparation(options, vectors.as_deref(), LENGTH)?,
        classes: strings(&CLASSES),
    };
    let complete = found.form == 0;
    let checksums = [complete.then_some(TRAINING_SHA256), Some(TEST_SHA256)];
    let mut parts = Vec::new();
    for (file, sha256) in SITE.forms[found.form].iter().zip(checksums) {
        let path = compressed::find(&found.folder, file)
            .with_context(|| format!("{} lacks {file}", found.folder.display()))?;
        let mut texts = Texts::new(&preparation, vectors.clone());
        table(&compressed::read_checked(&path, sha256)?, &mut texts)
            .with_context(|| format!("{}", path.display()))?;
        parts.push(texts.into_parts());
    }
    let test = parts.pop().unwrap_or_default();
    let training = parts.pop().unwrap_or_default();
    let caveats = match complete {
        true => Vec::new(),
        false => vec![format!(
            "{} of the 120,000 training records of the published set",
            training.1.len()
        )],
    };
    let about = About {
        origin: "AG's corpus of news articles (A. Gulli), as a benchmark by X. Zhang et al. 2015"
            .into(),
        licence: "research and other non-commercial use".into(),
        caveats,
    };
    public_set(
        SITE.name,
        preparation.clone(),
        [training, test],
        vectors,
        about,
    )
}

fn table(file: &[u8], texts: &mut Texts) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(file);
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let class: usize = record
            .get(0)
            .and_then(|class| class.parse().ok())
            .filter(|class| (1..=CLASSES.len()).contains(class))
            .with_context(|| format!("line {line}: the class must be 1 to 4"))?;
        let text: Vec<_> = record.iter().skip(1).collect();
        texts.push(&text.join(" "), class - 1)?;
    }
    Ok(())
}
