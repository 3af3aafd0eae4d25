//! Paths among the settings, which are the operator's, and names in their place, which are public.

use super::Settings;
use crate::accounts;
use std::path::PathBuf;

impl Settings {
    /// Stands for the user's cache folder, and in published settings for any folder.
    pub(in crate::run) const CACHE: &str = "cache";

    /// The path of the user's own data.
    pub fn own_data(&self) -> Option<&PathBuf> {
        let own = [&self.csv, &self.parquet, &self.jsonl, &self.images];
        own.into_iter().find_map(Option::as_ref)
    }

    /// Whether these are the settings of a run made before data had a public name.
    pub(in crate::run) fn names_paths(&self) -> bool {
        self.own_data().is_some() && self.data_name.is_none()
    }

    /// The settings as they may be published: the name of the data for every path of them, the name of
    /// the file for the initial weights.
    #[must_use]
    pub fn without_paths(&self) -> Self {
        let mut public = self.clone();
        let name = self.data_name.clone().unwrap_or_default();
        for path in [
            &mut public.csv,
            &mut public.parquet,
            &mut public.jsonl,
            &mut public.images,
        ] {
            *path = path.as_ref().map(|_| PathBuf::from(&name));
        }
        public.test = (self.test.as_ref()).map(|_| PathBuf::from(format!("{name}-test")));
        let file = |path: &PathBuf| PathBuf::from(path.file_name().unwrap_or_default());
        public.start = self.start.as_ref().map(file);
        public.pretrained = self.pretrained.as_ref().map(file);
        public.schema = self.schema.as_ref().map(file);
        public.data_dir = None;
        public.on_disk = self.on_disk.as_ref().map(|_| Self::CACHE.into());
        public.account = self.account.as_deref().map(accounts::public_name);
        public
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn published_settings_hold_no_path() {
        let settings = Settings {
            csv: Some("/home/smith/patients.csv".into()),
            test: Some("/home/smith/test.csv".into()),
            start: Some("/home/smith/weights.safetensors".into()),
            pretrained: Some("/home/smith/minilm".into()),
            data_dir: Some("/home/smith".into()),
            on_disk: Some("/home/smith/copies".into()),
            data_name: Some("trial 7".into()),
            account: Some("/home/smith/trial.jsonl".into()),
            ..Settings::default()
        };
        let text = settings.without_paths().to_toml().unwrap();
        assert!(
            !text.contains("smith") && text.contains("csv = \"trial 7\""),
            "{text}"
        );
    }
}
