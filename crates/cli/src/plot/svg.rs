//! Charts in SVG, readable on light and dark pages: side by side in a file, or one in a page.

use super::chart::{Chart, Mark, Series, Stroke, ticks};
use std::fmt::Write;
use tacita_accounting::decimal::power_of_ten;

/// Where the axes stand.
struct Layout {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    ticks: (usize, usize),
}

/// A chart in a file, with its title.
const FILE: Layout = Layout {
    width: 560.0,
    height: 380.0,
    left: 74.0,
    right: 542.0,
    top: 40.0,
    bottom: 324.0,
    ticks: (5, 6),
};
/// A chart in a page, which gives it a title and a legend. Small, so that its letters stay readable
/// on a phone.
const PAGE: Layout = Layout {
    width: 400.0,
    height: 260.0,
    left: 54.0,
    right: 388.0,
    top: 10.0,
    bottom: 214.0,
    ticks: (4, 5),
};
const LEGEND_LINE: f64 = 20.0;
/// Number of colours in the style sheet below.
const COLOURS: usize = 6;

/// Colours distinguishable with common colour-blindness (after Okabe & Ito), lightened on dark
/// pages. The background follows the page's scheme, so text keeps its contrast in both.
const STYLE: &str = "\
svg{--paper:#fff;--ink:#1c1e21;--grid:#d9dce1;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#a0569b;--c4:#8a6d00;--c5:#555}
@media(prefers-color-scheme:dark){svg{--paper:#16181c;--ink:#e6e8eb;--grid:#383c43;--c0:#56b4e9;--c1:#ff8c4a;--c2:#2fd0a5;--c3:#e09ad8;--c4:#f0e442;--c5:#b5b8be}}
text{font:13px system-ui,sans-serif;fill:var(--ink)}.title{font-size:15px;font-weight:600}
.paper{fill:var(--paper)}.axis{stroke:var(--ink);fill:none}.grid{stroke:var(--grid)}
.line{fill:none;stroke-width:1.8}.band{stroke:none;fill-opacity:.28}.mark{fill:var(--ink)}
";

/// The charts as one SVG document.
pub fn render(charts: &[Chart]) -> String {
    let lines = charts
        .iter()
        .map(|chart| chart.series.len() + chart.marks.len())
        .max()
        .unwrap_or(0) as f64;
    let height = FILE.height + LEGEND_LINE * lines + 10.0;
    let width = FILE.width * charts.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<style>\n{STYLE}"
    );
    for colour in 0..COLOURS {
        let _ = writeln!(
            out,
            ".s{colour}{{stroke:var(--c{colour})}}.f{colour}{{fill:var(--c{colour})}}"
        );
    }
    let _ = writeln!(
        out,
        "</style>\n<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>"
    );
    for (index, chart) in charts.iter().enumerate() {
        let shift = FILE.width * index as f64;
        let middle = 0.5 * (FILE.left + FILE.right);
        let _ = writeln!(
            out,
            "<g transform=\"translate({shift} 0)\">\
             <text class=\"title\" x=\"{middle}\" y=\"22\" text-anchor=\"middle\">{}</text>",
            escape(&chart.title)
        );
        draw(&mut out, chart, &FILE);
        for (index, (sample, label)) in legend(chart).enumerate() {
            let y = FILE.height + LEGEND_LINE * (index as f64 + 0.5);
            let _ = writeln!(
                out,
                "<g transform=\"translate({} {y})\">{}</g><text x=\"{}\" y=\"{}\">{}</text>",
                FILE.left,
                sample,
                FILE.left + 44.0,
                y + 4.5,
                escape(label)
            );
        }
        out += "</g>\n";
    }
    out + "</svg>\n"
}

/// One chart as part of a page whose style sheet has the classes of the style sheet above.
pub fn inline(chart: &Chart) -> String {
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
        PAGE.width,
        PAGE.height,
        escape(&format!(
            "{}: {} over {}",
            chart.title, chart.y_label, chart.x_label
        ))
    );
    draw(&mut out, chart, &PAGE);
    out + "</svg>\n"
}

/// The legend of a chart in a page, as items of a list.
pub fn legend_items(chart: &Chart) -> String {
    legend(chart)
        .map(|(sample, label)| {
            format!(
                "<li><svg class=\"key\" viewBox=\"0 -6 34 12\" aria-hidden=\"true\">{sample}</svg>{}</li>",
                escape(label)
            )
        })
        .collect()
}

/// Places values of a chart on the page.
struct Frame<'a> {
    layout: &'a Layout,
    x: (f64, f64),
    y: (f64, f64),
    log_x: bool,
    log_y: bool,
}

impl<'a> Frame<'a> {
    fn of(chart: &Chart, layout: &'a Layout) -> Self {
        let (x, y) = chart.range();
        let x = if chart.log_x {
            (x.0.log10(), x.1.log10())
        } else {
            x
        };
        let y = if chart.log_y {
            (y.0.log10(), y.1.log10())
        } else if chart.from_zero {
            (y.0.min(0.0), y.1 * 1.04)
        } else {
            let room = 0.04 * (y.1 - y.0);
            (y.0 - room, y.1 + room)
        };
        Self {
            layout,
            x,
            y,
            log_x: chart.log_x,
            log_y: chart.log_y,
        }
    }

    /// `value` is already a logarithm on a logarithmic axis.
    fn x_scaled(&self, value: f64) -> f64 {
        let Layout { left, right, .. } = self.layout;
        left + (value - self.x.0) / (self.x.1 - self.x.0) * (right - left)
    }

    /// `value` is already a logarithm on a logarithmic axis.
    fn y_scaled(&self, value: f64) -> f64 {
        let share = (value - self.y.0) / (self.y.1 - self.y.0);
        self.layout.bottom - share * (self.layout.bottom - self.layout.top)
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let x = if self.log_x { x.log10() } else { x };
        let y = if self.log_y { y.log10() } else { y };
        (self.x_scaled(x), self.y_scaled(y))
    }

    fn path<'b>(&self, points: impl Iterator<Item = &'b (f64, f64)>) -> String {
        let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let placed = finite.map(|point| {
            let (x, y) = self.place(*point);
            format!("{x:.2},{y:.2}")
        });
        placed.collect::<Vec<String>>().join(" ")
    }
}

fn draw(out: &mut String, chart: &Chart, layout: &Layout) {
    let frame = Frame::of(chart, layout);
    let Layout {
        left,
        right,
        top,
        bottom,
        ..
    } = *layout;
    for tick in ticks(frame.x.0, frame.x.1, layout.ticks.0) {
        if frame.log_x && tick.fract() != 0.0 {
            continue;
        }
        let x = frame.x_scaled(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{top}\" y2=\"{bottom}\"/>\
             <text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            tick_label(tick, frame.log_x)
        );
    }
    for tick in ticks(frame.y.0, frame.y.1, layout.ticks.1) {
        if frame.log_y && tick.fract() != 0.0 {
            continue;
        }
        let y = frame.y_scaled(tick);
        let label = tick_label(tick, frame.log_y);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.2}\" y2=\"{y:.2}\"/>\
             <text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{label}</text>",
            left - 8.0,
            y + 4.5
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        0.5 * (left + right),
        bottom + 40.0,
        escape(&chart.x_label),
        0.5 * (top + bottom),
        escape(&chart.y_label)
    );
    for series in &chart.series {
        draw_series(out, &frame, series);
    }
    for mark in &chart.marks {
        draw_mark(out, &frame, mark);
    }
}

fn tick_label(tick: f64, logarithmic: bool) -> String {
    if logarithmic {
        power_of_ten(tick as i32)
    } else {
        number(tick)
    }
}

fn dashes(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Solid => "",
        Stroke::Dashed => " stroke-dasharray=\"8 4\"",
        Stroke::Dotted => " stroke-dasharray=\"2 4\"",
    }
}

fn draw_series(out: &mut String, frame: &Frame, series: &Series) {
    let colour = series.colour % COLOURS;
    if !series.lower.is_empty() {
        let outline = frame.path(series.points.iter().chain(series.lower.iter().rev()));
        let _ = writeln!(
            out,
            "<polygon class=\"band f{colour}\" points=\"{outline}\"/>"
        );
    }
    let _ = writeln!(
        out,
        "<polyline class=\"line s{colour}\"{} points=\"{}\"/>",
        dashes(series.stroke),
        frame.path(series.points.iter())
    );
}

/// A dot; its label stands in the legend, where it crosses no line.
fn draw_mark(out: &mut String, frame: &Frame, mark: &Mark) {
    let (x, y) = frame.place(mark.at);
    let _ = writeln!(
        out,
        "<circle class=\"mark\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\"/>"
    );
}

/// Samples and labels of everything in a chart.
fn legend(chart: &Chart) -> impl Iterator<Item = (String, &str)> {
    let lines = chart.series.iter();
    let lines = lines.map(|series| (sample(series), series.name.as_str()));
    let dot = "<circle class=\"mark\" cx=\"17\" cy=\"0\" r=\"4\"/>";
    let marks = chart.marks.iter();
    lines.chain(marks.map(move |mark| (dot.to_string(), mark.label.as_str())))
}

/// A short piece of a series' line and band, about y = 0.
fn sample(series: &Series) -> String {
    let colour = series.colour % COLOURS;
    let band = if series.lower.is_empty() {
        String::new()
    } else {
        format!("<rect class=\"band f{colour}\" y=\"-5\" width=\"34\" height=\"10\"/>")
    };
    let dashes = dashes(series.stroke);
    format!("{band}<path class=\"line s{colour}\"{dashes} d=\"M0 0h34\"/>")
}

fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-3) {
        return format!("{value:e}");
    }
    // Ticks are round: four decimals show them all, without the noise of binary fractions.
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "a < b".to_string(),
            x_label: "steps".to_string(),
            y_label: "ε".to_string(),
            log_x: false,
            log_y: false,
            from_zero: true,
            shares: false,
            series: vec![Series {
                name: "bracket".to_string(),
                colour: 0,
                stroke: Stroke::Solid,
                points: vec![(0.0, 0.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 3.0)],
                lower: vec![(0.0, 0.0), (1.0, 1.0), (3.0, 2.0)],
            }],
            marks: vec![Mark {
                at: (3.0, 3.0),
                label: "end".to_string(),
            }],
        }
    }

    #[test]
    fn drawing_holds_labels_band_and_no_bad_numbers() {
        let svg = render(&[chart(), chart()]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for wanted in [
            "a &lt; b",
            "steps",
            "ε",
            "bracket",
            "polygon",
            ">end<",
            "prefers-color-scheme:dark",
        ] {
            assert!(svg.contains(wanted), "{wanted} is missing");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn logarithmic_axes_show_decades() {
        let mut logarithmic = chart();
        logarithmic.log_y = true;
        logarithmic.series[0].points = vec![(0.0, 1e-2), (1.0, 1e-9)];
        logarithmic.series[0].lower.clear();
        logarithmic.marks.clear();
        let svg = render(&[logarithmic.clone()]);
        assert!(svg.contains(">10⁻²<") && svg.contains(">10⁻⁴<"), "{svg}");
        logarithmic.log_x = true;
        logarithmic.series[0].points = vec![(1e3, 1e-2), (1e5, 1e-9)];
        let svg = render(&[logarithmic]);
        assert!(svg.contains(">10⁴<"), "{svg}");
    }
}
