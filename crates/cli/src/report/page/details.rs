//! The sections below the fold: how the guarantee came about, and its limits.

use super::html::{figure, list, paragraph, section, statements, table, text};
use crate::report::Report;
use crate::report::caveats;
use crate::report::charts;
use crate::report::figures::CURVE_DETAIL;
use crate::report::words;
use tacita_accounting::Reading;
use tacita_accounting::decimal::{count, down, exact, up};

/// What is promised.
pub fn promise(report: &Report) -> String {
    let body = statements(&words::promise(&report.facts));
    let title = match report.facts.private() {
        true => "What is promised",
        false => "What the plan would promise",
    };
    section("promise", title, &body)
}

/// Certified figure beside other accountants', and points of the curve.
pub fn comparison(report: &Report) -> String {
    let figures = &report.figures;
    let mut rows = vec![vec![
        words::accountant(figures.certified.accountant).to_string(),
        match figures.certified.upper {
            Some(upper) => format!("≤ {}", up(upper, 5)),
            None => "none".to_string(),
        },
        match report.facts.private() {
            true => "proved: the guarantee".to_string(),
            false => "proved of the plan; NOT of this run".to_string(),
        },
    ]];
    for other in &figures.comparison {
        if other.accountant == figures.certified.accountant {
            continue;
        }
        let (figure, worth) = match other.epsilon {
            Some(Reading::UpperBound(upper) | Reading::Bracket { upper, .. }) => {
                let shown = match upper.is_finite() {
                    true => format!("≤ {}", up(upper, 5)),
                    false => "none".to_string(),
                };
                (shown, "proved, usually looser".to_string())
            }
            Some(Reading::Estimate(value)) => (
                format!("≈ {}", up(value, 5)),
                "an estimate, NO GUARANTEE: the truth may be larger".to_string(),
            ),
            None => (
                "none".to_string(),
                other.refusal.clone().unwrap_or_default(),
            ),
        };
        let name = words::accountant(other.accountant).to_string();
        rows.push(vec![name, figure, worth]);
    }
    let delta = exact(figures.delta);
    let lead = paragraph(&match words::is_of_search(&report.facts) {
        true => {
            format!("Proved of all runs of the search before the first of them, at δ = {delta}.")
        }
        false => format!("The same plan read by three accountants, at δ = {delta}."),
    });
    let head = ["Accountant", "ε", "Worth"];
    let body = format!(
        "{lead}<div class=\"worth\">{}</div>{}",
        table(&head, &rows),
        curve(report)
    );
    section(
        "comparison",
        "Certified figures, and others for comparison",
        &body,
    )
}

/// A few points of the certified curve.
fn curve(report: &Report) -> String {
    let points = &report.figures.curve;
    if points.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = (points.iter().step_by(CURVE_DETAIL).skip(1))
        .map(|point| {
            vec![
                exact(point.epsilon),
                format!("≤ {}", up(point.delta_upper, 3)),
            ]
        })
        .collect();
    format!(
        "<div class=\"pair\">{}{}</div>\n",
        figure(&charts::curve(&report.figures)),
        table(&["ε", "δ"], &rows)
    )
}

/// All charts.
pub fn charts(report: &Report) -> String {
    let figures: String = charts::charts(&report.facts, &report.figures)
        .iter()
        .map(figure)
        .collect();
    section(
        "charts",
        "Over the run",
        &format!("<div class=\"charts\">\n{figures}</div>\n"),
    )
}

/// How the mechanism ran.
pub fn mechanism(report: &Report) -> String {
    let body = statements(&words::mechanism(&report.facts));
    section("mechanism", "How it was trained", &body)
}

/// What was released besides the gradient.
pub fn side_costs(report: &Report) -> String {
    let title = "Side queries and their cost";
    if report.side_costs.is_empty() {
        let body =
            paragraph("None: in every step only the clipped, noisy sum of gradients was released.");
        return section("side-queries", title, &body);
    }
    let rows: Vec<Vec<String>> = (report.side_costs.iter())
        .map(|cost| {
            let (low, high) = cost.noise_multipliers;
            let noise = match low == high {
                true => down(low, 4),
                false => format!("{} to {}", down(low, 4), up(high, 4)),
            };
            vec![
                cost.what.clone(),
                noise,
                count(cost.times),
                match cost.epsilon_without {
                    Some(epsilon) => format!("ε ≤ {}", up(epsilon, 5)),
                    None if words::is_of_search(&report.facts) => {
                        "not known of a search".to_string()
                    }
                    None => "none".to_string(),
                },
            ]
        })
        .collect();
    let lead = paragraph(
        "Released besides the gradient and already part of the guarantee. The last column is what the same \
         plan would cost without it, all other noise unchanged.",
    );
    let head = ["Release", "Noise multiplier", "Times", "Without it"];
    section("side-queries", title, &(lead + &table(&head, &rows)))
}

/// Tuning and preparation.
pub fn coverage(report: &Report) -> String {
    let preparation: Vec<Vec<String>> = (report.facts.preparation.iter())
        .map(|p| vec![p.what.clone(), words::origin(p.origin).to_string()])
        .collect();
    let mut body = statements(&words::coverage(&report.facts));
    if !preparation.is_empty() {
        let head = ["Preparation of data", "Where its numbers come from"];
        body += &format!("<div class=\"words\">{}</div>", table(&head, &preparation));
    }
    section("coverage", "Tuning and preparation", &body)
}

/// Data and model.
pub fn subject(report: &Report) -> String {
    let facts = &report.facts;
    let entry = |term: &str, value: &str| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            text(term),
            text(value)
        )
    };
    let body = format!(
        "<dl>\n{}{}{}{}</dl>\n",
        entry("Data set", &facts.data.name),
        entry("Licence", &facts.data.licence),
        entry(
            match facts.data.records_per_person {
                Some(_) => "People",
                None => "Records",
            },
            &format!(
                "{}, declared as public",
                count(facts.data.public_record_count)
            )
        ),
        entry(
            "Model",
            &format!(
                "{}, {} trained parameters",
                facts.model.name,
                count(facts.model.parameters)
            )
        ),
    );
    let about = facts.about.as_ref().map(words::about);
    let about = about.map_or_else(String::new, |about| {
        section("about", "Purpose and responsibility", &statements(&about))
    });
    about + &section("subject", "Data and model", &body)
}

/// All runs on the same records.
pub fn all_runs(report: &Report) -> String {
    let body = statements(&words::all_runs(report.facts.account.as_ref()));
    section("all-runs", "All runs on these records", &body)
}

/// Which run it was.
pub fn identity(report: &Report) -> String {
    let said = words::identity(&report.facts, report.files.as_ref());
    if said.is_empty() {
        return String::new();
    }
    section("identity", "Which run this is", &statements(&said))
}

/// What computed it.
pub fn machinery(report: &Report) -> String {
    let body = statements(&words::machinery(&report.facts, &report.figures));
    section("machinery", "What it rests on", &body)
}

/// Everything the guarantee does not say.
pub fn caveats(report: &Report) -> String {
    let body = list("ol", &caveats::caveats(&report.facts));
    section("caveats", "Caveats, in full", &body)
}

/// A place to sign.
pub fn signature(private: bool) -> String {
    let lead = if private {
        paragraph(
            "I have read this report with its caveats. What it says of the data, their preparation and the \
             choice of settings is true to my knowledge.",
        )
    } else {
        paragraph("This run is NOT PRIVATE. There is nothing to sign.")
    };
    let lines: String = ["Name and role", "Place and date", "Signature"]
        .map(|label| format!("<div><span></span><p class=\"small\">{label}</p></div>\n"))
        .concat();
    let lines = if private {
        format!("<div class=\"lines\">\n{lines}</div>\n")
    } else {
        String::new()
    };
    let check = "<p class=\"small\">To check the figures: tacita report DIR on a run folder computes every one of them again \
                 from the plan and refuses a ledger that disagrees.</p>\n";
    section("signature", "Statement", &(lead + check + &lines))
}
