//! The HTML page: the guarantee first, then what it means, then how it came about.

mod audit;
mod details;
mod head;
pub mod html;
mod plain_words;
mod utility;

pub use details::signature;
pub use head::{banner, guarantee, header};
pub use plain_words::groups;

use super::Report;
use html::text;

const STYLE: &str = include_str!("style.css");

/// The whole page. It asks for nothing from elsewhere, and its own policy forbids it to.
pub fn render(report: &Report) -> String {
    let body = [
        head::render(report),
        plain_words::render(report),
        audit::render(report.audit()),
        details::promise(report),
        details::comparison(report),
        details::charts(report),
        utility::render(report),
        details::mechanism(report),
        details::side_costs(report),
        details::coverage(report),
        details::all_runs(report),
        details::subject(report),
        details::machinery(report),
        details::identity(report),
        details::caveats(report),
        details::signature(report.facts.private()),
    ]
    .concat();
    document(
        &format!("Privacy report: {}", report.facts.name),
        report.facts.private(),
        &body,
    )
}

/// A page with our style around markup.
pub fn document(title: &str, private: bool, body: &str) -> String {
    let title = text(title);
    let private = if private { "" } else { " class=\"exposed\"" };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body{private}>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}
