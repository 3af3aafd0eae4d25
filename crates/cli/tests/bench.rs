//! `tacita bench step` as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::Value;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tacita"))
        .args(["bench", "step"])
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn ratio_is_that_of_the_medians_it_prints() {
    for extra in [&[][..], &["--query-directions", "--threads", "1"]] {
        let size = [
            "--workload",
            "mlp",
            "--batch",
            "8",
            "--steps",
            "2",
            "--json",
        ];
        let output = bench(&[&size[..], extra].concat());
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&printed["batch"], &printed["steps"]),
            (&8.into(), &2.into())
        );
        let median = |kind: &str| printed[kind]["wall_ms"]["median"].as_f64().unwrap();
        let ratio = printed["ratio"]["wall"].as_f64().unwrap();
        assert!(median("plain") > 0.0);
        assert!((ratio - median("private") / median("plain")).abs() <= 1e-12 * ratio);
    }
}

#[test]
fn unknown_workload_is_named_beside_the_known_ones() {
    let output = bench(&["--workload", "mpl"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("mpl") && message.contains("embedding-mlp"),
        "{message}"
    );
}
