//! What a chart shows, apart from how it is drawn.

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// A full line.
    Solid,
    /// A dashed line: a bound of another accountant.
    Dashed,
    /// A dotted line: an estimate.
    Dotted,
}

/// One line, or the band between a lower and an upper line.
#[derive(Debug, Clone)]
pub struct Series {
    /// Text in the legend.
    pub name: String,
    /// Number of its colour; series of one schedule share it.
    pub colour: usize,
    /// How the line is drawn.
    pub stroke: Stroke,
    /// (x, y), x increasing.
    pub points: Vec<(f64, f64)>,
    /// (x, lower end) of a band whose upper end is `points`; empty for a line.
    pub lower: Vec<(f64, f64)>,
}

/// A point worth naming.
#[derive(Debug, Clone)]
pub struct Mark {
    /// Where.
    pub at: (f64, f64),
    /// What stands beside it.
    pub label: String,
}

/// One pair of axes.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// Whether a linear vertical axis begins at 0 even if no point is near it.
    pub from_zero: bool,
    /// Whether both axes go from 0 to 1 at least, as shares do.
    pub shares: bool,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Points named on top of the lines.
    pub marks: Vec<Mark>,
}

impl Chart {
    /// Linear axes with nothing on them yet.
    pub fn new(
        title: impl Into<String>,
        x_label: impl Into<String>,
        y_label: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            log_x: false,
            log_y: false,
            from_zero: true,
            shares: false,
            series: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Axes for δ over ε.
    pub fn privacy_curve() -> Self {
        Self {
            log_y: true,
            ..Self::new("Privacy curve", "ε", "δ")
        }
    }

    /// Range of all finite points: ((least x, greatest x), (least y, greatest y)).
    pub fn range(&self) -> ((f64, f64), (f64, f64)) {
        let empty = (f64::INFINITY, f64::NEG_INFINITY);
        let mut range = match self.shares {
            true => ((0.0, 1.0), (0.0, 1.0)),
            false => (empty, empty),
        };
        let points = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().chain(&s.lower))
            .chain(self.marks.iter().map(|mark| &mark.at));
        for &(x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            range.0 = (range.0.0.min(x), range.0.1.max(x));
            range.1 = (range.1.0.min(y), range.1.1.max(y));
        }
        // A line that stays where it is lies between zero and a third more.
        let widen = |(low, high): (f64, f64)| match low {
            _ if low < high => (low, high),
            _ if low > 0.0 && low.is_finite() => (0.0, low * 4.0 / 3.0),
            _ if low < 0.0 => (low * 4.0 / 3.0, 0.0),
            _ => (0.0, 1.0),
        };
        (widen(range.0), widen(range.1))
    }
}

/// Round numbers that divide `[low, high]` into about `count` parts.
pub fn ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= 0.8 * rough)
        .unwrap_or(10.0);
    let step = factor * power;
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_stays_where_it_is_lies_inside_the_chart() {
        let range = |points: Vec<(f64, f64)>| {
            let mut chart = Chart::new("Learning rate", "step", "rate");
            chart.series = vec![Series {
                name: "rate".into(),
                colour: 0,
                stroke: Stroke::Solid,
                points,
                lower: Vec::new(),
            }];
            chart.range().1
        };
        for value in [0.038, 4.13, 1.0, -2.0] {
            let (low, high) = range(vec![(0.0, value), (9.0, value)]);
            let place = (value - low) / (high - low);
            assert!(
                (0.2..=0.8).contains(&place) && (low == 0.0 || high == 0.0),
                "{value}: {low} to {high}"
            );
        }
        assert_eq!(range(vec![(0.0, 0.0)]), (0.0, 1.0));
        assert_eq!(range(Vec::new()), (0.0, 1.0));
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let shown = ticks(0.0, 5000.0, 5);
        assert_eq!(shown, [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
        for (low, high) in [(0.0, 0.37), (-3.0, 8.1), (1.2, 1.3)] {
            let shown = ticks(low, high, 5);
            assert!((3..=12).contains(&shown.len()), "{shown:?}");
            assert!(shown.iter().all(|t| *t >= low - 1e-9 && *t <= high + 1e-9));
        }
    }
}
