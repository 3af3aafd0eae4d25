//! Columns that nobody declared: all of them at once, with lines to paste.

use super::column::BUCKETS;
use super::identifiers::is_named_like_an_identifier;
use super::keys::key;
use std::fmt::Write;

/// Columns that lines are given for; more would scroll the words away.
const MOST: usize = 40;

/// What to say of columns that are not declared.
pub(super) fn message(names: &[&String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect();
    let what = match names.len() {
        1 => format!("column {} is not declared", shown[0]),
        count if count > MOST => {
            format!("{count} columns are not declared, {}, …", shown.join(", "))
        }
        _ => format!("columns {} are not declared", shown.join(", ")),
    };
    let mut text = format!(
        "{what}. What a column holds is not read from private records, so add to the schema (--schema FILE, or \
         [declared] in the settings) what each of them holds:\n\n"
    );
    for name in names.iter().take(MOST) {
        text += &lines(name);
    }
    if names.len() > MOST {
        let _ = writeln!(text, "  … and {} more", names.len() - MOST);
    }
    text + "\n`tacita schema FILE` writes this for all columns of a file"
}

fn lines(name: &str) -> String {
    let key = key(name);
    if is_named_like_an_identifier(name) {
        return format!("  [columns.{key}]\n  kind = \"ignored\"\n");
    }
    format!(
        "  [columns.{key}]\n  # kind = \"ignored\" | buckets = {BUCKETS} | categories = [\"a\", \"b\"] | kind = \
         \"boolean\"\n  # or  min = 0\n  #     max = 100\n"
    )
}
