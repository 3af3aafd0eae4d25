//! The guarantee explained to someone who must answer for it but is no mathematician.

use super::html::{paragraph, section, table, text};
use crate::report::Report;
use crate::report::groups::GroupCost;
use crate::report::odds::posterior_upper;
use crate::report::words;
use tacita_accounting::decimal::{count, exact, percent_up, up};

/// Beliefs an attacker may start from.
const PRIORS: [(f64, &str); 4] = [(0.01, "1 %"), (0.1, "10 %"), (0.5, "50 %"), (0.9, "90 %")];

/// The section for data-protection officers.
pub fn render(report: &Report) -> String {
    const TITLE: &str = "In plain words";
    if !report.facts.private() {
        let body = paragraph(
            "Nothing is promised to the people whose records were used. The noise that should hide each \
             record can be removed, or values without noise were shown. Such runs are for experiments on \
             public data. Everything below describes the plan as it would be with secret keys and without \
             diagnostics.",
        );
        return section("plain-words", TITLE, &body);
    }
    let body = match (report.figures.certified.upper, report.odds_exponent) {
        (Some(upper), Some(exponent)) => {
            meaning(report, upper)
                + &odds(report, exponent)
                + &attacks(report)
                + &reconstruction(report)
                + &groups(&report.groups, report.figures.delta).unwrap_or_default()
                + &one_record(report).unwrap_or_default()
        }
        // One point of its curve is known, which does not say how far odds move.
        (Some(upper), None) if words::is_of_search(&report.facts) => {
            meaning(report, upper) + &attacks(report)
        }
        _ => paragraph("There is too little noise: ε is so large that nothing of use is promised."),
    };
    section("plain-words", TITLE, &body)
}

fn meaning(report: &Report, upper: f64) -> String {
    let strength = if upper <= 1.0 {
        "ε up to 1 is regarded as strong protection."
    } else if upper <= 10.0 {
        "ε between 1 and 10 is common for trained models and regarded as reasonable, not as strong; the \
         tables below show what it excludes."
    } else {
        "ε above 10 is regarded as weak: taken by itself the figure excludes little."
    };
    let unit = match report.facts.data.records_per_person {
        Some(_) => "person, with all their records,",
        None => "record",
    };
    let used = match report.facts.data.records_per_person {
        Some(_) => "took part",
        None => "was used",
    };
    [
        paragraph(&format!(
            "The model was trained so that it comes out nearly the same whether or not any one {unit} ({}) \
             {used}. This holds against anyone who sees what was released, whatever else they know, now \
             or later.",
            report.facts.data.record
        )),
        paragraph(&format!(
            "How nearly is measured by two numbers, ε (epsilon) and δ (delta); smaller means more private. \
             Here {}. {strength} (Usual tiers, after Ponomareva et al. 2023, arXiv:2303.00654.)",
            words::bound(&report.figures)
        )),
        paragraph(&words::delta_and_records(&report.facts, &report.figures)),
    ]
    .concat()
}

/// What is promised about one record of a person.
fn one_record(report: &Report) -> Option<String> {
    report.facts.data.records_per_person?;
    let kept = match report.one_record {
        Some(one) => format!(
            "is kept from that record by ε ≤ {} at the same δ = {}",
            up(one.epsilon_upper, 4),
            exact(report.figures.delta)
        ),
        None => "is kept from that record by nothing of use that is proved".to_string(),
    };
    Some(paragraph(&format!(
        "The guarantee is for a person, who took part with all their records or not at all. Somebody who knows that a \
         person took part, and all but one of their records, {kept}."
    )))
}

/// ε of people with several records, if it is known.
pub fn groups(groups: &[GroupCost], delta: f64) -> Option<String> {
    if groups.is_empty() {
        return None;
    }
    let rows: Vec<Vec<String>> = (groups.iter())
        .map(|group| {
            let epsilon = match group.epsilon_upper {
                Some(upper) => format!("ε ≤ {}", up(upper, 4)),
                None => "nothing of use".to_string(),
            };
            vec![format!("{} records", group.records), epsilon]
        })
        .collect();
    let lead = paragraph(&format!(
        "The guarantee is for one record. Whoever has more is protected less, and by how much is proved too, at the same \
         δ = {}.",
        exact(delta)
    ));
    let head = ["A person with up to", "Guarantee"];
    Some(format!(
        "<div class=\"pair\"><div>\n<h3>{SEVERAL}</h3>\n{lead}</div>\n{}</div>\n",
        table(&head, &rows)
    ))
}

/// What the figures of [`groups`] are about.
const SEVERAL: &str = "A person with several records";

fn odds(report: &Report, exponent: f64) -> String {
    let delta = report.figures.delta;
    let rows: Vec<Vec<String>> = (PRIORS.iter())
        .map(|&(prior, shown)| {
            let after = percent_up(posterior_upper(prior, exponent));
            vec![shown.to_string(), format!("≤ {after}")]
        })
        .collect();
    let lead = format!(
        "<h3>Suspicion before and after</h3>\n<p>Suppose someone suspects, rightly, that a certain record was \
         used (or was not). Except with probability δ = {} (1 in {}), seeing everything released multiplies \
         the odds they give to this by at most {} = e<sup>{}</sup>.</p>\n",
        text(&exact(delta)),
        text(&count(delta.recip().floor() as u64)),
        text(&up(exponent.exp() * (1.0 + 1e-12), 4)),
        text(&up(exponent, 4)),
    );
    let note = "<p class=\"small\">The exponent is computed from the whole privacy curve and is a little \
                larger than ε: the popular reading “odds change by at most e<sup>ε</sup> except with \
                probability δ” is not quite what a single (ε, δ) says.</p>\n";
    let head = ["Suspicion before", "After, at most"];
    format!(
        "<div class=\"pair\"><div>\n{lead}{note}</div>\n{}</div>\n",
        table(&head, &rows)
    )
}

/// What becomes of a guess at a whole record, and the curve in one number.
fn reconstruction(report: &Report) -> String {
    let Some(risk) = report.risk() else {
        return String::new();
    };
    let rows: Vec<Vec<String>> = (risk.reconstruction.iter())
        .map(|guess| {
            vec![
                format!("1 in {}", count((1.0 / guess.prior).round() as u64)),
                format!("≤ {}", percent_up(guess.success_upper)),
            ]
        })
        .collect();
    let gaussian = match &risk.gaussian {
        Some(gaussian) => format!(
            "The whole curve in one number: no attack finds more than one on Gaussian noise with μ = {} does, and {} of the \
             records on top, at any share of outsiders accused.",
            up(gaussian.mu_upper, 4),
            percent_up(gaussian.tolerance)
        ),
        None => String::new(),
    };
    let lead = format!(
        "<h3>Guessing a whole record</h3>\n{}{}",
        paragraph(
            "Someone who tries to reconstruct a record guesses it with some probability from all else they know. With \
             everything released they guess it with no more than this."
        ),
        paragraph(&gaussian)
    );
    let head = ["Guessed before", "After, at most"];
    format!(
        "<div class=\"pair\"><div>\n{lead}</div>\n{}</div>\n",
        table(&head, &rows)
    )
}

fn attacks(report: &Report) -> String {
    let mut rows: Vec<Vec<String>> = (report.attacks.iter())
        .map(|attack| {
            vec![
                format!("{} %", exact(100.0 * attack.false_alarms)),
                format!("≤ {}", percent_up(attack.found_upper)),
            ]
        })
        .collect();
    rows.push(vec![
        "coin toss: in or out?".to_string(),
        format!("right ≤ {}", percent_up(report.coin_guess_upper)),
    ]);
    let lead = "<h3>The best possible attack</h3>\n<p>An attack claims to recognise the records that were \
                used. The more it finds, the more outsiders it must accuse wrongly. No attack at all, however \
                clever, can do better than this; real attacks know less and do worse.</p>\n";
    let head = ["Outsiders accused", "Used records found"];
    format!(
        "<div class=\"pair\"><div>\n{lead}</div>\n{}</div>\n",
        table(&head, &rows)
    )
}
