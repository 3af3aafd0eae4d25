//! Images in a folder for each class.

use super::{TestChoice, data_set, kept};
use crate::datasets::Options;
use crate::datasets::data_set::DataSet;
use crate::datasets::preparation::{Features, Picture, Preparation, Values};
use crate::datasets::schema::{BadRows, check_classes};
use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Files with other ends are no images.
const ENDS: [&str; 4] = ["png", "jpg", "jpeg", "webp"];

type Part = (Vec<u8>, Vec<u16>);

/// Opens the folder and, if there is one, the test folder.
pub(in crate::datasets) fn open(folder: &Path, options: &Options) -> Result<DataSet> {
    options.test.check()?;
    let picture = options.schema.picture()?;
    let classes = classes(folder, options)?;
    let reader = Reader {
        classes: &classes,
        picture: &picture,
        bad_rows: options.schema.bad_rows,
    };
    let preparation = Preparation {
        input: Features::of_images(options.features, picture)?,
        classes: classes.clone(),
    };
    let records = |(bytes, labels): Part| {
        let values = Values {
            bytes,
            ..Values::default()
        };
        preparation.records(values, labels, None)
    };
    let read = |folder: &Path, test: &TestChoice| reader.read(folder, test);
    data_set(folder, options, preparation.clone(), read, records)
}

/// All images of the folders of known classes.
pub(in crate::datasets) fn class_folders(
    folder: &Path,
    classes: &[String],
    picture: &Picture,
) -> Result<Part> {
    let reader = Reader {
        classes,
        picture,
        bad_rows: BadRows::Error,
    };
    let [all, _] = reader.read(folder, &TestChoice::None)?;
    Ok(all)
}

/// The declared classes, or the names of the folders where those are declared public.
fn classes(folder: &Path, options: &Options) -> Result<Vec<String>> {
    let declared = &options.schema.label.classes;
    if !declared.is_empty() {
        check_classes(declared)?;
        return Ok(declared.clone());
    }
    let found = folders(folder)?;
    ensure!(
        options.classes_are_public,
        "{}: the classes are not declared. The names of folders are taken for classes only if you say \
         that they are public (--public-folder-names), or list them: --classes a,b",
        folder.display()
    );
    check_classes(&found).with_context(|| {
        format!(
            "{}: one folder for each class was expected",
            folder.display()
        )
    })?;
    Ok(found)
}

/// The visible folders of a folder, by name.
fn folders(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for path in entries(folder)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            bail!("{}: the name of a folder is not UTF-8", path.display());
        };
        if path.is_dir() && !name.starts_with('.') {
            names.push(name.to_string());
        }
    }
    Ok(names)
}

/// What is in a folder, in the order of names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || match folder.is_dir() {
        true => format!("cannot read the folder {}", folder.display()),
        false => format!("there is no folder {}", folder.display()),
    };
    let mut entries = std::fs::read_dir(folder)
        .with_context(unreadable)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .with_context(unreadable)?;
    entries.sort();
    Ok(entries)
}

struct Reader<'a> {
    classes: &'a [String],
    picture: &'a Picture,
    bad_rows: BadRows,
}

impl Reader<'_> {
    /// The images to train on and those held out.
    fn read(&self, folder: &Path, test: &TestChoice) -> Result<[Part; 2]> {
        if let Some(other) = folders(folder)?
            .iter()
            .find(|name| !self.classes.contains(name))
        {
            bail!(
                "{}: the folder `{other}` is not one of the declared classes{}",
                folder.display(),
                crate::datasets::nearest::known(other, self.classes)
            );
        }
        let mut files = Vec::new();
        for (label, class) in self.classes.iter().enumerate() {
            let images = self::files(&folder.join(class))?;
            files.extend(images.into_iter().map(|path| (path, label as u16)));
        }
        let images = files
            .par_iter()
            .map(|(path, label)| self.image(path, *label, test))
            .collect::<Result<Vec<_>>>()?;
        let mut parts = [Part::default(), Part::default()];
        for (held_out, values, label) in images.into_iter().flatten() {
            let (pixels, labels) = &mut parts[usize::from(held_out)];
            pixels.extend(values);
            labels.push(label);
        }
        Ok(parts)
    }

    fn image(
        &self,
        path: &Path,
        label: u16,
        test: &TestChoice,
    ) -> Result<Option<(bool, Vec<u8>, u16)>> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let values = self.picture.prepare(&bytes);
        let held_out = test.holds_out([bytes.as_slice(), &label.to_le_bytes()]);
        Ok(kept(values, self.bad_rows, || path.display().to_string())?
            .map(|values| (held_out, values, label)))
    }
}

/// The images of a folder.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = entries(folder)?;
    files.retain(|path| is_image(path));
    Ok(files)
}

fn is_image(path: &Path) -> bool {
    let hidden = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let end = path
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    !hidden && end.is_some_and(|end| ENDS.contains(&end.as_str()))
}
