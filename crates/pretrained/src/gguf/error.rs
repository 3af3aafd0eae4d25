//! Why a GGUF file cannot be used.

use thiserror::Error;

/// Why a GGUF file cannot be used. Nothing was trained, and nothing was spent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GgufError {
    /// The file cannot be read.
    #[error("the GGUF file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// Another format.
    #[error(
        "not a GGUF file: it begins with the bytes {begins:02x?}, not with `GGUF`{}",
        if begins.starts_with(b"PK") || begins.starts_with(&[0x80]) {
            "; it looks like a pickle of PyTorch, which may run code when it is opened and is never read here"
        } else {
            ""
        }
    )]
    NotGguf {
        /// The first bytes.
        begins: Vec<u8>,
    },
    /// A version this reader does not know.
    #[error("GGUF version {version} is not known here, only 2 and 3{}", if *version > 0xffff {
        " (this may be a file for big-endian machines)"
    } else {
        ""
    })]
    Version {
        /// The version in the file.
        version: u32,
    },
    /// The file ends too early.
    #[error("the GGUF file is cut off: {what} needs {needed} bytes, and {left} are left")]
    Truncated {
        /// What was being read.
        what: String,
        /// Bytes it needs; `u64::MAX` stands for more than can be counted.
        needed: u64,
        /// Bytes left.
        left: u64,
    },
    /// Text that is not text.
    #[error("{what} of the GGUF file is not UTF-8")]
    NotText {
        /// What was being read.
        what: String,
    },
    /// A metadata value of an unknown type.
    #[error("metadata `{key}` of the GGUF file has the type {code}, which is not known here")]
    UnknownType {
        /// The key.
        key: String,
        /// The code of the type.
        code: u32,
    },
    /// A name that occurs twice.
    #[error("`{name}` occurs twice in the GGUF file")]
    Duplicate {
        /// The key or tensor.
        name: String,
    },
    /// An alignment nobody can keep.
    #[error(
        "the GGUF file states an alignment of {alignment}; it must be a multiple of 8, at least 8"
    )]
    Alignment {
        /// The alignment in the file.
        alignment: i64,
    },
    /// A tensor of an encoding that is not read.
    #[error(
        "tensor `{tensor}` of the GGUF file is stored as {}; known are F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, \
         Q4_K, Q5_K and Q6_K: quantise the model to one of them",
        name.map_or_else(|| format!("type {code}"), str::to_owned)
    )]
    UnknownQuantisation {
        /// The tensor.
        tensor: String,
        /// The code of the encoding.
        code: u32,
        /// Its name, if there is one.
        name: Option<&'static str>,
    },
    /// A shape that no tensor has.
    #[error("tensor `{tensor}` of the GGUF file has the shape {shape:?}: {why}")]
    Shape {
        /// The tensor.
        tensor: String,
        /// Its sizes, as the file has them (fastest first).
        shape: Vec<u64>,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A tensor at an offset that is not aligned.
    #[error(
        "tensor `{tensor}` of the GGUF file lies at {offset}, which is not a multiple of the alignment {alignment}"
    )]
    Misaligned {
        /// The tensor.
        tensor: String,
        /// Where it lies.
        offset: u64,
        /// The alignment of the file.
        alignment: u64,
    },
    /// Metadata that is needed and not there.
    #[error("the GGUF file has no metadata `{key}`, which {needed_for}")]
    Missing {
        /// The key.
        key: String,
        /// What it is for.
        needed_for: &'static str,
    },
    /// Metadata that is not what it should be.
    #[error("metadata `{key}` of the GGUF file is {seen}; expected {expected}")]
    Unexpected {
        /// The key.
        key: String,
        /// What is there.
        seen: String,
        /// What should be.
        expected: &'static str,
    },
    /// A tensor that is needed and not there.
    #[error("the GGUF file has no tensor `{tensor}`")]
    MissingTensor {
        /// The tensor.
        tensor: String,
    },
    /// A vocabulary that does not hold together.
    #[error("the vocabulary of the GGUF file cannot be used: {why}")]
    Vocabulary {
        /// What is wrong with it.
        why: String,
    },
}
