//! Figures in words, for the terminal.

use super::facts::{ClassUtility, Figure, Utility};
use tacita_accounting::decimal::count;

/// A few lines: accuracy beside the majority share, the other figures, warnings.
pub fn lines(utility: &Utility) -> Vec<String> {
    match utility {
        Utility::Classes(classes) => of_classes(classes),
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
