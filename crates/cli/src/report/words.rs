//! The statements of a report, in words. The page and the JSON say the same.

use super::check::rounds_of_phases;
use super::facts::{
    AboutRun, AccountFacts, Facts, KeySource, Origin, PhaseKind, Trace, TraceOrigin, Tuning,
};
use super::figures::Figures;
use super::files::FileHashes;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tacita_accounting::decimal::{count, down, exact, percent_up, plain, up};
use tacita_accounting::{Neighbours, Round, Sampling};

/// One statement: what it is about, and what is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// A word or two.
    pub topic: Cow<'static, str>,
    /// The statement.
    pub text: String,
}

fn say(topic: &'static str, text: impl Into<String>) -> Statement {
    Statement {
        topic: topic.into(),
        text: text.into(),
    }
}

/// `ε ≤ 8 at δ = 2.6 × 10⁻⁵`.
pub fn bound(figures: &Figures) -> String {
    let delta = exact(figures.delta);
    match figures.certified.upper {
        Some(upper) => format!("ε ≤ {} at δ = {delta}", up(upper, 5)),
        None => format!("no finite ε at δ = {delta}: there is too little noise"),
    }
}

/// Both proved ends, or what there is of them.
pub fn bracket(figures: &Figures) -> String {
    match (figures.certified.lower, figures.certified.upper) {
        (Some(lower), Some(upper)) => format!(
            "The true ε of the plan lies between {} and {}; both ends are proved",
            down(lower, 6),
            up(upper, 6)
        ),
        (None, Some(_)) => "A proved upper bound; no lower end is known".to_string(),
        (_, None) => "Nothing finite can be proved".to_string(),
    }
}

/// Why a run is not private; empty if it is.
pub fn faults(facts: &Facts) -> Vec<&'static str> {
    let mut faults = Vec::new();
    if facts.keys == KeySource::FixedSeed {
        faults.push(
            "The noise came from a fixed seed: anyone who knows or guesses the seed can subtract it.",
        );
    }
    if facts.diagnostics {
        faults.push(
            "Diagnostics were on: values computed from private records without noise were shown or stored.",
        );
    }
    faults
}

/// What is promised, to whom, against whom.
pub fn promise(facts: &Facts) -> Vec<Statement> {
    let mut promise = relation(facts);
    promise.push(say("Released", released(facts)));
    promise.push(say("Never released", kept_secret(facts)));
    promise
}

/// What a search promises, of one run of which these are the facts.
pub fn promise_of_search(facts: &Facts, released: &'static str) -> Vec<Statement> {
    let records = count(facts.data.public_record_count);
    let data = format!(
        "{}; {records} {}, declared as public.",
        facts.data.name,
        facts.data.counted()
    );
    let mut promise = relation(facts);
    promise.push(say("Data set", data));
    promise.push(say("Released", released));
    promise
}

/// Who is protected, and against whom.
fn relation(facts: &Facts) -> Vec<Statement> {
    vec![
        say("Unit of privacy", unit(facts)),
        say("Neighbouring data sets", neighbours(facts)),
        say(
            "Trust model",
            "Central: whoever trains is trusted and sees the records. The attacker is assumed to see \
             everything released, all noisy sums of all steps included, and to know all other records.",
        ),
    ]
}

fn kept_secret(facts: &Facts) -> &'static str {
    if facts.diagnostics {
        return "NOT KEPT: diagnostics showed or stored values without noise.";
    }
    "Gradients without noise, their norms, training losses, which records were drawn, how many, and how long \
     a step took."
}

/// Who or what is protected.
pub fn unit(facts: &Facts) -> String {
    let record = &facts.data.record;
    if let Some(most) = facts.data.records_per_person {
        return format!(
            "One person with all their records, however many (at most {most} of them take part in a step); a record is \
             {record}."
        );
    }
    match facts.plan.records_per_unit() {
        1 => format!("One record: {record}."),
        k => format!("One owner of up to {k} records; a record is {record}."),
    }
}

fn neighbours(facts: &Facts) -> String {
    match facts.plan.neighbours() {
        Neighbours::AddOrRemoveOne => {
            "Add or remove one (add-or-remove-one): the unit is in the data set or is not."
        }
        Neighbours::ReplaceOne => {
            "Replace one (replace-one): the unit has other values; the number of records is the same."
        }
    }
    .to_string()
}

fn released(facts: &Facts) -> String {
    let queries: Vec<String> = (facts.phases.iter())
        .flat_map(|phase| phase.queries.iter().cloned())
        .collect();
    let mut released = facts.released.clone();
    released.push(format!("the noisy answers ({})", queries.join(", ")));
    released.push("this report and the ledger".to_string());
    let text = released.join("; ") + ".";
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text,
    }
}

/// How the mechanism ran.
pub fn mechanism(facts: &Facts) -> Vec<Statement> {
    let (mut draws, mut sizes, mut noises) = (Vec::new(), Vec::new(), Vec::new());
    for (phase, rounds) in facts.phases.iter().zip(rounds_of_phases(facts)) {
        let mut prefix = String::new();
        if phase.kind == PhaseKind::Training {
            sizes.push(say("Rate", rate(&rounds, facts)));
            sizes.push(say("Steps", steps(facts, phase.rounds)));
        } else {
            let plural = if phase.rounds == 1 { "" } else { "s" };
            prefix = format!("{} ({} round{plural}): ", phase.what, count(phase.rounds));
        }
        draws.push(say(
            "Sampling really used",
            prefix.clone() + &sampling(&rounds),
        ));
        for (index, query) in phase.queries.iter().enumerate() {
            let text = format!("{prefix}{query}: {}", noise(&rounds, index));
            noises.push(say("Noise multiplier", text));
        }
    }
    let mut statements = [draws, sizes, noises].concat();
    statements.push(say("Clipping", format!("{}.", facts.clipping)));
    for trace in &facts.thresholds {
        statements.push(say("Threshold", schedule(trace)));
    }
    statements.push(say("Optimiser", format!("{}.", facts.optimizer)));
    statements.push(say("Learning rate", schedule(&facts.learning_rate)));
    statements
}

fn sampling(rounds: &[Round]) -> String {
    let mut said: Vec<&str> = Vec::new();
    for round in rounds {
        let text = match round.sampling {
            Sampling::Poisson { rate } if rate >= 1.0 => {
                "Poisson at rate 1: every record takes part in every step"
            }
            Sampling::Poisson { .. } => {
                "Poisson: every record is drawn on its own in every step, so batches vary in size. \
                 No shuffled epochs"
            }
            Sampling::Full {} => "every record takes part in every round",
            Sampling::FixedSize { .. } => {
                "a random subset of fixed size, without replacement, in every step"
            }
            Sampling::Partition { .. } => "disjoint batches, each record in one of them per pass",
        };
        if !said.contains(&text) {
            said.push(text);
        }
    }
    said.join("; ") + "."
}

fn rate(rounds: &[Round], facts: &Facts) -> String {
    let shares = rounds.iter().map(|round| match round.sampling {
        Sampling::Poisson { rate } => rate,
        Sampling::FixedSize { batch, of } => batch as f64 / of as f64,
        Sampling::Partition { batches } => (batches as f64).recip(),
        Sampling::Full {} => 1.0,
    });
    format!(
        "{} per step, for {} {} declared as public knowledge.",
        range(shares, plain),
        count(facts.data.public_record_count),
        facts.data.counted()
    )
}

fn steps(facts: &Facts, planned: u64) -> String {
    if facts.rounds_made < facts.plan.rounds_made() {
        format!(
            "{} planned; the run stopped early (see above).",
            count(planned)
        )
    } else {
        format!("{}, as planned.", count(planned))
    }
}

fn noise(rounds: &[Round], query: usize) -> String {
    let multipliers: Vec<f64> = (rounds.iter())
        .filter_map(|round| round.noise_multipliers.get(query).copied())
        .collect();
    let (first, last) = (multipliers.first(), multipliers.last());
    let shown = |z: &f64| down(*z, 5);
    match (first, last) {
        (Some(first), Some(_)) if multipliers.iter().all(|z| z == first) => {
            format!(
                "{} (noise standard deviation / sensitivity), in every round.",
                shown(first)
            )
        }
        (Some(first), Some(last)) => format!(
            "from {} to {} (noise standard deviation / sensitivity), {} levels, all fixed before the \
             first step.",
            shown(first),
            shown(last),
            count(multipliers.len() as u64)
        ),
        _ => String::new(),
    }
}

/// A trace in words.
fn schedule(trace: &Trace) -> String {
    let origin = match trace.origin {
        TraceOrigin::Schedule => "fixed before the first step",
        TraceOrigin::Learned => {
            "learned during the run from noisy releases only, so at no further cost"
        }
    };
    let values = trace.points.iter().map(|point| point.1);
    let first = trace.points.first().map_or(0.0, |point| point.1);
    if values.clone().all(|value| value == first) {
        return format!("{}: {}, {origin}.", trace.name, exact(first));
    }
    let last = trace.points.last().map_or(0.0, |point| point.1);
    format!(
        "{}: from {} to {} (range {}), {origin}.",
        trace.name,
        plain(first),
        plain(last),
        range(values, plain)
    )
}

fn range(values: impl Iterator<Item = f64>, show: fn(f64) -> String) -> String {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low == high {
        show(low)
    } else {
        format!("{} to {}", show(low), show(high))
    }
}

/// What is and is not covered besides training.
pub fn coverage(facts: &Facts) -> Vec<Statement> {
    let tuning = match facts.tuning {
        Tuning::NotCovered => {
            "NOT covered. If settings were chosen by looking at the private records or at models trained \
             on them, ε is larger than stated."
                .to_string()
        }
        Tuning::PartOfSearch { epsilon_upper, delta } => format!(
            "Covered by the report of the search. This run is a part of it; what was published of the \
             whole search, this model and its choice included, satisfies ε ≤ {} at δ = {}.",
            up(epsilon_upper, 5),
            exact(delta)
        ),
    };
    let is = |origin| facts.preparation.iter().any(|p| p.origin == origin);
    let preparation = if is(Origin::PrivatelyEstimated) {
        "Covered: what was learned from the private records was learned with noise and is part of ε."
    } else {
        "Nothing to cover: it uses only what is public or declared (see the list)."
    };
    vec![
        say("Tuning", tuning),
        say("Preparation of data", preparation),
    ]
}

/// Where a number came from, in words.
pub fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Public => "public knowledge",
        Origin::Declared => "declared by the operator as not learned from the private records",
        Origin::PrivatelyEstimated => "estimated with noise, part of ε",
    }
}

/// What computed it.
pub fn machinery(facts: &Facts, figures: &Figures) -> Vec<Statement> {
    let generator = match facts.keys {
        KeySource::OperatingSystem => {
            "ChaCha20 with keys from the operating system, never stored: sampling and noise cannot be \
             repeated or subtracted."
        }
        KeySource::FixedSeed => "ChaCha20 with keys from a FIXED SEED. Not private.",
    };
    let accounted = format!(
        "{}, tacita-accounting {}. Rounding, truncation and discretisation are inside the bounds. Of δ, \
         {} is kept for the tail that the noise generator cannot reach.",
        accountant(figures.certified.accountant),
        env!("CARGO_PKG_VERSION"),
        plain(facts.delta_reserved)
    );
    vec![
        say("Accountant", accounted),
        say("Random generator", generator),
        say("Precision", format!("{}.", facts.precision)),
        say(
            "Code version",
            format!(
                "trained by tacita {}{}, reported by tacita {}{}.",
                facts.version,
                commit(facts.run.as_ref().and_then(|run| run.commit.as_deref())),
                env!("CARGO_PKG_VERSION"),
                commit(crate::version::commit())
            ),
        ),
    ]
}

fn commit(commit: Option<&str>) -> String {
    commit.map_or_else(String::new, |commit| format!(" (commit {commit})"))
}

/// Which run it was, and which files it is about.
pub fn identity(facts: &Facts, files: Option<&FileHashes>) -> Vec<Statement> {
    let mut statements = Vec::new();
    if let Some(run) = &facts.run {
        statements.push(say("Begun", format!("{} (universal time).", run.begun)));
        statements.push(say("Identifier", run.id.clone()));
        statements.push(say("Command", run.command.clone()));
    }
    for (name, hash) in files.into_iter().flat_map(FileHashes::entries) {
        statements.push(say("SHA-256", format!("{name}: {hash}")));
    }
    statements
}

/// Purpose and responsibility, as whoever ran it declared them.
pub fn about(about: &AboutRun) -> Vec<Statement> {
    let topic = |key| match key {
        "purpose" => "Purpose",
        "controller" => "Controller",
        "contact" => "Contact",
        "retention" => "Retention",
        _ => "One record",
    };
    let entries = about.entries().into_iter();
    entries.map(|(key, text)| say(topic(key), text)).collect()
}

/// What all runs on the same records keep together, as far as an account knows them.
pub fn all_runs(account: Option<&AccountFacts>) -> Vec<Statement> {
    let Some(account) = account else {
        return vec![say(
            "All runs",
            "Not known: nothing was reserved in an account. Guarantees of several runs on the same records add up.",
        )];
    };
    let unit = match account.records_per_unit {
        1 => "one record".to_string(),
        records => format!("a person with up to {records} records"),
    };
    let delta = exact(account.delta);
    let kept = match account.spent_upper {
        Some(spent) if spent <= account.epsilon => format!(
            "Everything released under the account \u{201c}{}\u{201d} together keeps ε ≤ {} at δ = {delta} for {unit}, now \
             and later: a run that would exceed it is refused before it begins, also if it is chosen in the light of \
             earlier results.",
            account.name,
            up(account.epsilon, 5)
        ),
        _ => format!(
            "The total of the account \u{201c}{}\u{201d}, ε = {} at δ = {delta} for {unit}, is NOT KEPT: what was released \
             without the account costs more.",
            account.name,
            up(account.epsilon, 5)
        ),
    };
    let mut statements = vec![say("All runs", kept)];
    if let Some(spent) = account.spent_upper {
        let exactly = match account.if_fixed_beforehand_upper {
            Some(upper) => format!(
                " (ε ≤ {} only if all their plans were fixed beforehand)",
                up(upper, 5)
            ),
            None => String::new(),
        };
        statements.push(say(
            "Spent by then",
            format!(
                "ε ≤ {}, this included, {} reserved in all{exactly}.",
                up(spent, 5),
                count(account.reserved)
            ),
        ));
    }
    statements
}

/// ε, δ and the number of records judged together.
pub fn delta_and_records(facts: &Facts, figures: &Figures) -> String {
    let records = facts.data.public_record_count.max(1);
    let share = figures.delta * records as f64;
    let one = match facts.data.records_per_person {
        Some(_) => "all records of one person",
        None => "one record",
    };
    let rule = format!(
        "A method that published {one} chosen at random would have δ = 1/n = {} for the {} declared {}",
        plain((records as f64).recip()),
        count(records),
        facts.data.counted()
    );
    if share >= 1.0 {
        return format!(
            "{rule}, and this δ is NOT below that: whatever ε says, such a leak is not excluded. Choose a smaller δ."
        );
    }
    let worth = match share {
        share if share <= 0.1 => "which is the usual rule",
        _ => "which is closer to it than usual",
    };
    format!("{rule}. Here δ is {} of that, {worth}.", percent_up(share))
}

/// An accountant's full name.
pub fn accountant(name: &str) -> &str {
    match name {
        "pld" => "Privacy loss distribution (PLD)",
        "rdp" => "Rényi divergences (RDP)",
        "gdp" => "Central limit theorem (GDP)",
        "search" => "That of the whole search (see its report)",
        other => other,
    }
}

/// The note of a run that stopped before its plan ended.
pub fn stopped_early(facts: &Facts) -> Option<String> {
    let (made, planned) = (facts.rounds_made, facts.plan.rounds_made());
    (made < planned).then(|| {
        format!(
            "Stopped early: {} of {} planned rounds count as released. The guarantee is still that of \
             the whole committed plan, because a decision to stop may depend on what was seen.",
            count(made),
            count(planned)
        )
    })
}

/// Whether a run is a part of a search, whose ε is then the guarantee.
pub fn is_of_search(facts: &Facts) -> bool {
    matches!(facts.tuning, Tuning::PartOfSearch { .. })
}

/// That a run is a part of a search, if it is.
pub fn search(facts: &Facts) -> Option<&'static str> {
    is_of_search(facts).then_some(
        "This is the guarantee of the WHOLE SEARCH that the run is a part of: it covers the other runs and the \
         choice between them, which a figure of this run alone would not.",
    )
}

/// Whether the budget that was asked for is kept.
pub fn budget(facts: &Facts, figures: &Figures) -> Option<String> {
    if let Some(search) = search(facts) {
        return Some(search.into());
    }
    let asked = facts.budget?;
    let kept = figures.certified.upper.is_some_and(|upper| upper <= asked);
    let verdict = if kept { "kept" } else { "NOT KEPT" };
    Some(format!(
        "Budget asked for: ε = {}: {verdict}.",
        exact(asked)
    ))
}
