//! From settings to what will be released.

use super::Committed;
use crate::run::public_facts::PublicFacts;
use crate::run::settings::Settings;
use crate::utility::Layout;
use anyhow::{Context, Result, bail, ensure};
use tacita::{Budget, Clipping, NoiseSchedule, PaperAccountant, Plan};
use tacita_accounting::Length;

/// The noise of a private estimate of column bounds, in records: enough to hide one, little enough
/// to find the bulk of a few thousand.
pub const BOUNDS_NOISE: f64 = 20.0;

/// The plan of settings whose defaults are filled in.
pub fn plan(settings: &Settings, facts: PublicFacts, committed: Option<Committed>) -> Result<Plan> {
    let delta = settings.delta.unwrap_or(f64::NAN);
    let budget = Budget::new(settings.epsilon.unwrap_or(f64::NAN), delta);
    let noise = committed.map(|run| run.scale).or(settings.noise);
    let mut plan = match (&settings.paper_accountant, noise) {
        // Found again in the same way, with the same claim.
        (Some(name), _) => Plan::as_in_paper(budget, paper_accountant(name)?),
        (None, Some(noise)) => Plan::with_noise(noise, delta),
        (None, None) => Plan::new(budget),
    };
    plan = plan
        .public_record_count(facts.records)
        .expected_batch(settings.batch.unwrap_or(0));
    if let Some(most) = settings.most_records_of_a_person() {
        plan = plan.records_per_unit(most);
    }
    if let Some(most) = settings.kept_of_a_person() {
        let most = u32::try_from(most).context("--records-per-person is too large a number")?;
        plan = plan.owners_of_records(most);
    }
    plan = plan
        .clipping(clipping(settings)?)
        .noise_schedule(noise_schedule(settings)?);
    let mut side_rounds = 0;
    if facts.estimates_bounds {
        plan = plan.statistic(BOUNDS_NOISE);
        side_rounds += 1;
    }
    if let Some(noise) = settings.standardises() {
        plan = plan.statistic(noise);
        side_rounds += 1;
    }
    if let Some(noise) = settings.score_noise.filter(|_| facts.private_test) {
        let scores = committed.map_or(1, |run| run.scores);
        for _ in 0..scores {
            plan = plan.score(match scores {
                1 => Layout::new(facts.target, facts.classes, noise).noise_multiplier(),
                // Two counts, as earlier versions released.
                _ => noise,
            });
        }
        side_rounds += scores;
    }
    // That of a run that is resumed is its ledger's, whatever this version makes of the epochs.
    let committed = committed.map(|run| run.rounds.saturating_sub(side_rounds));
    Ok(match committed.map_or(settings.length(), Length::Steps) {
        Length::Steps(steps) => plan.steps(steps),
        Length::Epochs(epochs) => plan.epochs(epochs),
    })
}

fn clipping(settings: &Settings) -> Result<Clipping> {
    let mut clipping = settings.clipping.clone().unwrap_or_else(Clipping::auto);
    if settings.per_layer {
        clipping = clipping.per_layer();
    }
    if let Some(ratio) = settings.threshold_decay {
        ensure!(
            !clipping.threshold.is_learned(),
            "--threshold-decay goes with --clipping abadi:C; a learned threshold finds its own way"
        );
        clipping = clipping.threshold_decay(ratio);
    }
    Ok(clipping)
}

fn noise_schedule(settings: &Settings) -> Result<NoiseSchedule> {
    Ok(match (settings.growing_mu, &settings.noise_schedule) {
        (Some(_), Some(_)) => bail!("--growing-mu is a noise schedule; leave --noise-schedule out"),
        (Some(ratio), None) => NoiseSchedule::GrowingMu { ratio },
        (None, Some(schedule)) => schedule.clone(),
        (None, None) => NoiseSchedule::Constant,
    })
}

/// `clt`, `rdp`, `zcdp` or `tcdp`.
fn paper_accountant(text: &str) -> Result<PaperAccountant> {
    Ok(match text {
        "clt" => PaperAccountant::CentralLimit,
        "rdp" => PaperAccountant::Renyi,
        "zcdp" => PaperAccountant::ZeroConcentrated,
        "tcdp" => PaperAccountant::TruncatedConcentrated,
        _ => bail!("--paper-accountant {text} is unknown; use clt, rdp, zcdp or tcdp"),
    })
}
