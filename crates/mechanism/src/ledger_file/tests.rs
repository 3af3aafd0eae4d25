#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use tacita_accounting::{Neighbours, Sampling};

use super::*;

/// A directory of its own for each test, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("tacita-ledger-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A plan of two kinds of rounds.
fn plan(steps: u64) -> Ledger {
    let mut plan = Ledger::new(Neighbours::AddOrRemoveOne);
    let early = Round::new(Sampling::Poisson { rate: 0.1 / 3.0 }, vec![1.1, 9.0 / 7.0]).unwrap();
    let late = Round::new(Sampling::Poisson { rate: 0.01 }, vec![0.9]).unwrap();
    plan.push(early.times(steps / 3)).unwrap();
    plan.push(late.times(steps - steps / 3)).unwrap();
    plan
}

fn admit_steps(ledger: &mut LedgerFile, steps: std::ops::Range<u64>) {
    for step in steps {
        ledger.admit(step).unwrap();
    }
}

fn released_steps(path: &Path) -> u64 {
    read_ledger_file(path).unwrap().released.rounds_made()
}

#[test]
fn recorded_ledger_equals_forecast() {
    let directory = Directory::new("forecast");
    let (path, plan) = (directory.file("run"), plan(1000));
    let mut ledger = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    let mut made = Ledger::new(plan.neighbours());
    for step in 0..1000 {
        made.push(ledger.admit(step).unwrap()).unwrap();
    }
    assert!(matches!(
        ledger.admit(1000),
        Err(LedgerFileError::PlanFinished { .. })
    ));
    assert_eq!(ledger.close().unwrap(), plan);
    let record = read_ledger_file(&path).unwrap();
    assert_eq!((made, record.private), (plan.clone(), true));
    assert_eq!((record.released, record.plan), (plan.clone(), plan));
}

#[test]
fn entries_are_on_disk_before_their_steps() {
    let directory = Directory::new("ahead");
    let path = directory.file("run");
    let mut ledger = LedgerFile::create(&path, &plan(1000), true, LedgerLabel::default()).unwrap();
    assert_eq!(released_steps(&path), 0);
    for step in 0..35 {
        ledger.admit(step).unwrap();
        let on_disk = released_steps(&path);
        assert!(
            on_disk > step && on_disk <= step + 10,
            "{on_disk} at step {step}"
        );
    }
}

#[test]
fn lost_steps_are_spent_and_not_repeated() {
    let directory = Directory::new("lost");
    let (path, plan) = (directory.file("run"), plan(1000));
    let mut ledger = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    admit_steps(&mut ledger, 0..13);
    drop(ledger); // a crash
    let mut ledger = LedgerFile::open(&path, &plan, true).unwrap();
    assert_eq!(ledger.next_round(), 20);
    for step in [0, 12, 13, 19, 21] {
        let refused = ledger.admit(step);
        assert!(matches!(
            refused,
            Err(LedgerFileError::OutOfTurn { expected: 20, .. })
        ));
    }
    ledger.admit(20).unwrap();
    assert_eq!(released_steps(&path), 30);
}

#[test]
fn an_orderly_stop_gives_back_what_was_not_released() {
    let directory = Directory::new("stop");
    let (path, plan) = (directory.file("run"), plan(1000));
    let mut ledger = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    admit_steps(&mut ledger, 0..13);
    assert_eq!(ledger.close().unwrap(), plan.prefix(13));
    assert_eq!(read_ledger_file(&path).unwrap().released, plan.prefix(13));
    // And again, with nothing done and with all done.
    for (from, to) in [(13, 13), (13, 20), (20, 1000)] {
        let mut ledger = LedgerFile::open(&path, &plan, true).unwrap();
        admit_steps(&mut ledger, from..to);
        ledger.close().unwrap();
        assert_eq!(released_steps(&path), to);
    }
    let mut ledger = LedgerFile::open(&path, &plan, true).unwrap();
    assert!(matches!(
        ledger.admit(1000),
        Err(LedgerFileError::PlanFinished { .. })
    ));
}

#[test]
fn a_line_cut_short_counts_as_spent() {
    let directory = Directory::new("torn");
    let (path, plan) = (directory.file("run"), plan(1000));
    let mut ledger = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    admit_steps(&mut ledger, 0..25);
    drop(ledger);
    let whole = std::fs::read(&path).unwrap();
    let before_last = 1 + whole[..whole.len() - 1]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .unwrap();
    for cut in before_last + 1..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(released_steps(&path), 30, "read, cut at {cut}");
        let mut ledger = LedgerFile::open(&path, &plan, true).unwrap();
        assert_eq!(ledger.next_round(), 30, "cut at {cut}");
        // The repair wrote what had been there.
        assert!(std::fs::read(&path).unwrap() == whole, "cut at {cut}");
        ledger.admit(30).unwrap();
    }
    // Rubbish longer than a line.
    let mut rubbish = whole.clone();
    rubbish.extend([0; 4096]);
    std::fs::write(&path, &rubbish).unwrap();
    assert_eq!(
        LedgerFile::open(&path, &plan, true).unwrap().next_round(),
        40
    );
    assert_eq!(released_steps(&path), 40);
    // In the first line nothing can have been released, but nothing can be known either.
    std::fs::write(&path, &whole[..50]).unwrap();
    assert!(matches!(
        read_ledger_file(&path),
        Err(LedgerFileError::NoHeader { .. })
    ));
}

#[test]
fn no_changed_byte_hides_a_release() {
    let directory = Directory::new("edited");
    let (path, plan) = (directory.file("run"), plan(1000));
    let mut ledger = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    admit_steps(&mut ledger, 0..25);
    ledger.close().unwrap();
    let mut ledger = LedgerFile::open(&path, &plan, true).unwrap();
    admit_steps(&mut ledger, 25..27);
    drop(ledger);
    assert_eq!(released_steps(&path), 35);
    let whole = std::fs::read(&path).unwrap();
    for position in 0..whole.len() {
        for flip in [1, 0x80, b'\n' ^ whole[position], b'0' ^ whole[position]] {
            let mut edited = whole.clone();
            edited[position] ^= flip;
            if edited != whole {
                std::fs::write(&path, &edited).unwrap();
                match read_ledger_file(&path) {
                    // Only the last newline: a line cut short, and spent.
                    Ok(record) => assert!(record.released.rounds_made() >= 35, "byte {position}"),
                    Err(error) => assert!(matches!(error, LedgerFileError::Damaged { .. })),
                }
            }
        }
    }
}

#[test]
fn lines_removed_repeated_or_reordered_are_refused() {
    let directory = Directory::new("lines");
    let (path, plan) = (directory.file("run"), plan(1000));
    let mut ledger = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    admit_steps(&mut ledger, 0..45);
    drop(ledger);
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 6);
    let changed = [
        vec![0, 1, 3, 4, 5],
        vec![0, 1, 1, 2, 3, 4, 5],
        vec![0, 2, 1, 3, 4, 5],
        vec![1, 2],
    ];
    for order in changed {
        let edited: String = order.iter().map(|&line| lines[line]).collect();
        std::fs::write(&path, edited).unwrap();
        let opened = LedgerFile::open(&path, &plan, true);
        assert!(
            matches!(opened, Err(LedgerFileError::Damaged { .. })),
            "{order:?}"
        );
    }
}

#[test]
fn a_second_writer_is_refused() {
    let directory = Directory::new("lock");
    let (path, plan) = (directory.file("run"), plan(100));
    let first = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    let second = LedgerFile::open(&path, &plan, true);
    assert!(matches!(second, Err(LedgerFileError::InUse { .. })));
    drop(first);
    LedgerFile::open(&path, &plan, true).unwrap();
}

/// As on two machines whose file system keeps no lock between them.
#[test]
fn a_process_that_was_taken_over_writes_nothing_that_counts() {
    let directory = Directory::new("taken-over");
    let path = directory.file("run");
    let plan = plan(300);
    let mut old = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    for round in 0..4 {
        old.admit(round).unwrap();
    }
    let before = std::fs::read(&path).unwrap();
    old.file.0.unlock().unwrap();
    take_over(&path).unwrap();
    let mut new = LedgerFile::open(&path, &plan, true).unwrap();
    // What the old one had reserved is spent, so it may make it; it gets no more.
    let reserved = new.next_round();
    for round in 4..reserved {
        old.admit(round).unwrap();
    }
    let refused = old.admit(reserved);
    assert!(
        matches!(refused, Err(LedgerFileError::TakenOver { .. })),
        "{refused:?}"
    );
    let refused = old.admit(reserved);
    assert!(matches!(refused, Err(LedgerFileError::Unusable { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    old.close().unwrap();
    for round in reserved..300 {
        new.admit(round).unwrap();
    }
    assert_eq!(new.close().unwrap(), plan);
    assert_eq!(read_ledger_file(&path).unwrap().released, plan);
    assert_eq!(
        std::fs::read_dir(&directory.0).unwrap().count(),
        1,
        "no claim is left"
    );
}

/// The other process claims while the entry is on its way to the disk.
#[test]
fn an_entry_that_is_overtaken_by_a_claim_does_not_count() {
    let directory = Directory::new("overtaken");
    let path = directory.file("run");
    let plan = plan(10);
    let mut old = LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap();
    let claim = old.claim.take();
    take_over(&path).unwrap();
    // Without the look before the entry is written, only the one after it is left.
    old.reserve_block().unwrap();
    old.claim = claim;
    assert!(matches!(
        old.check_claim(),
        Err(LedgerFileError::TakenOver { .. })
    ));
}

#[test]
fn existing_files_other_plans_and_other_keys_are_refused() {
    let directory = Directory::new("refused");
    let path = directory.file("run");
    drop(LedgerFile::create(&path, &plan(100), true, LedgerLabel::default()).unwrap());
    let create = LedgerFile::create(&path, &plan(100), true, LedgerLabel::default());
    assert!(matches!(create, Err(LedgerFileError::Exists { .. })));
    let other_plan = LedgerFile::open(&path, &plan(101), true);
    assert!(matches!(other_plan, Err(LedgerFileError::OtherPlan { .. })));
    let other_keys = LedgerFile::open(&path, &plan(100), false);
    assert!(matches!(
        other_keys,
        Err(LedgerFileError::OtherKeys { private: true, .. })
    ));
    let nothing = Ledger::new(Neighbours::AddOrRemoveOne);
    let empty = LedgerFile::create(
        &directory.file("empty"),
        &nothing,
        true,
        LedgerLabel::default(),
    );
    assert!(matches!(empty, Err(LedgerFileError::Plan(_))));
    let missing = LedgerFile::open(&directory.file("missing"), &plan(100), true);
    assert!(matches!(missing, Err(LedgerFileError::Io { .. })));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_refuses_the_step_and_all_after_it() {
    let directory = Directory::new("full");
    let mut ledger = LedgerFile::create(
        &directory.file("run"),
        &plan(1000),
        true,
        LedgerLabel::default(),
    )
    .unwrap();
    admit_steps(&mut ledger, 0..10);
    ledger.file.0 = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let refused = ledger.admit(10).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("nothing of this round was released"),
        "{refused}"
    );
    assert!(matches!(
        ledger.admit(10),
        Err(LedgerFileError::Unusable { .. })
    ));
    assert_eq!(ledger.next_round(), 10);
}

#[test]
fn plans_come_back_bit_for_bit() {
    // A plan that did not equal itself after a round trip could not be resumed.
    let directory = Directory::new("bits");
    let path = directory.file("run");
    let mut plan = Ledger::new(Neighbours::AddOrRemoveOne);
    let mut bits = 0x3ff0_0000_0000_0001_u64;
    for _ in 0..2000 {
        bits = bits
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let multiplier = f64::from_bits(0x3ff0_0000_0000_0000 | bits >> 12);
        let rate = multiplier - 1.0 + 1e-12;
        let sampling = Sampling::Poisson {
            rate: rate.min(1.0),
        };
        plan.push(Round::new(sampling, vec![multiplier]).unwrap())
            .unwrap();
    }
    drop(LedgerFile::create(&path, &plan, true, LedgerLabel::default()).unwrap());
    assert_eq!(read_ledger_file(&path).unwrap().plan, plan);
    LedgerFile::open(&path, &plan, true).unwrap();
}

const CHILD: &str = "TACITA_TEST_LEDGER_TO_WRITE";

fn first_of_block(step: u64) -> bool {
    step.is_multiple_of(block_rounds(20_000))
}

/// The run that is killed: no test of its own, it acts only as a child process.
#[test]
fn run_that_is_killed() {
    let Some(path) = std::env::var_os(CHILD).map(PathBuf::from) else {
        return;
    };
    let plan = plan(20_000);
    let mut ledger = match LedgerFile::create(&path, &plan, true, LedgerLabel::default()) {
        Err(LedgerFileError::Exists { .. }) => LedgerFile::open(&path, &plan, true).unwrap(),
        created => created.unwrap(),
    };
    let mut out = io::stdout().lock();
    for step in ledger.next_round()..plan.rounds_made() {
        ledger.admit(step).unwrap();
        // The release: from here on the parent knows of it.
        writeln!(out, "released {step}").unwrap();
        out.flush().unwrap();
        if first_of_block(step) {
            // Time to be killed where a late entry would show.
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn ledger_covers_every_release_after_kill_nine_at_any_moment() {
    let directory = Directory::new("killed");
    let plan = plan(20_000);
    let (mut released, mut seen) = (BTreeSet::new(), 0);
    let (mut run, mut path) = (0, directory.file("run 0"));
    for life in 0..40 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                concat!(module_path!(), "::run_that_is_killed")
                    .trim_start_matches("tacita_mechanism::"),
                "--nocapture",
            ])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Killed once this many lines have come; the child runs ahead by a random number more.
        // Every second life ends right after the first step of a block.
        let mut patience: i32 = life * 37 % 450;
        let mut anywhere = life % 2 == 0;
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            if patience <= 0 && anywhere {
                child.kill().unwrap();
            }
            patience -= 1;
            let Some(line) = output.next() else { break };
            if let Some(step) = line.unwrap().strip_prefix("released ") {
                // A pipe takes a short line whole or not at all, so none is cut by the kill.
                let step: u64 = step.parse().unwrap();
                assert!(released.insert(step), "step {step} was released twice");
                seen += 1;
                anywhere = anywhere || patience <= 0 && first_of_block(step);
            }
        }
        assert!(
            !child.wait().unwrap().success(),
            "life {life} was not killed"
        );

        let covered = match read_ledger_file(&path) {
            Ok(record) => {
                assert_eq!(record.released, plan.prefix(record.released.rounds_made()));
                record.released.rounds_made()
            }
            // Killed before or within the first line.
            Err(LedgerFileError::NoHeader { .. }) => {
                std::fs::remove_file(&path).unwrap();
                0
            }
            Err(LedgerFileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                0
            }
            Err(error) => panic!("{error}"),
        };
        assert!(released.last().is_none_or(|&last| last < covered));
        if covered > 10_000 {
            run += 1;
            path = directory.file(&format!("run {run}"));
            released.clear();
        }
    }
    assert!(seen > 4000, "only {seen} releases seen");
}

/// Format 1 as every version has written it: a ledger without a label gains no key.
#[test]
fn a_ledger_without_a_label_is_as_it_always_was() {
    let directory = Directory::new("plain");
    let path = directory.file("run");
    drop(LedgerFile::create(&path, &plan(30), true, LedgerLabel::default()).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let start = "{\"tacita_ledger\":1,\"private\":true,\"block_steps\":1,\"plan\":{";
    assert!(text.starts_with(start), "{text}");
    let record = read_ledger_file(&path).unwrap();
    assert_eq!(record.label, LedgerLabel::default());
    assert_eq!(record.binding("facts.json", b"any"), Binding::None);
}

#[test]
fn bound_files_are_told_from_edited_ones() {
    let directory = Directory::new("bound");
    let (path, plan) = (directory.file("run"), plan(100));
    let label = LedgerLabel {
        search: None,
        binds_files: true,
        ..LedgerLabel::default()
    };
    let mut ledger = LedgerFile::create(&path, &plan, true, label).unwrap();
    ledger.bind("run.json", b"settings").unwrap();
    admit_steps(&mut ledger, 0..7);
    ledger.close().unwrap();
    let binding =
        |file: &str, content: &[u8]| read_ledger_file(&path).unwrap().binding(file, content);
    assert_eq!(binding("run.json", b"settings"), Binding::Same);
    assert_eq!(binding("run.json", b"Settings"), Binding::Other);
    assert_eq!(binding("facts.json", b"facts"), Binding::Missing);
    // The last line for a file counts, and a line with nothing new is not written.
    for content in [&b"facts"[..], b"other facts", b"other facts"] {
        bind_file_to_ledger(&path, "facts.json", content).unwrap();
    }
    assert_eq!(binding("facts.json", b"facts"), Binding::Other);
    assert_eq!(binding("facts.json", b"other facts"), Binding::Same);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("facts.json").count(), 2);
    // The run resumes where it stopped.
    assert_eq!(released_steps(&path), 7);
    let mut ledger = LedgerFile::open(&path, &plan, true).unwrap();
    admit_steps(&mut ledger, 7..100);
    assert_eq!(ledger.close().unwrap(), plan);
    // What was bound cannot be edited without a trace.
    std::fs::write(&path, text.replace("run.json", "fun.json")).unwrap();
    assert!(matches!(
        read_ledger_file(&path),
        Err(LedgerFileError::Damaged { .. })
    ));
}

#[test]
fn a_run_of_a_random_search_is_secret_until_it_is_published() {
    let directory = Directory::new("secret");
    let path = directory.file("run");
    let search = SearchOfRun {
        kind: SearchKind::Random,
        epsilon_upper: 2.0,
        delta: 1e-5,
    };
    let label = LedgerLabel {
        search: Some(search),
        binds_files: false,
        ..LedgerLabel::default()
    };
    drop(LedgerFile::create(&path, &plan(100), true, label).unwrap());
    let record = read_ledger_file(&path).unwrap();
    assert!(record.is_secret() && record.label.search == Some(search));
    for _ in 0..2 {
        mark_ledger_as_published(&path).unwrap();
    }
    assert!(!read_ledger_file(&path).unwrap().is_secret());
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
}
