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
    assert!(undeclared.contains("[columns.\"ward\"]") && undeclared.contains("kind = \"ignored\""));
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
    let path = folder.write("good.toml", SCHEMA);
    assert_eq!(Schema::read(&path).unwrap().label.classes, ["well", "ill"]);
}
