//! A random search publishes its winner and nothing else.

use super::common::{files, path, refused};
use super::*;
use std::time::SystemTime;
use tacita_accounting::RandomRuns;

#[test]
fn random_search_publishes_its_winner_and_nothing_else() {
    let (space, out) = fresh("random", RANDOM);
    let found = found(&tune(&space, &out));
    assert_eq!(
        files(&out),
        set(&[
            "begun.txt",
            "date.txt",
            "plans.sha256",
            "report.html",
            "report.json",
            "space.toml",
            "winner"
        ])
    );
    assert_eq!(found["runs"], Value::Null);
    let law = RandomRuns::logarithmic(3.0).unwrap();
    let best = law
        .epsilon(&released(&out.join("winner")), 1e-5 * (1.0 - 1e-6))
        .unwrap();
    let upper = found["epsilon_upper"].as_f64().unwrap();
    assert!(best.upper_bound().unwrap() <= upper && upper <= 2.0);
    promises_what_the_search_does(&out.join("winner"), upper);
    let verdict = tacita_verify::verify(&out.join("winner")).unwrap();
    assert!(verdict.holds(), "{:?}", verdict.refusals().next());
    assert_eq!(verdict.epsilon_upper, Some(upper));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("3,823 records") && page.contains("Its noise multiplier is"));
    // Its ledger alone does not say what publishing it costs.
    let ledger = out.join("winner/ledger.jsonl");
    let arguments = ["account", "--delta", "1e-5", "--ledger", path(&ledger)];
    refused(&arguments, &["best run of a random search", "ε ≤ "]);
    // Nor does a copy of it, wherever that lies.
    let alone = out.with_file_name("alone.jsonl");
    fs::copy(&ledger, &alone).unwrap();
    let arguments = ["account", "--delta", "1e-5", "--ledger", path(&alone)];
    refused(&arguments, &["best run of a random search", "ε ≤ "]);

    // What a link leads to is not part of the search.
    #[cfg(unix)]
    {
        let before = fs::metadata(&space).unwrap().modified().unwrap();
        std::os::unix::fs::symlink(&space, out.join("link")).unwrap();
        assert_eq!(tune(&space, &out).status.code(), Some(0));
        fs::remove_file(out.join("link")).unwrap();
        assert_eq!(fs::metadata(&space).unwrap().modified().unwrap(), before);
        assert_eq!(tune(&space, &out).status.code(), Some(0));
    }

    // All times are one, and the same command again leaves them so.
    for _ in 0..2 {
        let mut times = BTreeSet::new();
        collect_times(&out, &mut times);
        assert_eq!(times.len(), 1, "{times:?}");
        assert_eq!(tune(&space, &out).status.code(), Some(0));
    }
}

/// A second draw would publish a second winner under a guarantee that covers one.
#[test]
fn a_search_whose_draw_is_gone_is_not_drawn_again() {
    let (space, out) = fresh("drawn-once", RANDOM);
    found(&tune(&space, &out));
    let model = fs::read(out.join("winner/model.safetensors")).unwrap();
    fs::remove_file(out.join("report.json")).unwrap();
    let arguments = ["tune", path(&space), "--out", path(&out), "--quiet"];
    refused(&arguments, &["budget is spent", "Nothing more was spent"]);
    assert_eq!(
        fs::read(out.join("winner/model.safetensors")).unwrap(),
        model
    );
    // Nor without the winner: the search may have been stopped before it had one, or had none.
    fs::remove_dir_all(out.join("winner")).unwrap();
    refused(&arguments, &["budget is spent"]);
    // Folders of earlier versions have no note of it.
    fs::remove_file(out.join("begun.txt")).unwrap();
    fs::create_dir(out.join("winner")).unwrap();
    refused(&arguments, &["budget is spent"]);
}

fn collect_times(path: &Path, times: &mut BTreeSet<SystemTime>) {
    times.insert(fs::metadata(path).unwrap().modified().unwrap());
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect_times(&entry.unwrap().path(), times);
        }
    }
}

/// The same space with one drawn run and with five: what is written, said and where must be alike, so
/// that neither the number nor a losing score can be inferred.
#[test]
fn nothing_published_tells_the_number_of_runs() {
    let (space, drawn) = fresh("number-drawn", RANDOM);
    found(&tune(&space, &drawn));
    let shown = [1, 5].map(|number| {
        let (space, out) = fresh(&format!("number-{number}"), RANDOM);
        fs::create_dir_all(out.join("secret")).unwrap();
        fs::copy(&space, out.join("space.toml")).unwrap();
        fs::copy(drawn.join("plans.sha256"), out.join("plans.sha256")).unwrap();
        let runs = (0..number).map(|run| format!("{{\"candidate\":0,\"folder\":\"{run}\"}}"));
        let state = format!("{{\"runs\":[{}]}}", runs.collect::<Vec<_>>().join(","));
        fs::write(out.join("secret/drawn.json"), state).unwrap();
        let output = tune(&space, &out);
        let mut found = found(&output);
        // A stored draw is used, not drawn again: only candidate 0 ran.
        assert_eq!(found["winner"]["settings"], "learning-rate = 0.1");
        let score = found["winner"]
            .as_object_mut()
            .unwrap()
            .remove("score")
            .unwrap();
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        let page = page.replace(score["text"].as_str().unwrap(), "");
        let page = page.replace(
            &score["text"].as_str().unwrap().replace(" %", "\u{a0}%"),
            "",
        );
        let files = [files(&out), files(&out.join("winner"))];
        // Its identifier is drawn anew for every run; the day of a run would tell which one it was.
        let mut record = json(&out.join("winner/run.json"));
        assert_eq!(record["id"].take().as_str().unwrap().len(), 32);
        assert_eq!(record["begun"], Value::Null);
        (found, page, text(&output.stderr), files, record)
    });
    assert_eq!(shown[0], shown[1]);
}

/// The runs of a random search that has not ended are not for anybody's eyes.
#[test]
fn secret_runs_are_neither_resumed_nor_reported() {
    let (space, out) = fresh("secret", RANDOM);
    let run = out.join("secret/runs/0123");
    fs::create_dir_all(&run).unwrap();
    fs::write(out.join("secret/drawn.json"), "{\"runs\":[]}").unwrap();
    for command in ["resume", "report"] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_tacita"));
        let output = program.arg(command).arg(&run).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("secret runs of a random search"), "{said}");
    }
    fs::remove_dir_all(space.parent().unwrap()).unwrap();
}

/// The guarantee of a search does not cover a losing run, wherever it is copied: it has no report, and gets none.
#[cfg(unix)]
#[test]
fn a_copy_of_a_secret_run_is_refused() {
    let long = RANDOM.replace("steps = 4", "steps = 20000");
    let (space, out) = fresh("copied", &format!("parallel = 1\n{long}"));
    let mut child = stopped::started(&space, &out);
    let run = stopped::wait_for_steps(|| {
        let run = fs::read_dir(out.join("secret/runs")).ok()?.next()?;
        Some(run.ok()?.path())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let copy = out.join("copy");
    fs::rename(run, &copy).unwrap();
    assert!(!copy.join("report.json").exists());
    for arguments in [
        ["report", path(&copy)].as_slice(),
        &["resume", path(&copy)],
        &["predict", path(&copy), "--input", path(&space)],
        &[
            "account",
            "--delta",
            "1e-5",
            "--ledger",
            path(&copy.join("ledger.jsonl")),
        ],
    ] {
        refused(arguments, &["secret runs of a random search"]);
    }
    // The ledger says so by itself, without the record beside it.
    let alone = common::empty("tune", "copied-ledger");
    fs::copy(copy.join("ledger.jsonl"), alone.join("ledger.jsonl")).unwrap();
    let ledger = alone.join("ledger.jsonl");
    let account = ["account", "--delta", "1e-5", "--ledger", path(&ledger)];
    refused(&account, &["secret runs of a random search"]);
    // With facts of a run of its own it gives no report either.
    let other = common::fresh("tune", "other-run");
    common::printed(&["train", "--steps", "2", "--quiet", "--out", path(&other)]);
    fs::copy(other.join("facts.json"), alone.join("facts.json")).unwrap();
    refused(
        &["report", path(&alone)],
        &["secret runs of a random search"],
    );
}

/// What a search on data of one's own publishes names the data and not their path, and all its files have one time,
/// a grid's as well: between them lies the time of its runs.
#[test]
fn a_search_publishes_neither_paths_nor_times() {
    for mode in ["grid", "random"] {
        let (space, out) = fresh(&format!("paths-{mode}"), "");
        let beside = |name: &str| space.with_file_name(name);
        let rows: String = (0..100)
            .map(|row| format!("{},{}\n", row % 10, row % 2))
            .collect();
        fs::write(beside("secret-place.csv"), format!("x,y\n{rows}")).unwrap();
        let declared = "records = 100\n[label]\ncolumn = \"y\"\nclasses = [\"0\", \"1\"]\n\
                        [columns.x]\nmin = 0.0\nmax = 9.0\n";
        fs::write(beside("schema.toml"), declared).unwrap();
        let text_of_space = format!(
            "mode = \"{mode}\"\nchoose-by = \"public-validation\"\n[settings]\ncsv = {:?}\nschema = {:?}\n\
             data-name = \"trial\"\ntest-share = 0.25\npublic-test = true\nepsilon = 2.0\ndelta = 1e-3\n\
             model = \"logistic\"\nsteps = 2\nbatch = 20\n[{mode}]\nlearning-rate = [0.1, 1.0]\n{}",
            beside("secret-place.csv"),
            beside("schema.toml"),
            if mode == "random" {
                "[runs]\nmean = 2.0\n"
            } else {
                ""
            }
        );
        fs::write(&space, text_of_space).unwrap();
        found(&tune(&space, &out));
        let mut times = BTreeSet::new();
        collect_times(&out, &mut times);
        assert_eq!(times, BTreeSet::from([SystemTime::UNIX_EPOCH]));
        let mut contents = String::new();
        collect_texts(&out, &mut contents);
        assert!(contents.contains("trial") && !contents.contains("secret-place"));
        assert!(!contents.contains(path(space.parent().unwrap())));
        // The operator can resume it: nothing is made again.
        found(&tune(&space, &out));
        if mode == "grid" {
            let ledger = beside("alone.jsonl");
            fs::copy(out.join("runs/1/ledger.jsonl"), &ledger).unwrap();
            let account = ["account", "--delta", "1e-3", "--ledger", path(&ledger)];
            let said = text(&common::tacita(&account).stderr);
            assert!(said.contains("PART OF A SEARCH"), "{said}");
            // Its weights are of these records, as the file beside the search says.
            let weights = out.join("runs/1/model.safetensors");
            let [csv, schema, next] = ["secret-place.csv", "schema.toml", "next"].map(beside);
            let data = ["--csv", path(&csv), "--schema", path(&schema)];
            let rest = "--model logistic --noise 3 --steps 2 --batch 20".split(' ');
            let start = ["--start", path(&weights), "--out", path(&next)];
            let arguments = [&["train"], &data[..], &rest.collect::<Vec<_>>(), &start].concat();
            refused(&arguments, &["same records"]);
        }
    }
}

/// Whatever of the files is text, and the names of all.
fn collect_texts(folder: &Path, contents: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        contents.push_str(path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => collect_texts(&path, contents),
            false => contents.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap())),
        }
    }
}

/// Steps too small to move anything leave the initial weights. The proof for a random search needs runs that
/// are alike in distribution, so no run may set the generator of the next; with one worker all are
/// made by one thread. 650 equal numbers would be an accident.
#[test]
fn every_run_of_a_search_has_initial_weights_of_its_own() {
    let space = GRID.replace("mode = ", "parallel = 1\nmode = ").replace(
        "batch = [64, 256]\nsteps = [3, 6]",
        "learning-rate = [1e-30, 2e-30, 3e-30, 4e-30]\nsteps = [2]",
    );
    let weights = |name: &str, space: &str| {
        let (space, out) = fresh(name, space);
        found(&tune(&space, &out));
        (1..=4)
            .map(|run| fs::read(out.join(format!("runs/{run}/model.safetensors"))).unwrap())
            .collect::<Vec<_>>()
    };
    let private = weights("weights", &space);
    assert_eq!(private.iter().collect::<BTreeSet<_>>().len(), 4);
    let seeded = space.replace("[settings]", "[settings]\nseed = 3");
    let first = weights("seeded-weights", &seeded);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 4);
    // A seed repeats, whichever runs are made at a time.
    let parallel = seeded.replace("parallel = 1", "parallel = 4");
    assert_eq!(weights("parallel-weights", &parallel), first);
}
