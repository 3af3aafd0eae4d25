//! Keys of TOML files that had other names in earlier versions. They are still read, with a hint.

use toml::{Table, Value};

/// Tables from the root of a file, the old name of a key in them, and the new one.
const RENAMED: [(&[&str], &str, &str); 5] = [
    (&[], "bad_rows", "bad-rows"),
    (&["text"], "word_vectors", "word-vectors"),
    (&["declared"], "bad_rows", "bad-rows"),
    (&["declared", "text"], "word_vectors", "word-vectors"),
    (&["runs"], "law", "distribution"),
];

/// Whether a key is only read for the sake of earlier versions.
pub fn is_old(key: &str) -> bool {
    RENAMED.iter().any(|(_, old, _)| *old == key)
}

/// A hint for every old name in a schema, in settings or in a search space.
pub fn hints(text: &str) -> Vec<String> {
    let Ok(root) = text.parse::<Table>() else {
        // Its reader says what is wrong with it.
        return vec![];
    };
    let is_there = |(tables, old, _): &&(&[&str], &str, &str)| {
        let mut inside = Some(&root);
        for table in *tables {
            inside = inside
                .and_then(|inside| inside.get(*table))
                .and_then(Value::as_table);
        }
        inside.is_some_and(|inside| inside.contains_key(*old))
    };
    (RENAMED.iter().filter(is_there))
        .map(|(_, old, new)| format!("`{old}` is called `{new}` now; the old name is still read"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_hinted_at_where_they_stand_and_only_there() {
        let text = "bad_rows = 'drop'\n[text]\nword_vectors = 5\n[columns.law]\nkind = 'ignored'";
        let hints = hints(text);
        assert_eq!(hints.len(), 2);
        assert!(hints[0].contains("`bad-rows`") && hints[1].contains("`word-vectors`"));
        assert!(super::hints("[runs]\nlaw = 'poisson'")[0].contains("`distribution`"));
        assert!(super::hints("bad-rows = 'drop'").is_empty());
        assert!(super::hints("= nonsense").is_empty());
    }
}
