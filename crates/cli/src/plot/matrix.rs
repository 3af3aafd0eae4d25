//! A square table of counts as a picture: the more of its row a cell holds, the darker it is.

use super::svg::escape;
use std::fmt::Write;
use tacita_accounting::decimal::count;

/// Room for the names of rows, above the columns, and a page's width.
const LEFT: f64 = 96.0;
const BOTTOM: f64 = 46.0;
const WIDTH: f64 = 400.0;
/// A cell is not larger than this, however few there are.
const LARGEST: f64 = 74.0;
/// More columns leave no room for numbers, and fewer for names below them.
const MOST_NUMBERS: usize = 10;
const MOST_NAMES: usize = 5;
/// Letters of a name that fit.
const ROW_LETTERS: usize = 13;
/// The darkest cell, on which numbers are still read.
const DARKEST: f64 = 0.6;

/// Counts by class (rows) and answer (columns), with the names of both.
#[derive(Debug, Clone)]
pub struct Matrix<'a> {
    /// What it shows, for those who cannot see it.
    pub title: &'a str,
    /// Names of rows and columns.
    pub names: Vec<&'a str>,
    /// The counts; noisy ones may be negative, and are shown as they are.
    pub counts: &'a [Vec<f64>],
}

/// The picture as part of a page.
pub fn inline(matrix: &Matrix<'_>) -> String {
    let size = matrix.names.len().max(1);
    let cell = ((WIDTH - LEFT - 6.0) / size as f64).min(LARGEST);
    let side = cell * size as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">\n",
        side + BOTTOM + 6.0,
        escape(matrix.title)
    );
    for (row, counts) in matrix.counts.iter().enumerate() {
        let all: f64 = counts.iter().map(|count| count.max(0.0)).sum();
        for (column, value) in counts.iter().enumerate() {
            let share = if all > 0.0 { value.max(0.0) / all } else { 0.0 };
            let (x, y) = (LEFT + cell * column as f64, 4.0 + cell * row as f64);
            let _ = writeln!(
                out,
                "<rect class=\"f0\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{cell:.1}\" height=\"{cell:.1}\" \
                 fill-opacity=\"{:.3}\"/>",
                DARKEST * share
            );
            if size <= MOST_NUMBERS {
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    x + 0.5 * cell,
                    y + 0.5 * cell + 4.5,
                    whole(*value)
                );
            }
        }
        let name = matrix.names.get(row).copied().unwrap_or_default();
        let middle = 4.0 + cell * (row as f64 + 0.5) + 4.5;
        if cell >= 11.0 {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                escape(&short(name, ROW_LETTERS))
            );
        }
        if size <= MOST_NAMES {
            let letters = (cell / 7.0) as usize;
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                LEFT + cell * (row as f64 + 0.5),
                4.0 + side + 17.0,
                escape(&short(name, letters))
            );
        }
    }
    let _ = writeln!(
        out,
        "<rect class=\"axis\" x=\"{LEFT}\" y=\"4\" width=\"{side:.1}\" height=\"{side:.1}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">answer, in the same order</text>",
        LEFT + 0.5 * side,
        4.0 + side + 38.0
    );
    out + "</svg>\n"
}

fn whole(value: f64) -> String {
    let rounded = value.round();
    match rounded < 0.0 {
        true => format!("−{}", count(-rounded as u64)),
        false => count(rounded as u64),
    }
}

/// The beginning of a name.
fn short(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_string();
    }
    let kept: String = name.chars().take(letters.saturating_sub(1)).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_shown_as_it_is_and_names_cannot_become_markup() {
        let counts = [vec![1234.4, -3.2], vec![0.0, 7.0]];
        let names = vec!["<healthy>", "a name too long for its place"];
        let svg = inline(&Matrix {
            title: "answers",
            names,
            counts: &counts,
        });
        for wanted in [">1,234<", ">−3<", ">7<", "&lt;healthy&gt;", "…"] {
            assert!(svg.contains(wanted), "{wanted}: {svg}");
        }
        assert!(!svg.contains("<healthy>") && !svg.contains("NaN"));
    }
}
