//! Figures in words, for the terminal.

use super::facts::{ClassUtility, Figure, Utility};
use super::labels::LabelsUtility;
use super::number::NumberUtility;
use tacita_accounting::decimal::count;

/// A few lines: accuracy beside the majority share, the other figures, warnings.
pub fn lines(utility: &Utility) -> Vec<String> {
    match utility {
        Utility::Classes(classes) => of_classes(classes),
        Utility::Number(number) => of_number(number),
        Utility::Labels(labels) => of_labels(labels),
    }
}

fn of_classes(utility: &ClassUtility) -> Vec<String> {
    let noisy = utility.count_noise.is_some();
    let whom = match noisy {
        true => format!("{}, noisy and part of the budget", utility.on),
        false => format!("{} {}", count(utility.records.value as u64), utility.on),
    };
    let mut lines = vec![format!("Accuracy {} on {whom}", percent(&utility.accuracy))];
    lines.push(format!(
        "  majority share {}, balanced accuracy {}",
        percent(&utility.majority_share),
        percent(&utility.balanced_accuracy)
    ));
    lines.push(format!(
        "  AUC {} (ROC), {} (precision–recall), F1 {}, log loss {}, Brier score {}",
        decimal(&utility.roc_area),
        decimal(&utility.average_precision),
        decimal(&utility.f1),
        decimal(&utility.log_loss),
        decimal(&utility.brier)
    ));
    let warnings = utility.warnings.iter();
    lines.extend(warnings.map(|warning| format!("  WARNING: {warning}")));
    lines
}

fn of_number(utility: &NumberUtility) -> Vec<String> {
    let whom = match utility.count_noise {
        Some(_) => format!("{}, noisy and part of the budget", utility.on),
        None => format!("{} {}", count(utility.records.value as u64), utility.on),
    };
    let mut lines = vec![
        format!(
            "Mean absolute error {} on {whom}",
            number(&utility.mean_absolute_error)
        ),
        format!(
            "  root mean squared error {} (always answering the mean: {}), R² {}",
            number(&utility.root_mean_squared_error),
            number(&utility.spread),
            decimal(&utility.r_squared)
        ),
    ];
    let warnings = utility.warnings.iter();
    lines.extend(warnings.map(|warning| format!("  WARNING: {warning}")));
    lines
}

fn of_labels(utility: &LabelsUtility) -> Vec<String> {
    let whom = match (utility.count_noise, utility.labels.first()) {
        (None, Some(label)) => format!("{} {}", count(label.records.value as u64), utility.on),
        _ => format!("{}, noisy and part of the budget", utility.on),
    };
    let mut lines = vec![
        format!(
            "Accuracy {} on {whom}, mean over {} labels",
            percent(&utility.accuracy),
            utility.labels.len()
        ),
        format!(
            "  majority share {}, balanced accuracy {}",
            percent(&utility.majority_share),
            percent(&utility.balanced_accuracy)
        ),
        format!(
            "  AUC {} (ROC), {} (precision–recall), F1 {}, log loss {}",
            decimal(&utility.roc_area),
            decimal(&utility.average_precision),
            decimal(&utility.f1),
            decimal(&utility.log_loss)
        ),
    ];
    // The report has them all.
    let most = 4;
    let warnings = utility.warnings.iter().take(most);
    lines.extend(warnings.map(|warning| format!("  WARNING: {warning}")));
    if utility.warnings.len() > most {
        lines.push(format!(
            "  WARNING: {} more in the report",
            utility.warnings.len() - most
        ));
    }
    lines
}

/// A number in its unit with four digits, with its band.
pub fn number(figure: &Option<Figure>) -> String {
    let Some(figure) = figure else {
        return UNTOLD.into();
    };
    let band = figure
        .plus_minus
        .map_or_else(String::new, |band| format!(" ± {}", four_digits(band)));
    format!("{}{}{band}", about(figure), four_digits(figure.value))
}

fn four_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    let decimals = (4 - whole).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

/// What stands for a figure that noise hides, or that has no meaning here.
const UNTOLD: &str = "unknown";

/// A share in percent, with its band.
pub fn percent(figure: &Option<Figure>) -> String {
    let Some(figure) = figure else {
        return UNTOLD.into();
    };
    let band = figure
        .plus_minus
        .map_or_else(String::new, |band| format!(" ± {:.1}", 100.0 * band));
    format!("{}{:.1}{band} %", about(figure), 100.0 * figure.value)
}

/// A figure with three decimals, with its band.
pub fn decimal(figure: &Option<Figure>) -> String {
    let Some(figure) = figure else {
        return UNTOLD.into();
    };
    let band = figure
        .plus_minus
        .map_or_else(String::new, |band| format!(" ± {band:.3}"));
    format!("{}{:.3}{band}", about(figure), figure.value)
}

fn about(figure: &Figure) -> &'static str {
    if figure.from_bins { "≈ " } else { "" }
}
