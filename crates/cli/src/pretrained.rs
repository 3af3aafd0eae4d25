//! The folder of a pre-trained model, declared public. It is read once, so that what is checked is what is used.

use crate::device::host;
use crate::models::{TextClassifier, TextHead};
use anyhow::{Result, anyhow, bail, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::path::Path;
use std::sync::Arc;
use tacita::Keys;
use tacita_datasets::random::SplitMix;
use tacita_datasets::{InputPreparation, Preparation, SplitText, Subwords};
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
    /// Opens the folder without its weights; texts have `length` tokens unless that is left to the model.
    pub fn open(path: &Path, adapt: Adapt, length: Option<usize>, pairs: bool) -> Result<Self> {
        let name = path.display();
        ensure!(
            path.is_dir(),
            "--pretrained {name} is not a folder; give one as the Hugging Face hub lays it out: config.json, \
             model.safetensors, tokenizer.json"
        );
        let refused = |error| anyhow!("--pretrained {name}: {error}");
        let mut folder = EncoderFolder::open(path).map_err(refused)?;
        folder.pairs = pairs;
        let length = length.unwrap_or(LENGTH.min(folder.sizes.longest()));
        folder.check_length(length).map_err(refused)?;
        Ok(Self {
            folder,
            adapt,
            length,
        })
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

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// What is trained.
    pub fn adapt(&self) -> Adapt {
        self.adapt
    }

    /// The network with new layers for so many classes, of which what is to be trained is not frozen, and the SHA-256 of
    /// its weights, which must be the pinned one if one is.
    pub fn network(
        &self,
        classes: usize,
        seed: Option<u64>,
        pinned: Option<&str>,
        device: &Device,
    ) -> Result<(Classifier, String)> {
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
                .classifier(&mut weights, classes, &memory)
                .map_err(refused)?;
            self.adapt.apply(&mut network, &memory)?;
            Ok(network)
        };
        let network = match seed {
            Some(seed) => Keys::fixed_seed(seed).initial_weights(make)?,
            None => make()?,
        };
        Ok((network, sha256))
    }

    /// The network of a finished run.
    pub fn trained(&self, classes: usize, pinned: Option<&str>, file: &Path) -> Result<Classifier> {
        let (mut network, _) = self.network(classes, None, pinned, &host())?;
        if self.adapt == Adapt::Head {
            let head = TextHead {
                head: network.head.clone(),
                architecture: self.folder.sizes.architecture,
            };
            network.head = tacita::load_model(head, file)?.head;
            return Ok(network);
        }
        Ok(tacita::load_model(TextClassifier { network }, file)?.network)
    }

    /// Writes the network of a finished run: merged, in the hub's layout.
    pub fn save_merged(&self, model: &Classifier, classes: &[String], out: &Path) -> Result<()> {
        Ok(self.folder.save_merged(model, classes, out)?)
    }

    /// Writes what was trained alone.
    pub fn save_trained(&self, model: &Classifier, out: &Path) -> Result<()> {
        Ok(self.folder.save_trained(model, self.adapt, out)?)
    }

    /// Refuses a model of which something that is to be trained receives no gradient on synthetic texts.
    pub fn check_learns(&self, model: &TextClassifier, device: &Device) -> Result<()> {
        Ok(check_learns(model, self.synthetic(device))?)
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
