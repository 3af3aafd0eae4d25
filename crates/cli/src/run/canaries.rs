//! Sealed canaries: synthetic records that secret coins put into a run or leave out.
//!
//! The coins are tossed before the first line of the ledger, which holds a SHA-256 over them and a secret number, and are
//! kept in a file of the run folder until the run has ended, so that a run that is resumed has the same canaries. They
//! are no key: noise and sampling have nothing to do with them. Who knows the coins learns nothing of other records; but
//! an audit is worth nothing if whoever makes the model knows them.

use super::run_folder::RunFolder;
use super::settings::Settings;
use crate::files::write_private;
use crate::report;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use tacita::SealedCanaries;
use tacita::ranks::Ranks;
use tacita_accounting::decimal;
use tacita_datasets::{
    Canaries, DataSet, Preparation, RecordSet, Target, TargetKind, hex, word_vectors,
};

/// How many canaries a run may have.
pub const COUNTS: RangeInclusive<u64> = 2..=100_000;

const WARNING: &str =
    "DO NOT PUBLISH before `tacita audit` has opened it: the coins of the canaries of a run";

/// What is hashed before the secret and the coins.
const SEAL: &str = "tacita canaries 1";

/// The coins of a run's canaries, and the secret number that seals them and makes the canaries.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanaryCoins {
    warning: String,
    /// 256 bits, in hexadecimal.
    secret: String,
    /// A 1 for each canary that is in, a 0 for each that is not.
    coins: String,
}

impl CanaryCoins {
    /// Tosses so many coins. Those of a run with a fixed seed follow from the seed.
    pub fn toss(count: u64, seed: Option<u64>) -> Result<Self> {
        let mut random = vec![0_u8; 32 + count.div_ceil(8) as usize];
        match seed {
            None => getrandom::fill(&mut random)
                .map_err(|error| error_of_system(&error))
                .context("no coins were tossed; nothing was spent")?,
            Some(seed) => fill_from_seed(seed, &mut random),
        }
        let (secret, bits) = random.split_at(32);
        let coins = (0..count).map(|at| (bits[(at / 8) as usize] >> (at % 8)) & 1);
        Ok(Self {
            warning: WARNING.into(),
            secret: hex(secret),
            coins: coins.map(|coin| char::from(b'0' + coin)).collect(),
        })
    }

    /// Those that the first rank makes, on all of them.
    pub fn of_first(ranks: &dyn Ranks, make: impl FnOnce() -> Result<Self>) -> Result<Self> {
        let bytes =
            ranks.bytes_of_first(|| Ok::<_, anyhow::Error>(serde_json::to_vec(&make()?)?))?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Coins that are open already.
    pub fn opened(secret: &str, coins: &str) -> Result<Self> {
        let opened = Self {
            warning: WARNING.into(),
            secret: secret.into(),
            coins: coins.into(),
        };
        opened.secret()?;
        ensure!(
            !coins.is_empty() && coins.bytes().all(|coin| matches!(coin, b'0' | b'1')),
            "the coins of canaries are a 0 or a 1 each"
        );
        Ok(opened)
    }

    /// What the ledger commits to: `printf 'tacita canaries 1\n%s\n%s\n' SECRET COINS | sha256sum`.
    pub fn seal(&self) -> SealedCanaries {
        let sealed = format!("{SEAL}\n{}\n{}\n", self.secret, self.coins);
        SealedCanaries {
            count: self.coins.len() as u64,
            sha256: hex(&Sha256::digest(sealed)),
        }
    }

    /// Keeps them in a run folder, for its owner alone to read.
    pub fn write(&self, folder: &RunFolder) -> Result<()> {
        let text = format!("{}\n", serde_json::to_string_pretty(self)?);
        write_private(&folder.canary_coins(), text.as_bytes())
    }

    /// Those of a run, sealed or opened.
    pub fn of(folder: &RunFolder, sealed: &SealedCanaries) -> Result<Self> {
        let Some(audit) = report::audit_of(folder)? else {
            return Self::read(folder, sealed);
        };
        let coins = Self::opened(&audit.secret, &audit.coins)?;
        ensure!(
            coins.seal() == *sealed,
            "{} opens other canaries than the ledger sealed; restore it from a copy",
            folder.audit().display()
        );
        Ok(coins)
    }

    /// Reads those that a ledger sealed.
    fn read(folder: &RunFolder, sealed: &SealedCanaries) -> Result<Self> {
        let path = folder.canary_coins();
        let text = fs::read_to_string(&path).with_context(|| {
            format!(
                "cannot read {}, which says which canaries are in the run; restore it from a copy. Nothing more was spent",
                path.display()
            )
        })?;
        Self::of_text(&text, &path, sealed)
    }

    fn of_text(text: &str, path: &Path, sealed: &SealedCanaries) -> Result<Self> {
        let wrong = || {
            format!(
                "{} does not hold the coins that the ledger sealed: it was edited, or belongs to another run; restore it \
                 from a copy. Nothing more was spent",
                path.display()
            )
        };
        let read: Self = serde_json::from_str(text).with_context(wrong)?;
        let coins = Self::opened(&read.secret, &read.coins).with_context(wrong)?;
        ensure!(coins.seal() == *sealed, "{}", wrong());
        Ok(coins)
    }

    /// Which canaries are in.
    pub fn coins(&self) -> Vec<bool> {
        self.coins.bytes().map(|coin| coin == b'1').collect()
    }

    /// The secret number and the coins, as they are published once they are opened.
    pub fn open(&self) -> (&str, &str) {
        (&self.secret, &self.coins)
    }

    fn secret(&self) -> Result<[u8; 32]> {
        let bytes =
            (0..32).map(|at| u8::from_str_radix(self.secret.get(2 * at..2 * at + 2)?, 16).ok());
        let bytes: Option<Vec<u8>> = bytes.collect();
        let bytes: Option<[u8; 32]> = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes
            .filter(|_| self.secret.len() == 64)
            .context("the secret number of canaries is 64 hexadecimal digits")
    }

    /// The data set with those canaries behind its records that are in.
    pub fn join(&self, data: DataSet, settings: &Settings) -> Result<DataSet> {
        let coins = self.coins().into_iter().zip(0..);
        let inside: Vec<u64> = coins.filter(|(coin, _)| *coin).map(|(_, at)| at).collect();
        let canaries = self.records(&inside, &data.preparation, settings)?;
        Ok(DataSet {
            training: data.training.followed_by(&canaries)?,
            ..data
        })
    }

    /// The canaries of these numbers, whether they are in or not.
    pub fn records(
        &self,
        indices: &[u64],
        preparation: &Preparation,
        settings: &Settings,
    ) -> Result<RecordSet> {
        let options = settings.options(true)?;
        let label = &options.schema.label;
        let target = match label.kind() {
            TargetKind::Class => Target::Classes(preparation.classes.clone()),
            _ => label.target()?,
        };
        let canaries = Canaries {
            preparation,
            target: &target,
            secret: &self.secret()?,
        };
        canaries.records(indices, word_vectors(preparation, &options)?)
    }
}

/// As an error of ours.
fn error_of_system(error: &getrandom::Error) -> anyhow::Error {
    anyhow::anyhow!("the operating system gave no random bytes ({error})")
}

/// Bytes that anyone can compute from a seed, for runs that are not private.
fn fill_from_seed(seed: u64, bytes: &mut [u8]) {
    for (block, chunk) in bytes.chunks_mut(32).enumerate() {
        let hash = Sha256::new()
            .chain_update(SEAL)
            .chain_update(seed.to_le_bytes())
            .chain_update((block as u64).to_le_bytes())
            .finalize();
        chunk.copy_from_slice(&hash[..chunk.len()]);
    }
}

/// What to know of a run with canaries.
pub fn caveat(count: u64) -> String {
    format!(
        "{} synthetic canaries were made for an audit, and a secret coin put each into the training records or left it out. \
         The declared number of records counts the {} that are expected to be in. They change the guarantee of no other \
         record, and cost a little accuracy.",
        decimal::count(count),
        decimal::count(count.div_ceil(2))
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_seal_is_what_sha256sum_says() {
        let coins = CanaryCoins::opened(&"00".repeat(32), "0110").unwrap();
        let seal = coins.seal();
        assert_eq!(seal.count, 4);
        // printf 'tacita canaries 1\n%s\n0110\n' 000…0 | sha256sum (GNU coreutils 9.1)
        assert_eq!(seal.sha256, GOLDEN);
        assert_eq!(coins.coins(), [false, true, true, false]);
        let other = CanaryCoins::opened(&"00".repeat(32), "0111").unwrap();
        assert_ne!(other.seal().sha256, seal.sha256);
    }

    const GOLDEN: &str = "7c75f41f82ffe81629273ab82d0f24c6cdc14e0ec829ab9625026782702e28d2";

    #[test]
    fn coins_of_the_system_are_fair_and_new_every_time() {
        let (one, other) = (
            CanaryCoins::toss(4000, None).unwrap(),
            CanaryCoins::toss(4000, None).unwrap(),
        );
        assert!(one != other);
        let inside = one.coins().iter().filter(|coin| **coin).count();
        // Hoeffding: beyond 2000 ± 200 with probability below 5e-9.
        assert!((1800..=2200).contains(&inside), "{inside}");
        assert!(CanaryCoins::toss(9, Some(7)).unwrap() == CanaryCoins::toss(9, Some(7)).unwrap());
    }

    #[test]
    fn other_coins_than_the_sealed_ones_are_refused() {
        let coins = CanaryCoins::toss(20, None).unwrap();
        let text = serde_json::to_string(&coins).unwrap();
        let path = Path::new("coins.json");
        assert!(CanaryCoins::of_text(&text, path, &coins.seal()).is_ok());
        let other = CanaryCoins::toss(20, None).unwrap().seal();
        assert!(CanaryCoins::of_text(&text, path, &other).is_err());
        let digit = text.replacen("\"coins\":\"", "\"coins\":\"2", 1);
        assert!(CanaryCoins::of_text(&digit, path, &coins.seal()).is_err());
        assert!(CanaryCoins::opened("0g", "01").is_err());
    }
}
