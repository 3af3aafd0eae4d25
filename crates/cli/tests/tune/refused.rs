//! Mistakes are named before anything is spent.

use super::common::files;
use super::*;

/// One candidate that cannot run stops the search before any run is made.
#[test]
fn every_candidate_is_checked_before_anything_is_spent() {
    for (list, named) in [
        ("learning-rate = [0.1, -1.0]", "learning-rate = -1.0"),
        ("optimizer = [\"adam\", \"foo\"]", "optimizer = foo"),
        ("model = [\"logistic\", \"lstm\"]", "model = lstm"),
        ("hidden = [8, 0]", "hidden = 0"),
        ("epochs = [0.1, 0.2]", "--steps and --epochs"),
        (
            "clipping = [\"abadi:1\", \"abadi:1e-300\"]",
            "between 1e-20 and 1e20",
        ),
        ("learning-rate = [0.5, 0.1, 0.5]", "are the same run"),
    ] {
        let random = RANDOM.replace("learning-rate = [0.1, 0.5, 1.0]", list);
        let random = match list.starts_with("hidden") {
            true => random.replace("\"logistic\"", "\"mlp\""),
            false => random.replace("model = \"logistic\"\n", ""),
        };
        let (space, out) = fresh("candidates", &random);
        let output = tune(&space, &out);
        assert_eq!(output.status.code(), Some(2), "{list}");
        let said = text(&output.stderr);
        assert!(said.contains(named), "{said}");
        assert!(!out.exists(), "{list}");
    }
}

#[test]
fn a_space_that_is_not_there_is_named() {
    super::common::refused(&["tune", "none.toml", "--out", "none"], &["none.toml"]);
}

/// A budget under which nothing can be learned, and a grid that nobody can run.
#[test]
fn hopeless_searches_are_refused() {
    let values: Vec<String> = (1..20_000).map(|value| format!("{value}.0")).collect();
    let huge = format!(
        "learning-rate = [{0}]\nweight-decay = [{0}]",
        values.join(",")
    );
    for (space, why) in [
        (
            GRID.replace("epsilon = 2.0", "epsilon = nan"),
            "epsilon must be",
        ),
        (
            GRID.replace("epsilon = 2.0", "epsilon = 2.0\ndevice = \"foo\""),
            "device foo is unknown",
        ),
        (
            GRID.replace("epsilon = 2.0", "epsilon = 1e-6"),
            "too small for any step",
        ),
        (
            RANDOM.replace("mean = 3.0", "mean = nan"),
            "above 0 and at most",
        ),
        (
            RANDOM.replace("[random]", "estimate-bounds = true\n[random]"),
            "estimate-bounds is not for a random search",
        ),
        (
            GRID.replace("steps = [3, 6]", &huge),
            "more than 10000 candidates",
        ),
    ] {
        let (space, out) = fresh("hopeless", &space);
        let output = tune(&space, &out);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains(why), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn a_folder_of_something_else_is_refused_and_left_alone() {
    let (space, out) = fresh("other", GRID);
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("precious"), "kept").unwrap();
    let output = tune(&space, &out);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("Nothing was spent"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(files(&out), set(&["precious"]));
}

/// Of two processes that start one search at once, the second finds an empty folder that is locked.
#[cfg(unix)]
#[test]
fn a_search_that_another_process_has_begun_is_refused() {
    let (space, out) = fresh("begun", RANDOM);
    fs::create_dir(&out).unwrap();
    let lock = fs::File::open(&out).unwrap();
    lock.lock().unwrap();
    let output = tune(&space, &out);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("in use by another process"), "{said}");
    assert!(files(&out).is_empty());
    drop(lock);
    found(&tune(&space, &out));
}

/// What a search would be is shown before anything is made.
#[test]
fn a_dry_run_shows_the_noise_and_makes_nothing() {
    let (space, out) = fresh("dry", GRID);
    let shown = common::printed(&["tune", common::path(&space), "--dry-run"]);
    assert!(shown.contains("for the whole search"), "{shown}");
    assert_eq!(shown.matches("noise multiplier").count(), 4, "{shown}");
    assert!(shown.contains("Nothing was made or spent"));
    assert!(!out.exists());
}
