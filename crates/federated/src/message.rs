//! The messages between server and clients: small, versioned, and read with a bound.
//!
//! Numbers are little-endian. Every message begins with the four bytes `TCTF`, the version and the kind, and says its
//! length; a reader compares it with what is really there before it allocates anything. Who sent a message, and that
//! nobody changed it, is the transport's to know.

use crate::guarantee::Clip;
use thiserror::Error;

const MAGIC: [u8; 4] = *b"TCTF";
const VERSION: u8 = 1;
const ORDER: u8 = 1;
const UPDATE: u8 = 2;

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// Too few bytes.
    #[error("the message ends too early")]
    Short,
    /// More bytes than the message says.
    #[error("{extra} bytes follow the message")]
    Long {
        /// How many.
        extra: usize,
    },
    /// Other bytes at the beginning.
    #[error("these are no bytes of a Tacita federation")]
    Foreign,
    /// Another version.
    #[error("a message of version {version}; this program knows version {VERSION}")]
    Version {
        /// The version seen.
        version: u8,
    },
    /// A message of another kind, or one with a field that means nothing.
    #[error("the message has no meaning here ({what})")]
    Meaningless {
        /// What is wrong.
        what: &'static str,
    },
}

/// A run's identity: 128 random bits, no secret.
pub type RunId = [u8; 16];

/// What the server sends to a client that is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The run.
    pub run: RunId,
    /// The round, from 0.
    pub round: u64,
    /// The client that is asked.
    pub client: u64,
    /// Whether the client was drawn and is to contribute an update.
    pub contribute: bool,
    /// How the update is clipped.
    pub clip: Clip,
    /// Cₜ.
    pub threshold: f64,
    /// The standard deviation of the client's share of the noise, in steps of the grid, if it is to add one.
    pub share_std: Option<f64>,
    /// The model.
    pub model: Vec<f32>,
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The run.
    pub run: RunId,
    /// The round.
    pub round: u64,
    /// The client.
    pub client: u64,
    /// Its clipped update, in steps of the grid.
    pub steps: Vec<i32>,
}

/// Reads numbers off the front of some bytes.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], MessageError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(MessageError::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    fn byte(&mut self) -> Result<u8, MessageError> {
        Ok(self.array::<1>()?[0])
    }

    fn u64(&mut self) -> Result<u64, MessageError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn f64(&mut self) -> Result<f64, MessageError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn begin(&mut self, kind: u8) -> Result<(), MessageError> {
        if self.array::<4>()? != MAGIC {
            return Err(MessageError::Foreign);
        }
        match (self.byte()?, self.byte()?) {
            (VERSION, seen) if seen == kind => Ok(()),
            (VERSION, _) => Err(MessageError::Meaningless {
                what: "another kind",
            }),
            (version, _) => Err(MessageError::Version { version }),
        }
    }

    /// The values at the end of a message, of four bytes each. What the message says of their number is compared with
    /// the bytes that are there before anything is allocated.
    fn words<T>(self, count: u64, of: impl Fn([u8; 4]) -> T) -> Result<Vec<T>, MessageError> {
        let (words, rest) = self.0.as_chunks::<4>();
        let there = words.len() as u64;
        if count > there {
            return Err(MessageError::Short);
        }
        if count < there || !rest.is_empty() {
            let extra = (there - count) as usize * 4 + rest.len();
            return Err(MessageError::Long { extra });
        }
        Ok(words.iter().map(|word| of(*word)).collect())
    }
}

fn begin(kind: u8, values: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(96 + 4 * values);
    bytes.extend(MAGIC);
    bytes.extend([VERSION, kind]);
    bytes
}

fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

impl Order {
    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = begin(ORDER, self.model.len());
        bytes.extend(self.run);
        bytes.extend(self.round.to_le_bytes());
        bytes.extend(self.client.to_le_bytes());
        bytes.push(u8::from(self.contribute));
        // Abadi's rule has no γ.
        let gamma = match self.clip {
            Clip::Abadi => f64::NAN,
            Clip::Auto { gamma } => gamma,
        };
        bytes.extend(gamma.to_le_bytes());
        bytes.extend(self.threshold.to_le_bytes());
        bytes.extend(self.share_std.unwrap_or(0.0).to_le_bytes());
        bytes.extend((self.model.len() as u64).to_le_bytes());
        bytes.extend(self.model.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// The order that the bytes are.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut reader = Reader(bytes);
        reader.begin(ORDER)?;
        let (run, round, client) = (reader.array()?, reader.u64()?, reader.u64()?);
        let contribute = match reader.byte()? {
            0 => false,
            1 => true,
            _ => {
                return Err(MessageError::Meaningless {
                    what: "whether to contribute",
                });
            }
        };
        let clip = match reader.f64()? {
            gamma if gamma.is_nan() => Clip::Abadi,
            gamma if gamma >= 0.0 && gamma.is_finite() => Clip::Auto { gamma },
            _ => return Err(MessageError::Meaningless { what: "gamma" }),
        };
        let threshold = reader.f64()?;
        if !positive(threshold) {
            return Err(MessageError::Meaningless { what: "threshold" });
        }
        let share_std = match reader.f64()? {
            0.0 => None,
            share if positive(share) => Some(share),
            _ => {
                return Err(MessageError::Meaningless {
                    what: "share of the noise",
                });
            }
        };
        let count = reader.u64()?;
        Ok(Self {
            run,
            round,
            client,
            contribute,
            clip,
            threshold,
            share_std,
            model: reader.words(count, f32::from_le_bytes)?,
        })
    }
}

impl Update {
    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = begin(UPDATE, self.steps.len());
        bytes.extend(self.run);
        bytes.extend(self.round.to_le_bytes());
        bytes.extend(self.client.to_le_bytes());
        bytes.extend((self.steps.len() as u64).to_le_bytes());
        bytes.extend(self.steps.iter().flat_map(|step| step.to_le_bytes()));
        bytes
    }

    /// The update that the bytes are.
    pub fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut reader = Reader(bytes);
        reader.begin(UPDATE)?;
        let (run, round, client) = (reader.array()?, reader.u64()?, reader.u64()?);
        let count = reader.u64()?;
        Ok(Self {
            run,
            round,
            client,
            steps: reader.words(count, i32::from_le_bytes)?,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order() -> impl Strategy<Value = Order> {
        let clip = prop_oneof![
            Just(Clip::Abadi),
            (0.0f64..1.0).prop_map(|gamma| Clip::Auto { gamma })
        ];
        let share = prop::option::of(1.0f64..1e9);
        let numbers = (any::<RunId>(), any::<u64>(), any::<u64>(), any::<bool>());
        let model = prop::collection::vec(-1e3f32..1e3, 0..50);
        (numbers, clip, 1e-9f64..1e9, share, model).prop_map(
            |((run, round, client, contribute), clip, threshold, share_std, model)| Order {
                run,
                round,
                client,
                contribute,
                clip,
                threshold,
                share_std,
                model,
            },
        )
    }

    fn update() -> impl Strategy<Value = Update> {
        let steps = prop::collection::vec(any::<i32>(), 0..50);
        (any::<RunId>(), any::<u64>(), any::<u64>(), steps).prop_map(
            |(run, round, client, steps)| Update {
                run,
                round,
                client,
                steps,
            },
        )
    }

    /// What may happen to bytes on their way.
    fn damaged(mut bytes: Vec<u8>, (at, value, cut, tail): (usize, u8, usize, Vec<u8>)) -> Vec<u8> {
        let at = at % bytes.len();
        bytes[at] = value;
        bytes.truncate(bytes.len().saturating_sub(cut % 40));
        bytes.extend(tail);
        bytes
    }

    fn damage() -> impl Strategy<Value = (usize, u8, usize, Vec<u8>)> {
        let tail = prop::collection::vec(any::<u8>(), 0..20);
        (any::<usize>(), any::<u8>(), any::<usize>(), tail)
    }

    proptest! {
        #[test]
        fn messages_come_back_as_they_were(order in order(), update in update()) {
            prop_assert_eq!(Order::decode(&order.encode()).unwrap(), order.clone());
            prop_assert_eq!(Update::decode(&update.encode()).unwrap(), update.clone());
            prop_assert!(Update::decode(&order.encode()).is_err());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = (Order::decode(&bytes), Update::decode(&bytes));
        }

        #[test]
        fn damaged_messages_are_refused_or_read_as_what_they_say(
            order in order(), update in update(), damage in damage(),
        ) {
            // What is read is what was written: nothing is made up, and no value is lost.
            let bytes = damaged(order.encode(), damage.clone());
            if let Ok(read) = Order::decode(&bytes) {
                prop_assert_eq!(read.encode().len(), bytes.len());
            }
            let bytes = damaged(update.encode(), damage);
            if let Ok(read) = Update::decode(&bytes) {
                prop_assert_eq!(read.encode(), bytes);
            }
        }
    }

    #[test]
    fn a_length_that_is_not_there_allocates_nothing() {
        let update = Update {
            run: [0; 16],
            round: 0,
            client: 0,
            steps: vec![1, 2],
        };
        let mut bytes = update.encode();
        let at = bytes.len() - 16;
        bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Update::decode(&bytes), Err(MessageError::Short));
    }
}
