//! The folder of a pre-trained model, declared public. It is read once, so that what is checked is what is used.

use super::cached::CachedFeatures;
use crate::models::{Bench, ModelSpec, TextClassifier};
use crate::run::run_folder::StartedFrom;
use crate::run::settings::Settings;
use crate::run::workbench::Workbench;
use anyhow::{Result, anyhow, bail, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::path::Path;
use std::sync::Arc;
use tacita::Keys;
use tacita_datasets::random::SplitMix;
use tacita_datasets::{InputPreparation, Preparation, SplitText, Subwords, Tokens};
use tacita_pretrained::adapter::check_learns;
use tacita_pretrained::encoder::Classifier;
use tacita_pretrained::{Adapt, EncoderFolder, TextTokenizer, Weights};

/// Tokens of a text unless something else is asked for.
const LENGTH: usize = 64;
/// Tokens of the texts on which is checked whether everything learns.
const SYNTHETIC_LENGTH: usize = 12;

/// The folder of a pre-trained model.
#[derive(Debug, Clone)]
pub struct PretrainedBase {
    folder: EncoderFolder,
    adapt: Adapt,
    length: usize,
}

impl PretrainedBase {
    /// Opens the folder, if settings name one, without its weights.
    pub fn open(settings: &Settings) -> Result<Option<Self>> {
        let Some(path) = &settings.pretrained else {
            for (flag, given) in [
                ("--pretrained-sha256", settings.pretrained_sha256.is_some()),
                ("--adapt", settings.adapt.is_some()),
                ("--max-tokens", settings.max_tokens.is_some()),
                ("--text-pair", settings.text_pair.is_some()),
            ] {
                ensure!(
                    !given,
                    "{flag} has no effect without a pre-trained model; give --pretrained DIR"
                );
            }
            return Ok(None);
        };
        let name = path.display();
        ensure!(
            path.is_dir(),
            "--pretrained {name} is not a folder; give one as the Hugging Face hub lays it out: config.json, \
             model.safetensors, tokenizer.json"
        );
        let refused = |error| anyhow!("--pretrained {name}: {error}");
        let folder = EncoderFolder::open(path).map_err(refused)?;
        let length = settings
            .max_tokens
            .unwrap_or(LENGTH.min(folder.sizes.longest()));
        folder.check_length(length).map_err(refused)?;
        Ok(Some(Self {
            folder,
            adapt: settings.adapt.unwrap_or(Adapt::Full),
            length,
        }))
    }

    /// How texts are prepared for the model.
    pub fn subwords(&self) -> Result<Subwords> {
        let folder = &self.folder;
        let tokenizer = folder.tokenizer.clone().with_length(self.length)?;
        Ok(Subwords {
            vocabulary: folder.sizes.vocabulary,
            length: self.length,
            padding: u16::try_from(folder.sizes.padding)?,
            tokenizer_sha256: folder.tokenizer_sha256.clone(),
            tokenizer: Some(Arc::new(Splitter { tokenizer })),
        })
    }

    /// The preparation of a run with the tokenizer, which must be the one of the run.
    pub fn attached(&self, mut preparation: Preparation) -> Result<Preparation> {
        let ours = self.subwords()?;
        match &mut preparation.input {
            InputPreparation::Subwords(theirs) if *theirs == ours => *theirs = ours,
            _ => bail!(
                "--pretrained {} has another tokenizer than the run was trained with; restore it",
                self.folder.path.display()
            ),
        }
        Ok(preparation)
    }

    /// The model at work, what it begins with, and the SHA-256 of its weights. Everything that is to be trained has been
    /// seen to receive a gradient on synthetic texts.
    pub fn bench(
        &self,
        spec: ModelSpec,
        pinned: Option<&str>,
        device: &Device,
    ) -> Result<(Box<dyn Workbench>, StartedFrom)> {
        let path = &self.folder.path;
        let refused = |error| anyhow!("--pretrained {}: {error}", path.display());
        let mut weights = Weights::read(path).map_err(refused)?;
        let sha256 = weights.sha256().to_owned();
        if let Some(pinned) = pinned {
            ensure!(
                pinned.eq_ignore_ascii_case(&sha256),
                "--pretrained {} holds other weights than were meant: their SHA-256 is {sha256}, not {pinned}; \
                 restore them",
                path.display()
            );
        }
        let memory = device.clone().autodiff();
        let mut make = || -> Result<Classifier> {
            let mut network = self
                .folder
                .classifier(&mut weights, spec.classes, &memory)
                .map_err(refused)?;
            self.adapt.apply(&mut network, &memory)?;
            Ok(network)
        };
        let network = match spec.seed {
            Some(seed) => Keys::fixed_seed(seed).initial_weights(make)?,
            None => make()?,
        };
        let model = TextClassifier { network };
        check_learns(&model, self.synthetic(device))?;
        let parameters = tacita::Parameters::of(&model)?;
        let drawn = parameters.list().iter().map(|one| &one.path);
        let is_new = |path: &&String| path.contains("low_rank") || path.contains("head.layers");
        let drawn: Vec<_> = drawn.filter(is_new).cloned().collect();
        let new: usize = (parameters.list().iter())
            .filter(|one| drawn.contains(&one.path))
            .map(tacita::Parameter::elements)
            .sum();
        let all = burn::module::Module::num_params(&model);
        let from = StartedFrom {
            file: name(path),
            sha256,
            numbers: (all - new) as u64,
            of: all as u64,
            // A hundred names of adapters tell nobody anything.
            drawn: match self.adapt {
                Adapt::LowRank { .. } => vec!["the adapters".into(), "the head".into()],
                _ => vec!["the head".into()],
            },
        };
        let bench: Box<dyn Workbench> = match self.adapt {
            Adapt::Head => Box::new(CachedFeatures::new(model.network, device)),
            _ => Box::new(Bench::<Tokens, _>::of(model, device)),
        };
        Ok((bench, from))
    }

    /// Synthetic texts of a few tokens each.
    fn synthetic(&self, device: &Device) -> Tensor<2, Int> {
        const TEXTS: usize = 4;
        let length = SYNTHETIC_LENGTH.min(self.length);
        let mut random = SplitMix(1);
        let vocabulary = self.folder.sizes.vocabulary as u64;
        let tokens = (0..TEXTS * length).map(|_| random.below(vocabulary) as i32);
        let data = TensorData::new(tokens.collect::<Vec<_>>(), [TEXTS, length]);
        Tensor::from_data(data, device)
    }
}

/// The last part of a path, which may be published.
fn name(path: &Path) -> String {
    let whole = path.canonicalize();
    let whole = whole.as_deref().unwrap_or(path);
    whole
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[derive(Debug)]
struct Splitter {
    tokenizer: TextTokenizer,
}

impl SplitText for Splitter {
    fn tokens(&self, text: &str, second: Option<&str>) -> Vec<u16> {
        let tokens = self.tokenizer.encode_for_model(text, second);
        let tokens = tokens.or_else(|_| self.tokenizer.encode_for_model("", None));
        // The vocabulary was checked to have no more tokens than this type holds.
        (tokens.unwrap_or_default().into_iter())
            .map(|token| token as u16)
            .collect()
    }
}
