use super::*;

fn error(schema: &str) -> String {
    message(csv(PATIENTS, &options(schema)))
}

#[test]
fn every_column_must_be_declared() {
    let less = SCHEMA.replace("[columns.ward]\ncategories = [\"north\", \"south\"]", "");
    let undeclared = error(&less);
    assert!(
        undeclared.contains("column `ward` is not declared"),
        "{undeclared}"
    );
    assert!(undeclared.contains("[columns.ward]") && undeclared.contains("kind = \"ignored\""));
    let more = error(&format!("{SCHEMA}[columns.wards]\nbuckets = 2"));
    assert!(
        more.contains("a column `wards` that the file does not have; did you mean “ward”?"),
        "{more}"
    );
    let ignored = SCHEMA.replace("categories = [\"north\", \"south\"]", "kind = \"ignored\"");
    assert_eq!(
        rows(&ready(csv(PATIENTS, &options(&ignored))).training).0,
        [0.5, 0.25, 1.0]
    );
}

#[test]
fn declarations_without_sense_are_refused() {
    for (declared, expected) in [
        ("min = 5\nmax = 5", "`min` must be below `max`, got 5 and 5"),
        ("min = nan\nmax = 5", "`min` must be below `max`"),
        ("min = 5", "declare both `min` and `max`, or neither"),
        (
            "",
            "declare `min` and `max`, `categories`, `buckets`, or a `kind`",
        ),
        (
            "kind = \"numeric\"\nbuckets = 3",
            "`min` and `max` are for numeric columns",
        ),
        ("min = \"2020-01-01\"\nmax = 5", "say kind = \"date\" too"),
        ("kind = \"date\"", "declare the range of the date"),
        (
            "kind = \"date\"\nmin = \"1.1.2020\"\nmax = \"2021-01-01\"",
            "`min` must be a date in quotes",
        ),
        (
            "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2019-01-01\"",
            "`min` must be before `max`",
        ),
        (
            "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2021-01-01\"\nformat = \"%H:%M\"",
            "no date can be read by the format",
        ),
        (
            "kind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2021-01-01\"\ncycles = [\"hour\", \"hour\"]",
            "`cycles` names one twice",
        ),
        ("order = [\"a\"]", "between 2 and 4096 values in `order`"),
        ("order = [\"a\", \"b\"]\nmin = 0", "`min` and `max` are for"),
        ("buckets = 3\nother = true", "`other` goes with a list"),
        (
            "min = 0\nmax = 1\nother = true",
            "`other` is not for columns of kind \"numeric\"",
        ),
        (
            "buckets = 3\ndecimal = \",\"",
            "`decimal` is not for columns of kind",
        ),
        (
            "min = 0\nmax = 1\nthousands = \".\"",
            "say which mark `decimal` is",
        ),
        (
            "min = 0\nmax = 1\nthousands = \",\"\ndecimal = \",\"",
            "`decimal` and `thousands` must differ",
        ),
        (
            "min = 0\nmax = 1\nmissing = \"category\"",
            "say missing = \"indicator\"",
        ),
        (
            "buckets = 3\nmissing = \"indicator\"",
            "say missing = \"category\"",
        ),
        (
            "min = 0\nmax = 1\nmissing = \"drop\"\nfill = 1",
            "`fill` goes alone or with",
        ),
        (
            "min = 0\nmax = 1\nfill = \"x\"",
            "`fill` = \"x\" is no value of the column",
        ),
        (
            "categories = [\"a\", \"b\"]\nfill = \"c\"",
            "`fill` = \"c\" is no value",
        ),
        (
            "kind = \"ignored\"\nfill = 1",
            "`fill` is not for columns of kind \"ignored\"",
        ),
        ("categories = [\"a\"]\nbuckets = 3", "not both"),
        (
            "categories = [\"a\", \"a\"]",
            "the category “a” is declared twice",
        ),
        ("categories = [\"a\", \" b\"]", "has spaces at its ends"),
        ("categories = []", "between 2 and 4096 categories"),
        ("buckets = 1", "`buckets` must be between 2 and 4096, got 1"),
    ] {
        let schema = SCHEMA.replace("min = 0\nmax = 100", declared);
        let error = error(&schema);
        assert!(
            error.contains(expected) && error.contains("column `age`"),
            "{error}\n{expected}"
        );
    }
    let twice = SCHEMA.replace("\"well\", \"ill\"", "\"ill\", \"ill\"");
    assert!(error(&twice).contains("the class “ill” is declared twice"));
    let none = SCHEMA.replace("column = \"outcome\"", "");
    assert!(error(&none).contains("--label COLUMN"));
}

/// As many names as there are, each with lines to paste; none of a value.
#[test]
fn all_undeclared_columns_are_reported_at_once() {
    let header: Vec<String> = (0..60).map(|at| format!("x{at}")).collect();
    let content = format!("{},patient_id,outcome\n", header.join(","));
    let message = message(csv(
        content,
        &options("[label]\ncolumn = \"outcome\"\nclasses = [\"a\", \"b\"]"),
    ));
    for part in [
        "61 columns are not declared",
        "[columns.x0]",
        "[columns.x39]",
        "and 21 more",
        "tacita schema",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let few = error("[label]\ncolumn = \"outcome\"\nclasses = [\"well\", \"ill\"]");
    assert!(
        few.contains("columns `age`, `ward` are not declared"),
        "{few}"
    );
    let identifier = super::message(csv(
        "patient_id,outcome\n",
        &options("[label]\ncolumn = \"outcome\"\nclasses = [\"a\", \"b\"]"),
    ));
    assert!(
        identifier.contains("[columns.patient_id]\n  kind = \"ignored\""),
        "{identifier}"
    );
}

/// The first line of a file without a header is a record.
#[test]
fn a_first_line_with_numbers_is_never_printed() {
    for content in ["Smith,47,ill\nJones,51,well\n", "Smith;47;ill\n"] {
        let error = error_of(content);
        assert!(!error.contains("Smith") && !error.contains("47"), "{error}");
    }
}

fn error_of(content: &str) -> String {
    message(csv(content, &options(SCHEMA)))
}

#[test]
fn unknown_keys_of_a_schema_file_are_errors_with_its_name() {
    let folder = Folder::new();
    let path = folder.write("schema.toml", "bad-row = \"drop\"");
    let error = message(Schema::read(&path));
    assert!(
        error.contains("schema.toml")
            && error.contains("“bad-row”")
            && error.contains("did you mean “bad-rows”"),
        "{error}"
    );
    // Both ways of writing keys of more than one word.
    for key in ["bad_rows", "bad-rows"] {
        let path = folder.write("rows.toml", format!("{key} = \"drop\""));
        Schema::read(&path).unwrap();
    }
    let path = folder.write("good.toml", SCHEMA);
    assert_eq!(Schema::read(&path).unwrap().label.classes, ["well", "ill"]);
}
