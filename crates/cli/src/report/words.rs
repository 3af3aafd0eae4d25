//! The statements of a report, in words. The page and the JSON say the same.

use super::check::rounds_of_phases;
use super::facts::{Facts, KeySource, Origin, PhaseKind, Trace, TraceOrigin, Tuning};
use super::figures::Figures;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tacita_accounting::decimal::{count, down, exact, plain, up};
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
        "{}; {records} records, declared as public.",
        facts.data.name
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
        "{} per step, for {} records declared as public knowledge.",
        range(shares, plain),
        count(facts.data.public_record_count)
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
        Tuning::WithoutPrivateData => {
            "Nothing to cover: settings were fixed beforehand or chosen on public data, as declared by \
             whoever ran the training."
                .to_string()
        }
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
    let preparation = if is(Origin::ReadFromData) {
        "NOT covered: something was read from the private records without noise (see the list)."
    } else if is(Origin::PrivatelyEstimated) {
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
        Origin::ReadFromData => "READ FROM PRIVATE RECORDS, not covered",
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
        exact(facts.delta_reserved)
    );
    vec![
        say("Accountant", accounted),
        say("Random generator", generator),
        say("Precision", format!("{}.", facts.precision)),
        say(
            "Code version",
            format!(
                "trained by tacita {}, reported by tacita {}.",
                facts.version,
                env!("CARGO_PKG_VERSION")
            ),
        ),
    ]
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
