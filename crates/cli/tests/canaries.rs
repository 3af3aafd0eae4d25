//! Sealed canaries, from `tacita train --audit` to `tacita audit` and `tacita-verify`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{empty, files, fresh, json, path, printed, refused, summary, tacita, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tacita_verify::{Verdict, verify};

const COINS: &str = "canaries.do-not-publish.json";

/// A short run with canaries.
fn trained(name: &str, more: &[&str]) -> PathBuf {
    let folder = fresh("canaries", name);
    let arguments = [
        "train", "--data", "digits", "--model", "logistic", "--steps", "4", "--audit", "120",
        "--out",
    ];
    summary(&[&arguments[..], &[path(&folder)], more].concat());
    folder
}

fn refusals(verdict: &Verdict) -> String {
    let texts: Vec<&str> = verdict.refusals().map(|f| f.text.as_str()).collect();
    texts.join("\n")
}

fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let before = fs::read_to_string(folder.join(file)).unwrap();
    assert!(before.contains(from), "{file} has no {from}");
    fs::write(folder.join(file), before.replacen(from, to, 1)).unwrap();
}

#[test]
fn canaries_are_sealed_before_the_first_step_and_opened_after_the_last() {
    let folder = trained("sealed", &[]);
    // The seal is in the first line, the coins in a file for the owner alone.
    let ledger = fs::read_to_string(folder.join("ledger.jsonl")).unwrap();
    let header: Value = serde_json::from_str(ledger.lines().next().unwrap()).unwrap();
    let seal = header["label"]["canaries"].clone();
    assert_eq!(seal["count"], 120);
    let coins = json(&folder.join(COINS));
    let (secret, tossed) = (
        coins["secret"].as_str().unwrap(),
        coins["coins"].as_str().unwrap(),
    );
    assert!(secret.len() == 64 && tossed.len() == 120 && !ledger.contains(tossed));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.join(COINS))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Half of them count as records: the sampling rate is that of 3,823 and 60.
    assert_eq!(json(&folder.join("run.json"))["public_record_count"], 3_883);
    let report = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("120 synthetic canaries") && !report.contains("An attack on this run"));
    assert_eq!(refusals(&verify(&folder).unwrap()), "");

    // A run that lacks its last step keeps them closed.
    let model = folder.join("model.safetensors");
    fs::rename(&model, folder.join("elsewhere")).unwrap();
    refused(
        &["audit", path(&folder)],
        &["after the last one only", "tacita resume"],
    );
    fs::rename(folder.join("elsewhere"), &model).unwrap();

    let words = printed(&["audit", path(&folder)]);
    for part in [
        "proved ≤ ",
        "measured ≥ ",
        "(95 %, all methods together)",
        "no alarm",
        "≈",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let audit = json(&folder.join("audit.json"));
    assert_eq!(
        (audit["secret"].as_str(), audit["coins"].as_str()),
        (Some(secret), Some(tossed))
    );
    assert!(audit["epsilon_lower"].as_f64() <= audit["epsilon_upper"].as_f64());
    assert!(!files(&folder).contains(COINS), "the coins are open now");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("An attack on this run"));
    let report = json(&folder.join("report.json"));
    assert_eq!(report["audit"]["epsilon_lower"], audit["epsilon_lower"]);
    assert_eq!(refusals(&verify(&folder).unwrap()), "");
    // Again: the same canaries, the same figures.
    let again = printed(&["audit", path(&folder), "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), audit);

    changed_audits_are_refused(&folder);
}

/// Whoever changes the coins, the scores or the model after the seal is found out.
fn changed_audits_are_refused(folder: &Path) {
    let audit = fs::read_to_string(folder.join("audit.json")).unwrap();
    let coins = json(&folder.join("audit.json"))["coins"]
        .as_str()
        .unwrap()
        .to_string();
    let other: String = coins
        .chars()
        .map(|c| if c == '0' { '1' } else { '0' })
        .collect();
    edit(folder, "audit.json", &coins, &other);
    let found = refusals(&verify(folder).unwrap());
    assert!(
        found.contains("is not the file that the ledger binds"),
        "{found}"
    );
    assert!(
        found.contains("opens other canaries than the ledger sealed"),
        "{found}"
    );
    refused(
        &["audit", path(folder)],
        &["not the file that the ledger binds"],
    );
    refused(
        &["report", path(folder)],
        &["not the file that the ledger binds"],
    );
    fs::write(folder.join("audit.json"), &audit).unwrap();

    for (key, value, found) in [
        (
            "epsilon_lower",
            serde_json::json!(3.0),
            "and it states ε ≥ 3",
        ),
        ("alarm", serde_json::json!({ "raised": true }), "ALARM"),
        (
            "private",
            serde_json::json!(false),
            "disagree on whether the run is private",
        ),
    ] {
        let mut changed: Value = serde_json::from_str(&audit).unwrap();
        changed[key] = value;
        fs::write(folder.join("audit.json"), changed.to_string()).unwrap();
        let refused = refusals(&verify(folder).unwrap());
        assert!(refused.contains(found), "{key}: {refused}");
    }
    fs::write(folder.join("audit.json"), &audit).unwrap();

    let model = folder.join("model.safetensors");
    let trained = fs::read(&model).unwrap();
    let mut swapped = trained.clone();
    *swapped.last_mut().unwrap() ^= 1;
    fs::write(&model, swapped).unwrap();
    let found = refusals(&verify(folder).unwrap());
    assert!(found.contains("the model was replaced"), "{found}");
    fs::write(&model, trained).unwrap();
    assert_eq!(refusals(&verify(folder).unwrap()), "");
}

/// Nobody signed it and it has no canaries: the ledger alone tells.
#[test]
fn a_swapped_model_and_edited_settings_are_refused_without_a_signature() {
    let folder = fresh("canaries", "swapped");
    let arguments = [
        "train", "--data", "digits", "--model", "logistic", "--steps", "2", "--out",
    ];
    summary(&[&arguments[..], &[path(&folder)]].concat());
    let verdict = verify(&folder).unwrap();
    assert_eq!(refusals(&verdict), "");
    for file in ["run.json", "config.toml", "model.safetensors", "facts.json"] {
        let bound = format!("{file} is the file that the ledger binds");
        assert!(verdict.findings.iter().any(|f| f.text == bound), "{file}");
    }
    let settings = folder.join("config.toml");
    let kept = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, kept.replacen("epsilon", "# epsilon", 1)).unwrap();
    let found = refusals(&verify(&folder).unwrap());
    assert!(
        found.contains("config.toml is missing, or is not the file"),
        "{found}"
    );
    fs::write(&settings, kept).unwrap();

    let model = folder.join("model.safetensors");
    let mut swapped = fs::read(&model).unwrap();
    *swapped.last_mut().unwrap() ^= 1;
    fs::write(&model, swapped).unwrap();
    let found = refusals(&verify(&folder).unwrap());
    assert!(
        found.contains("model.safetensors is missing, or is not the file"),
        "{found}"
    );
    // And no report is written about a model that the run did not release.
    refused(
        &["report", path(&folder)],
        &[
            "model.safetensors is not the file that the ledger binds",
            "tacita resume",
        ],
    );
}

#[test]
fn a_run_with_a_fixed_seed_is_audited_as_not_private() {
    let folder = trained("seeded", &["--seed", "3"]);
    let words = printed(&["audit", path(&folder)]);
    assert!(words.starts_with("ε NOT PRIVATE: "), "{words}");
    assert!(refusals(&verify(&folder).unwrap()).contains("NOT PRIVATE"));
}

#[test]
fn what_cannot_be_audited_is_refused_with_a_remedy() {
    let folder = fresh("canaries", "without");
    let arguments = [
        "train", "--data", "digits", "--model", "logistic", "--steps", "1", "--out",
    ];
    summary(&[&arguments[..], &[path(&folder)]].concat());
    refused(
        &["audit", path(&folder)],
        &["no canaries", "--audit 1000", "tacita attack"],
    );
    refused(
        &["audit", path(&folder), "--confidence", "2"],
        &["--confidence"],
    );
    refused(
        &["train", "--audit", "1", "--steps", "1"],
        &["between 2 and 100000", "got 1"],
    );
}

/// An attack without canaries says what it is, and writes nowhere that may be published.
#[test]
fn an_attack_without_canaries_is_an_indication_and_not_private() {
    let folder = fresh("canaries", "attacked");
    let arguments = [
        "train", "--data", "digits", "--model", "logistic", "--steps", "3", "--out",
    ];
    summary(&[&arguments[..], &[path(&folder)]].concat());
    let before = files(&folder);
    let inside = folder.join("attack.json");
    refused(
        &["attack", path(&folder), "--out", path(&inside)],
        &["may be published"],
    );
    let out = empty("canaries", "attack-out").join("attack.json");
    let words = printed(&["attack", path(&folder), "--out", path(&out)]);
    assert!(words.starts_with("NOT PRIVATE"), "{words}");
    assert!(words.contains("indication") && words.contains("loss") && words.contains("likelihood"));
    assert!(!words.contains("proved ≤"), "{words}");
    let file = json(&out);
    assert!(file["warning"].as_str().unwrap().starts_with("NOT PRIVATE"));
    let area = file["attacks"][0]["area"].as_f64().unwrap();
    assert!(area > 0.3 && area < 0.7, "{area}");
    assert_eq!(files(&folder), before);
    let again = tacita(&["attack", path(&folder), "--out", path(&out)]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
}

/// One step of a full batch with as much noise as sensitivity is μ = 1, where everything is known: Φ(Φ⁻¹(0.01) + 1) =
/// 0.0924 (scipy 1.14.1, `norm.cdf(norm.ppf(0.01) + 1)`: 0.09236).
#[test]
fn the_risks_of_a_gaussian_are_the_known_ones() {
    let plan = [
        "account", "--rate", "1", "--steps", "1", "--noise", "1", "--delta", "1e-5",
    ];
    let words = printed(&[&plan[..], &["--risk"]].concat());
    assert!(
        words.contains("an attacker who accepts 1 % false alarms finds at most 9."),
        "{words}"
    );
    let json: Value =
        serde_json::from_str(&printed(&[&plan[..], &["--risk", "--json"]].concat())).unwrap();
    let risk = &json["risk"];
    let at = |index: usize, key: &str| risk["membership"][index][key].as_f64().unwrap();
    assert_eq!(at(2, "false_alarms"), 0.01);
    assert!(
        at(2, "found_upper") >= 0.092_36 && at(2, "found_upper") < 0.095,
        "{risk}"
    );
    assert!(
        at(2, "found_lower") <= 0.092_36 && at(2, "found_lower") > 0.07,
        "{risk}"
    );
    let mu = risk["gaussian"]["mu_upper"].as_f64().unwrap();
    assert!((mu - 1.0).abs() < 0.02, "{mu}");
    // A record guessed with probability 1 % is guessed with at most as much as an attack finds.
    assert_eq!(
        risk["reconstruction"][2]["success_upper"],
        risk["membership"][2]["found_upper"]
    );
    let belief = risk["beliefs"][2]["posterior_upper"].as_f64().unwrap();
    assert!(belief > 0.9 && belief < 1.0, "{belief}");
}
