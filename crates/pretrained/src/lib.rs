//! Pre-trained language models, to be fine-tuned privately: their files, tokenizers and networks, and what of a
//! network is trained.
//!
//! Weights are *declared* public: the guarantee of a run covers the records it is trained on, and says nothing of
//! those the weights were learned from.
//!
//! | module | |
//! |---|---|
//! | [`config`] | `config.json`: which network it is, and its sizes |
//! | [`weights`] | named tensors from safetensors, one file or shards, checked against the config |
//! | [`tokenizer`] | texts and pairs of texts to tokens of a fixed length |
//! | [`gguf`] | tensors, settings and vocabulary of a GGUF file, dequantised |
//! | [`encoder`] | BERT and MiniLM, RoBERTa, MPNet, DistilBERT, and a head that tells classes |
//! | [`decoder`] | networks that predict the next token, and their loss on private texts |
//! | [`generate`] | text from such a network |
//! | [`scores`] | BLEU, NIST, ROUGE-L and CIDEr of generated text |
//! | [`save`] | adapters as PEFT lays them out, trained or merged tensors in the hub's layout |
//! | [`adapter`] | what is trained: everything, low-rank adapters, the last blocks, biases, the head |

pub mod adapter;
pub mod config;
pub mod decoder;
pub mod encoder;
mod error;
mod export;
mod folder;
pub mod generate;
pub mod gguf;
mod layout;
mod load;
mod peft;
pub mod save;
pub mod scores;
pub mod tokenizer;
pub mod weights;

pub use adapter::{Adapt, LowRank, Projection};
pub use error::PretrainedError;
pub use folder::EncoderFolder;
pub use layout::Layout;
pub use load::Loader;
pub use peft::read_peft;
pub use tokenizer::TextTokenizer;
pub use weights::Weights;
