//! What does not match, and what cannot be known.

use crate::history::{Batches, Divisor, History};
use serde::Serialize;

/// One thing that the reader of a certificate must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// How bad it is.
    pub weight: Weight,
    /// In words.
    pub text: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// A claim does not hold, or nothing shows that it does.
    Wrong,
    /// Not wrong, and better otherwise.
    Caution,
    /// A history cannot show it.
    Unknown,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The reported ε is below the proved lower end.
    EpsilonTooSmall,
    /// The reported ε is below what is proved, and not refuted.
    EpsilonUnproved,
    /// The reported ε is far above the proved one.
    EpsilonLoose,
    /// Something was released without any guarantee.
    NotPrivate,
    /// ε was reported by a limit theorem.
    LimitTheorem,
    /// Batches were shuffled, and not drawn as the history assumes.
    BatchesShuffled,
    /// How batches were drawn.
    BatchesUnknown,
    /// Gradients were divided by a number taken from the data.
    DivisorFromData,
    /// What gradients were divided by.
    DivisorUnknown,
    /// What a noise multiplier is relative to under replace-one.
    ReplaceOne,
    /// Noise of a generator that can be predicted.
    NoiseNotSecure,
    /// Whether a record could move a sum further than the noise is relative to.
    SensitivityUnknown,
    /// Whether settings were chosen with the same records.
    SearchUnknown,
}

impl Finding {
    /// A finding.
    pub(crate) fn new(kind: Kind, weight: Weight, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, weight, text }
    }
}

/// What follows from the circumstances of a run, whatever ε was reported. `sampled` is whether any round was sampled,
/// `replace_one` whether the rounds are stated in that relation.
pub(crate) fn of_circumstances(
    history: &History,
    sampled: bool,
    replace_one: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |kind, weight, text: &str| findings.push(Finding::new(kind, weight, text));
    if history.accountant.as_deref() == Some("gdp") {
        add(
            Kind::LimitTheorem,
            Weight::Wrong,
            "The gdp accountant takes ε from a limit theorem. It is an estimate, below the truth in most settings, and \
             never a guarantee.",
        );
    }
    match history.batches {
        Batches::Shuffled if sampled => add(
            Kind::BatchesShuffled,
            Weight::Wrong,
            "Batches were shuffled, while the history assumes that each record was drawn on its own in each step \
             (Poisson). Its ε does not hold. The figure here is for passes over disjoint batches under replace-one, \
             without amplification by sampling, which is all that is proved.",
        ),
        Batches::Unknown if sampled => add(
            Kind::BatchesUnknown,
            Weight::Unknown,
            "How batches were really drawn. The history has a rate, and not the sampler; the bracket holds if each \
             record was drawn on its own in each step (Poisson), and not for shuffled epochs.",
        ),
        _ => {}
    }
    match history.divisor {
        Divisor::FromData => add(
            Kind::DivisorFromData,
            Weight::Wrong,
            "Gradients were divided by a number that was computed from the data, so that one record more can change \
             the scale of every step. The bracket does not cover that: declare the expected batch size.",
        ),
        Divisor::Unknown => add(
            Kind::DivisorUnknown,
            Weight::Unknown,
            "What the sum of gradients was divided by. The bracket holds for a declared number, and not for one that \
             is computed from the data, such as its length or the size of a batch.",
        ),
        Divisor::Declared => {}
    }
    if replace_one && history.batches != Batches::Shuffled {
        add(
            Kind::ReplaceOne,
            Weight::Caution,
            "Under replace-one a noise multiplier is taken to be relative to how far replacing one record can move the \
             sum, which is twice the clipping threshold. If it is relative to the threshold, ε is larger than stated.",
        );
    }
    if history.secure_noise == Some(false) {
        add(
            Kind::NoiseNotSecure,
            Weight::Caution,
            "Noise came from a generator that is not cryptographic: whoever learns its state can subtract the noise.",
        );
    }
    add(
        Kind::SensitivityUnknown,
        Weight::Unknown,
        "Whether each record could move a sum by no more than the threshold that the noise is relative to, rounding \
         included, and whether nothing else was released.",
    );
    add(
        Kind::SearchUnknown,
        Weight::Unknown,
        "Whether settings were chosen, or data prepared, with the help of the same records: that costs privacy too.",
    );
    findings
}
