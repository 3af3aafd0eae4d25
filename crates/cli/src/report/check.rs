//! Facts that contradict themselves or the ledger are refused: a report repeats no claim it can check.

use super::facts::{Evaluation, FORMAT, Facts, KeySource, Origin, PhaseKind, Trace, Tuning};
use super::figures;
use crate::utility::Utility;
use anyhow::{Context, Result, ensure};
use tacita::LedgerRecord;
use tacita_accounting::{Round, check_delta};

/// An error if the facts contradict themselves.
pub fn check(facts: &Facts) -> Result<()> {
    ensure!(
        facts.tacita_facts == FORMAT,
        "facts of format {}, but this version reads format {FORMAT}; use the version of tacita that \
         made them",
        facts.tacita_facts
    );
    check_delta(facts.delta)?;
    ensure!(
        facts.delta_reserved >= 0.0 && facts.delta_reserved < facts.delta,
        "delta_reserved must be at least 0 and below delta = {:e}, got {:e}",
        facts.delta,
        facts.delta_reserved
    );
    if let Some(budget) = facts.budget {
        ensure!(
            budget > 0.0 && budget.is_finite(),
            "budget must be a finite number above 0, got {budget}"
        );
    }
    facts.plan.check_not_empty()?;
    if let Tuning::PartOfSearch {
        epsilon_upper,
        delta,
    } = facts.tuning
    {
        check_delta(delta)?;
        let alone = figures::epsilon_lower(&facts.plan, delta)?;
        ensure!(
            epsilon_upper.is_finite() && epsilon_upper >= alone,
            "the search is said to keep epsilon {epsilon_upper} at delta {delta:e}, but this run alone has at \
             least {alone}; the facts were edited or belong to another run"
        );
    }
    ensure!(
        facts.rounds_made <= facts.plan.rounds_made(),
        "rounds_made is {}, but the plan has only {} rounds",
        facts.rounds_made,
        facts.plan.rounds_made()
    );
    check_phases(facts)?;
    check_trace(&facts.learning_rate).context("learning_rate")?;
    ensure!(!facts.thresholds.is_empty(), "thresholds must not be empty");
    for trace in &facts.thresholds {
        check_trace(trace).context("thresholds")?;
    }
    if let Some(evaluation) = &facts.evaluation {
        check_evaluation(evaluation).context("evaluation")?;
    }
    Ok(())
}

/// An error if the run's own ledger disagrees: another plan, other keys, another search, or fewer rounds
/// than the facts claim. (More rounds are possible: rounds lost in a crash count as spent.)
pub fn agree(facts: &Facts, ledger: &LedgerRecord) -> Result<()> {
    let (plan, private_keys) = (&ledger.plan, ledger.private);
    let released = ledger.released.rounds_made();
    ensure!(
        facts.plan == *plan,
        "the facts and the ledger hold different plans ({} and {} rounds); one of them was edited or \
         belongs to another run",
        facts.plan.rounds_made(),
        plan.rounds_made()
    );
    let claimed = facts.keys == KeySource::OperatingSystem;
    ensure!(
        claimed == private_keys,
        "the facts say {}, the ledger says {}; one of them was edited or belongs to another run",
        key_words(claimed),
        key_words(private_keys)
    );
    ensure!(
        released >= facts.rounds_made,
        "the facts say that {} rounds were released, the ledger holds {released}; the ledger was cut \
         short or belongs to another run",
        facts.rounds_made
    );
    agree_on_search(facts, ledger)
}

/// A run of a search states the guarantee of the search, which its ledger holds.
fn agree_on_search(facts: &Facts, ledger: &LedgerRecord) -> Result<()> {
    let Some(search) = ledger.label.search else {
        // Ledgers of earlier versions did not say.
        let claimed = matches!(facts.tuning, Tuning::PartOfSearch { .. });
        ensure!(
            !claimed || !ledger.label.binds_files,
            "the facts say that the run is a part of a search, the ledger does not; one of them was edited or \
             belongs to another run"
        );
        return Ok(());
    };
    ensure!(
        !ledger.is_secret(),
        "the ledger is of one secret run of a random search, of which only the best may be seen: neither the run \
         nor its ledger has a guarantee of its own"
    );
    let stated = Tuning::PartOfSearch {
        epsilon_upper: search.epsilon_upper,
        delta: search.delta,
    };
    ensure!(
        facts.tuning == stated,
        "the ledger says that the run is a part of a search that keeps epsilon {} at delta {:e}, the facts do not; \
         one of them was edited or belongs to another run",
        search.epsilon_upper,
        search.delta
    );
    Ok(())
}

fn key_words(private: bool) -> &'static str {
    if private {
        "that keys were secret"
    } else {
        "that a fixed seed was used"
    }
}

/// The rounds of each phase, in order.
pub fn rounds_of_phases(facts: &Facts) -> Vec<Vec<Round>> {
    let mut first = 0;
    let plan = &facts.plan;
    let slice = |first: u64, last: u64| {
        let mut at = 0;
        let mut rounds = Vec::new();
        for round in plan.rounds() {
            let (begin, end) = (at.max(first), (at + round.times).min(last));
            if begin < end {
                rounds.push(round.clone().times(end - begin));
            }
            at += round.times;
        }
        rounds
    };
    (facts.phases.iter())
        .map(|phase| {
            let rounds = slice(first, first.saturating_add(phase.rounds));
            first = first.saturating_add(phase.rounds);
            rounds
        })
        .collect()
}

fn check_phases(facts: &Facts) -> Result<()> {
    let total = (facts.phases.iter()).fold(0_u64, |sum, phase| sum.saturating_add(phase.rounds));
    ensure!(
        total == facts.plan.rounds_made(),
        "the phases have {total} rounds in all, the plan has {}; every release needs a purpose",
        facts.plan.rounds_made()
    );
    let of_kind = |kind| facts.phases.iter().filter(|p| p.kind == kind).count();
    ensure!(
        of_kind(PhaseKind::Training) == 1,
        "a run has one training phase, got {}",
        of_kind(PhaseKind::Training)
    );
    for (phase, rounds) in facts.phases.iter().zip(rounds_of_phases(facts)) {
        ensure!(phase.rounds > 0, "phase `{}` has no rounds", phase.what);
        for round in rounds {
            ensure!(
                round.noise_multipliers.len() == phase.queries.len(),
                "phase `{}` names {} queries, but a round of it answers {}",
                phase.what,
                phase.queries.len(),
                round.noise_multipliers.len()
            );
        }
    }
    let estimated = (facts.preparation.iter()).any(|p| p.origin == Origin::PrivatelyEstimated);
    ensure!(
        !estimated || of_kind(PhaseKind::Preparation) > 0,
        "data preparation is said to be privately estimated, but the plan has no preparation phase \
         that pays for it"
    );
    let noisy = matches!(facts.evaluation, Some(Evaluation::NoisyCount { .. }))
        || facts.utility.as_ref().is_some_and(Utility::is_noisy);
    ensure!(
        !noisy || of_kind(PhaseKind::Evaluation) > 0,
        "the accuracy is said to be a noisy count, but the plan has no evaluation phase that pays for it"
    );
    Ok(())
}

fn check_trace(trace: &Trace) -> Result<()> {
    ensure!(!trace.points.is_empty(), "`{}` has no points", trace.name);
    ensure!(
        trace.points.is_sorted_by(|a, b| a.0 < b.0),
        "the steps of `{}` must grow",
        trace.name
    );
    let bad = trace.points.iter().find(|point| !point.1.is_finite());
    ensure!(
        bad.is_none(),
        "`{}` has a value that is not a number",
        trace.name
    );
    Ok(())
}

fn check_evaluation(evaluation: &Evaluation) -> Result<()> {
    let share = |accuracy: f64| {
        ensure!(
            (0.0..=1.0).contains(&accuracy),
            "an accuracy is a share in [0, 1], got {accuracy}"
        );
        Ok(())
    };
    match evaluation {
        Evaluation::PublicTest {
            accuracy,
            over_steps,
            ..
        } => {
            share(*accuracy)?;
            over_steps.iter().try_for_each(|point| share(point.1))
        }
        // Noise may carry it outside [0, 1].
        Evaluation::NoisyCount {
            accuracy,
            noise_std,
            ..
        } => {
            ensure!(
                accuracy.is_finite() && noise_std.is_finite() && *noise_std > 0.0,
                "a noisy accuracy and its noise_std must be numbers, the latter above 0; got \
                 {accuracy} and {noise_std}"
            );
            Ok(())
        }
    }
}
