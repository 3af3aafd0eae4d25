//! Folders of real runs are in order; folders that somebody changed are refused, each for its reason.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use tacita_verify::{PrivateKey, Standing, Verdict, VerifyError, check, sign, verify};

/// Run folders that an earlier version of the program made.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/earlier/folders")
}

const RUNS: [&str; 6] = [
    "digits",
    "table",
    "estimated",
    "unfinished",
    "search/runs/1",
    "random-search/winner",
];

/// A folder of its own for a test, without anything in it.
fn empty(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tacita-verify-{}-{test}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A copy of a run folder that a test may change.
fn copy(run: &str, test: &str) -> PathBuf {
    let to = empty(test);
    for entry in fs::read_dir(kept().join(run)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to
}

fn edit(folder: &Path, file: &str, edit: impl Fn(String) -> String) {
    let path = folder.join(file);
    let before = fs::read_to_string(&path).unwrap();
    let after = edit(before.clone());
    assert_ne!(before, after, "the test changes nothing");
    fs::write(path, after).unwrap();
}

fn refused(verdict: &Verdict) -> String {
    let texts: Vec<&str> = verdict
        .refusals()
        .map(|finding| finding.text.as_str())
        .collect();
    texts.join("\n")
}

#[test]
fn folders_of_real_runs_are_in_order() {
    for run in RUNS {
        let verdict = verify(&kept().join(run)).unwrap();
        assert!(verdict.holds(), "{run}: {}", refused(&verdict));
        assert!(verdict.epsilon_upper.is_some(), "{run}");
        assert!(
            verdict
                .findings
                .iter()
                .any(|finding| finding.standing == Standing::Proved),
            "{run}"
        );
    }
}

#[test]
fn a_run_with_a_fixed_seed_has_no_guarantee() {
    let verdict = verify(&kept().join("growing-online")).unwrap();
    assert!(refused(&verdict).contains("NOT PRIVATE"));
    assert_eq!(verdict.epsilon_upper, None);
}

#[test]
fn an_edited_ledger_is_refused() {
    let folder = copy("table", "edited-ledger");
    edit(&folder, "ledger.jsonl", |text| {
        text.replacen("\"steps\":1,", "\"steps\":2,", 1)
    });
    let error = verify(&folder).unwrap_err();
    assert!(matches!(error, VerifyError::Ledger { .. }), "{error}");
}

#[test]
fn less_noise_in_the_plan_is_refused_even_with_a_new_chain() {
    let folder = copy("table", "other-plan");
    edit(&folder, "ledger.jsonl", |text| {
        chained(&text.replacen("\"noise_multipliers\":[", "\"noise_multipliers\":[9", 1))
    });
    let found = refused(&verify(&folder).unwrap());
    assert!(found.contains("different plans"), "{found}");
    assert!(found.contains("noise multiplier"), "{found}");
    assert!(found.contains("not what the ledger proves"), "{found}");
}

#[test]
fn a_plan_that_the_settings_do_not_make_is_refused() {
    let folder = copy("table", "other-settings");
    let twice = |text: String| text.replacen("\"epochs\": 3.0", "\"epochs\": 6.0", 1);
    edit(&folder, "run.json", twice);
    let found = refused(&verify(&folder).unwrap());
    assert!(
        found.contains("run.json is missing, or is not the file"),
        "{found}"
    );
    assert!(found.contains("training rounds, the ledger has"), "{found}");
}

#[test]
fn a_report_with_another_epsilon_is_refused() {
    let folder = copy("table", "other-report");
    edit(&folder, "report.json", |text| {
        text.replacen("\"epsilon_upper\": ", "\"epsilon_upper\": 1", 1)
    });
    let found = refused(&verify(&folder).unwrap());
    assert!(found.contains("not what the ledger proves"), "{found}");
}

#[test]
fn a_smaller_promise_to_people_with_several_records_is_refused() {
    let folder = copy("table", "several-records");
    edit(&folder, "report.json", |text| {
        let mut report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let unit = report["guarantee"]["epsilon_upper"].clone();
        report["several_records"] = serde_json::json!([{"records": 2, "epsilon_upper": unit}]);
        report.to_string()
    });
    let found = refused(&verify(&folder).unwrap());
    assert!(
        found.contains("a person with 2 records is promised"),
        "{found}"
    );
}

#[test]
fn a_page_or_an_entry_for_registries_with_another_epsilon_is_refused() {
    let folder = copy("table", "other-page");
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("report.json")).unwrap()).unwrap();
    let text = report["guarantee"]["text"].as_str().unwrap();
    let entry = serde_json::json!({"privacy": {"guarantee": {
        "epsilon": report["guarantee"]["epsilon_upper"], "delta": report["guarantee"]["delta"]}}});
    let (epsilon, delta) = text.split_once(" at ").unwrap();
    // As pages have it, with no-break spaces, and with the same words in a legend below.
    let page = |epsilon: &str| {
        let epsilon = epsilon.replace(' ', "\u{a0}");
        format!(
            "<p class=\"epsilon\"><span>{epsilon}</span> <small>at {delta}</small></p><li>{text}</li>"
        )
    };
    fs::write(folder.join("report.html"), page(epsilon)).unwrap();
    fs::write(folder.join("registry.json"), entry.to_string()).unwrap();
    assert_eq!(refused(&verify(&folder).unwrap()), "");

    fs::write(folder.join("report.html"), page("ε ≤ 0.1")).unwrap();
    edit(&folder, "registry.json", |text| {
        text.replacen("\"epsilon\":2", "\"epsilon\":1", 1)
    });
    let found = refused(&verify(&folder).unwrap());
    assert!(found.contains("report.html does not state"), "{found}");
    assert!(
        found.contains("registry.json states another guarantee"),
        "{found}"
    );

    // What they are checked by cannot be taken away.
    fs::remove_file(folder.join("report.json")).unwrap();
    let found = refused(&verify(&folder).unwrap());
    assert!(
        found.contains("report.html is there without report.json"),
        "{found}"
    );
}

#[test]
fn edited_facts_are_refused() {
    let folder = copy("table", "other-facts");
    edit(&folder, "facts.json", |text| {
        text.replace("one row of", "half a row of")
    });
    let found = refused(&verify(&folder).unwrap());
    assert!(
        found.contains("facts.json is missing, or is not the file"),
        "{found}"
    );
    assert!(found.contains("report.json holds other facts"), "{found}");
}

#[test]
fn a_ledger_without_its_last_lines_is_refused_if_they_bound_something_or_paid_for_something() {
    let folder = copy("table", "shortened");
    edit(&folder, "ledger.jsonl", |text| lines_but(&text, 3));
    let found = refused(&verify(&folder).unwrap());
    assert!(found.contains("should bind facts.json"), "{found}");
    assert!(found.contains("was cut short"), "{found}");
}

#[test]
fn what_was_signed_is_known_again_and_nothing_else() {
    let folder = copy("table", "signed");
    let keys = empty("keys");
    let key = PrivateKey::create(&keys.join("private.pem"), &keys.join("public.pem")).unwrap();
    let other =
        PrivateKey::create(&keys.join("other.pem"), &keys.join("other-public.pem")).unwrap();
    let statement = sign(&folder, &key).unwrap().into_bytes();
    let checked = |folder: &Path| refused(&check(folder, &statement, &key.public()).unwrap());
    assert_eq!(checked(&folder), "");
    assert!(check(&folder, &statement, &other.public()).is_err());

    // Another model.
    let swapped = copy("table", "swapped");
    fs::copy(
        kept().join("estimated/model.safetensors"),
        swapped.join("model.safetensors"),
    )
    .unwrap();
    assert!(checked(&swapped).contains("model.safetensors is not the file that was signed"));

    // A file that nothing else binds, and one that is new.
    let more = copy("table", "more");
    fs::write(more.join("checkpoint.safetensors"), "another one").unwrap();
    assert!(checked(&more).contains("checkpoint.safetensors is not the file that was signed"));
    fs::write(more.join("model.onnx"), "another model").unwrap();
    assert!(checked(&more).contains("model.onnx was not there when the folder was signed"));

    // A ledger that lost its last line, which nothing in it shows.
    let shortened = copy("unfinished", "signed-and-shortened");
    let statement = sign(&shortened, &key).unwrap().into_bytes();
    let whole = fs::read_to_string(shortened.join("ledger.jsonl")).unwrap();
    fs::write(shortened.join("ledger.jsonl"), lines_but(&whole, 1)).unwrap();
    let found = refused(&check(&shortened, &statement, &key.public()).unwrap());
    assert!(found.contains("does not end where it ended"), "{found}");

    // A statement that somebody edited.
    let text = String::from_utf8(statement).unwrap();
    let forged = text.replacen("\"payload\": \"", "\"payload\": \"AAAA", 1);
    assert!(check(&shortened, forged.as_bytes(), &key.public()).is_err());
}

#[test]
fn a_folder_that_is_not_in_order_is_not_signed() {
    let folder = copy("growing-online", "not-signed");
    let keys = empty("not-signed-keys");
    let key = PrivateKey::create(&keys.join("private.pem"), &keys.join("public.pem")).unwrap();
    assert!(matches!(
        sign(&folder, &key),
        Err(VerifyError::NotSigned(_))
    ));
}

#[test]
fn keys_are_never_overwritten_and_no_other_file_is_a_key() {
    let keys = empty("kept-keys");
    let (private, public) = (keys.join("private.pem"), keys.join("public.pem"));
    let key = PrivateKey::create(&private, &public).unwrap();
    assert_eq!(PrivateKey::read(&private).unwrap().public(), key.public());
    assert!(PrivateKey::create(&private, &keys.join("second.pem")).is_err());
    assert!(PrivateKey::create(&keys.join("second-private.pem"), &public).is_err());
    assert!(matches!(
        PrivateKey::read(&public),
        Err(VerifyError::NotAKey { .. })
    ));
}

/// Garbage is refused without a panic: every file cut short at every line, and with bytes changed.
#[test]
fn damaged_files_never_panic() {
    let folder = copy("table", "damaged");
    for file in ["ledger.jsonl", "run.json", "facts.json", "report.json"] {
        let whole = fs::read(folder.join(file)).unwrap();
        for cut in (0..whole.len()).step_by(whole.len() / 40 + 1) {
            fs::write(folder.join(file), &whole[..cut]).unwrap();
            assert!(
                !verify(&folder).is_ok_and(|verdict| verdict.holds()),
                "{file} cut at {cut}"
            );
            let mut changed = whole.clone();
            changed[cut] ^= 4;
            fs::write(folder.join(file), changed).unwrap();
            let _ = verify(&folder);
        }
        fs::write(folder.join(file), whole).unwrap();
    }
}

/// All lines but the last few.
fn lines_but(text: &str, dropped: usize) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines[..lines.len() - dropped].concat()
}

/// Makes the chain of a changed ledger whole again, as a forger would.
fn chained(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut head = String::new();
    let mut forged = String::new();
    for line in text.lines() {
        let (body, _) = line.split_once(",\"chain\":").unwrap();
        let hash = Sha256::new()
            .chain_update(&head)
            .chain_update(format!("{body}}}"))
            .finalize();
        head = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        forged += &format!("{body},\"chain\":\"{head}\"}}\n");
    }
    forged
}
