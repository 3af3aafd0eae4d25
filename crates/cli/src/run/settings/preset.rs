//! Settings that do well, from public knowledge.

use super::Settings;
use anyhow::{Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use tacita_datasets::{Builtin, Source};

/// A name for settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The best accuracy for a budget that public knowledge gives.
    Best,
}

/// A file in `presets/`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    /// Where the values come from.
    because: String,
    /// The budget they are for. Below it the learning rate is smaller in proportion, so that the noise in
    /// the model's scores, which grows as ε falls, stays as it is there.
    epsilon: f64,
    /// The values.
    settings: Settings,
}

impl Preset {
    fn file(self, set: Builtin) -> Result<File> {
        let text = match set {
            Builtin::Mnist => include_str!("../../../presets/best-mnist.toml"),
            Builtin::FashionMnist => include_str!("../../../presets/best-fashion-mnist.toml"),
            Builtin::Imdb => include_str!("../../../presets/best-imdb.toml"),
            Builtin::Names => include_str!("../../../presets/best-names.toml"),
            _ => bail!(
                "--preset best is for mnist, fashion-mnist, imdb and names, not {}; leave it out",
                set.name()
            ),
        };
        toml::from_str(text).map_err(|error| anyhow!("{}", error.to_string().trim_end()))
    }
}

impl Settings {
    /// These settings, and those of their preset where nothing is said. Doing it again changes nothing.
    pub fn with_preset(self) -> Result<Self> {
        let Some(preset) = self.preset else {
            return Ok(self);
        };
        let Source::Builtin(set) = self.source()? else {
            bail!("--preset is for public data sets; your own data need settings of their own");
        };
        let file = preset.file(set)?;
        let mut settings = file.settings;
        if let Some(epsilon) = self.epsilon {
            ensure!(
                epsilon > 0.0,
                "--epsilon must be a finite number above 0, got {epsilon}"
            );
            let part = (epsilon / file.epsilon).min(1.0);
            settings.learning_rate = settings.learning_rate.map(|rate| rate * part);
        }
        Ok(self.over(settings))
    }

    /// Where the values of the preset come from, if there is one.
    pub fn preset_because(&self) -> Option<String> {
        let file = self.preset?.file(self.data?).ok()?;
        Some(file.because)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn best(set: Builtin) -> Settings {
        Settings {
            data: Some(set),
            preset: Some(Preset::Best),
            ..Settings::default()
        }
    }

    #[test]
    fn every_preset_says_all_that_matters_and_where_it_comes_from() {
        for set in [
            Builtin::Mnist,
            Builtin::FashionMnist,
            Builtin::Imdb,
            Builtin::Names,
        ] {
            let settings = best(set).with_preset().unwrap();
            assert!(settings.model.is_some() && settings.features.is_some());
            assert!(settings.batch.is_some() && settings.clipping.is_some());
            assert!(settings.learning_rate.is_some() && settings.epochs.is_some());
            assert!(settings.average.is_some() && settings.optimizer.is_some());
            // The budget is the user's.
            assert!(settings.epsilon.is_none() && settings.noise.is_none());
            assert!(
                settings
                    .preset_because()
                    .is_some_and(|text| !text.is_empty())
            );
            assert_eq!(settings.clone().with_preset().unwrap(), settings);
        }
        let message = best(Builtin::Adult).with_preset().unwrap_err().to_string();
        assert!(message.contains("adult"), "{message}");
    }

    #[test]
    fn what_is_said_counts_more_than_a_preset_and_small_budgets_take_small_steps() {
        let rate = |epsilon: f64| {
            let settings = Settings {
                epsilon: Some(epsilon),
                steps: Some(7),
                ..best(Builtin::Mnist)
            };
            let settings = settings.with_preset().unwrap();
            assert_eq!((settings.steps, settings.epochs), (Some(7), None));
            settings.learning_rate.unwrap()
        };
        assert!((rate(3.0) / rate(0.6) - 5.0).abs() < 1e-12);
        assert_eq!(rate(9.0), rate(3.0));
    }
}
