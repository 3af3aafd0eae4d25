//! An entry for public registries of uses of differential privacy.
//!
//! The keys follow the topics on which practitioners compare uses (Nanayakkara, Ghazi & Vadhan 2025,
//! arXiv:2509.13509): who, what for, which flavour, protecting whom, how much, by what mechanism and code.

use super::Report;
use super::nist;
use super::words;
use serde_json::{Value, json};

/// The only format there is.
const FORMAT: u32 = 1;

/// The entry of a run; its guarantee is null if the run is not private.
pub fn entry(report: &Report) -> Value {
    let (facts, figures) = (&report.facts, &report.figures);
    let about = facts.about.clone().unwrap_or_default();
    let run = facts.run.as_ref();
    let guarantee = facts.private().then(|| {
        json!({
            "epsilon": figures.certified.upper,
            "delta": figures.delta,
            "delta_times_records": figures.delta * facts.data.public_record_count as f64,
        })
    });
    json!({
        "tacita_registry": FORMAT,
        "name": facts.name,
        "date": run.map(|run| &run.begun),
        "identifier": run.map(|run| &run.id),
        "organisation": about.controller,
        "contact": about.contact,
        "intended_use": about.purpose,
        "retention": about.retention,
        "data": {
            "name": facts.data.name,
            "licence": facts.data.licence,
            "records": facts.data.public_record_count,
            "record": facts.data.record,
        },
        "product": {
            "kind": "machine-learning model",
            "model": facts.model.name,
            "parameters": facts.model.parameters,
            "released": facts.released,
        },
        "privacy": {
            "definition": "approximate differential privacy (epsilon, delta)",
            "trust_model": "central",
            "unit": words::unit(facts),
            "neighbours": facts.plan.neighbours().name(),
            "guarantee": guarantee,
            "text": facts.private().then(|| words::bound(figures)),
            "several_records": report.groups,
            "all_runs": facts.account,
            "tuning": facts.tuning,
        },
        "mechanism": {
            "name": "DP-SGD: clipped gradients of Poisson samples with Gaussian noise",
            "clipping": facts.clipping,
            "rounds": facts.plan.rounds_made(),
            "side_releases": report.side_costs.iter().map(|cost| &cost.what).collect::<Vec<_>>(),
            "accountant": words::accountant(figures.certified.accountant),
            "delta_for_noise_generator": facts.delta_reserved,
        },
        "implementation": {
            "software": "tacita",
            "version": facts.version,
            "commit": run.and_then(|run| run.commit.as_ref()),
            "source": env!("CARGO_PKG_REPOSITORY"),
            "audited_by_others": false,
            "audited_by_canaries": report.audit().map(|audit| audit.summary()),
        },
        "risk": report.risk,
        "nist_sp_800_226": nist::answers(report),
        "files": report.files,
    })
}
