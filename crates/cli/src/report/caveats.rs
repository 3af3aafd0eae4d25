//! What the guarantee does not say, in full.

use super::facts::Facts;
use tacita::Report;

/// The caveats of every run, then those of the data set and of this run.
pub fn caveats(facts: &Facts) -> Vec<String> {
    let one_run = [
        "It covers what is listed as released and everything computed from it. It does not cover choices \
         made by looking at the private records in any other way: tuning, cleaning, selecting features, \
         stopping or choosing a model by a private score.",
        "Guarantees of several runs on the same records add up. This report is about one run.",
    ];
    std::iter::once(unit(facts))
        .chain(large_delta(facts))
        .chain(one_run.map(str::to_string))
        .chain(standing())
        .chain(facts.data.caveats.iter().cloned())
        .chain(facts.caveats.iter().cloned())
        .collect()
}

/// Those of a search, of one run of which these are the facts.
pub fn of_search(facts: &Facts) -> Vec<String> {
    let gpu = |caveat: &&String| *caveat == Report::GPU_CAVEAT;
    std::iter::once(unit(facts))
        .chain(standing())
        .chain(facts.data.caveats.iter().cloned())
        .chain(facts.caveats.iter().filter(gpu).cloned())
        .collect()
}

/// A δ that is not below 1 / records.
fn large_delta(facts: &Facts) -> Option<String> {
    let records = facts.data.public_record_count;
    (facts.delta * records as f64 >= 1.0).then(|| {
        format!(
            "δ is not below 1 / {records} records, so it promises next to nothing: a program that publishes one whole \
             record, drawn at random, would keep it."
        )
    })
}

fn unit(facts: &Facts) -> String {
    if facts.data.records_per_person.is_some() {
        return "It holds for one person, as far as equal identifiers say who is one: whoever has several identifiers is \
                protected less, and people who share one are protected together."
            .to_string();
    }
    match facts.plan.records_per_unit() {
        1 => {
            "It holds for one record. A person with several records is protected less: for k records ε \
             can be up to k times as large, and δ grows faster still."
                .to_string()
        }
        k => format!(
            "It holds for owners of up to {k} records. Whoever has more is protected less."
        ),
    }
}

/// What no guarantee of this kind says.
fn standing() -> impl Iterator<Item = String> {
    let standing = [
        "Sampling rate and divisor come from the declared number of records, which is taken as public. If \
         it was copied from a secret data set, that number is published.",
        "Figures of different neighbouring relations are not comparable: replacing a record costs about \
         twice what adding or removing one does.",
        "It assumes that nobody observes the memory, the timing or the power of the training machine, and \
         that a ledger is never rolled back to an older copy and run on.",
        "Sums are exact integers on a public grid, and noise is drawn in double precision and rounded to a \
         grid. That the last bits of the noise tell nothing is argued, not proved.",
        "Facts about the population are learned on purpose. What is true of people like you can be inferred \
         whether or not your record took part.",
        "A private model can be less accurate for small groups. This report says nothing about fairness.",
        "The facts about data, preparation and tuning were declared by whoever ran the training; the program \
         cannot check them. No one outside the project has audited the software.",
    ];
    standing.into_iter().map(str::to_string)
}
