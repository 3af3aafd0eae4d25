//! Keys from the operating system: the only source of secret randomness.

use crate::chacha::Key;
use thiserror::Error;
use zeroize::Zeroizing;

/// Why there are no keys.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The operating system gave no randomness.
    #[error("the operating system gave no random bytes for a key ({source}); nothing was released")]
    NoRandomness {
        /// The system's error.
        source: getrandom::Error,
    },
}

/// A fresh key from the operating system, where there is no way to return an error.
///
/// # Panics
/// If the operating system has no randomness. Nothing was released then.
pub fn fresh_key() -> Key {
    random_key().unwrap_or_else(|error| panic!("{error}"))
}

/// A fresh key from the operating system.
pub fn random_key() -> Result<Key, KeyError> {
    let mut bytes = Zeroizing::new([0u8; 32]);
    getrandom::fill(&mut bytes[..]).map_err(|source| KeyError::NoRandomness { source })?;
    let mut words = Zeroizing::new([0u32; 8]);
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    Ok(Key(words))
}

/// An identifier that no other run or account has: 128 bits from the operating system, in hexadecimal. It is no secret.
pub fn identifier() -> Result<String, KeyError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|source| KeyError::NoRandomness { source })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
