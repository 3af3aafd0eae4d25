//! Small pieces of HTML. Whatever comes from outside goes through [`text`].

use crate::plot;
use crate::report::charts::Explained;
use crate::report::words::Statement;

/// A space that does not end a line.
const NO_BREAK: &str = "\u{a0}";

/// Text that cannot become markup. Signs stay beside their numbers at the end of a line.
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for letter in raw.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    for joined in [" ≤ ", " × ", " = "] {
        out = out.replace(joined, &joined.replace(' ', NO_BREAK));
    }
    for (sign, kept) in [("≤ ", "≤"), ("≈ ", "≈")] {
        out = out.replace(sign, &format!("{kept}{NO_BREAK}"));
    }
    out.replace(" %", &format!("{NO_BREAK}%"))
}

/// A section with a heading; `body` is markup.
pub fn section(id: &str, title: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n",
        text(title)
    )
}

/// A paragraph of plain text.
pub fn paragraph(raw: &str) -> String {
    format!("<p>{}</p>\n", text(raw))
}

/// Statements as a list of terms; a topic that repeats is named once.
pub fn statements(statements: &[Statement]) -> String {
    let mut out = "<dl>\n".to_string();
    for group in statements.chunk_by(|a, b| a.topic == b.topic) {
        let texts: String = (group.iter())
            .map(|statement| format!("<dd>{}</dd>", text(&statement.text)))
            .collect();
        out += &format!("<div><dt>{}</dt>{texts}</div>\n", text(&group[0].topic));
    }
    out + "</dl>\n"
}

/// A table of plain text; all columns but the first hold figures.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        (cells.iter())
            .map(|cell| format!("<{tag}>{}</{tag}>", text(cell)))
            .collect()
    };
    let head: Vec<String> = head.iter().map(|cell| cell.to_string()).collect();
    let body: String = (rows.iter())
        .map(|row| format!("<tr>{}</tr>\n", cells("td", row)))
        .collect();
    format!(
        "<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n",
        cells("th", &head)
    )
}

/// A list of plain text.
pub fn list(tag: &str, items: &[String]) -> String {
    let items: String = (items.iter())
        .map(|item| format!("<li>{}</li>\n", text(item)))
        .collect();
    format!("<{tag}>\n{items}</{tag}>\n")
}

/// A chart with its title, legend and note.
pub fn figure(explained: &Explained) -> String {
    let chart = &explained.chart;
    format!(
        "<figure>\n<h3>{}</h3>\n{}<ul class=\"legend\">{}</ul>\n<figcaption>{}</figcaption>\n\
         </figure>\n",
        text(&chart.title),
        plot::inline(chart),
        plot::legend_items(chart),
        text(&explained.note)
    )
}
