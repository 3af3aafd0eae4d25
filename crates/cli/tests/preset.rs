//! `tacita train --preset` and `--features` as a user meets them.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{fresh, path, printed, refused, summary};

#[test]
fn a_preset_is_resolved_shown_and_certified_before_any_data_are_opened() {
    for (set, model, features) in [
        ("mnist", "logistic (39,700 parameters)", "scattering"),
        (
            "fashion-mnist",
            "logistic (39,700 parameters)",
            "scattering",
        ),
        ("imdb", "logistic (202 parameters)", "word-means"),
        ("names", "logistic (147,474 parameters)", "n-grams"),
    ] {
        let plan = printed(&[
            "train",
            "--data",
            set,
            "--preset",
            "best",
            "--epsilon",
            "1",
            "--dry-run",
        ]);
        for part in [model, features, "preset      best: "] {
            assert!(plan.contains(part), "{part}: {plan}");
        }
        assert!(
            plan.contains("ε ≤ 1 at") || plan.contains("ε ≤ 0.9999"),
            "{plan}"
        );
    }
    refused(
        &["train", "--data", "adult", "--preset", "best", "--dry-run"],
        &["adult", "fashion-mnist"],
    );
    refused(
        &[
            "train",
            "--data",
            "names",
            "--features",
            "scattering",
            "--dry-run",
        ],
        &["scattering", "images"],
    );
}

#[test]
fn scattering_trains_and_predicts_like_any_input() {
    let folder = fresh("preset", "scattering");
    let run = summary(&[
        "train",
        "--data",
        "digits",
        "--features",
        "scattering",
        "--model",
        "logistic",
        "--steps",
        "30",
        "--batch",
        "512",
        "--seed",
        "1",
        "--noise",
        "0.5",
        "--out",
        path(&folder),
    ]);
    // Chance is 10 %; nearly no noise.
    assert!(run["accuracy"].as_f64().unwrap() > 0.7, "{run}");
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("wavelet scattering") && report.contains("one image"));
}
