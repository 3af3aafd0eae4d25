//! Folders that earlier versions made: paths in them, and a ledger that binds nothing.

use crate::common::{empty, json, path, printed, refused, summary};
use crate::table;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// The ledger as an earlier version would have written it: no label, no bound files.
fn as_before(ledger: &Path) {
    let label = ",\"label\":{\"binds_files\":true}";
    let (mut chain, mut text) = (String::new(), String::new());
    for line in fs::read_to_string(ledger).unwrap().lines() {
        let (body, _) = line.rsplit_once(",\"chain\"").unwrap();
        if body.starts_with("{\"file\"") {
            continue;
        }
        let body = body.replacen(label, "", 1);
        let hash = Sha256::digest(format!("{chain}{body}}}"));
        chain = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{body},\"chain\":\"{chain}\"}}\n");
    }
    assert!(!text.contains("label"));
    fs::write(ledger, text).unwrap();
}

#[test]
fn a_folder_of_an_earlier_version_is_resumed_and_reported_on() {
    let folder = empty("own", "earlier");
    let (csv, out) = (table(&folder, 200), folder.join("run"));
    let schema = folder.join("schema.toml");
    let columns = crate::COLUMNS.replace("kind = \"numeric\"", "min = 0\nmax = 9000");
    fs::write(&schema, columns).unwrap();
    summary(&[
        "train",
        "--csv",
        path(&csv),
        "--schema",
        path(&schema),
        "--label",
        "outcome",
        "--classes",
        "healthy,ill",
        "--records",
        "200",
        "--noise",
        "2",
        "--steps",
        "5",
        "--out",
        path(&out),
    ]);
    let model = fs::read(out.join("model.safetensors")).unwrap();
    let file = out.join("run.json");
    let mut record = json(&file);
    let settings = record["settings"].as_object_mut().unwrap();
    assert_eq!(settings.remove("data-name").unwrap(), "table");
    settings["csv"] = path(&csv).into();
    let declared = settings["declared"].as_object_mut().unwrap();
    declared.remove("bad-rows");
    declared.insert("bad_rows".into(), "error".into());
    record["about"]["origin"] = path(&csv).into();
    fs::write(&file, record.to_string()).unwrap();
    as_before(&out.join("ledger.jsonl"));
    fs::remove_file(folder.join("run.operator.json")).unwrap();

    printed(&["report", path(&out)]);
    let report = json(&out.join("report.json"))["caveats"].to_string();
    assert!(report.contains("Nothing binds the facts"), "{report}");
    summary(&["resume", path(&out)]);
    assert_eq!(fs::read(out.join("model.safetensors")).unwrap(), model);
    // As ever, it is refused without a ledger.
    fs::remove_file(out.join("ledger.jsonl")).unwrap();
    refused(&["resume", path(&out)], &["ledger.jsonl is missing"]);
}
