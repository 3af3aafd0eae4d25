//! `tacita tune` as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{files, json, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};
use tacita_accounting::{Accountant, Ledger, Pld, RandomRuns, whole_grid};

const GRID: &str = "\
mode = \"grid\"
choose-by = \"test-set\"
[settings]
data = \"digits\"
model = \"logistic\"
epsilon = 2.0
delta = 1e-5
[grid]
batch = [64, 256]
steps = [3, 6]
";

const RANDOM: &str = "\
mode = \"random\"
choose-by = \"test-set\"
[settings]
data = \"digits\"
model = \"logistic\"
batch = 128
steps = 4
epsilon = 2.0
delta = 1e-5
[random]
learning-rate = [0.1, 0.5, 1.0]
[runs]
mean = 3.0
";

/// A folder that does not exist yet, and the space beside it.
fn fresh(name: &str, space: &str) -> (PathBuf, PathBuf) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("tune")
        .join(name);
    if place.exists() {
        fs::remove_dir_all(&place).unwrap();
    }
    fs::create_dir_all(&place).unwrap();
    let file = place.join("space.toml");
    fs::write(&file, space).unwrap();
    (file, place.join("search"))
}

fn command(space: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita"));
    command.arg("tune").arg(space).arg("--out").arg(out);
    command
}

fn tune(space: &Path, out: &Path) -> Output {
    command(space, out).arg("--json").output().unwrap()
}

fn found(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn released(folder: &Path) -> Ledger {
    let record = tacita::read_ledger_file(&folder.join("ledger.jsonl")).unwrap();
    assert!(record.private);
    assert_eq!(record.released, record.plan);
    record.released
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn grid_costs_what_its_ledgers_cost_together() {
    let (space, out) = fresh("grid", GRID);
    let found = found(&tune(&space, &out));
    let ledgers: Vec<Ledger> = (1..=4)
        .map(|run| released(&out.join(format!("runs/{run}"))))
        .collect();
    assert_eq!(
        ledgers.iter().map(Ledger::steps).collect::<Vec<_>>(),
        [3, 6, 3, 6]
    );
    let whole = whole_grid(&ledgers).unwrap();
    let read = Pld::default().epsilon(&whole, 1e-5 * (1.0 - 1e-6)).unwrap();
    let upper = found["epsilon_upper"].as_f64().unwrap();
    assert_eq!(read.upper_bound(), Some(upper));
    assert!(upper <= 2.0);
    assert_eq!(found["private"], true);
    assert_eq!(found["chosen_by"], "test-set");

    // Every run is shown, the winner is the best of them, and each says that it is a part of a search.
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    let value = |run: &Value| run["score"]["value"].as_f64().unwrap();
    let best = runs.iter().map(value).fold(0.0, f64::max);
    assert_eq!(value(&found["winner"]), best);
    for run in runs {
        let folder = out.join(run["folder"].as_str().unwrap());
        let report = fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(report.contains("the score is too good"));
        promises_what_the_search_does(&folder, upper);
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("CHOSEN BY THE TEST SET"));
}

#[test]
fn finished_runs_are_not_repeated_after_a_kill() {
    let longer = GRID.replace("steps = [3, 6]", "steps = [40, 60]");
    let (space, out) = fresh("killed", &longer);
    let mut child = command(&space, &out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let first = out.join("runs/1.score.json");
    while !first.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().unwrap();
    // Keys come from the operating system: a repeated run would give another model.
    let model = fs::read(out.join("runs/1/model.safetensors")).unwrap();
    let found = found(&tune(&space, &out));
    assert_eq!(
        fs::read(out.join("runs/1/model.safetensors")).unwrap(),
        model
    );
    // What was released, before and after, is within what was certified.
    let ledgers: Vec<Ledger> = (1..=4)
        .map(|run| {
            tacita::read_ledger_file(&out.join(format!("runs/{run}/ledger.jsonl")))
                .unwrap()
                .released
        })
        .collect();
    let read = Pld::default()
        .epsilon(&whole_grid(&ledgers).unwrap(), 1e-5)
        .unwrap();
    assert!(read.upper_bound().unwrap() <= found["epsilon_upper"].as_f64().unwrap());

    // The same command again changes nothing and gives the same report.
    let again = tune(&space, &out);
    assert_eq!(
        serde_json::from_slice::<Value>(&again.stdout).unwrap(),
        found
    );
    assert_eq!(
        fs::read(out.join("runs/1/model.safetensors")).unwrap(),
        model
    );
}

#[test]
fn random_search_publishes_its_winner_and_nothing_else() {
    let (space, out) = fresh("random", RANDOM);
    let found = found(&tune(&space, &out));
    assert_eq!(
        files(&out),
        set(&[
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

    // All times are one, and the same command again leaves them so.
    for _ in 0..2 {
        let mut times = BTreeSet::new();
        collect_times(&out, &mut times);
        assert_eq!(times.len(), 1, "{times:?}");
        assert_eq!(tune(&space, &out).status.code(), Some(0));
    }
}

/// A run that was chosen among others keeps the ε of the search, which is more than its own.
fn promises_what_the_search_does(folder: &Path, upper: f64) {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(report["guarantee"]["epsilon_upper"], upper);
    let page = read("report.html");
    assert!(page.contains("Certified guarantee of the whole search"));
    assert!(page.contains("WHOLE SEARCH"));
    let alone = Pld::default().epsilon(&released(folder), 1e-5).unwrap();
    let alone = alone.upper_bound().unwrap();
    assert!(alone < upper);
    let alone = format!("{alone:.3}");
    assert!(!page.contains(&alone), "{alone}");
}

fn collect_times(path: &Path, times: &mut BTreeSet<SystemTime>) {
    times.insert(fs::metadata(path).unwrap().modified().unwrap());
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect_times(&entry.unwrap().path(), times);
        }
    }
}

/// Runs of a grid may be shown before it is finished, if it ever is: their reports state its ε, not theirs.
#[cfg(unix)]
#[test]
fn an_interrupted_grid_states_the_epsilon_of_the_search() {
    let long = GRID
        .replace("[3, 6]", "[3, 20000]")
        .replace("[64, 256]", "[64]");
    let (space, out) = fresh("interrupted", &format!("parallel = 1\n{long}"));
    let child = command(&space, &out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let late = Instant::now() + Duration::from_secs(120);
    let under_way = |steps: String| steps.lines().count() > 3;
    while !fs::read_to_string(out.join("runs/2/metrics.jsonl")).is_ok_and(under_way) {
        assert!(Instant::now() < late, "the second run never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    common::interrupt(&child);
    let status = child.wait_with_output().unwrap().status;
    assert_eq!(status.code(), Some(130));
    assert!(!out.join("report.json").exists(), "the grid was finished");
    let reports = [1, 2].map(|run| json(&out.join(format!("runs/{run}/report.json"))));
    let upper = |report: &Value| report["guarantee"]["epsilon_upper"].as_f64().unwrap();
    // Three steps alone cost far less than the budget of the search.
    assert!(upper(&reports[0]) > 1.9 && upper(&reports[0]) <= 2.0);
    assert_eq!(upper(&reports[0]), upper(&reports[1]));
    // So does one that is copied away and gone on with alone, which writes its report again.
    let copy = out.join("copy");
    fs::create_dir(&copy).unwrap();
    for file in fs::read_dir(out.join("runs/1")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_tacita"));
    let resumed = program.arg("resume").arg(&copy).output().unwrap();
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(json(&copy.join("report.json")), reports[0]);
}

/// Runs of a random search must be alike in distribution: one that lost steps in a crash is made again, and nothing
/// tells that it was.
#[test]
fn a_run_of_a_random_search_that_lost_steps_is_made_again() {
    let long = RANDOM.replace("steps = 4", "steps = 4000\ncheckpoint-every = 3000");
    let (space, out) = fresh("lost-steps", &format!("parallel = 1\n{long}"));
    let mut child = command(&space, &out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let late = Instant::now() + Duration::from_secs(120);
    let under_way = || {
        let runs = fs::read_dir(out.join("secret/runs")).ok()?.next()?.ok()?;
        let metrics = fs::read_to_string(runs.path().join("metrics.jsonl")).ok()?;
        (metrics.lines().count() > 3).then_some(())
    };
    while under_way().is_none() {
        assert!(Instant::now() < late, "no run began");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Only the run that died, so that it wins.
    let drawn = out.join("secret/drawn.json");
    let mut state = json(&drawn);
    state["runs"].as_array_mut().unwrap().truncate(1);
    fs::write(&drawn, state.to_string()).unwrap();
    found(&tune(&space, &out));
    let metrics = fs::read_to_string(out.join("winner/metrics.jsonl")).unwrap();
    let first: Value = serde_json::from_str(metrics.lines().next().unwrap()).unwrap();
    assert_eq!(first["step"], 1);
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
        let sizes = fs::read_to_string(out.join("winner/run.json")).unwrap();
        (found, page, text(&output.stderr), files, sizes)
    });
    assert_eq!(shown[0], shown[1]);
}

#[test]
fn private_records_choose_by_noisy_counts_in_the_ledger() {
    let (space, out) = fresh("counts", "");
    let rows: String = (0..400)
        .map(|row| {
            format!(
                "{},{}\n",
                f64::from(row % 20) / 20.0,
                if row % 20 < 10 { "no" } else { "yes" }
            )
        })
        .collect();
    let table = space.with_file_name("table.csv");
    fs::write(&table, format!("value,answer\n{rows}")).unwrap();
    let text = format!(
        "mode = \"grid\"\nchoose-by = \"noisy-count\"\n[settings]\ncsv = {:?}\nlabel = \"answer\"\n\
         classes = [\"no\", \"yes\"]\nrecords = 400\ntest-share = 0.25\nscore-noise = 10.0\nepsilon = 3.0\n\
         delta = 1e-4\nsteps = 5\nbatch = 50\n[settings.declared.columns.value]\nmin = 0.0\n\
         max = 1.0\n[grid]\nlearning-rate = [0.1, 1.0]\n",
        table
    );
    fs::write(&space, text).unwrap();
    let found = found(&tune(&space, &out));
    let ledgers = [1, 2].map(|run| released(&out.join(format!("runs/{run}"))));
    for ledger in &ledgers {
        // Five steps, then how many are right and how many there are.
        assert_eq!(ledger.steps(), 7);
        let last = ledger.rounds().last().unwrap();
        assert_eq!(last.noise_multipliers, [10.0]);
    }
    let read = Pld::default()
        .epsilon(&whole_grid(&ledgers).unwrap(), 1e-4 * (1.0 - 1e-6))
        .unwrap();
    assert_eq!(read.upper_bound(), found["epsilon_upper"].as_f64());
}

/// With one worker thread the search must not wait on it for runs that wait for it.
#[test]
fn a_search_ends_on_one_thread() {
    let (space, out) = fresh("one-thread", GRID);
    let mut child = command(&space, &out)
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(300) {
            child.kill().unwrap();
            panic!("still running after five minutes");
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success());
}

/// Another number of records is another sampling rate: what is spent already would cost more than was
/// certified.
#[test]
fn a_search_does_not_go_on_with_other_public_facts() {
    let (space, out) = fresh("facts", "");
    let rows: String = (0..200)
        .map(|row| format!("{},{}\n", row % 10, row % 2))
        .collect();
    let beside = |name: &str| space.with_file_name(name);
    fs::write(beside("table.csv"), format!("value,answer\n{rows}")).unwrap();
    let schema = |records: u32| {
        let text = format!(
            "records = {records}\n[label]\ncolumn = \"answer\"\nclasses = [\"0\", \"1\"]\n\
             [columns.value]\nmin = 0.0\nmax = 9.0\n"
        );
        fs::write(beside("schema.toml"), text).unwrap();
    };
    let text_of_space = format!(
        "mode = \"grid\"\nchoose-by = \"public-validation\"\n[settings]\ncsv = {:?}\nschema = {:?}\n\
         test-share = 0.25\npublic-test = true\nepsilon = 2.0\ndelta = 1e-4\nsteps = 3\nbatch = 20\n\
         [grid]\nlearning-rate = [0.1, 1.0]\n",
        beside("table.csv"),
        beside("schema.toml")
    );
    fs::write(&space, text_of_space).unwrap();
    schema(150);
    found(&tune(&space, &out));
    schema(2000);
    let output = tune(&space, &out);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("were certified for other plans"), "{said}");
    schema(150);
    found(&tune(&space, &out));
}

/// One candidate that cannot run stops the search before any run is made.
#[test]
fn every_candidate_is_checked_before_anything_is_spent() {
    for (list, named) in [
        ("learning-rate = [0.1, -1.0]", "learning-rate = -1.0"),
        ("optimizer = [\"adam\", \"foo\"]", "optimizer = foo"),
        ("model = [\"logistic\", \"lstm\"]", "model = lstm"),
        ("hidden = [8, 0]", "hidden = 0"),
        ("epochs = [0.1, 0.2]", "--steps and --epochs"),
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
            "--device foo",
        ),
        (
            GRID.replace("epsilon = 2.0", "epsilon = 1e-6"),
            "too small for any step",
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
