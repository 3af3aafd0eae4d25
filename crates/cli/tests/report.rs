//! `tacita report` as a user meets it, and its page in a browser.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

type Change = fn(&mut Value);

fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("report")
        .join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn tacita(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tacita"))
        .args(arguments)
        .arg(folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A short real run, with facts about it.
fn run_folder(name: &str, extra: &[&str]) -> PathBuf {
    let folder = fresh(name);
    let arguments = [
        &["train", "--epochs", "1", "--quiet", "--json"],
        extra,
        &["--out"],
    ]
    .concat();
    let trained = tacita(&arguments, &folder);
    assert!(trained.status.success(), "{}", text(&trained.stderr));
    write_facts(&folder, |_| {});
    folder
}

/// Facts that fit the folder's ledger, then changed.
fn write_facts(folder: &Path, change: Change) {
    let record = tacita::read_ledger_file(&folder.join("ledger.jsonl")).unwrap();
    let rounds = record.plan.rounds_made();
    let mut facts = json!({
        "tacita_facts": 1,
        "name": "digits-with-a-rather-long-name-that-has-no-place-to-break-in-the-middle-of-it",
        "data": {
            "name": "handwritten digits",
            "licence": "CC BY 4.0",
            "record": "one image of a handwritten digit",
            "public_record_count": 3823,
            "caveats": ["30 people wrote the images; the unit is an image, not a writer."],
        },
        "preparation": [{ "what": "pixels divided by 16", "origin": "public" }],
        "model": { "name": "CNN", "parameters": 51_050 },
        "optimizer": "SGD with momentum 0.9",
        "learning_rate": { "name": "learning rate", "origin": "schedule", "points": [[0, 0.5]] },
        "clipping": "AUTO-S, all parameters together",
        "thresholds": [{ "name": "threshold", "origin": "schedule", "points": [[0, 1.0]] }],
        "plan": serde_json::to_value(&record.plan).unwrap(),
        "phases": [{ "kind": "training", "what": "training", "rounds": rounds, "queries": ["clipped sum of gradients"] }],
        "delta": 2.6e-5,
        "delta_reserved": 2.6e-11,
        "budget": 8.0,
        "rounds_made": record.released.rounds_made(),
        "keys": if record.private { "operating-system" } else { "fixed-seed" },
        "diagnostics": false,
        "tuning": "not-covered",
        "evaluation": {
            "kind": "public-test", "on": "public digits", "records": 1797, "accuracy": 0.5,
            "over_steps": [[0, 0.1], [rounds, 0.5]],
        },
        "released": ["the trained model"],
        "precision": "32-bit floating point",
        "version": "0.1.0",
        "caveats": [],
    });
    change(&mut facts);
    let text = facts.to_string();
    fs::write(folder.join("facts.json"), &text).unwrap();
    tacita::bind_file_to_ledger(&folder.join("ledger.jsonl"), "facts.json", text.as_bytes())
        .unwrap();
}

#[test]
fn a_run_folder_becomes_a_page_and_json_that_agree() {
    let folder = run_folder("agree", &[]);
    let output = tacita(&["report"], &folder);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let json: Value =
        serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    let guarantee = json["guarantee"]["text"].as_str().unwrap();
    assert!(
        said.starts_with(&format!("Privacy: {guarantee}\n")),
        "{said}"
    );
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.replace('\u{a0}', " ").contains(guarantee));

    // The page elsewhere, the JSON on the screen; the same figures again.
    let elsewhere = folder.join("privacy.html");
    let output = tacita(
        &["report", "--json", "--html", elsewhere.to_str().unwrap()],
        &folder,
    );
    assert_eq!(
        serde_json::from_slice::<Value>(&output.stdout).unwrap(),
        json
    );
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), page);
}

#[test]
fn facts_and_ledger_that_disagree_are_refused_and_nothing_is_written() {
    let folder = run_folder("disagree", &["--seed", "1"]);
    for name in ["report.html", "report.json"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    let changes: [(Change, &str); 3] = [
        (
            |facts| facts["keys"] = json!("operating-system"),
            "fixed seed was used",
        ),
        (
            |facts| facts["plan"]["rounds"][0]["noise_multipliers"][0] = json!(1e9),
            "different plans",
        ),
        (
            |facts| facts["training_loss"] = json!(0.1),
            "unknown field `training_loss`",
        ),
    ];
    for (change, wanted) in changes {
        write_facts(&folder, change);
        let output = tacita(&["report"], &folder);
        assert_eq!(output.status.code(), Some(2));
        let error = text(&output.stderr);
        assert!(error.contains(wanted), "{error}");
        assert!(!folder.join("report.html").exists() && !folder.join("report.json").exists());
    }
    write_facts(&folder, |_| {});
    let output = tacita(&["report"], &folder);
    assert!(text(&output.stdout).starts_with("NOT PRIVATE"));
    assert!(
        fs::read_to_string(folder.join("report.html"))
            .unwrap()
            .contains("NOT PRIVATE")
    );
}

/// Whatever the edit, the page is not written; of a ledger without the binding the page says so.
#[test]
fn facts_that_were_edited_are_refused_and_unbound_ones_are_said_to_be() {
    let folder = fresh("edited");
    let trained = tacita(
        &["train", "--epochs", "1", "--quiet", "--json", "--out"],
        &folder,
    );
    assert!(trained.status.success(), "{}", text(&trained.stderr));
    let page = folder.join("report.html");
    let unbound = "Nothing binds the facts";
    assert!(!fs::read_to_string(&page).unwrap().contains(unbound));
    fs::remove_file(&page).unwrap();
    let file = folder.join("facts.json");
    let (facts, ledger) = (
        fs::read_to_string(&file).unwrap(),
        folder.join("ledger.jsonl"),
    );
    for (from, to) in [
        (
            "\"public_record_count\": 3823",
            "\"public_record_count\": 9999",
        ),
        ("\"name\": \"digits\"", "\"name\": \"others\""),
    ] {
        let edited = facts.replacen(from, to, 1);
        assert_ne!(edited, facts, "{from}");
        fs::write(&file, &edited).unwrap();
        let output = tacita(&["report"], &folder);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(
            said.contains("not the file that the ledger binds"),
            "{said}"
        );
        assert!(!page.exists());
        // Removing the line that binds them does not help.
        let lines = fs::read_to_string(&ledger).unwrap();
        let less: Vec<&str> = lines
            .lines()
            .filter(|line| !line.contains("facts.json"))
            .collect();
        fs::write(&ledger, less.join("\n") + "\n").unwrap();
        let output = tacita(&["report"], &folder);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert!(!page.exists());
        fs::write(&ledger, lines).unwrap();
    }
    // Without a ledger nothing binds them, as in the folders of earlier versions.
    fs::write(&file, &facts).unwrap();
    fs::rename(&ledger, folder.join("elsewhere")).unwrap();
    let output = tacita(&["report"], &folder);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read_to_string(&page).unwrap().contains(unbound));
}

#[test]
fn a_folder_without_facts_is_named() {
    let folder = fresh("nothing");
    let output = tacita(&["report"], &folder);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("facts.json does not exist; give the folder of a run"));
}

/// The first Chromium found, if any.
fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            let tried = Command::new(name).arg("--version").output();
            tried.is_ok_and(|output| output.status.success())
        })
}

/// Width of the page's content in a frame of `width`, and what the browser complained about.
fn laid_out(browser: &str, folder: &Path, page: &str, width: u32) -> (u32, String) {
    // A frame made from text belongs to the page around it, which may therefore measure it. The
    // report's own policy still holds inside.
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    let harness = format!(
        "<!DOCTYPE html><meta charset=utf-8><body style=margin:0>\
         <iframe style=border:0 width={width} height=800 srcdoc=\"{quoted}\"></iframe><p id=out>unmeasured</p>\
         <script>onload = () => {{ out.textContent = 'WIDTH ' + \
         document.querySelector('iframe').contentDocument.documentElement.scrollWidth + ' END' }}</script>"
    );
    let path = folder.join(format!("harness-{width}.html"));
    fs::write(&path, harness).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("browser").display()
        ))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    // The harness holds the word itself in its script; the answer comes first.
    let measured = dom
        .split_once("<p id=\"out\">WIDTH ")
        .and_then(|(_, rest)| rest.split_once(" END"));
    let Some((measured, _)) = measured else {
        panic!("no measurement: {stderr}");
    };
    (measured.parse().unwrap(), complaints.join("\n"))
}

#[test]
fn the_page_fits_a_phone_and_the_browser_has_no_complaint() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no Chromium is installed");
        return;
    };
    let folder = run_folder("browser", &[]);
    assert!(tacita(&["report"], &folder).status.success());
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for width in [360, 1200] {
        let (content, complaints) = laid_out(browser, &folder, &page, width);
        assert_eq!(complaints, "");
        assert!(
            content <= width,
            "the page scrolls sideways: {content} > {width}"
        );
    }
    // The instruments see what they are meant to see.
    let wide = page.replace(
        "<main>",
        "<main><div style=\"width:900px\">wide</div><img src=\"x.png\">",
    );
    let (content, complaints) = laid_out(browser, &folder, &wide, 360);
    assert!(
        content > 800 && complaints.contains("Content Security Policy"),
        "{content} {complaints}"
    );
}
