//! Keys of whoever signs: Ed25519, in the PEM files that OpenSSL reads and writes.

use crate::error::{VerifyError, read};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ed25519_dalek::{SigningKey, VerifyingKey};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// A key that signs. Keep it secret.
pub struct PrivateKey(pub(crate) SigningKey);

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateKey(secret)")
    }
}

/// A key that checks signatures. It may be published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublicKey(pub(crate) VerifyingKey);

impl PrivateKey {
    /// Makes a key of random numbers of the operating system, and writes it and its public key to files that must
    /// not exist. Nothing else makes a key.
    pub fn create(private: &Path, public: &Path) -> Result<Self, VerifyError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|_| VerifyError::NoRandomness)?;
        let key = SigningKey::from_bytes(&secret);
        let text = key
            .to_pkcs8_pem(LineEnding::LF)
            .map_err(|_| VerifyError::NoRandomness)?;
        let public_text = key.verifying_key().to_public_key_pem(LineEnding::LF);
        let public_text = public_text.map_err(|_| VerifyError::NoRandomness)?;
        write_new(public, public_text.as_bytes(), false)?;
        write_new(private, text.as_bytes(), true)?;
        Ok(Self(key))
    }

    /// Reads a key.
    pub fn read(path: &Path) -> Result<Self, VerifyError> {
        let key = String::from_utf8(read(path)?).ok();
        let key = key.and_then(|text| SigningKey::from_pkcs8_pem(&text).ok());
        key.map(Self).ok_or(VerifyError::NotAKey {
            path: path.into(),
            kind: "private",
        })
    }

    /// The key by which its signatures are checked.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }
}

impl PublicKey {
    /// Reads a key.
    pub fn read(path: &Path) -> Result<Self, VerifyError> {
        let key = String::from_utf8(read(path)?).ok();
        let key = key.and_then(|text| VerifyingKey::from_public_key_pem(&text).ok());
        key.map(Self).ok_or(VerifyError::NotAKey {
            path: path.into(),
            kind: "public",
        })
    }
}

/// Writes a file that must not exist; a secret one only its owner may read.
pub(crate) fn write_new(path: &Path, bytes: &[u8], secret: bool) -> Result<(), VerifyError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if secret {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = secret;
    let written = options.open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|source| VerifyError::Io {
        action: "create",
        path: path.into(),
        source,
    })
}
