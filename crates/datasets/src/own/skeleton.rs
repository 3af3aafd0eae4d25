//! The beginning of a schema for a file: what its header and types say, and the rest to be filled in.

use super::fields::{Field, Seen};
use super::rows::Hint;
use crate::preparation::iso;
use crate::schema::{BUCKETS, is_named_like_an_identifier, key, quoted};
use std::fmt::Write;

/// A schema with a table for each column but the label. A line that only the owner of the data can fill in is a
/// comment, so that nothing is declared that nobody thought about.
pub fn skeleton(fields: &[Field], label: Option<&str>) -> String {
    let looked = fields.iter().any(|field| field.seen.is_some());
    let mut text = match looked {
        false => "# Everything in a schema is taken as public. Nothing here comes from the records: names and types of\n\
                  # columns are those of the file. Fill in what you know without looking.\n"
            .to_string(),
        true => "# NOT PRIVATE: this was made by looking at the records. Round it to what is known of everybody before\n\
                 # using it; what is copied from here is published, and no guarantee covers it.\n"
            .to_string(),
    };
    text += "# records =                  # how many there are; rounded is fine\n";
    text += "\n[label]\n";
    match label {
        Some(label) => {
            let _ = writeln!(text, "column = {}", quoted(label));
        }
        None => {
            text +=
                "# column =                   # the column to predict; take its table below away\n"
        }
    }
    let classes = (fields
        .iter()
        .find(|field| Some(field.name.as_str()) == label))
    .and_then(|field| field.seen.as_ref()?.values.clone());
    text += &match classes {
        Some(classes) => format!("classes = {}\n", list(&classes)),
        None => "# classes = [\"a\", \"b\"]\n".to_string(),
    };
    let columns = (fields.iter())
        .filter(|field| !field.name.is_empty() && Some(field.name.as_str()) != label);
    for field in columns {
        let _ = writeln!(text, "\n[columns.{}]", key(&field.name));
        text += &column(field);
    }
    text
}

fn column(field: &Field) -> String {
    if is_named_like_an_identifier(&field.name) {
        return "kind = \"ignored\"             # named like an identifier\n".into();
    }
    if let Some(seen) = &field.seen {
        return looked_at(seen);
    }
    match field.hint {
        Hint::Booleans => "kind = \"boolean\"\n".into(),
        Hint::Dates => "kind = \"date\"\n# min = \"2000-01-01\"\n# max = \"2030-01-01\"\n".into(),
        Hint::Numbers => {
            "kind = \"numeric\"             # without bounds they are estimated: --estimate-bounds\n\
             # min = 0\n# max = 100\n"
                .into()
        }
        Hint::Texts => format!("buckets = {BUCKETS}                 # or categories = [\"a\", \"b\"]\n"),
        Hint::Nothing => format!(
            "# min = 0                    # a number: both bounds\n# max = 100\n\
             # categories = [\"a\", \"b\"]    # or one of a list\n\
             # buckets = {BUCKETS}               # or one of too many to list\n\
             # kind = \"ignored\"           # or nothing to learn from\n"
        ),
    }
}

/// What the values are, which is not private.
fn looked_at(seen: &Seen) -> String {
    let mut text = match seen {
        Seen { there: 0, .. } => "kind = \"ignored\"             # all values are missing\n".into(),
        Seen {
            values: Some(values),
            ..
        } if is_boolean(values) => "kind = \"boolean\"\n".to_string(),
        Seen {
            numbers: Some((least, greatest)),
            ..
        } if least < greatest => format!("min = {least}\nmax = {greatest}\n"),
        Seen {
            dates: Some((least, greatest)),
            ..
        } if least < greatest => {
            format!(
                "kind = \"date\"\nmin = \"{}\"\nmax = \"{}\"\n",
                iso(*least),
                iso(*greatest)
            )
        }
        Seen {
            values: Some(values),
            ..
        } if values.len() >= 2 => format!("categories = {}\n", list(values)),
        Seen {
            values: Some(_), ..
        } => "kind = \"ignored\"             # all values are the same\n".into(),
        _ => format!("buckets = {BUCKETS}\n"),
    };
    if seen.missing > 0 && seen.there > 0 {
        let _ = writeln!(
            text,
            "# {} values are missing; such records are left out unless you say for example\n# missing = \"indicator\"",
            seen.missing
        );
    }
    text
}

fn is_boolean(values: &[String]) -> bool {
    let all = ["true", "false", "yes", "no"];
    values.len() == 2 && (values.iter()).all(|value| all.contains(&value.to_lowercase().as_str()))
}

fn list(values: &[String]) -> String {
    let quoted = values.iter().map(|value| quoted(value));
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
}
