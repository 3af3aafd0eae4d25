//! The two secret keys of a run.

use std::fmt;

use thiserror::Error;
use zeroize::Zeroizing;

use crate::chacha::{Key, Subkey};

/// The noise key and the sampling key of one run, 256 bits each and independent.
///
/// Keys are never written anywhere: they cannot be cloned, printed or serialised, and their memory
/// is wiped when they are dropped. A run that resumes takes fresh keys.
///
/// ```
/// use tacita::Keys;
/// assert!(Keys::from_os()?.is_private());
/// assert!(!Keys::fixed_seed(7).is_private());
/// # Ok::<(), tacita::KeyError>(())
/// ```
pub struct Keys {
    pub(crate) noise: Key,
    pub(crate) sampling: Key,
    fixed_seed: bool,
    diagnosed: bool,
}

/// Why there are no keys.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The operating system gave no randomness.
    #[error(
        "the operating system gave no random bytes for the noise key ({source}); nothing was released"
    )]
    NoRandomness {
        /// What the system said.
        source: getrandom::Error,
    },
}

impl Keys {
    /// Fresh keys from the operating system: the only keys under which a run is private.
    pub fn from_os() -> Result<Self, KeyError> {
        Ok(Self {
            noise: random_key()?,
            sampling: random_key()?,
            fixed_seed: false,
            diagnosed: false,
        })
    }

    /// Keys that anyone can compute from `seed`, for experiments that must repeat exactly.
    ///
    /// Nothing made with them is private: whoever knows the seed can subtract the noise.
    pub fn fixed_seed(seed: u64) -> Self {
        let mut words = [0; 8];
        words[0] = seed as u32;
        words[1] = (seed >> 32) as u32;
        let seed = Key(Zeroizing::new(words));
        Self {
            noise: Subkey::derive(&seed, [0, 0, 0, 0]).into_key(),
            sampling: Subkey::derive(&seed, [1, 0, 0, 0]).into_key(),
            fixed_seed: true,
            diagnosed: false,
        }
    }

    /// Keys of a run that shows raw quantities
    /// ([`Trainer::diagnose_without_privacy`](crate::Trainer::diagnose_without_privacy)). The run is
    /// not private from its first record on, and its ledger and report say so.
    #[must_use]
    pub fn for_diagnostics(mut self) -> Self {
        self.diagnosed = true;
        self
    }

    /// Whether the keys are secret and nothing raw is shown beside what they cover. Everything else
    /// must say it is not private.
    pub fn is_private(&self) -> bool {
        self.reasons_against().is_empty()
    }

    /// Whether anyone can compute the keys, so that a step made again is the same step.
    pub(crate) fn is_fixed_seed(&self) -> bool {
        self.fixed_seed
    }

    /// Why a run with these keys is not private; empty if it is.
    pub fn reasons_against(&self) -> Vec<&'static str> {
        let reasons = [
            (
                self.fixed_seed,
                "the noise came from a fixed seed, so anyone can subtract it",
            ),
            (
                self.diagnosed,
                "diagnostics showed raw gradients, which no noise covers",
            ),
        ];
        let holding = reasons.into_iter().filter(|(holds, _)| *holds);
        holding.map(|(_, reason)| reason).collect()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reasons_against().join("; ") {
            reasons if reasons.is_empty() => f.write_str("Keys(private)"),
            reasons => write!(f, "Keys(NOT PRIVATE: {reasons})"),
        }
    }
}

fn random_key() -> Result<Key, KeyError> {
    let mut bytes = Zeroizing::new([0u8; 32]);
    getrandom::fill(&mut bytes[..]).map_err(|source| KeyError::NoRandomness { source })?;
    let mut words = Zeroizing::new([0u32; 8]);
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    Ok(Key(words))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn os_keys_differ_from_each_other_and_every_time() {
        // False alarm: 4 chances in 2^256.
        let (first, second) = (Keys::from_os().unwrap(), Keys::from_os().unwrap());
        assert_ne!(*first.noise.0, *first.sampling.0);
        assert_ne!(*first.noise.0, *second.noise.0);
        assert_ne!(*first.sampling.0, *second.sampling.0);
        assert_ne!(*first.noise.0, [0; 8]);
    }

    #[test]
    fn a_seed_repeats_and_its_two_keys_differ() {
        let (first, again, other) = (
            Keys::fixed_seed(1),
            Keys::fixed_seed(1),
            Keys::fixed_seed(2),
        );
        assert_eq!(*first.noise.0, *again.noise.0);
        assert_eq!(*first.sampling.0, *again.sampling.0);
        assert_ne!(*first.noise.0, *first.sampling.0);
        assert_ne!(*first.noise.0, *other.noise.0);
    }

    #[test]
    fn printing_keys_shows_no_key_bytes() {
        assert_eq!(format!("{:?}", Keys::from_os().unwrap()), "Keys(private)");
        assert_eq!(
            format!("{:?}", Keys::fixed_seed(3)),
            "Keys(NOT PRIVATE: the noise came from a fixed seed, so anyone can subtract it)"
        );
    }
}
