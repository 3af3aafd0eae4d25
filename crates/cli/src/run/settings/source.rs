//! From settings to the source of the records.

use super::{Settings, show_hints};
use crate::models::ModelName;
use crate::pretrained::PretrainedBase;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use tacita_datasets::{
    BadRecords, Builtin, Features, OnDisk, Opened, Options, Schema, Source, TestChoice,
    cache_folder,
};
use tacita_pretrained::Adapt;

/// Records of a person in a step unless said otherwise: more of them say little that the others do not.
const RECORDS_PER_PERSON: u64 = 10;

impl Settings {
    /// Where the records come from.
    pub fn source(&self) -> Result<Source> {
        let own = [&self.csv, &self.parquet, &self.jsonl, &self.images];
        let given = own.iter().filter(|path| path.is_some()).count();
        ensure!(
            given + usize::from(self.data.is_some()) <= 1,
            "give one of --data, --csv, --parquet, --jsonl and --images"
        );
        ensure!(
            self.text.is_none() || self.jsonl.is_some(),
            "--text names the field of --jsonl; give the file too"
        );
        if given == 0 {
            let idle = [
                ("--data-name", self.data_name.is_some()),
                ("--label", self.label.is_some()),
                ("--classes", self.classes.is_some()),
                ("--records", self.records.is_some()),
                ("--person", self.person.is_some()),
                ("--persons", self.persons.is_some()),
                ("--test", self.test.is_some()),
                ("--test-share", self.test_share.is_some()),
                ("--public-test", self.public_test),
                ("--public-folder-names", self.public_folder_names),
                ("--estimate-bounds", self.estimate_bounds),
                ("--on-disk", self.on_disk.is_some()),
            ];
            if let Some((flag, _)) = idle.iter().find(|(_, given)| *given) {
                bail!(
                    "{flag} is for your own data: give --csv, --parquet, --jsonl or --images too; public sets \
                     bring theirs"
                );
            }
        }
        Ok(
            match (&self.csv, &self.parquet, &self.jsonl, &self.images) {
                (Some(file), ..) => Source::Csv { file: file.clone() },
                (_, Some(file), ..) => Source::Parquet { file: file.clone() },
                (_, _, Some(file), _) => match &self.text {
                    Some(text) => Source::Jsonl {
                        file: file.clone(),
                        text: text.clone(),
                    },
                    None => Source::JsonTable { file: file.clone() },
                },
                (.., Some(folder)) => Source::Images {
                    folder: folder.clone(),
                },
                _ => Source::Builtin(self.data.unwrap_or(Builtin::Digits)),
            },
        )
    }

    /// With all that a run folder must hold, which needs no other file: the values of the preset, the name of
    /// the data set, and the schema of a file among the settings. Doing it again changes nothing.
    pub fn complete(self) -> Result<Self> {
        let mut settings = self.with_preset()?.with_schema()?;
        if let Source::Builtin(set) = settings.source()? {
            settings.data = Some(set);
        }
        settings
            .with_pretrained()?
            .with_text_features()
            .with_data_name()
    }

    /// With the model that `--pretrained` means, and what of it is trained.
    fn with_pretrained(mut self) -> Result<Self> {
        let given = (self.pretrained.is_some(), self.model);
        match given {
            (false, Some(ModelName::Pretrained)) => {
                bail!("--model pretrained needs the folder of the model: --pretrained DIR")
            }
            (false, _) => return Ok(self),
            (true, None | Some(ModelName::Pretrained)) => {}
            (true, Some(other)) => bail!(
                "--pretrained brings its own model; leave --model {} out",
                other.name()
            ),
        }
        ensure!(
            self.start.is_none(),
            "--start and --pretrained both say which weights to begin with; give one of them"
        );
        ensure!(
            self.audit.is_none(),
            "--audit does not know pre-trained models yet; leave it out"
        );
        ensure!(
            self.hidden.is_none() && self.features.is_none(),
            "--hidden and --features are not for a pre-trained model; leave them out"
        );
        let texts =
            self.text.is_some() || matches!(self.data, Some(Builtin::Imdb | Builtin::AgNews));
        ensure!(
            texts,
            "--pretrained reads texts: give --jsonl FILE with --text FIELD, --data imdb or --data ag-news"
        );
        ensure!(
            self.text_pair.is_none() || self.text.is_some(),
            "--text-pair names the second text of a pair; give the first with --text"
        );
        self.model = Some(ModelName::Pretrained);
        self.adapt.get_or_insert(Adapt::LowRank { rank: 8 });
        Ok(self)
    }

    /// With counts of words for the user's own texts, unless something else is asked for: another model, words as a
    /// sequence, or public vectors.
    fn with_text_features(mut self) -> Self {
        let linear = matches!(self.model, None | Some(ModelName::Logistic));
        let declared = self.declared.as_ref().map(|schema| &schema.text);
        let sequence = declared.is_some_and(|text| {
            text.length.is_some() || text.vocabulary.is_some() || text.word_vectors.is_some()
        });
        if self.text.is_some() && linear && !sequence {
            self.features.get_or_insert(Features::Counts);
        }
        self
    }

    /// With the schema of a file inside.
    fn with_schema(mut self) -> Result<Self> {
        if let Some(path) = &self.schema {
            ensure!(
                self.declared.is_none(),
                "give the schema as a file or as [declared], not both"
            );
            self.declared = Some(read_schema(path)?);
            self.schema = None;
        }
        if let Some(declared) = &self.declared {
            declared.check_bad_rows()?;
        }
        if let Some(about) = &self.about {
            about.check()?;
        }
        Ok(self)
    }

    /// With a public name for the user's own data: that of their kind, if none is given.
    pub fn with_data_name(mut self) -> Result<Self> {
        if let (Some(kind), None) = (self.source()?.kind_of_own(), &self.data_name) {
            self.data_name = Some(kind.into());
        }
        let name = self.data_name.as_ref();
        ensure!(
            name.is_none_or(|name| !name.trim().is_empty()),
            "--data-name must not be empty"
        );
        Ok(self)
    }

    /// The public name of the data.
    pub fn name_of_data(&self) -> String {
        match self.data {
            Some(set) => set.name().to_string(),
            None => self.data_name.clone().unwrap_or_default(),
        }
    }

    /// Records of a person that take part in a step at most; none if the unit of privacy is one record.
    pub fn most_records_of_a_person(&self) -> Option<u64> {
        self.bound_of_a_person().filter(|_| !self.draw_records)
    }

    /// Records of a person that are kept in the whole run at most, each of which is drawn on its own; none if a step
    /// draws people, or if the unit of privacy is one record.
    pub fn kept_of_a_person(&self) -> Option<u64> {
        self.bound_of_a_person().filter(|_| self.draw_records)
    }

    fn bound_of_a_person(&self) -> Option<u64> {
        let declared = self.declared.as_ref();
        let by_person =
            self.person.is_some() || declared.is_some_and(|schema| schema.person.is_some());
        by_person.then(|| self.records_per_person.unwrap_or(RECORDS_PER_PERSON))
    }

    /// Opens the records.
    pub fn open(&self, quiet: bool) -> Result<Opened> {
        tacita_datasets::open(&self.source()?, &self.options_with_model(quiet)?)
    }

    /// The pre-trained model that the settings name.
    pub fn pretrained_base(&self) -> Result<Option<PretrainedBase>> {
        let Some(path) = &self.pretrained else {
            for (flag, given) in [
                ("--pretrained-sha256", self.pretrained_sha256.is_some()),
                ("--adapt", self.adapt.is_some()),
                ("--max-tokens", self.max_tokens.is_some()),
                ("--text-pair", self.text_pair.is_some()),
            ] {
                ensure!(
                    !given,
                    "{flag} has no effect without a pre-trained model; give --pretrained DIR"
                );
            }
            return Ok(None);
        };
        let adapt = self.adapt.unwrap_or(Adapt::Full);
        PretrainedBase::open(path, adapt, self.max_tokens, self.text_pair.is_some()).map(Some)
    }

    /// How records are found and prepared, by the tokenizer of a pre-trained model if there is one.
    pub fn options_with_model(&self, quiet: bool) -> Result<Options> {
        let base = self.pretrained_base()?;
        let subwords = base.map(|base| base.subwords()).transpose()?;
        Ok(Options {
            subwords,
            ..self.options(quiet)?
        })
    }

    /// The folder of copies on the disk.
    fn on_disk(&self) -> Result<Option<OnDisk>> {
        let folder = match &self.on_disk {
            None => return Ok(None),
            Some(folder) if folder.as_os_str() == Self::CACHE => {
                let cache = cache_folder().context(
                    "the user has no cache folder; say where the copy of the records may lie: --on-disk=DIR. Nothing was \
                     spent",
                )?;
                cache.join("on-disk")
            }
            Some(folder) => folder.clone(),
        };
        let again = false;
        Ok(Some(OnDisk { folder, again }))
    }

    /// How records are found and prepared.
    pub fn options(&self, quiet: bool) -> Result<Options> {
        let mut schema = match (&self.schema, &self.declared) {
            (Some(_), Some(_)) => bail!("give the schema as a file or as [declared], not both"),
            (Some(path), None) => read_schema(path)?,
            (None, declared) => declared.clone().unwrap_or_default(),
        };
        if let Some(label) = &self.label {
            schema.label.column = Some(label.clone());
        }
        if let Some(classes) = &self.classes {
            schema.label.classes.clone_from(classes);
        }
        schema.records = self.records.or(schema.records);
        schema.person = self.person.clone().or(schema.person);
        schema.persons = self.persons.or(schema.persons);
        schema.check_person()?;
        let public = self.public_test;
        let test = match (&self.test, self.test_share) {
            (Some(_), Some(_)) => bail!("give --test or --test-share, not both"),
            (Some(path), None) => TestChoice::File {
                path: path.clone(),
                public,
            },
            (None, Some(share)) => TestChoice::Share { share, public },
            (None, None) => TestChoice::None,
        };
        Ok(Options {
            data_dir: self.data_dir.clone(),
            offline: self.offline,
            quiet,
            schema,
            test,
            classes_are_public: self.public_folder_names,
            estimate_bounds: self.estimate_bounds,
            features: self.features,
            second_text: self.text_pair.clone(),
            subwords: None,
            data_name: self.data_name.clone(),
            bad_records: BadRecords::Drop,
            on_disk: self.on_disk()?,
            kept_of_a_person: self.kept_of_a_person(),
        })
    }
}

/// Reads a schema, and says which of its keys have other names now.
fn read_schema(path: &Path) -> Result<Schema> {
    let schema = Schema::read(path)?;
    let text = std::fs::read_to_string(path).unwrap_or_default();
    show_hints(&path.display(), &text);
    Ok(schema)
}
