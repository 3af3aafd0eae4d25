//! How well the model does.

use super::html::{figure, list, paragraph, section, table, text};
use crate::plot::matrix::{self, Matrix};
use crate::report::Report;
use crate::report::utility_charts;
use crate::utility::words::{decimal, percent};
use crate::utility::{ClassUtility, Utility};
use tacita_accounting::decimal::{count, plain};

/// The section; empty if nothing is known.
pub fn render(report: &Report) -> String {
    match &report.facts.utility {
        Some(Utility::Classes(utility)) => framed(&of_classes(utility)),
        None => String::new(),
    }
}

fn framed(body: &str) -> String {
    section("utility", "How well it does", body)
}

fn of_classes(utility: &ClassUtility) -> String {
    let charts: String = utility_charts::of_classes(utility)
        .iter()
        .map(figure)
        .collect();
    [
        paragraph(&lead(utility)),
        warnings(&utility.warnings),
        format!("<div class=\"words\">{}</div>", figures(utility)),
        format!(
            "<div class=\"charts utility\">\n{}{charts}</div>\n",
            confusion(utility)
        ),
        each_class(utility),
    ]
    .concat()
}

/// Where the figures come from.
fn lead(utility: &ClassUtility) -> String {
    match utility.count_noise {
        None => format!(
            "Exact figures on {} {}.",
            count(utility.records.value as u64),
            utility.on
        ),
        Some(noise) => format!(
            "Read from tables of counts of {}, with noise of standard deviation {} records on a count; the release is part \
             of ε. What follows ± is two standard deviations of that noise. Figures with ≈ are read from bins of scores. \
             A figure that the noise hides is unknown.",
            utility.on,
            plain(noise)
        ),
    }
}

/// Warnings, to be seen.
pub fn warnings(warnings: &[String]) -> String {
    match warnings {
        [] => String::new(),
        some => format!("<div class=\"note warning\">{}</div>\n", list("ul", some)),
    }
}

fn figures(utility: &ClassUtility) -> String {
    let two = utility.per_class.len() == 2;
    let mean = if two { "" } else { ", mean over the classes" };
    let positive = utility.per_class.last().map_or("", |class| &class.class);
    let row = |name: String, value: String, meaning: &str| vec![name, value, meaning.to_string()];
    let rows = vec![
        row(
            "Accuracy".into(),
            percent(&utility.accuracy),
            "right answers",
        ),
        row(
            "Majority share".into(),
            percent(&utility.majority_share),
            "what always answering the most frequent class would reach",
        ),
        row(
            "Balanced accuracy".into(),
            percent(&utility.balanced_accuracy),
            "mean of the classes' recall; guessing reaches one over their number",
        ),
        row(
            format!("AUC, ROC{mean}"),
            decimal(&utility.roc_area),
            "chance that a record of a class is ranked before one of another; guessing: 0.5",
        ),
        row(
            format!("AUC, precision–recall{mean}"),
            decimal(&utility.average_precision),
            "average precision; guessing reaches the class's share",
        ),
        row(
            match two {
                true => format!("F1 of “{positive}”"),
                false => format!("F1{mean}"),
            },
            decimal(&utility.f1),
            "between precision and recall",
        ),
        row(
            "Log loss".into(),
            decimal(&utility.log_loss),
            "of probabilities; smaller is better",
        ),
        row(
            "Brier score".into(),
            decimal(&utility.brier),
            "the same, squared; smaller is better",
        ),
        row(
            "Calibration error".into(),
            decimal(&utility.calibration_error),
            "mean distance of probabilities from observed shares",
        ),
    ];
    table(&["Figure", "Value", "Meaning"], &rows)
}

fn confusion(utility: &ClassUtility) -> String {
    if utility.confusion.is_empty() {
        return String::new();
    }
    let names = utility.per_class.iter().map(|class| class.class.as_str());
    let picture = matrix::inline(&Matrix {
        title: "Confusion matrix: records by class and answer",
        names: names.collect(),
        counts: &utility.confusion,
    });
    let note = match utility.count_noise {
        None => "Records by class (rows) and answer (columns).",
        Some(_) => {
            "Records by class (rows) and answer (columns), with noise: counts may be negative."
        }
    };
    format!(
        "<figure>\n<h3>Confusion matrix</h3>\n{picture}<figcaption>{}</figcaption>\n</figure>\n",
        text(note)
    )
}

fn each_class(utility: &ClassUtility) -> String {
    let about = if utility.count_noise.is_some() {
        "≈ "
    } else {
        ""
    };
    let rows: Vec<Vec<String>> = (utility.per_class.iter())
        .map(|class| {
            vec![
                class.class.clone(),
                format!("{about}{}", count(class.records.max(0.0).round() as u64)),
                percent(&class.recall),
            ]
        })
        .collect();
    format!(
        "<h3>By class</h3>\n{}",
        table(&["Class", "Records", "Recall"], &rows)
    )
}
