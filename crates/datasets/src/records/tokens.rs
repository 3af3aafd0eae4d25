//! Token sequences of one length.

use super::partly_on_disk::{self, PartlyOnDisk};
use super::{Chunk, Targets, check};
use crate::Labelled;
use crate::disk::DiskRecords;
use crate::random::SplitMix;
use anyhow::{Result, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use sha2::{Digest, Sha256};
use tacita::{ReadRecords, Records, Units, UnreadableRecords};

/// Token sequences with their classes; token 0 is padding.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens {
    length: usize,
    vocabulary: usize,
    classes: usize,
    tokens: Vec<u16>,
    targets: Targets,
    /// Records that come before those in memory.
    disk: Option<DiskRecords>,
}

impl Tokens {
    /// Sequences of `length` tokens below `vocabulary`.
    pub fn new(
        length: usize,
        vocabulary: usize,
        classes: usize,
        tokens: Vec<u16>,
        targets: impl Into<Targets>,
    ) -> Result<Self> {
        let targets = targets.into();
        check(tokens.len(), length, &targets, classes)?;
        ensure!(
            tokens.iter().all(|&token| usize::from(token) < vocabulary),
            "a token is not below the size of the vocabulary, {vocabulary}"
        );
        Ok(Self {
            length,
            vocabulary,
            classes,
            tokens,
            targets,
            disk: None,
        })
    }

    /// Records on a disk.
    pub(crate) fn on_disk(
        length: usize,
        vocabulary: usize,
        classes: usize,
        disk: DiskRecords,
    ) -> Result<Self> {
        let none = disk.no_targets().clone();
        Ok(Self {
            disk: Some(disk),
            ..Self::new(length, vocabulary, classes, Vec::new(), none)?
        })
    }

    /// Tokens of each record.
    pub fn length(&self) -> usize {
        self.length
    }

    /// One more than the highest token.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// What is to be predicted of each record.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The class of each record; none if something else is to be predicted.
    pub fn labels(&self) -> &[u16] {
        self.targets.classes()
    }

    pub(super) fn digest(&self, hash: &mut Sha256) {
        self.tokens
            .iter()
            .for_each(|token| hash.update(token.to_le_bytes()));
    }

    /// The same records with others after them.
    pub(super) fn followed_by(mut self, others: &Self) -> Result<Self> {
        ensure!(
            others.disk.is_none(),
            "only records in memory can follow others"
        );
        ensure!(
            self.length == others.length && self.vocabulary == others.vocabulary,
            "token sequences of another kind"
        );
        self.tokens.extend_from_slice(&others.tokens);
        self.targets.append(&others.targets)?;
        Ok(self)
    }

    fn tensor(&self, tokens: Vec<i32>, device: &Device) -> Tensor<2, Int> {
        let shape = [tokens.len() / self.length, self.length];
        Tensor::from_data(TensorData::new(tokens, shape), device)
    }
}

impl PartlyOnDisk for Tokens {
    fn disk(&self) -> Option<&DiskRecords> {
        self.disk.as_ref()
    }

    fn in_memory(&self) -> Self {
        Self {
            disk: None,
            ..self.clone()
        }
    }

    fn of_chunk(&self, chunk: Chunk) -> Result<Self> {
        Self::new(
            self.length,
            self.vocabulary,
            self.classes,
            chunk.values.tokens,
            chunk.targets,
        )
    }

    fn with(self, others: &Self) -> Result<Self> {
        self.followed_by(others)
    }
}

impl Records for Tokens {
    type Batch = Labelled<Tensor<2, Int>>;

    fn count(&self) -> usize {
        self.disk.as_ref().map_or(0, DiskRecords::count) + self.targets.len()
    }

    fn weight(&self, index: usize) -> f32 {
        match &self.disk {
            Some(disk) => partly_on_disk::weight(disk, index, &self.targets),
            None => self.targets.weight(index),
        }
    }

    fn read(
        &self,
        indices: &[usize],
        device: &Device,
    ) -> Result<ReadRecords<Self::Batch>, UnreadableRecords> {
        partly_on_disk::read(self, indices, device)
    }

    fn read_ahead(&self, next: &mut dyn FnMut() -> Vec<usize>) {
        if let Some(disk) = &self.disk {
            disk.read_ahead(next());
        }
    }

    fn units(&self) -> Option<&Units> {
        self.targets.people()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        if self.disk.is_some() {
            return partly_on_disk::batch(self, indices, device);
        }
        let mut tokens = Vec::with_capacity(indices.len() * self.length);
        for &index in indices {
            let record = &self.tokens[index * self.length..][..self.length];
            tokens.extend(record.iter().map(|&token| i32::from(token)));
        }
        Labelled {
            inputs: self.tensor(tokens, device),
            labels: self.targets.batch(indices, device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let mut tokens = Vec::with_capacity(seeds.len() * self.length);
        let mut randoms: Vec<SplitMix> = seeds.iter().map(|&seed| SplitMix(seed)).collect();
        for random in &mut randoms {
            tokens.extend((0..self.length).map(|_| random.below(self.vocabulary as u64) as i32));
        }
        Labelled {
            inputs: self.tensor(tokens, device),
            labels: self
                .targets
                .synthetic_batch(&mut randoms, self.classes, device),
        }
    }
}
