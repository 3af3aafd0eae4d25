//! The top of the page: the guarantee, or loudly that there is none.

use super::html::{list, paragraph, text};
use crate::report::Report;
use crate::report::facts::{Evaluation, Facts, PhaseKind};
use crate::report::words;
use crate::utility::Utility;
use crate::utility::words::percent;
use tacita_accounting::decimal::{count, exact, plain, up};

/// Heading, banner, guarantee and the figures asked for first.
pub fn render(report: &Report) -> String {
    let facts = &report.facts;
    let mut out = format!(
        "<header>\n<p class=\"kind\">Tacita privacy report</p>\n<h1>{}</h1>\n\
         <p class=\"about\">{} trained on {}</p>\n</header>\n",
        text(&facts.name),
        text(&facts.model.name),
        text(&facts.data.name)
    );
    out += &if facts.private() {
        guarantee(report)
    } else {
        banner(report)
    };
    if let Some(note) = words::stopped_early(facts) {
        out += &format!("<div class=\"note\">{}</div>\n", paragraph(&note));
    }
    out + &tiles(report)
}

fn guarantee(report: &Report) -> String {
    let figures = &report.figures;
    let shown = match figures.certified.upper {
        Some(upper) => format!(
            "<p class=\"epsilon\"><span>ε ≤ {}</span> <small>at δ = {}</small></p>\n",
            up(upper, 5),
            exact(figures.delta)
        ),
        None => format!(
            "<p class=\"epsilon\"><span>No finite ε</span> <small>at δ = {}</small></p>\n",
            exact(figures.delta)
        ),
    };
    let budget = words::budget(&report.facts, figures).unwrap_or_default();
    let whole = match words::is_of_search(&report.facts) {
        true => "search",
        false => "plan",
    };
    format!(
        "<div class=\"guarantee\">\n<p class=\"label\">Certified guarantee of the whole {whole}</p>\n{shown}\
         {}{}</div>\n",
        paragraph(&format!("{}.", words::bracket(figures))),
        paragraph(&format!(
            "{budget} Fixed and certified before the first step; every release was written in the ledger \
             before it was made."
        )),
    )
}

fn banner(report: &Report) -> String {
    let faults: Vec<String> = words::faults(&report.facts)
        .into_iter()
        .map(str::to_string)
        .collect();
    format!(
        "<div class=\"banner\" role=\"alert\">\n<p class=\"loud\">NOT PRIVATE</p>\n{}{}</div>\n",
        list("ul", &faults),
        paragraph(&format!(
            "Do not release this model as private. For comparison only: with secret keys and without \
             diagnostics the same plan would give {}.",
            words::bound(&report.figures)
        ))
    )
}

/// What an accuracy is worth.
fn beside(facts: &Facts) -> String {
    match &facts.utility {
        Some(Utility::Classes(utility)) => format!(
            "; the most frequent class has {}",
            percent(&utility.majority_share)
        ),
        None => String::new(),
    }
}

fn tiles(report: &Report) -> String {
    let facts = &report.facts;
    let training = (facts.phases.iter()).find(|phase| phase.kind == PhaseKind::Training);
    let unit = match facts.plan.records_per_unit() {
        1 => "one record".to_string(),
        k => format!("up to {k} records"),
    };
    let mut tiles = vec![
        ("Unit", unit, facts.data.record.clone()),
        (
            "Records",
            count(facts.data.public_record_count),
            "declared, public".to_string(),
        ),
        (
            "Steps",
            count(training.map_or(0, |phase| phase.rounds)),
            "planned".to_string(),
        ),
        (
            "Parameters",
            count(facts.model.parameters),
            facts.model.name.clone(),
        ),
    ];
    match &facts.evaluation {
        Some(Evaluation::PublicTest {
            on,
            records,
            accuracy,
            ..
        }) => tiles.push((
            "Accuracy",
            format!("{:.1} %", 100.0 * accuracy),
            format!("on {} {on}{}", count(*records), beside(facts)),
        )),
        Some(Evaluation::NoisyCount {
            on,
            accuracy,
            noise_std,
        }) => tiles.push((
            "Accuracy",
            format!("≈ {:.1} %", 100.0 * accuracy),
            format!(
                "noisy count on {on}; noise ± {} points, part of ε{}",
                plain(100.0 * noise_std),
                beside(facts)
            ),
        )),
        None => tiles.push((
            "Accuracy",
            "not stated".to_string(),
            "no public test records, no noisy count".to_string(),
        )),
    }
    let tiles: String = (tiles.iter())
        .map(|(label, value, note)| {
            format!(
                "<div><p class=\"label\">{}</p><p class=\"value\">{}</p><p class=\"small\">{}</p></div>\n",
                text(label),
                text(value),
                text(note)
            )
        })
        .collect();
    format!("<div class=\"tiles\">\n{tiles}</div>\n")
}
