//! A run before its noise is known.

use super::{Committed, plan};
use crate::models::{ModelName, ModelSpec};
use crate::run::canaries;
use crate::run::guard_rails;
use crate::run::public_facts::PublicFacts;
use crate::run::settings::Settings;
use anyhow::{Result, ensure};
use tacita::Plan;
use tacita_datasets::{InputKind, TargetKind};

/// A run whose every setting is known and checked, but for its noise: one that will not stop for its settings.
#[derive(Debug, Clone)]
pub struct DraftRun {
    /// Settings with defaults filled in.
    pub settings: Settings,
    /// What is public of the data.
    pub facts: PublicFacts,
    /// What will be released, up to the scale of its noise.
    pub plan: Plan,
}

impl DraftRun {
    /// Fills in defaults and checks every setting.
    pub fn new(settings: Settings, facts: PublicFacts) -> Result<Self> {
        Self::of(settings, facts, None)
    }

    /// The same for a run that may have been committed to before.
    pub(super) fn of(
        mut settings: Settings,
        facts: PublicFacts,
        committed: Option<Committed>,
    ) -> Result<Self> {
        ensure!(
            settings.noise.is_none() || settings.epsilon.is_none(),
            "--noise fixes the noise and --epsilon finds it; give one of them"
        );
        ensure!(
            settings.noise.is_none() || settings.paper_accountant.is_none(),
            "--noise fixes the noise and --paper-accountant finds it; give one of them"
        );
        ensure!(
            settings.steps.is_none() || settings.epochs.is_none(),
            "--steps and --epochs both set the length; give one of them"
        );
        settings.fill(facts);
        let plan = plan::plan(&settings, facts, committed)?;
        check(&settings, facts, committed.is_some())?;
        Ok(Self {
            settings,
            facts,
            plan,
        })
    }

    /// The model that the run trains.
    pub fn model(&self) -> ModelSpec {
        let named = self.settings.model;
        ModelSpec {
            name: named.unwrap_or_else(|| ModelName::suited_to(self.facts.shape)),
            shape: self.facts.shape,
            classes: self.facts.classes,
            hidden: self.settings.hidden,
            seed: self.settings.seed,
        }
    }
}

/// Checks settings whose defaults are filled in.
fn check(settings: &Settings, facts: PublicFacts, resumed: bool) -> Result<()> {
    if !resumed {
        guard_rails::check_delta(settings, facts.records)?;
        guard_rails::check_estimate(settings, facts.records, plan::BOUNDS_NOISE)?;
    }
    let rate = settings.learning_rate.unwrap_or(f64::NAN);
    ensure!(
        rate > 0.0 && rate.is_finite(),
        "--learning-rate must be a finite number above 0, got {rate}"
    );
    if let Some(decay) = settings.average {
        ensure!(
            decay > 0.0 && decay < 1.0,
            "--average must be above 0 and below 1, got {decay}"
        );
    }
    if let Some(decay) = settings.weight_decay {
        ensure!(
            decay >= 0.0 && decay.is_finite(),
            "--weight-decay must be a finite number of at least 0, got {decay}"
        );
    }
    ensure!(
        !facts.private_test || settings.score_noise.is_some() || settings.public_test || resumed,
        "the test records are private, so an exact accuracy on them would leak; say --public-test if \
         they are public, --score-noise 20 for a noisy accuracy that is part of the budget, or leave \
         the test records out"
    );
    ensure!(
        settings.score_noise.is_none() || facts.private_test,
        "--score-noise is for private test records; give them with --test or --test-share, and without \
         --public-test"
    );
    let of_people =
        settings.most_records_of_a_person().is_some() || settings.kept_of_a_person().is_some();
    if of_people {
        ensure!(
            settings.audit.is_none(),
            "--audit puts in canaries that are records of nobody, so it would measure another guarantee than the one for \
             people; leave --audit or --person out"
        );
        ensure!(
            settings.account.is_none() || resumed,
            "an account adds up guarantees for records, or for people with so many records each; one that --person gives \
             is for whole people and cannot be added to them yet. Leave --account or --person out. Nothing was spent"
        );
    }
    if let Some(count) = settings.audit {
        ensure!(
            canaries::COUNTS.contains(&count),
            "--audit takes between {} and {} canaries, got {count}; a thousand are enough to see a gross fault",
            canaries::COUNTS.start(),
            canaries::COUNTS.end()
        );
    }
    if let Some(noise) = settings.standardise {
        ensure!(
            noise >= 0.0 && noise.is_finite(),
            "--standardise must be a finite number of at least 0, got {noise}"
        );
        ensure!(
            noise == 0.0 || facts.kind == InputKind::Table,
            "--standardise scales the columns of a table, and the data are none; leave it out"
        );
    }
    let precision = settings.precision.unwrap_or_default();
    (settings.device.unwrap_or_default()).check_precision(precision)?;
    for (flag, value) in [
        ("--test-every", settings.test_every),
        ("--checkpoint-every", settings.checkpoint_every),
    ] {
        ensure!(value != Some(0), "{flag} must be at least 1, got 0");
    }
    ensure!(
        settings.test_every.is_none() || facts.target != TargetKind::Number,
        "--test-every shows shares of right answers, which a number to predict has not; leave it out"
    );
    ensure!(
        settings.test_every.is_none() || facts.public_test,
        "--test-every shows scores on public test records, and there are none; give --test or \
         --test-share with --public-test"
    );
    Ok(())
}
