//! Searches that are stopped, killed and resumed.

use super::*;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tacita_accounting::whole_grid;

/// Starts a search that says nothing.
pub fn started(space: &Path, out: &Path) -> Child {
    let mut command = command(space, out);
    let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
    silent.spawn().unwrap()
}

/// Waits until some steps of a run were made; `folder` finds it once it is there.
pub fn wait_for_steps(folder: impl Fn() -> Option<PathBuf>) -> PathBuf {
    let late = Instant::now() + Duration::from_secs(120);
    let under_way = || {
        let folder = folder()?;
        let metrics = fs::read_to_string(folder.join("metrics.jsonl")).ok()?;
        (metrics.lines().count() > 3).then_some(folder)
    };
    loop {
        if let Some(folder) = under_way() {
            return folder;
        }
        assert!(Instant::now() < late, "the run never began");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn finished_runs_are_not_repeated_after_a_kill() {
    let longer = GRID.replace("steps = [3, 6]", "steps = [40, 60]");
    let (space, out) = fresh("killed", &longer);
    let mut child = started(&space, &out);
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

/// Runs of a grid may be shown before it is finished, if it ever is: their reports state its ε, not theirs.
#[cfg(unix)]
#[test]
fn an_interrupted_grid_states_the_epsilon_of_the_search() {
    let long = GRID
        .replace("[3, 6]", "[3, 20000]")
        .replace("[64, 256]", "[64]");
    let (space, out) = fresh("interrupted", &format!("parallel = 1\n{long}"));
    let child = started(&space, &out);
    wait_for_steps(|| Some(out.join("runs/2")));
    common::interrupt(&child);
    let status = child.wait_with_output().unwrap().status;
    assert_eq!(status.code(), Some(130));
    assert!(!out.join("report.json").exists(), "the grid was finished");
    let reports = [1, 2].map(|run| json(&out.join(format!("runs/{run}/report.json"))));
    let upper = |report: &Value| report["guarantee"]["epsilon_upper"].as_f64().unwrap();
    // Three steps alone cost far less than the budget of the search.
    assert!(upper(&reports[0]) > 1.9 && upper(&reports[0]) <= 2.0);
    assert_eq!(upper(&reports[0]), upper(&reports[1]));
    // One that is copied away is not gone on with alone, which would state its own.
    let copy = out.join("copy");
    fs::create_dir(&copy).unwrap();
    for file in fs::read_dir(out.join("runs/1")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_tacita"));
    let resumed = program.arg("resume").arg(&copy).output().unwrap();
    assert_eq!(resumed.status.code(), Some(2));
    let said = text(&resumed.stderr);
    assert!(said.contains("tacita tune"), "{said}");
    assert_eq!(json(&copy.join("report.json")), reports[0]);
}

/// Runs of a random search must be alike in distribution: one that lost steps in a crash is made again, and nothing
/// tells that it was.
#[test]
fn a_run_of_a_random_search_that_lost_steps_is_made_again() {
    let long = RANDOM.replace("steps = 4", "steps = 4000\ncheckpoint-every = 3000");
    let (space, out) = fresh("lost-steps", &format!("parallel = 1\n{long}"));
    let mut child = started(&space, &out);
    wait_for_steps(|| {
        let run = fs::read_dir(out.join("secret/runs")).ok()?.next()?;
        Some(run.ok()?.path())
    });
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
fn a_search_does_not_resume_with_other_public_facts() {
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

/// A run that was made and taken away is spent; one whose score was damaged is scored again.
#[test]
fn a_grid_neither_repeats_a_run_that_is_gone_nor_loses_one_that_is_there() {
    let (space, out) = fresh("gone", GRID);
    let before = found(&tune(&space, &out));
    fs::remove_dir_all(out.join("runs/1")).unwrap();
    fs::remove_file(out.join("runs/1.score.json")).unwrap();
    fs::write(out.join("runs/2.score.json"), "").unwrap();
    fs::remove_file(out.join("report.json")).unwrap();
    let after = found(&tune(&space, &out));
    assert_eq!(after["runs"][0]["score"]["text"], "lost");
    assert!(!out.join("runs/1").exists());
    for run in 1..4 {
        assert_eq!(after["runs"][run], before["runs"][run]);
    }
}

/// A search that died between its first two files is resumed.
#[test]
fn a_search_that_had_hardly_begun_goes_on() {
    let (space, other) = fresh("hardly", RANDOM);
    found(&tune(&space, &other));
    let out = other.with_file_name("second");
    fs::create_dir(&out).unwrap();
    fs::copy(other.join("plans.sha256"), out.join("plans.sha256")).unwrap();
    found(&tune(&space, &out));
}
