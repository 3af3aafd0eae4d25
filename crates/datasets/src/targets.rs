//! What is to be predicted of each record, how much it counts, and whose it is.

use crate::batch::Labels;
use crate::random::SplitMix;
use crate::target::{NumberLoss, Target, TargetKind, Truth};
use anyhow::{Result, bail, ensure};
use burn::tensor::{Device, Tensor, TensorData};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tacita::Units;

/// What is to be predicted of each record.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    of: Of,
    /// One for each record, or none if all count alike.
    weights: Vec<f32>,
    /// Which records are of one person; none if each is a unit of its own.
    people: Option<Arc<Units>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Of {
    Classes(Vec<u16>),
    Numbers(Vec<f32>, NumberLoss),
    /// So many labels of each record, one after another.
    Labels(usize, Vec<u8>),
}

impl Default for Targets {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<u16>> for Targets {
    fn from(classes: Vec<u16>) -> Self {
        Self {
            of: Of::Classes(classes),
            weights: Vec::new(),
            people: None,
        }
    }
}

impl Targets {
    /// No records yet of a target.
    pub fn of(target: &Target) -> Self {
        let loss = match target {
            Target::Number(number) => number.loss,
            _ => NumberLoss::default(),
        };
        Self::none(target.kind(), target.names().len(), loss)
    }

    /// No records yet, of a kind with so many outputs.
    pub fn none(kind: TargetKind, outputs: usize, loss: NumberLoss) -> Self {
        let of = match kind {
            TargetKind::Class => Of::Classes(Vec::new()),
            TargetKind::Number => Of::Numbers(Vec::new(), loss),
            TargetKind::Labels => Of::Labels(outputs, Vec::new()),
        };
        Self {
            of,
            weights: Vec::new(),
            people: None,
        }
    }

    /// The same of records that belong to people.
    #[must_use]
    pub fn of_people(self, people: Units) -> Self {
        Self {
            people: Some(Arc::new(people)),
            ..self
        }
    }

    /// One vector for each unit of privacy: for each record, or for each person the mean of the vectors of all their
    /// records. If those have norms of at most 1, so have the means.
    pub fn of_each_unit<'a>(
        &'a self,
        vector: impl Fn(usize) -> Vec<f64> + 'a,
    ) -> Box<dyn Iterator<Item = Vec<f64>> + 'a> {
        match self.people() {
            None => Box::new((0..self.len()).map(vector)),
            Some(people) => Box::new((0..people.count()).map(move |person| {
                let records = people.records(person);
                let mut sum = Vec::new();
                for record in records {
                    let vector = vector(*record);
                    sum.resize(vector.len(), 0.0);
                    sum.iter_mut()
                        .zip(vector)
                        .for_each(|(sum, value)| *sum += value);
                }
                let share = 1.0 / records.len().max(1) as f64;
                sum.into_iter().map(|value| value * share).collect()
            })),
        }
    }

    /// Which records are of one person; none if each is a unit of its own.
    pub fn people(&self) -> Option<&Units> {
        self.people.as_deref()
    }

    /// Classes, of which each counts so much; all alike if there are no weights.
    pub fn by_class(classes: Vec<u16>, weights: &[f32]) -> Self {
        let of = |class: &u16| weights.get(usize::from(*class)).copied();
        Self {
            weights: classes.iter().filter_map(of).collect(),
            of: Of::Classes(classes),
            people: None,
        }
    }

    /// Adds a record.
    pub fn push(&mut self, truth: Truth, weight: Option<f32>) -> Result<()> {
        match (&mut self.of, truth) {
            (Of::Classes(all), Truth::Class(class)) => all.push(class),
            (Of::Numbers(all, _), Truth::Number(number)) => all.push(number),
            (Of::Labels(width, all), Truth::Labels(set)) if set.len() == *width => all.extend(set),
            _ => bail!("a record has another kind of target than the others"),
        }
        self.weights.extend(weight);
        Ok(())
    }

    /// None yet, of the same kind.
    pub(crate) fn none_yet(&self) -> Self {
        let of = match &self.of {
            Of::Classes(_) => Of::Classes(Vec::new()),
            Of::Numbers(_, loss) => Of::Numbers(Vec::new(), *loss),
            Of::Labels(width, _) => Of::Labels(*width, Vec::new()),
        };
        Self {
            of,
            weights: Vec::new(),
            people: None,
        }
    }

    /// Labels of each record; 0 if the targets are of another kind.
    pub(crate) fn outputs(&self) -> usize {
        match &self.of {
            Of::Labels(width, _) => *width,
            _ => 0,
        }
    }

    /// Whether records count differently.
    pub(crate) fn are_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Appends the bytes of a record's target and weight, in little-endian order.
    pub(crate) fn write(&self, at: usize, bytes: &mut Vec<u8>) {
        match &self.of {
            Of::Classes(all) => bytes.extend(all[at].to_le_bytes()),
            Of::Numbers(all, _) => bytes.extend(all[at].to_le_bytes()),
            Of::Labels(width, all) => bytes.extend(&all[at * width..(at + 1) * width]),
        }
        if self.are_weighted() {
            bytes.extend(self.weights[at].to_le_bytes());
        }
    }

    /// Adds the record of these bytes.
    pub(crate) fn read(&mut self, bytes: &[u8], weighted: bool) -> Result<()> {
        let (target, weight) = match weighted {
            true => bytes.split_at_checked(bytes.len().saturating_sub(4)),
            false => Some((bytes, &[][..])),
        }
        .unwrap_or_default();
        let truth = match (&self.of, target) {
            (Of::Classes(_), [low, high]) => Truth::Class(u16::from_le_bytes([*low, *high])),
            (Of::Numbers(..), [a, b, c, d]) => Truth::Number(f32::from_le_bytes([*a, *b, *c, *d])),
            (Of::Labels(..), set) => Truth::Labels(set.to_vec()),
            _ => bail!("a target of another kind"),
        };
        let weight = weight.try_into().ok().map(f32::from_le_bytes);
        self.push(truth, weight)
    }

    pub(crate) fn digest(&self, hash: &mut Sha256) {
        match &self.of {
            Of::Classes(all) => all
                .iter()
                .for_each(|class| hash.update(class.to_le_bytes())),
            Of::Numbers(all, _) => all
                .iter()
                .for_each(|number| hash.update(number.to_le_bytes())),
            Of::Labels(_, all) => hash.update(all),
        }
        self.weights
            .iter()
            .for_each(|weight| hash.update(weight.to_le_bytes()));
    }

    /// Adds others of the same kind; where only some records have weights, the others count fully.
    pub(crate) fn append(&mut self, others: &Self) -> Result<()> {
        ensure!(
            self.people.is_none() && others.people.is_none(),
            "records of people cannot be joined with others"
        );
        if self.is_empty() || (self.are_weighted() && others.are_weighted()) {
            self.weights.extend(&others.weights);
        } else if self.are_weighted() || others.are_weighted() {
            let weights = |of: &Self| (0..of.len()).map(|at| of.weight(at)).collect::<Vec<f32>>();
            self.weights = [weights(self), weights(others)].concat();
        }
        match (&mut self.of, &others.of) {
            (Of::Classes(all), Of::Classes(more)) => all.extend(more),
            (Of::Numbers(all, _), Of::Numbers(more, _)) => all.extend(more),
            (Of::Labels(width, all), Of::Labels(other, more)) if width == other => all.extend(more),
            _ => bail!("targets of another kind"),
        }
        Ok(())
    }

    /// How many records.
    pub fn len(&self) -> usize {
        match &self.of {
            Of::Classes(all) => all.len(),
            Of::Numbers(all, _) => all.len(),
            Of::Labels(width, all) => all.len() / width.max(&1),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their kind.
    pub fn kind(&self) -> TargetKind {
        match &self.of {
            Of::Classes(_) => TargetKind::Class,
            Of::Numbers(..) => TargetKind::Number,
            Of::Labels(..) => TargetKind::Labels,
        }
    }

    /// The class of each record; none if the targets are of another kind.
    pub fn classes(&self) -> &[u16] {
        match &self.of {
            Of::Classes(all) => all,
            _ => &[],
        }
    }

    /// The scaled number of each record; none if the targets are of another kind.
    pub fn numbers(&self) -> &[f32] {
        match &self.of {
            Of::Numbers(all, _) => all,
            _ => &[],
        }
    }

    /// The labels of all records, one record after another; none if the targets are of another kind.
    pub fn labels(&self) -> &[u8] {
        match &self.of {
            Of::Labels(_, all) => all,
            _ => &[],
        }
    }

    /// How much a record counts, between 0 and 1.
    pub fn weight(&self, index: usize) -> f32 {
        self.weights.get(index).copied().unwrap_or(1.0)
    }

    /// Each must be one of `outputs` classes, or have as many labels.
    pub(crate) fn check(&self, outputs: usize) -> Result<()> {
        if !self.weights.is_empty() {
            ensure!(
                self.weights.len() == self.len(),
                "{} weights for {} records",
                self.weights.len(),
                self.len()
            );
        }
        match &self.of {
            Of::Classes(all) => {
                let wrong = all.iter().position(|class| usize::from(*class) >= outputs);
                ensure!(
                    wrong.is_none(),
                    "record {} has a class number that is not below the number of classes, {outputs}",
                    wrong.unwrap_or(0)
                );
            }
            Of::Numbers(..) => ensure!(outputs == 1, "a number is one output, not {outputs}"),
            Of::Labels(width, _) => {
                ensure!(*width == outputs, "{width} labels for {outputs} outputs");
            }
        }
        Ok(())
    }

    /// Those of some records, as a batch has them.
    pub(crate) fn batch(&self, indices: &[usize], device: &Device) -> Labels {
        let count = indices.len();
        match &self.of {
            Of::Classes(all) => {
                let classes: Vec<i32> = indices.iter().map(|&at| i32::from(all[at])).collect();
                Labels::Classes(Tensor::from_data(TensorData::new(classes, [count]), device))
            }
            Of::Numbers(all, loss) => {
                let numbers: Vec<f32> = indices.iter().map(|&at| all[at]).collect();
                let numbers = Tensor::from_data(TensorData::new(numbers, [count]), device);
                Labels::Numbers(numbers, *loss)
            }
            Of::Labels(width, all) => {
                let of = |at: &usize| all[at * width..(at + 1) * width].iter();
                let set: Vec<f32> = indices
                    .iter()
                    .flat_map(of)
                    .map(|is| f32::from(*is))
                    .collect();
                Labels::Sets(Tensor::from_data(
                    TensorData::new(set, [count, *width]),
                    device,
                ))
            }
        }
    }

    /// Those of synthetic records, of the same kind.
    pub(crate) fn synthetic_batch(
        &self,
        randoms: &mut [SplitMix],
        outputs: usize,
        device: &Device,
    ) -> Labels {
        let all: Vec<usize> = (0..randoms.len()).collect();
        self.synthetic(randoms, outputs).batch(&all, device)
    }

    fn synthetic(&self, randoms: &mut [SplitMix], outputs: usize) -> Self {
        let of = match &self.of {
            Of::Classes(_) => {
                let draw = |random: &mut SplitMix| random.below(outputs.max(1) as u64) as u16;
                Of::Classes(randoms.iter_mut().map(draw).collect())
            }
            Of::Numbers(_, loss) => {
                let draw = |random: &mut SplitMix| random.below(1 << 10) as f32 / 1024.0;
                Of::Numbers(randoms.iter_mut().map(draw).collect(), *loss)
            }
            Of::Labels(width, _) => {
                let draw = |random: &mut SplitMix| -> Vec<u8> {
                    (0..*width).map(|_| random.below(2) as u8).collect()
                };
                Of::Labels(*width, randoms.iter_mut().flat_map(draw).collect())
            }
        };
        Self {
            of,
            weights: Vec::new(),
            people: None,
        }
    }
}
