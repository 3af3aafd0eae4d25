//! Images in a folder for each class.

use super::{People, Person, TestChoice, asked, data_set, decided};
use crate::Options;
use crate::bad_record::{BadRecord, BadRecords};
use crate::data_set::DataSet;
use crate::disk::{Keep, Kept, Part};
use crate::label::check_classes;
use crate::nearest::known;
use crate::preparation::{Features, InputPreparation, Picture, Preparation};
use crate::records::Targets;
use crate::target::{TargetKind, Truth};
use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Files with other ends are no images.
const ENDS: [&str; 9] = [
    "png", "jpg", "jpeg", "webp", "tif", "tiff", "bmp", "dcm", "dicom",
];
/// Folders in folders, so that a link to a folder above ends somewhere.
const DEEPEST: usize = 16;
/// Images that are decoded before they are kept.
const CHUNK: usize = 1024;
/// What `person` must be of images: the folder in the folder of the class.
const FOLDER: &str = "folder";

/// Opens the folder and, if there is one, the test folder.
pub(crate) fn open(folder: &Path, options: &Options) -> Result<DataSet> {
    options.test.check()?;
    if let Some(person) = &options.schema.person {
        ensure!(
            person == FOLDER,
            "images have no columns: with --person folder the name of the folder in the folder of the class tells whose an \
             image is, got --person {person}"
        );
    }
    let classes = classes(folder, options)?;
    let weights = class_weights(options)?;
    let preparation = Preparation {
        input: Features::of_images(options.features, options.schema.picture()?)?,
        classes: classes.clone(),
    };
    let reader = Reader {
        classes: &classes,
        weights: &weights,
        preparation: &preparation,
        options,
    };
    let records = |kept: Kept| preparation.records_kept(kept, None);
    let read = |folder: &Path, test: &TestChoice| reader.read(folder, test);
    data_set(
        folder,
        "images",
        options,
        preparation.clone(),
        read,
        records,
    )
}

/// All images of the folders of known classes.
pub(crate) fn class_folders(
    folder: &Path,
    classes: &[String],
    picture: &Picture,
) -> Result<(Vec<u8>, Vec<u16>)> {
    let reader = Reader {
        classes,
        weights: &[],
        preparation: &Preparation {
            input: InputPreparation::Picture(*picture),
            classes: classes.to_vec(),
        },
        options: &Options {
            bad_records: BadRecords::Refuse,
            ..Options::default()
        },
    };
    match reader.read(folder, &TestChoice::None)? {
        [Kept::Memory(all), _] => Ok((all.values.bytes, all.targets.classes().to_vec())),
        _ => bail!("public images are read into memory"),
    }
}

/// The declared classes, or the names of the folders where those are declared public.
/// How much images of each class count; nothing but their folder says anything of them.
fn class_weights(options: &Options) -> Result<Vec<f32>> {
    let label = &options.schema.label;
    ensure!(
        label.kind() == TargetKind::Class && label.weight.is_none(),
        "images have the class of their folder: a number, several labels or a `weight` column cannot be declared for them"
    );
    match label.class_weights {
        Some(_) => Ok(options.schema.label.weighting()?.classes),
        None => Ok(Vec::new()),
    }
}

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
    for path in entries(folder)?.iter().filter(|path| path.is_dir()) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            bail!("{}: the name of a folder is not UTF-8", path.display());
        };
        if !name.starts_with('.') {
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

/// An image that was read.
struct Image {
    held_out: bool,
    values: Vec<u8>,
    label: u16,
    person: Option<Person>,
}

/// The name of the folder, in that of the class, that an image lies in; empty if it lies in none.
fn person_of(image: &Path, class: &Path) -> Vec<u8> {
    let inside = image.strip_prefix(class).unwrap_or(image);
    let mut parts = inside.components();
    let first = parts.next();
    match parts.next() {
        Some(_) => first.map_or_else(Vec::new, |name| {
            name.as_os_str().as_encoded_bytes().to_vec()
        }),
        None => Vec::new(),
    }
}

struct Reader<'a> {
    classes: &'a [String],
    /// How much images of each class count; empty if all count alike.
    weights: &'a [f32],
    preparation: &'a Preparation,
    options: &'a Options,
}

impl Reader<'_> {
    /// The images to train on and those held out.
    fn read(&self, folder: &Path, test: &TestChoice) -> Result<[Kept; 2]> {
        // Of a private set a folder that is not a declared class is a class that was not declared, and
        // one that is missing is a class without records: both can be the doing of one record.
        for other in entries(folder)?.iter().filter(|path| path.is_dir()) {
            self.declared(other)?;
        }
        let (mut files, mut labels) = (Vec::new(), Vec::new());
        for (label, class) in self.classes.iter().enumerate() {
            let folder = folder.join(class);
            if folder.is_dir() || matches!(self.options.bad_records, BadRecords::Refuse) {
                files.extend(self::files(&folder)?);
                labels.resize(files.len(), label as u16);
            }
        }
        let prepared_by = serde_json::to_string(self.preparation)?;
        let targets = Targets::default();
        let keep = Keep {
            asked: asked(self.options),
            prepared_by: format!("{prepared_by}\n{}", decided(self.options, test)?),
            path: folder,
            files: &files,
            files_are_records: true,
            unit: self.preparation.unit(),
            targets: &targets,
        };
        let ((), kept) = keep.read(|parts| self.images(folder, &files, &labels, test, parts))?;
        Ok(kept)
    }

    /// Adds images, some at a time and by all cores.
    fn images(
        &self,
        root: &Path,
        files: &[PathBuf],
        labels: &[u16],
        test: &TestChoice,
        parts: &mut [Part; 2],
    ) -> Result<()> {
        let asked = self.options.schema.person.is_some();
        let mut people = [People::none(self.options), People::none(self.options)];
        for (files, labels) in files.chunks(CHUNK).zip(labels.chunks(CHUNK)) {
            let images = (files.par_iter().zip(labels))
                .map(|(path, label)| {
                    let class = root.join(&self.classes[usize::from(*label)]);
                    let person = asked.then(|| person_of(path, &class));
                    self.image(path, *label, person.as_deref(), test)
                })
                .collect::<Result<Vec<_>>>()?;
            for image in images.into_iter().flatten() {
                let side = usize::from(image.held_out);
                if people[side].keeps(image.person) {
                    let part = &mut parts[side];
                    part.chunk.values.bytes.extend(image.values);
                    let weight = self.weights.get(usize::from(image.label)).copied();
                    let class = Truth::Class(image.label);
                    part.chunk.targets.push(class, weight)?;
                }
            }
            for part in parts.iter_mut() {
                part.settle(|values| self.preparation.kept(values))?;
            }
        }
        for (part, people) in parts.iter_mut().zip(people) {
            part.own(|targets| people.own(targets));
            part.write(|values| self.preparation.kept(values))?;
        }
        Ok(())
    }

    fn image(
        &self,
        path: &Path,
        label: u16,
        person: Option<&[u8]>,
        test: &TestChoice,
    ) -> Result<Option<Image>> {
        let record = std::fs::read(path)
            .map_err(|error| {
                BadRecord::new("cannot be read")
                    .hint(format!(" ({error})"))
                    .into()
            })
            .and_then(|bytes| {
                let person = person.map(|name| Person::new(name, FOLDER)).transpose()?;
                let held_out = test.holds_out_of(person.as_ref(), || {
                    test.holds_out([bytes.as_slice(), &label.to_le_bytes()])
                });
                let values = self.picture()?.prepare(&bytes).map_err(|error| {
                    let cause = format!(" ({})", error.root_cause());
                    BadRecord::new("not a readable image").hint(cause)
                })?;
                Ok(Image {
                    held_out,
                    values,
                    label,
                    person,
                })
            });
        let place = || (path.display().to_string(), None);
        self.options.bad_records.kept(record, place)
    }

    fn picture(&self) -> Result<&Picture> {
        match &self.preparation.input {
            InputPreparation::Picture(picture) => Ok(picture),
            InputPreparation::Scattering(scattering) => Ok(&scattering.picture),
            _ => bail!("the preparation is none of images"),
        }
    }

    /// Whether a folder is that of a declared class; hidden ones are none of ours.
    fn declared(&self, folder: &Path) -> Result<()> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') || self.classes.iter().any(|class| *class == name) {
            return Ok(());
        }
        let problem = "the folder is not one of the declared classes";
        let bad = BadRecord::new(problem).hint(known(&name, self.classes));
        let place = || (folder.display().to_string(), None);
        self.options
            .bad_records
            .kept(Err::<(), _>(bad.into()), place)?;
        Ok(())
    }
}

/// The images of a folder and of the folders in it.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, DEEPEST, &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            if depth > 0 && !is_hidden(&path) {
                // One that cannot be read holds no image that can: no reason to stop.
                let _ = collect(&path, depth - 1, files);
            }
        } else if is_image(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_hidden(path: &Path) -> bool {
    (path.file_name()).is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn is_image(path: &Path) -> bool {
    let end = path
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    !is_hidden(path) && end.is_some_and(|end| ENDS.contains(&end.as_str()))
}
