//! What a plan must know of the data, all of it public.

use super::settings::Settings;
use anyhow::{Context, Result};
use tacita_datasets::{
    Builtin, Features, InputKind, Opened, Shape, Source, TargetKind, declared, known,
};

/// What a plan must know of the data, all of it public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicFacts {
    /// Records as declared, or people, if the guarantee is for those.
    pub records: u64,
    /// Input of the model.
    pub shape: Shape,
    /// What rows are made of.
    pub kind: InputKind,
    /// Classes as declared: what a model has outputs for.
    pub classes: usize,
    /// The kind of what is to be predicted.
    pub target: TargetKind,
    /// Whether bounds of columns are estimated first.
    pub estimates_bounds: bool,
    /// Whether there are private test records to be scored.
    pub private_test: bool,
    /// Whether there are public ones.
    pub public_test: bool,
}

/// Facts that are known before any data are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredFacts {
    /// The facts. Where the input is not known, they only choose between models by name.
    pub facts: PublicFacts,
    /// Whether everything is declared that decides which model is made.
    pub input_is_known: bool,
}

impl PublicFacts {
    /// Those of records that are open.
    pub fn of(opened: &Opened) -> Result<Self> {
        let records = opened.public_count().context(
            "say how many records there are with --records N, or with --person how many people with --persons N (rounded \
             is fine): the sampling rate comes from it, and it is taken as public",
        )?;
        Ok(Self {
            records,
            shape: opened.shape(),
            kind: opened.kind(),
            classes: opened.classes().len(),
            target: opened.target(),
            estimates_bounds: matches!(opened, Opened::NeedsBounds(_)),
            private_test: opened.has_test(false),
            public_test: opened.has_test(true),
        })
    }

    /// The same with canaries among the records. Half of them are expected to be in, so half of them count; which, a
    /// secret coin says. The number is public, and the guarantee of every other record is the same with any of them.
    #[must_use]
    pub fn with_canaries(self, count: Option<u64>) -> Self {
        Self {
            records: self.records.saturating_add(count.unwrap_or(0).div_ceil(2)),
            ..self
        }
    }

    /// Opens the records of settings and keeps nothing but these.
    pub fn read(settings: &Settings, quiet: bool) -> Result<Self> {
        Self::of(&settings.open(quiet)?)
    }

    /// Those that follow from what is declared, or published of a public set. No data are opened.
    pub fn declared(settings: &Settings) -> Result<DeclaredFacts> {
        let (source, options) = (settings.source()?, settings.options_with_model(true)?);
        options.test.check()?;
        let kind = match (&source, settings.features) {
            (_, Some(Features::Counts)) => InputKind::Counts,
            (
                Source::Csv { .. }
                | Source::Parquet { .. }
                | Source::JsonTable { .. }
                | Source::Builtin(Builtin::Adult),
                _,
            ) => InputKind::Table,
            _ => InputKind::Other,
        };
        if let Source::Builtin(set) = source {
            let known = known(set);
            let shape = match (settings.features, &options.subwords) {
                (Some(features), _) => features.shape(known.shape)?,
                (None, Some(subwords)) => Shape::Tokens {
                    length: subwords.length,
                    vocabulary: subwords.vocabulary,
                },
                (None, None) => known.shape,
            };
            let facts = Self {
                records: known.records,
                shape,
                kind,
                classes: known.classes,
                target: TargetKind::Class,
                estimates_bounds: false,
                private_test: false,
                public_test: true,
            };
            return Ok(DeclaredFacts {
                facts,
                input_is_known: true,
            });
        }
        let records = options.declared_count().context(
            "a dry run opens no file, so say how many records there are with --records N, or with --person how many \
             people with --persons N",
        )?;
        let (shape, classes) = declared(&source, &options)?;
        let facts = Self {
            records,
            shape: shape.unwrap_or(Shape::Rows { width: 1 }),
            kind,
            classes: classes.unwrap_or(2),
            target: options.schema.label.kind(),
            estimates_bounds: settings.estimate_bounds && options.schema.unbounded_columns()? > 0,
            private_test: options.test.has_test(false),
            public_test: options.test.has_test(true),
        };
        Ok(DeclaredFacts {
            facts,
            input_is_known: shape.is_some() && classes.is_some(),
        })
    }
}
