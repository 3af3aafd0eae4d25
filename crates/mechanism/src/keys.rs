//! The secret keys of a run.

use crate::chacha::{Key, Subkey};
use crate::fresh_key::{KeyError, random_key};
use crate::parameter_keys;
use std::fmt;
use zeroize::Zeroizing;

/// The keys of one run, 256 bits each and independent: for noise, for sampling, for the masks of
/// dropout and for initial weights. A private run of this crate's layers has no other randomness.
///
/// Keys are never written anywhere: they cannot be cloned, printed or serialised, and their memory
/// is wiped when they are dropped. A run that resumes takes fresh keys.
///
/// ```
/// use tacita_mechanism::Keys;
/// assert!(Keys::from_os()?.is_private());
/// assert!(!Keys::fixed_seed(7).is_private());
/// # Ok::<(), tacita_mechanism::KeyError>(())
/// ```
pub struct Keys {
    pub(crate) noise: Key,
    pub(crate) sampling: Key,
    masks: Key,
    weights: Key,
    fixed_seed: bool,
    diagnosed: bool,
}

impl Keys {
    /// Fresh keys from the operating system: the only keys under which a run is private.
    pub fn from_os() -> Result<Self, KeyError> {
        Ok(Self {
            noise: random_key()?,
            sampling: random_key()?,
            masks: random_key()?,
            weights: random_key()?,
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
        let key = |number| Subkey::derive(&seed, [number, 0, 0, 0]).into_key();
        Self {
            noise: key(0),
            sampling: key(1),
            masks: key(2),
            weights: key(3),
            fixed_seed: true,
            diagnosed: false,
        }
    }

    /// Makes a model whose layers of `tacita::layers` draw their initial weights from these keys: under a fixed
    /// seed the same weights every time.
    ///
    /// Without it each layer takes a fresh key from the operating system, which is as good for a
    /// private run. Layers of Burn draw from Burn's own generator either way; the operating system
    /// seeds that generator unless the program does.
    pub fn initial_weights<M>(&self, make: impl FnOnce() -> M) -> M {
        parameter_keys::during(&self.weights, make)
    }

    /// The key under the masks of dropout.
    pub fn masks(&self) -> &Key {
        &self.masks
    }

    /// The key under draws, for streams of draws beside those of rounds.
    pub fn draws(&self) -> &Key {
        &self.sampling
    }

    /// Keys of a run that shows raw quantities
    /// (`Trainer::diagnose_without_privacy`). The run is
    /// not private from its first record on, and its ledger and report are marked so.
    #[must_use]
    pub fn for_diagnostics(mut self) -> Self {
        self.diagnosed = true;
        self
    }

    /// Whether the keys are secret and nothing raw is shown besides what they cover. Everything else
    /// must be marked as not private.
    pub fn is_private(&self) -> bool {
        self.why_not_private().is_empty()
    }

    /// Whether anyone can compute the keys, so that a step made again is the same step.
    pub fn is_fixed_seed(&self) -> bool {
        self.fixed_seed
    }

    /// Takes over from another process of the same run what all of them must know to draw the same records and masks;
    /// `replace` is given what these keys have of it and replaces it by what that process has.
    ///
    /// The key of the noise stays where it is: only one process draws noise, from its own.
    pub fn share<E>(
        &mut self,
        replace: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        // The memory is wiped, also what a longer vector would leave behind: the length does not change.
        let mut bytes = Zeroizing::new(Vec::with_capacity(Self::SHARED_BYTES));
        for key in [&self.sampling, &self.masks] {
            bytes.extend(key.0.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend([u8::from(self.fixed_seed), u8::from(self.diagnosed)]);
        replace(&mut bytes)?;
        for (key, bytes) in [&mut self.sampling, &mut self.masks]
            .into_iter()
            .zip(bytes.as_chunks::<32>().0)
        {
            for (word, bytes) in key.0.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
        if let [.., fixed_seed, diagnosed] = bytes[..] {
            (self.fixed_seed, self.diagnosed) = (fixed_seed != 0, diagnosed != 0);
        }
        Ok(())
    }

    /// Two keys and two marks.
    const SHARED_BYTES: usize = 2 * 32 + 2;

    /// Why a run with these keys is not private; empty if it is.
    pub fn why_not_private(&self) -> Vec<&'static str> {
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
        match self.why_not_private().join("; ") {
            reasons if reasons.is_empty() => f.write_str("Keys(private)"),
            reasons => write!(f, "Keys(NOT PRIVATE: {reasons})"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn words(keys: &Keys) -> [[u32; 8]; 4] {
        [&keys.noise, &keys.sampling, &keys.masks, &keys.weights].map(|key| *key.0)
    }

    fn assert_all_differ(mut keys: Vec<[u32; 8]>) {
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn os_keys_differ_from_each_other_and_every_time() {
        // False alarm: 36 chances in 2^256.
        let (first, second) = (Keys::from_os().unwrap(), Keys::from_os().unwrap());
        let mut all: Vec<[u32; 8]> = [first, second].iter().flat_map(words).collect();
        all.push([0; 8]);
        assert_all_differ(all);
    }

    #[test]
    fn a_seed_repeats_and_its_keys_differ() {
        let (first, other) = (Keys::fixed_seed(1), Keys::fixed_seed(2));
        assert_eq!(words(&first), words(&Keys::fixed_seed(1)));
        assert_all_differ([first, other].iter().flat_map(words).collect());
    }

    #[test]
    fn processes_share_all_keys_but_those_of_noise_and_weights() {
        let mut told = Vec::new();
        let mut first = Keys::from_os().unwrap();
        let before = words(&first);
        let read = first.share(|bytes| -> Result<(), ()> {
            told.clone_from(bytes);
            Ok(())
        });
        assert_eq!((read, words(&first)), (Ok(()), before));
        let mut other = Keys::fixed_seed(1).for_diagnostics();
        let own = words(&other);
        let written = other.share(|bytes| -> Result<(), ()> {
            bytes.clone_from(&told);
            Ok(())
        });
        assert_eq!(written, Ok(()));
        assert_eq!(words(&other), [own[0], before[1], before[2], own[3]]);
        assert!(other.is_private());
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
