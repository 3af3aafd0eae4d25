//! The setting `--adapt`.

use crate::error::PretrainedError;
use std::fmt;
use std::str::FromStr;

/// What of a pre-trained network is trained, besides a new head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Adapt {
    /// Everything.
    Full,
    /// Low-rank adapters of this rank; everything else is frozen.
    LowRank {
        /// Their rank.
        rank: usize,
    },
    /// The last blocks, this many.
    Last {
        /// How many.
        blocks: usize,
    },
    /// Biases, those of normalisations included.
    Bias,
    /// The head alone.
    Head,
}

impl fmt::Display for Adapt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "full"),
            Self::LowRank { rank } => write!(f, "lora:{rank}"),
            Self::Last { blocks } => write!(f, "last:{blocks}"),
            Self::Bias => write!(f, "bias"),
            Self::Head => write!(f, "head"),
        }
    }
}

impl FromStr for Adapt {
    type Err = PretrainedError;

    fn from_str(text: &str) -> Result<Self, PretrainedError> {
        let refused = || PretrainedError::Adapt {
            asked: text.into(),
            why: "the choices are full, lora:RANK, last:BLOCKS, bias and head".into(),
        };
        let number = |digits: &str| {
            let number = digits.parse::<usize>().ok().filter(|number| *number > 0);
            number.ok_or_else(refused)
        };
        Ok(match text.split_once(':') {
            Some(("lora", rank)) => Self::LowRank {
                rank: number(rank)?,
            },
            Some(("last", blocks)) => Self::Last {
                blocks: number(blocks)?,
            },
            None if text == "full" => Self::Full,
            None if text == "bias" => Self::Bias,
            None if text == "head" => Self::Head,
            _ => return Err(refused()),
        })
    }
}

impl From<Adapt> for String {
    fn from(adapt: Adapt) -> Self {
        adapt.to_string()
    }
}

impl TryFrom<String> for Adapt {
    type Error = PretrainedError;

    fn try_from(text: String) -> Result<Self, PretrainedError> {
        text.parse()
    }
}
