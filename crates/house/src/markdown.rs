//! Headings and links of a Markdown page, with the anchors that mdBook and GitHub give to headings.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};

/// What other pages can point to on a page, and where it points.
#[derive(Debug, Default)]
pub struct Page {
    /// The anchor of every heading.
    pub anchors: BTreeSet<String>,
    /// Line and target of every link and picture.
    pub links: Vec<(usize, String)>,
}

impl Page {
    /// Reads a page.
    pub fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = slug(&heading.take().unwrap_or_default());
                    let count = seen.entry(anchor.clone()).or_default();
                    page.anchors.insert(match *count {
                        0 => anchor,
                        again => format!("{anchor}-{again}"),
                    });
                    *count += 1;
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let line = 1 + text[..range.start].matches('\n').count();
                    page.links.push((line, dest_url.into_string()));
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading: letters, digits, `-` and `_` in lower case, spaces as `-`.
pub fn slug(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|sign| match sign {
            sign if sign.is_alphanumeric() || sign == '-' || sign == '_' => Some(sign),
            sign if sign.is_whitespace() => Some('-'),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// The text between backticks on one line, as comments and pages use them for names and paths.
pub fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| !name.is_empty())
}
