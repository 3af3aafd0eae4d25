//! `tacita-lab bench` as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::Value;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tacita-lab"))
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

fn parsed(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_tacita-lab"))
        .arg("bench")
        .args(arguments)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn epoch_makes_a_step_for_each_expected_batch_and_waits_less_than_it_takes() {
    let printed = parsed(&["epoch", "--quick", "--batch", "100", "--json"]);
    assert_eq!(printed["data"], "synthetic");
    assert!(printed["data_note"].is_string());
    assert_eq!(printed["records"], 1_000);
    assert_eq!(printed["steps"], 10);
    assert_eq!(printed["parameters"], 26_010);
    let seconds = |value: &Value| value.as_f64().unwrap();
    let waited = &printed["waited_for_data_s"];
    let [drawing, batching, all] =
        ["drawing", "batching", "all"].map(|part| seconds(&waited[part]));
    assert!(drawing > 0.0 && batching > 0.0);
    assert_eq!(all, drawing + batching);
    assert!(all < seconds(&printed["wall_s"]));
    assert!(seconds(&printed["cpu_s"]) > 0.0);
    assert!(seconds(&printed["peak_mib"]) > 0.0);
}

#[test]
fn exponent_is_that_of_neighbouring_medians_it_prints() {
    let plot = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaling.svg");
    let file = plot.to_str().unwrap();
    let arguments = [
        "scaling",
        "--workload",
        "lstm",
        "--quick",
        "--json",
        "--plot",
        file,
    ];
    let printed = parsed(&arguments);
    for (curve, sizes) in [
        ("batch", [16.0, 32.0]),
        // 784 w + w + w² + w + 10 w + 10 for w = 32 and 64.
        ("parameters", [26_506.0, 55_050.0]),
    ] {
        let points = printed[curve].as_array().unwrap();
        let number =
            |index: usize, path: &str| points[index].pointer(path).unwrap().as_f64().unwrap();
        assert_eq!([0, 1].map(|index| number(index, "/size")), sizes);
        assert!(points[0]["exponent"].is_null());
        for kind in ["plain", "private"] {
            let median = |index| number(index, &format!("/{kind}/wall_ms/median"));
            let expected = (median(1) / median(0)).ln() / (sizes[1] / sizes[0]).ln();
            let exponent = number(1, &format!("/exponent/{kind}"));
            assert!(
                (exponent - expected).abs() < 1e-9,
                "{curve} {kind}: {exponent}, {expected}"
            );
        }
    }
    let drawn = std::fs::read_to_string(&plot).unwrap();
    assert!(drawn.contains("private") && !drawn.contains("NaN"));
}

#[test]
fn curve_of_one_point_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_tacita-lab"))
        .args(["bench", "scaling", "--workload", "mlp", "--largest", "16"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        message.contains("--largest") && message.contains("16"),
        "{message}"
    );
}
