//! The top of the page: the guarantee, or loudly that there is none.

use super::html::{list, paragraph, text};
use crate::report::Report;
use crate::report::facts::{Evaluation, Facts, PhaseKind};
use crate::report::words;
use crate::utility::Utility;
use crate::utility::words::{number, percent};
use tacita_accounting::decimal::{count, exact, up};

/// Heading, banner, guarantee and the figures asked for first.
pub fn render(report: &Report) -> String {
    let facts = &report.facts;
    let about = format!("{} trained on {}", facts.model.name, facts.data.name);
    let mut out = header("Tacita privacy report", &facts.name, &about);
    out += &match facts.private() {
        true => guarantee_of_run(report),
        false => banner(
            &words::faults(facts),
            &format!(
                "Do not release this model as private. For comparison only: with secret keys and without diagnostics \
                 the same plan would give {}.",
                words::bound(&report.figures)
            ),
        ),
    };
    if let Some(note) = words::stopped_early(facts) {
        out += &format!("<div class=\"note\">{}</div>\n", paragraph(&note));
    }
    out + &tiles(report)
}

/// What the page is, of what, and a line about it.
pub fn header(kind: &str, name: &str, about: &str) -> String {
    format!(
        "<header>\n<p class=\"kind\">{}</p>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n</header>\n",
        text(kind),
        text(name),
        text(about)
    )
}

fn guarantee_of_run(report: &Report) -> String {
    let figures = &report.figures;
    let budget = words::budget(&report.facts, figures).unwrap_or_default();
    let whole = match words::is_of_search(&report.facts) {
        true => "search",
        false => "plan",
    };
    guarantee(
        whole,
        figures.certified.upper,
        figures.delta,
        &[
            format!("{}.", words::bracket(figures)),
            format!(
                "{budget} Fixed and certified before the first step; every release was written in the ledger before it \
                 was made."
            ),
        ],
    )
}

/// The guarantee of a whole plan or search, in large letters.
pub fn guarantee(whole: &str, upper: Option<f64>, delta: f64, said: &[String]) -> String {
    let shown = match upper {
        Some(upper) => format!("ε ≤ {}", up(upper, 5)),
        None => "No finite ε".to_string(),
    };
    let said: String = said.iter().map(|said| paragraph(said.trim())).collect();
    format!(
        "<div class=\"guarantee\">\n<p class=\"label\">Certified guarantee of the whole {whole}</p>\n\
         <p class=\"epsilon\"><span>{}</span> <small>{}</small></p>\n{said}</div>\n",
        text(&shown),
        text(&format!("at δ = {}", exact(delta)))
    )
}

/// Loudly, that there is none.
pub fn banner(faults: &[&str], advice: &str) -> String {
    let faults: Vec<String> = faults.iter().map(|fault| fault.to_string()).collect();
    format!(
        "<div class=\"banner\" role=\"alert\">\n<p class=\"loud\">NOT PRIVATE</p>\n{}{}</div>\n",
        list("ul", &faults),
        paragraph(advice)
    )
}

/// What an accuracy is worth.
fn beside(facts: &Facts) -> String {
    match &facts.utility {
        Some(Utility::Classes(utility)) => format!(
            "; the most frequent class has {}",
            percent(&utility.majority_share)
        ),
        Some(Utility::Labels(utility)) => format!(
            "; the more frequent answers have {}",
            percent(&utility.majority_share)
        ),
        Some(Utility::Number(_)) | None => String::new(),
    }
}

fn tiles(report: &Report) -> String {
    let facts = &report.facts;
    let training = (facts.phases.iter()).find(|phase| phase.kind == PhaseKind::Training);
    let unit = match (facts.data.records_per_person, facts.plan.records_per_unit()) {
        (Some(_), _) => "one person".to_string(),
        (None, 1) => "one record".to_string(),
        (None, k) => format!("up to {k} records"),
    };
    let counted = match facts.data.records_per_person {
        Some(_) => "People",
        None => "Records",
    };
    let mut tiles = vec![
        ("Unit", unit, facts.data.record.clone()),
        (
            counted,
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
                "noisy count on {on}: ± {:.1} points (two standard deviations of the noise), part of ε{}",
                200.0 * noise_std,
                beside(facts)
            ),
        )),
        None if matches!(facts.utility, Some(Utility::Number(_))) => {
            if let Some(Utility::Number(utility)) = &facts.utility {
                tiles.push((
                    "Mean error",
                    number(&utility.mean_absolute_error),
                    format!(
                        "on {}; always answering the mean has {} (root mean square)",
                        utility.on,
                        number(&utility.spread)
                    ),
                ));
            }
        }
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
