//! GGUF files: the format in which llama.cpp keeps a model, its vocabulary and its settings in one file.
//!
//! The reader trusts nothing in the file: every count is compared with the bytes that are left before
//! anything is allocated, and every offset with the file's length. Tensors are read one at a time and
//! dequantised to single precision.
//!
//! ```
//! use std::io::Cursor;
//! use tacita_pretrained::gguf::{Gguf, GgufError};
//!
//! let pickle = Cursor::new(b"\x80\x02}q\x00.".to_vec());
//! assert!(matches!(Gguf::read(pickle), Err(GgufError::NotGguf { .. })));
//! ```

mod encoding;
mod error;
mod file;
mod header;
mod value;
mod vocabulary;

pub use encoding::Encoding;
pub use error::GgufError;
pub(crate) use file::unexpected;
pub use file::{Gguf, TensorInfo};
pub use value::Value;
pub use vocabulary::tokenizer;
