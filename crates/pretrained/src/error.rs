//! Why a pre-trained model cannot be used.

use std::path::PathBuf;
use thiserror::Error;

/// Why a pre-trained model cannot be used. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PretrainedError {
    /// A file that cannot be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// Read or write.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not what its name says.
    #[error("{} is damaged or of another kind: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A folder without weights in a format that is read.
    #[error(
        "{} holds no model.safetensors{}", folder.display(),
        match pickle {
            Some(name) => format!(
                ", only {name}: a pickle file can run code when it is opened, so it is not read; convert it, for instance \
                 by model.save_pretrained(DIR) of `transformers`"
            ),
            None => "; give a folder as the Hugging Face hub lays it out: config.json, model.safetensors, tokenizer.json".into(),
        }
    )]
    NoWeights {
        /// The folder.
        folder: PathBuf,
        /// A file of weights in a format that is refused.
        pickle: Option<String>,
    },
    /// A network this version does not know.
    #[error("the model is a {seen}, which is not supported; {known} are")]
    Architecture {
        /// `model_type` of the config.
        seen: String,
        /// Those that are known.
        known: &'static str,
    },
    /// A setting of the config that this version does not know, or that contradicts another.
    #[error("the config says {key} = {seen}, which is not supported; {known}")]
    Config {
        /// The key.
        key: &'static str,
        /// Its value.
        seen: String,
        /// What is.
        known: String,
    },
    /// A tensor that the config asks for and the file lacks.
    #[error("the weights lack the tensor `{name}` of shape {shape:?}")]
    Missing {
        /// Its name.
        name: String,
        /// The shape it should have.
        shape: Vec<usize>,
    },
    /// Tensors that the config has no place for.
    #[error("the weights hold {} tensors that the config has no place for: {}", names.len(), first_few(names))]
    Extra {
        /// Their names.
        names: Vec<String>,
    },
    /// A tensor of another shape.
    #[error("the tensor `{name}` has shape {seen:?}, and by the config it should be {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Its shape.
        seen: Vec<usize>,
        /// What the config says.
        expected: Vec<usize>,
    },
    /// Numbers of another type.
    #[error("the tensor `{name}` holds {dtype}; F32, F16 and BF16 are read")]
    Type {
        /// Its name.
        name: String,
        /// Its type.
        dtype: String,
    },
    /// Infinite or undefined weights.
    #[error("the tensor `{name}` holds numbers that are not finite")]
    NotFinite {
        /// Its name.
        name: String,
    },
    /// A tokenizer that gives tokens that the embedding has no row for.
    #[error(
        "the tokenizer knows {tokens} tokens and the embedding has {rows} rows: they are not of one model"
    )]
    Vocabulary {
        /// Tokens, by the largest identifier.
        tokens: usize,
        /// Rows of the embedding.
        rows: usize,
    },
    /// Texts longer than the network has positions for.
    #[error(
        "texts of {asked} tokens were asked for, and the model has {positions} positions; ask for at most as many"
    )]
    TooLong {
        /// Tokens.
        asked: usize,
        /// Positions.
        positions: usize,
    },
    /// Texts so short that there is no room for them beside the tokens around them.
    #[error(
        "texts of {asked} tokens were asked for, and the model puts {around} around a text; ask for more"
    )]
    TooShort {
        /// Tokens.
        asked: usize,
        /// Those around a text.
        around: usize,
    },
    /// A choice of what is trained that cannot be.
    #[error("cannot train {asked}: {why}")]
    Adapt {
        /// The choice.
        asked: String,
        /// Why not.
        why: String,
    },
    /// A parameter that would stay as it is.
    #[error(
        "the parameter `{name}` is to be trained and received no gradient in three steps on synthetic input: it would \
         stay as it is while a budget is spent. Nothing was spent"
    )]
    Stuck {
        /// Its path in the model.
        name: String,
    },
    /// A tokenizer that cannot be used.
    #[error("the tokenizer cannot be used: {0}")]
    Tokenizer(String),
    /// Text that cannot be generated as asked.
    #[error("cannot generate: {why}")]
    Generation {
        /// Why not.
        why: String,
    },
    /// A GGUF file that cannot be used.
    #[error(transparent)]
    Gguf(#[from] crate::gguf::GgufError),
}

/// Enough names to see what is meant, fit for a terminal.
fn first_few(names: &[String]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(4)
        .map(|name| name.escape_debug().take(80).collect())
        .collect();
    if names.len() > shown.len() {
        shown.push("…".into());
    }
    shown.join(", ")
}
