//! Charts side by side in one SVG file that is readable on light and dark pages.

use super::chart::{Chart, Series, Stroke, ticks};
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;
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
.line{fill:none;stroke-width:1.8}.band{stroke:none;fill-opacity:.28}
";

/// The charts as one SVG document.
pub fn render(charts: &[Chart]) -> String {
    let legend = charts
        .iter()
        .map(|chart| chart.series.len())
        .max()
        .unwrap_or(0) as f64;
    let height = HEIGHT + LEGEND_LINE * legend + 10.0;
    let width = WIDTH * charts.len() as f64;
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
        let _ = writeln!(
            out,
            "<g transform=\"translate({} 0)\">",
            WIDTH * index as f64
        );
        draw(&mut out, chart);
        out += "</g>\n";
    }
    out + "</svg>\n"
}

/// Places values of a chart on the page.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    log_y: bool,
}

impl Frame {
    fn of(chart: &Chart) -> Self {
        let (x, y) = chart.range();
        let y = if chart.log_y {
            (y.0.log10(), y.1.log10())
        } else {
            (y.0.min(0.0), y.1 * 1.04)
        };
        Self {
            x,
            y,
            log_y: chart.log_y,
        }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    /// `value` is already a logarithm on a logarithmic axis.
    fn y_scaled(&self, value: f64) -> f64 {
        let share = (value - self.y.0) / (self.y.1 - self.y.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    fn point(&self, (x, y): (f64, f64)) -> String {
        let y = if self.log_y { y.log10() } else { y };
        format!("{:.2},{:.2}", self.x(x), self.y_scaled(y))
    }

    fn path<'a>(&self, points: impl Iterator<Item = &'a (f64, f64)>) -> String {
        let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let placed: Vec<String> = finite.map(|point| self.point(*point)).collect();
        placed.join(" ")
    }
}

fn draw(out: &mut String, chart: &Chart) {
    let frame = Frame::of(chart);
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let middle = 0.5 * (LEFT + right);
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{middle}\" y=\"22\" text-anchor=\"middle\">{}</text>",
        escape(&chart.title)
    );
    for tick in ticks(frame.x.0, frame.x.1, 5) {
        let x = frame.x(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
             <text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 18.0,
            number(tick)
        );
    }
    for tick in ticks(frame.y.0, frame.y.1, 6) {
        if frame.log_y && tick.fract() != 0.0 {
            continue;
        }
        let y = frame.y_scaled(tick);
        let label = if frame.log_y {
            format!("1e{tick}")
        } else {
            number(tick)
        };
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.2}\" y2=\"{y:.2}\"/>\
             <text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{label}</text>",
            LEFT - 8.0,
            y + 4.5
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
         <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        bottom + 42.0,
        escape(&chart.x_label),
        0.5 * (TOP + bottom),
        escape(&chart.y_label)
    );
    for series in &chart.series {
        draw_series(out, &frame, series);
    }
    for (index, series) in chart.series.iter().enumerate() {
        draw_legend(out, series, HEIGHT + LEGEND_LINE * (index as f64 + 0.5));
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

fn draw_legend(out: &mut String, series: &Series, y: f64) {
    let colour = series.colour % COLOURS;
    if !series.lower.is_empty() {
        let _ = writeln!(
            out,
            "<rect class=\"band f{colour}\" x=\"{LEFT}\" y=\"{}\" width=\"34\" height=\"10\"/>",
            y - 5.0
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"line s{colour}\"{} d=\"M{LEFT} {y}h34\"/><text x=\"{}\" y=\"{}\">{}</text>",
        dashes(series.stroke),
        LEFT + 44.0,
        y + 4.5,
        escape(&series.name)
    );
}

fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-3) {
        return format!("{value:e}");
    }
    // Ticks are round: four decimals show them all, without the noise of binary fractions.
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "a < b".to_string(),
            x_label: "steps".to_string(),
            y_label: "ε".to_string(),
            log_y: false,
            series: vec![Series {
                name: "bracket".to_string(),
                colour: 0,
                stroke: Stroke::Solid,
                points: vec![(0.0, 0.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 3.0)],
                lower: vec![(0.0, 0.0), (1.0, 1.0), (3.0, 2.0)],
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
        let svg = render(&[logarithmic]);
        assert!(svg.contains(">1e-2<") && svg.contains(">1e-4<"), "{svg}");
    }
}
