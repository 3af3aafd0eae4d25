//! IMDB film reviews: the authors' archive or its folders, or tables of label, stars, id and text.

use super::{About, DataSet, Texts, public_set, strings};
use crate::Options;
use crate::download::{Checksum, Download};
use crate::formats::compressed;
use crate::locate::{Found, Site};
use crate::preparation::Preparation;
use crate::texts;
use anyhow::{Context, Result, ensure};
use std::io::Read;
use std::path::Path;

const ARCHIVE: &str = "aclImdb_v1.tar.gz";
/// In the order of their numbers.
const CLASSES: [&str; 2] = ["neg", "pos"];
/// Words of a review that are used.
const LENGTH: usize = 256;

pub(super) const SITE: Site = Site {
    name: "imdb",
    folders: &["imdb", "aclImdb"],
    forms: &[
        &["train.tsv", "test.tsv"],
        &["train/neg", "train/pos", "test/neg", "test/pos"],
        &[ARCHIVE],
    ],
    downloads: &[Download {
        url: "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
        file: ARCHIVE,
        checksum: Checksum::File(
            "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
        ),
    }],
    home: "https://ai.stanford.edu/~amaas/data/sentiment/",
};

pub(super) fn read(found: &Found, options: &Options) -> Result<DataSet> {
    let vectors = texts::vectors(options)?;
    let preparation = Preparation {
        input: texts::preparation(options, vectors.as_deref(), LENGTH)?,
        classes: strings(&CLASSES),
    };
    let mut parts = [
        Texts::new(&preparation, vectors.clone()),
        Texts::new(&preparation, vectors.clone()),
    ];
    match found.form {
        0 => {
            for (part, name) in parts.iter_mut().zip(["train.tsv", "test.tsv"]) {
                let path = compressed::find(&found.folder, name)
                    .with_context(|| format!("{} lacks {name}", found.folder.display()))?;
                table(&compressed::read_text(&path)?, part)
                    .with_context(|| format!("{}", path.display()))?;
            }
        }
        1 => {
            for (part, name) in parts.iter_mut().zip(["train", "test"]) {
                for (label, class) in CLASSES.iter().enumerate() {
                    folder(&found.folder.join(name).join(class), label, part)?;
                }
            }
        }
        _ => archive(&found.folder.join(ARCHIVE), &mut parts)?,
    }
    let about = About {
        origin: "Large Movie Review Dataset 1.0, A. Maas et al. 2011".into(),
        licence: "none stated; free for research, cite the authors".into(),
        caveats: Vec::new(),
    };
    let parts = parts.map(Texts::into_parts);
    public_set(SITE.name, preparation.clone(), parts, vectors, about)
}

/// Lines of label, stars, id and text.
fn table(lines: &str, texts: &mut Texts) -> Result<()> {
    for (at, line) in lines.lines().enumerate() {
        let fields: Vec<_> = line.splitn(4, '\t').collect();
        let [label, _, _, text] = fields[..] else {
            anyhow::bail!("line {}: {} fields, not 4", at + 1, fields.len());
        };
        let label = label
            .parse()
            .with_context(|| format!("line {}: the class must be 0 or 1", at + 1))?;
        texts.push(text, label)?;
    }
    Ok(())
}

/// One review a file.
fn folder(folder: &Path, label: usize, texts: &mut Texts) -> Result<()> {
    let unreadable = || format!("cannot read {}", folder.display());
    let mut files = std::fs::read_dir(folder)
        .with_context(unreadable)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .with_context(unreadable)?;
    files.retain(|file| file.extension().is_some_and(|end| end == "txt"));
    files.sort();
    for file in files {
        texts.push(&compressed::read_text(&file)?, label)?;
    }
    Ok(())
}

/// The same files in an archive, which also holds reviews without a class.
fn archive(path: &Path, parts: &mut [Texts; 2]) -> Result<()> {
    let damaged = || format!("{} is damaged; remove it and try again", path.display());
    let mut archive = tar::Archive::new(compressed::open(path)?);
    for entry in archive.entries().with_context(damaged)? {
        let mut entry = entry.with_context(damaged)?;
        let name = entry.path().with_context(damaged)?.into_owned();
        let folders: Vec<_> = name
            .iter()
            .rev()
            .map(|name| name.to_string_lossy())
            .collect();
        let [file, class, part, ..] = &folders[..] else {
            continue;
        };
        let label = CLASSES.iter().position(|known| known == class);
        let part = ["train", "test"].iter().position(|known| known == part);
        if let (true, Some(label), Some(part)) = (file.ends_with(".txt"), label, part) {
            let mut text = String::new();
            entry.read_to_string(&mut text).with_context(damaged)?;
            parts[part].push(&text, label)?;
        }
    }
    ensure!(
        parts.iter().all(|part| !part.labels.is_empty()),
        "{} holds no reviews",
        path.display()
    );
    Ok(())
}
