//! Runs of the program on several ranks, here threads: the run folder is that of one process, to the last byte of the model.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{command, empty, json, path, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tacita::ranks::{Ranks, in_threads};
use tacita_cli::run::{self, Locations, Output, Resumption, Settings};

/// What each of `size` ranks returns.
fn on_ranks<T: Send>(size: usize, work: impl Fn(Arc<dyn Ranks>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads = in_threads(size).into_iter();
        let threads: Vec<_> = threads.map(|ranks| scope.spawn(|| work(ranks))).collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    })
}

fn train(size: usize, settings: &str, out: &Path) {
    let outcomes = on_ranks(size, |ranks| {
        let settings = Settings::parse(settings).unwrap();
        run::train_over(&ranks, settings, Some(out), None, Output::NONE).unwrap()
    });
    // The first alone speaks.
    let spoke: Vec<bool> = outcomes.iter().map(Option::is_some).collect();
    assert!(spoke[0] && !spoke[1..].contains(&true));
}

/// What a run folder says, but for what differs between two runs of the same process.
fn folder(out: &Path) -> (Vec<u8>, Value, Value, String) {
    let mut facts = json(&out.join("facts.json"));
    facts["run"].as_object_mut().unwrap().remove("begun");
    let mut record = json(&out.join("run.json"));
    record.as_object_mut().unwrap().remove("begun");
    let files: Vec<String> = common::files(out).into_iter().collect();
    let model = fs::read(out.join("model.safetensors")).unwrap();
    let released = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    (
        model,
        facts,
        record,
        format!("{:?} {files:?}", released.released),
    )
}

fn texts(corner: &Path) -> String {
    let file = corner.join("texts.jsonl");
    let words = ["good", "bad", "film", "plot", "ending"];
    let lines = (0..90).map(|at| {
        let (first, second) = (words[at % 5], words[(at / 3) % 5]);
        format!(
            "{{\"t\": \"{first} {second} {at}\", \"y\": \"{}\"}}\n",
            at % 2
        )
    });
    fs::write(&file, lines.collect::<String>()).unwrap();
    format!(
        "jsonl = '{}'\ntext = 't'\nlabel = 'y'\nclasses = ['0', '1']\nrecords = 90\nnoise = 2.0\ndelta = 1e-3\n\
         test-share = 0.3\nscore-noise = 5.0\n",
        path(&file)
    )
}

fn table(corner: &Path) -> String {
    let (file, schema) = (corner.join("table.csv"), corner.join("schema.toml"));
    let lines = (0..400).map(|at| format!("{},{},{}\n", at % 17, (at * 7) % 31, at % 2));
    fs::write(&file, format!("a,b,y\n{}", lines.collect::<String>())).unwrap();
    let text = "[label]\ncolumn = 'y'\nclasses = ['0', '1']\n[columns.a]\nmin = 0\nmax = 20\n[columns.b]\nmin = 0\nmax = 40\n";
    fs::write(&schema, text).unwrap();
    format!(
        "csv = '{}'\nschema = '{}'\nrecords = 400\nnoise = 2.0\ndelta = 1e-3\ntest-share = 0.3\nscore-noise = 5.0\n\
         standardise = 4.0\naudit = 20\n",
        path(&file),
        path(&schema)
    )
}

#[test]
fn every_model_is_that_of_one_process_and_so_is_all_that_is_said_of_it() {
    let corner = empty("ranks", "models");
    let (texts, table) = (texts(&corner), table(&corner));
    let digits = "data = 'digits'\nepsilon = 8.0\n";
    let runs = [
        (digits, "cnn", "clipping = 'online'\nper-layer = true\n"),
        (digits, "mlp", "clipping = 'quantile:0.5'\n"),
        (&texts, "lstm", ""),
        (&texts, "transformer", "clipping = 'abadi:0.5'\n"),
        (&table, "logistic", ""),
    ];
    for (data, model, policy) in runs {
        let settings =
            format!("{data}model = '{model}'\n{policy}seed = 3\nbatch = 20\nsteps = 4\n");
        let of = |size: usize| {
            let out = corner.join(format!("{model}-{size}"));
            train(size, &settings, &out);
            folder(&out)
        };
        let alone = of(1);
        for size in 2..5 {
            assert_eq!(of(size), alone, "{model} on {size} ranks");
        }
    }
}

/// Puts a folder where the next checkpoint is to be written, once a step was made: as a disk that is full.
fn block_checkpoint(out: &Path, blocked: &Path, ended: &AtomicBool) {
    let stepped = || {
        let ledger = tacita::read_ledger_file(&out.join("ledger.jsonl"));
        ledger.is_ok_and(|ledger| ledger.released.rounds_made() > 0)
    };
    while !(ended.load(Ordering::SeqCst) || stepped() && fs::create_dir(blocked).is_ok()) {
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_ended_early_is_resumed_on_any_number_of_ranks() {
    let corner = empty("ranks", "resumed");
    let settings =
        "data = 'digits'\nepsilon = 8.0\nmodel = 'logistic'\nseed = 3\nbatch = 20\nsteps = 99\n";
    let whole = corner.join("whole");
    train(1, settings, &whole);
    for (before, after) in [(3, 1), (1, 4), (2, 3)] {
        let out = corner.join(format!("broken-{before}-{after}"));
        let (blocked, ended) = (
            out.join("checkpoint.safetensors.new"),
            AtomicBool::new(false),
        );
        let errors = std::thread::scope(|scope| {
            scope.spawn(|| block_checkpoint(&out, &blocked, &ended));
            let errors = on_ranks(before, |ranks| {
                let settings = Settings::parse(settings).unwrap();
                let made = run::train_over(&ranks, settings, Some(&out), None, Output::NONE);
                format!("{:#}", made.unwrap_err())
            });
            ended.store(true, Ordering::SeqCst);
            errors
        });
        fs::remove_dir(&blocked).unwrap();
        assert!(
            errors[0].contains("what its ledger holds stays spent"),
            "{errors:?}"
        );
        assert!(
            errors[1..]
                .iter()
                .all(|error| error.contains("another rank")),
            "{errors:?}"
        );
        on_ranks(after, |ranks| {
            let resumption = Resumption {
                given: Locations::default(),
                take_over: false,
            };
            run::resume_over(&ranks, &out, resumption, Output::NONE).unwrap();
        });
        assert_eq!(folder(&out).0, folder(&whole).0);
    }
}

/// A rank whose file has its lines in another order would count a record twice.
#[test]
fn ranks_that_read_different_records_or_settings_are_refused() {
    let corner = empty("ranks", "differ");
    let settings = table(&corner);
    let other = corner.join("other.csv");
    let text = fs::read_to_string(corner.join("table.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().rev().collect();
    fs::write(&other, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let swapped = settings.replace(path(&corner.join("table.csv")), path(&other));
    for (what, second) in [
        ("data", format!("data-name = 'table'\n{swapped}")),
        (
            "settings",
            format!("data-name = 'table'\nlearning-rate = 0.123\n{settings}"),
        ),
    ] {
        let out = corner.join(what);
        let errors = on_ranks(2, |ranks| {
            let text = match ranks.rank() {
                0 => format!("data-name = 'table'\n{settings}"),
                _ => second.clone(),
            };
            let settings = Settings::parse(&format!("{text}steps = 3\n")).unwrap();
            let ended = run::train_over(&ranks, settings, Some(&out), None, Output::NONE);
            format!("{:#}", ended.unwrap_err())
        });
        for error in errors {
            assert!(error.contains(&format!("different {what}")), "{error}");
        }
        assert!(!out.exists(), "nothing was spent");
    }
}

#[test]
fn a_run_that_ended_in_order_leaves_no_claim() {
    let corner = empty("ranks", "no-claim");
    let out = corner.join("run");
    let small = [
        "train", "--quiet", "--model", "logistic", "--noise", "2", "--delta", "1e-5",
    ];
    let arguments = [&small[..], &["--steps", "3", "--out", path(&out)]].concat();
    assert!(command(&arguments).output().unwrap().status.success());
    assert!(
        !common::files(&out)
            .iter()
            .any(|name| name.contains("claim"))
    );
}

/// Without MPI each would be a run of its own.
#[test]
fn several_processes_of_a_program_without_mpi_are_refused() {
    if cfg!(feature = "mpi") {
        return;
    }
    let out = empty("ranks", "refused").join("run");
    for variable in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"] {
        for arguments in [
            &["train", "--out", path(&out)][..],
            &["tune", "space.toml", "--out", path(&out)],
        ] {
            let output = command(arguments).env(variable, "4").output().unwrap();
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output.stderr).contains("Nothing was spent"));
        }
    }
    assert!(!out.exists());
}
