//! Everything that can be set, by flags or by a TOML file with the same names.
// The fields are the help of the command, whose brackets are no links.
#![allow(rustdoc::broken_intra_doc_links)]

mod defaults;
mod paths;
mod preset;
mod short_name;
mod source;

pub use preset::Preset;

use crate::device::DeviceName;
use crate::models::ModelName;
use crate::report::facts::AboutRun;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use tacita::ops::Precision;
use tacita::optim::{OptimizerRule, RateSchedule};
use tacita::{Clipping, NoiseSchedule};
use tacita_accounting::Length;
use tacita_datasets::{Builtin, Features, Schema, nearest, renamed_keys};
use tacita_pretrained::Adapt;

/// The settings of a run. A flag takes precedence over the file.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// A public data set, trained on as if it were private [default: digits]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub data: Option<Builtin>,
    /// Your own table, CSV with a header: a file, a folder of files, or a pattern such as 'DIR/*.csv'
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub csv: Option<PathBuf>,
    /// Your own table in Parquet: a file, a folder or a pattern
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub parquet: Option<PathBuf>,
    /// Your own texts or table, a JSON object a line: a file, a folder or a pattern
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub jsonl: Option<PathBuf>,
    /// Your own images, a folder for each class
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub images: Option<PathBuf>,
    /// Public name of your own data, for the run folder and the report [default: table, texts or images]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_name: Option<String>,
    /// Read records from a copy of them on the disk and not from memory, for data larger than memory. The copy is private
    /// data at rest; DIR is where it lies, of its own or the user's cache folder
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "cache",
        help_heading = "Data"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_disk: Option<PathBuf>,
    /// Field of the text in --jsonl
    #[arg(long, value_name = "FIELD", help_heading = "Data")]
    pub text: Option<String>,
    /// Field of the second text in --jsonl, for a pre-trained model of pairs
    #[arg(long, value_name = "FIELD", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_pair: Option<String>,
    /// Column or field to predict
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub label: Option<String>,
    /// Values of the label, which are public
    #[arg(
        long,
        value_name = "A,B,...",
        value_delimiter = ',',
        help_heading = "Data"
    )]
    pub classes: Option<Vec<String>>,
    /// What is declared public about columns, texts and images (TOML)
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub schema: Option<PathBuf>,
    /// The same as a table of the settings file
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<Schema>,
    /// What the report says of purpose and responsibility, a table of the settings file
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<AboutRun>,
    /// Number of records, which is public
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub records: Option<u64>,
    /// Column or field that tells whose a record is: the guarantee is then for a person with all their records. Of
    /// images `folder`: that of the person, in the folder of the class
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Number of people, which is public; with --person, instead of --records
    #[arg(long, value_name = "N", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persons: Option<u64>,
    /// File (or folder) of records to test on
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub test: Option<PathBuf>,
    /// Share of the records to test on, chosen by a hash of each
    #[arg(long, value_name = "S", help_heading = "Data")]
    pub test_share: Option<f64>,
    /// The test records are public, so an exact score may be shown
    #[arg(long, help_heading = "Data")]
    pub public_test: bool,
    /// Names of the folders of --images are public
    #[arg(long, help_heading = "Data")]
    pub public_folder_names: bool,
    /// Estimate undeclared bounds of columns privately; its cost is part of the budget
    #[arg(long, help_heading = "Data")]
    pub estimate_bounds: bool,
    /// Scale columns by private means and spreads, with this noise multiplier; part of the budget; 0: do not
    /// [default: for logistic on a table, a fifth of the budget]
    #[arg(long, value_name = "Z", help_heading = "Data")]
    pub standardise: Option<f64>,
    /// Folder to look for public data sets in first
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub data_dir: Option<PathBuf>,
    /// Handcrafted features instead of pixels or words; they cost no privacy
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub features: Option<Features>,
    /// Download nothing
    #[arg(long, help_heading = "Data")]
    pub offline: bool,

    /// Settings that do well, from public knowledge; others you give take precedence
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub preset: Option<Preset>,
    /// Model [default: what suits the data]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub model: Option<ModelName>,
    /// Width of hidden layers; 0 for none in vgg11 [default: that of the model]
    #[arg(long, value_name = "N", help_heading = "Model")]
    pub hidden: Option<usize>,
    /// Weights to start from, such as the model.safetensors of a run on public records: not covered by the guarantee
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub start: Option<PathBuf>,
    /// Refuse weights to start from whose SHA-256 is another
    #[arg(long, value_name = "HEX", help_heading = "Model")]
    pub start_sha256: Option<String>,

    /// Folder of a pre-trained encoder, as the Hugging Face hub lays it out: not covered by the guarantee
    #[arg(long, value_name = "DIR", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pretrained: Option<PathBuf>,
    /// Refuse a pre-trained model whose weights have another SHA-256
    #[arg(long, value_name = "HEX", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pretrained_sha256: Option<String>,
    /// What of it is trained: full, lora:RANK, last:BLOCKS, bias or head [default: lora:8]
    #[arg(long, value_name = "CHOICE", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapt: Option<Adapt>,
    /// Tokens of a text that the pre-trained model reads [default: 64]
    #[arg(long, value_name = "N", help_heading = "Model")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,

    /// Budget ε: the noise is the least that keeps it [default: 3; 8 for the digits]
    #[arg(long, value_name = "E", help_heading = "Privacy")]
    pub epsilon: Option<f64>,
    /// Budget δ [default: 1 / (10 · records), rounded down]
    #[arg(long, value_name = "D", help_heading = "Privacy")]
    pub delta: Option<f64>,
    /// Keep a δ of 1 / records or more, which promises next to nothing
    #[arg(long, help_heading = "Privacy")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_large_delta: bool,
    /// Noise multiplier (noise std / sensitivity) instead of a budget
    #[arg(long, value_name = "Z", help_heading = "Privacy")]
    pub noise: Option<f64>,
    /// Records of a person that take part in a step at most, drawn anew in every step [default with --person: 10]
    #[arg(long, value_name = "K", help_heading = "Privacy")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_per_person: Option<u64>,
    /// With --person, draw records instead of people: of each person the first --records-per-person are kept for the whole
    /// run, and the noise is that of so many. --records says how many there are then
    #[arg(long, help_heading = "Privacy")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub draw_records: bool,
    /// Noise std of each count that figures on private test records are read from, in records; part of the budget
    #[arg(long, value_name = "Z", help_heading = "Privacy")]
    pub score_noise: Option<f64>,
    /// Account of these records, by name or file: refuses the run if all runs on them would exceed its total
    #[arg(long, value_name = "NAME", help_heading = "Privacy")]
    pub account: Option<String>,
    /// Synthetic canary records for `tacita audit`, each put in by a secret coin; half of them count as records
    #[arg(long, value_name = "N", help_heading = "Privacy")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<u64>,
    /// Find the noise as a paper did: clt, rdp, zcdp or tcdp; for reproductions
    #[arg(long, value_name = "NAME", help_heading = "Privacy")]
    pub paper_accountant: Option<String>,

    /// Expected records per step, people with --person [default: a quarter of the records, at most 512]
    #[arg(long, value_name = "B", help_heading = "Training")]
    pub batch: Option<u64>,
    /// Passes over the records, on average [default: 20]
    #[arg(long, value_name = "K", help_heading = "Training")]
    pub epochs: Option<f64>,
    /// Steps, instead of epochs
    #[arg(long, value_name = "T", help_heading = "Training")]
    pub steps: Option<u64>,
    /// auto[:GAMMA], auto-v, abadi:C, quantile:G or online[:C0] [default: auto]
    #[arg(long, value_name = "RULE", help_heading = "Training")]
    #[serde(with = "short_name")]
    pub clipping: Option<Clipping>,
    /// One norm per layer instead of one in all
    #[arg(long, help_heading = "Training")]
    pub per_layer: bool,
    /// The threshold ends R times smaller than it begins
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub threshold_decay: Option<f64>,
    /// The noise multiplier ends R times smaller than it begins
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub growing_mu: Option<f64>,
    /// Other noise schedules: optimal, time:K, exponential:K, step:F:N, polynomial:P:END:N
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[serde(with = "short_name")]
    pub noise_schedule: Option<NoiseSchedule>,
    /// sgd, momentum[:B], nesterov[:B], adam, adamw, nadam, adagrad, rmsprop, adadelta or adam-wosm [default: momentum; adam for longer texts]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[serde(with = "short_name")]
    pub optimizer: Option<OptimizerRule>,
    /// Learning rate [default: 0.5; 0.01 of optimisers that adapt]
    #[arg(long, value_name = "R", help_heading = "Training")]
    pub learning_rate: Option<f64>,
    /// constant, linear[:END], cosine[:END], exponential:R or online; END is a share of the rate [default: constant]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[serde(with = "short_name")]
    pub rate_schedule: Option<RateSchedule>,
    /// Weight decay
    #[arg(long, value_name = "L", help_heading = "Training")]
    pub weight_decay: Option<f64>,
    /// Keep the moving average of the models, with this decay (0.9 to 0.999)
    #[arg(long, value_name = "D", help_heading = "Training")]
    pub average: Option<f64>,
    /// Steps between two checkpoints [default: a hundredth of the run]
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub checkpoint_every: Option<u64>,
    /// Score the public test records every N steps
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub test_every: Option<u64>,
    /// cpu, cuda, cuda:1, ... or wgpu [default: cpu]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[serde(with = "short_name")]
    pub device: Option<DeviceName>,
    /// single, or mixed: products of the forward and backward pass in bf16 on a CUDA GPU [default: single]
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    #[serde(with = "short_name")]
    pub precision: Option<Precision>,
    /// Repeat exactly, for experiments: anyone can subtract the noise, so the run is NOT PRIVATE
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub seed: Option<u64>,
}

impl Settings {
    /// Reads a settings file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the settings {}", path.display()))?;
        let settings = Self::parse(&text).with_context(|| format!("{}", path.display()))?;
        show_hints(&path.display(), &text);
        Ok(settings)
    }

    /// Settings in TOML. An unknown key is an error that names the nearest known one.
    pub fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| nearest::toml_error(&error))
    }

    /// These settings where they are given, else those of a file. A flag also displaces what it
    /// excludes: `--noise` the file's `epsilon`, `--csv` its `data`, and so on.
    #[must_use]
    pub fn over(self, mut file: Self) -> Self {
        macro_rules! displace {
            ($($one:ident | $other:ident),*) => {
                $(
                    if self.$one.is_some() {
                        file.$other = None;
                    }
                    if self.$other.is_some() {
                        file.$one = None;
                    }
                )*
            };
        }
        displace!(
            noise | epsilon,
            steps | epochs,
            test | test_share,
            schema | declared,
            growing_mu | noise_schedule
        );
        let sources = [&self.csv, &self.parquet, &self.jsonl, &self.images];
        if self.data.is_some() || sources.iter().any(|source| source.is_some()) {
            file.data = None;
            [file.csv, file.parquet, file.jsonl, file.images] = [None, None, None, None];
        }
        macro_rules! first {
            ($($field:ident),*; $($flag:ident),*) => {
                Self {
                    $($field: self.$field.or(file.$field),)*
                    $($flag: self.$flag || file.$flag,)*
                }
            };
        }
        first!(
            data, csv, parquet, jsonl, images, on_disk, data_name, text, text_pair, label, classes, schema, declared, about, records,
            person, persons, records_per_person, test, test_share, standardise, data_dir, features, preset, model, hidden, start, start_sha256,
            pretrained, pretrained_sha256, adapt, max_tokens, epsilon, delta, noise, score_noise, account, audit,
            paper_accountant, batch, epochs, steps, clipping, threshold_decay, growing_mu,
            noise_schedule, optimizer, learning_rate, rate_schedule, weight_decay, average,
            checkpoint_every, test_every, device, precision, seed;
            draw_records, public_test, public_folder_names, estimate_bounds, offline, per_layer, allow_large_delta
        )
    }

    /// How long a run is.
    pub fn length(&self) -> Length {
        match (self.steps, self.epochs) {
            (Some(steps), _) => Length::Steps(steps),
            (None, epochs) => Length::Epochs(epochs.unwrap_or(f64::NAN)),
        }
    }

    /// As TOML, for the run folder.
    pub fn to_toml(&self) -> Result<String> {
        Ok(toml::to_string(self)?)
    }

    /// As TOML with the key names of the first version, for hashes that are compared with stored ones.
    pub fn to_toml_for_hash(&self) -> Result<String> {
        let text = self.to_toml()?;
        Ok(text
            .replace("\nbad-rows = ", "\nbad_rows = ")
            .replace("\nword-vectors = ", "\nword_vectors = "))
    }
}

/// Says on the screen which keys of a file have other names now.
pub fn show_hints(name: &dyn Display, text: &str) {
    for hint in renamed_keys::hints(text) {
        eprintln!("{name}: {hint}");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused_and_the_nearest_one_named() {
        let message = Settings::parse("epsilom = 3").unwrap_err().to_string();
        assert!(
            message.contains("epsilom")
                && message.contains("did you mean")
                && message.contains("epsilon"),
            "{message}"
        );
        let message = Settings::parse("epsilon = \"three\"")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("epsilon") || message.contains("f64"),
            "{message}"
        );
    }

    #[test]
    fn an_unknown_policy_is_refused_where_it_is_read_and_known_ones_are_listed() {
        for (key, value, known) in [
            ("clipping", "abadi", "abadi:C"),
            ("noise-schedule", "optimum", "optimal"),
            ("optimizer", "sgdd", "momentum"),
            ("rate-schedule", "cosin", "cosine:END"),
            ("device", "gpu", "cuda:1"),
            ("precision", "half", "mixed"),
        ] {
            let parsed = Settings::parse(&format!("{key} = \"{value}\""));
            let message = parsed.unwrap_err().to_string();
            for part in [key, value, known] {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
    }

    #[test]
    fn flags_take_precedence_over_the_file() {
        let file = Settings::parse("epsilon = 3.0\nbatch = 100\nper-layer = true").unwrap();
        let flags = Settings {
            epsilon: Some(1.0),
            ..Settings::default()
        };
        let both = flags.over(file);
        assert_eq!(
            (both.epsilon, both.batch, both.per_layer),
            (Some(1.0), Some(100), true)
        );
    }

    #[test]
    fn a_flag_displaces_what_it_excludes_in_the_file() {
        let file = "epsilon = 3.0\nepochs = 2.0\ncsv = \"a.csv\"\nbatch = 100";
        let flags = Settings {
            noise: Some(2.0),
            steps: Some(5),
            data: Some(Builtin::Digits),
            ..Settings::default()
        };
        let both = flags.clone().over(Settings::parse(file).unwrap());
        let batch = Some(100);
        assert_eq!(both, Settings { batch, ..flags });
    }

    #[test]
    fn settings_come_back_from_toml() {
        let settings = Settings {
            data: Some(Builtin::FashionMnist),
            epsilon: Some(0.1),
            clipping: Some(Clipping::quantile(0.5)),
            noise_schedule: Some(NoiseSchedule::Optimal),
            optimizer: Some(OptimizerRule::nesterov(0.5)),
            rate_schedule: Some(RateSchedule::Linear { end: 0.1 }),
            device: Some(DeviceName::Cuda(1)),
            precision: Some(Precision::Mixed),
            declared: Some(Schema::default()),
            ..Settings::default()
        };
        assert_eq!(
            Settings::parse(&settings.to_toml().unwrap()).unwrap(),
            settings
        );
    }
}
