//! Figures of the book: [`crate::theory`] as charts.

mod budget;
mod convergence;
mod noise;
mod policies;

use tacita_accounting::AccountError;
use tacita_cli::plot::{Chart, Series, Stroke};

/// A figure that can be asked for by name.
pub struct Figure {
    /// Its name, and that of its file.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Its charts, side by side.
    pub charts: fn() -> Result<Vec<Chart>, AccountError>,
}

/// All figures.
pub const FIGURES: [Figure; 11] = [
    Figure {
        name: "alignment-noise",
        about: "how noise takes a scaled gradient off its direction (Bu et al. 2023, Figure 9)",
        charts: || Ok(convergence::alignment_over_noise()),
    },
    Figure {
        name: "alignment-angle",
        about: "the same over the angle of the noise (Bu et al. 2023, Figure 10)",
        charts: || Ok(convergence::alignment_over_angle()),
    },
    Figure {
        name: "inverse-m",
        about: "the inverse distance measure and its concave envelope (Bu et al. 2023, C.8)",
        charts: || Ok(convergence::inverse()),
    },
    Figure {
        name: "convergence-envelope",
        about: "bounds for every ratio r and their least (Bu et al. 2023, Figures 5 and 6)",
        charts: || Ok(convergence::envelope()),
    },
    Figure {
        name: "convergence-settings",
        about: "the bound over gradient noise and stability (Bu et al. 2023, Figure 7)",
        charts: || Ok(convergence::settings()),
    },
    Figure {
        name: "convergence-rate",
        about: "the bound over the steps, beside plain SGD (Bu et al. 2023, Figure 8)",
        charts: || Ok(convergence::rate()),
    },
    Figure {
        name: "lazy-regions",
        about: "where clipped gradients stop moving (Bu et al. 2023, Figure 11)",
        charts: || Ok(policies::lazy_regions()),
    },
    Figure {
        name: "utility-bounds",
        about: "terms of the utility bound over thresholds and schedules (Du et al. 2021, 16)",
        charts: || Ok(noise::utility()),
    },
    Figure {
        name: "noise-frontier",
        about: "noise of the gradient and of the side query (Galli et al. 2024, Figure 2)",
        charts: noise::frontier,
    },
    Figure {
        name: "budget-spent",
        about: "the budget over the steps with growing μ (Du et al. 2021, Figure 2)",
        charts: budget::consumption,
    },
    Figure {
        name: "budget-bounds",
        about: "three accountants on dynamic DP-SGD (Du et al. 2021, Figure 4)",
        charts: budget::bounds,
    },
];

/// A line through `f` at some arguments; values outside `shown` are left out.
fn line(
    name: impl Into<String>,
    (colour, stroke): (usize, Stroke),
    at: impl IntoIterator<Item = f64>,
    shown: (f64, f64),
    f: impl Fn(f64) -> f64,
) -> Series {
    let points = at.into_iter().map(|x| (x, f(x)));
    let seen = points.filter(|(_, y)| (shown.0..=shown.1).contains(y));
    Series {
        name: name.into(),
        colour,
        stroke,
        points: seen.collect(),
        lower: Vec::new(),
    }
}

/// All values.
const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// `count` + 1 arguments from `low` to `high`, evenly.
fn even(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    (0..=count).map(move |k| low + (high - low) * f64::from(k) / f64::from(count))
}

/// `count` + 1 arguments from `low` to `high`, evenly by their logarithms.
fn by_decades(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> + Clone {
    even(low.ln(), high.ln(), count).map(f64::exp)
}

/// A chart with linear axes.
fn chart(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Chart {
    Chart {
        series,
        ..Chart::new(title, x_label, y_label)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita_cli::plot::render;

    #[test]
    fn every_figure_has_lines_with_points_and_no_bad_numbers() {
        for figure in &FIGURES {
            let charts = (figure.charts)().unwrap();
            assert!(!charts.is_empty());
            for chart in &charts {
                for series in &chart.series {
                    assert!(series.points.len() > 1, "{}: {}", figure.name, series.name);
                    assert!(series.points.windows(2).all(|w| w[0].0 <= w[1].0));
                }
            }
            let svg = render(&charts);
            assert!(
                !svg.contains("NaN") && !svg.contains("inf"),
                "{}",
                figure.name
            );
        }
    }

    #[test]
    fn names_are_unique() {
        for (index, figure) in FIGURES.iter().enumerate() {
            assert!(
                FIGURES[..index]
                    .iter()
                    .all(|other| other.name != figure.name)
            );
        }
    }
}
