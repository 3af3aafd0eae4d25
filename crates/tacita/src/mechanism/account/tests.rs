#![allow(clippy::unwrap_used)]

use super::*;
use crate::mechanism::plan::TAIL_SHARE;
use proptest::prelude::*;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use tacita_accounting::{Accountant, Pld, RandomRuns, Round, Sampling};

static FOLDERS: AtomicU64 = AtomicU64::new(0);

/// A folder with the file of an account and its witnesses, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("tacita-account-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("account.jsonl")
    }

    fn witnesses(&self) -> PathBuf {
        self.0.join("heads")
    }

    fn opened(&self, epsilon: f64, delta: f64, records_per_unit: u32) -> Account {
        let total = AccountTotal {
            epsilon,
            delta,
            records_per_unit,
        };
        Account::open_new(&self.file(), &self.witnesses(), "test", total).unwrap()
    }

    fn open(&self) -> Result<Account, AccountError> {
        Account::open(&self.file(), &self.witnesses(), &[])
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn plan(rate: f64, noise: f64, steps: u64) -> Ledger {
    let mut plan = Ledger::new(Neighbours::AddOrRemoveOne);
    let round = Round::new(Sampling::Poisson { rate }, vec![noise]).unwrap();
    plan.push(round.times(steps)).unwrap();
    plan
}

fn run(id: &str, plan: Ledger) -> Reservation {
    Reservation {
        run: id.into(),
        data: "patients".into(),
        date: "2026-01-01".into(),
        release: ReservedRelease::Run { plan },
        alone: false,
        entered: false,
    }
}

fn spent(result: Result<AccountOfRun, AccountError>) -> bool {
    match result {
        Ok(_) => false,
        Err(AccountError::Spent { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

/// A run that costs about a third of ε = 3.
fn third() -> Ledger {
    plan(0.05, 2.0, 150)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// By the tightest accountant, which composes all that was admitted as one plan; the file says the same as memory.
    #[test]
    fn what_an_account_admits_never_costs_more_than_its_total(
        epsilon in 0.5..8.0_f64,
        delta in -18.0..-7.0_f64,
        records in 1..4_u32,
        plans in prop::collection::vec((-4.0..0.0_f64, 0.8..12.0_f64, 1..200_u64), 1..8),
    ) {
        let (place, delta) = (Place::new(), delta.exp());
        let mut account = place.opened(epsilon, delta, records);
        for (index, (rate, noise, steps)) in plans.into_iter().enumerate() {
            spent(account.reserve(run(&index.to_string(), plan(rate.exp(), noise, steps))));
        }
        drop(account);
        let standing = Account::read(&place.file(), &place.witnesses(), &[]).unwrap();
        let mut whole = Ledger::new(Neighbours::AddOrRemoveOne).with_records_per_unit(records).unwrap();
        for reserved in standing.reservations() {
            for round in reserved.release.plan().unwrap().rounds() {
                whole.push(round.clone()).unwrap();
            }
        }
        prop_assert!(standing.epsilon_spent() <= epsilon);
        if !whole.rounds().is_empty() {
            let upper = Pld::default().epsilon(&whole, delta * (1.0 - TAIL_SHARE)).unwrap();
            prop_assert!(upper.upper_bound().unwrap() <= epsilon);
            prop_assert_eq!(standing.epsilon_if_fixed_beforehand().unwrap(), Some(upper));
        }
    }
}

#[test]
fn two_runs_at_once_cannot_overspend() {
    let place = Place::new();
    drop(place.opened(3.0, 1e-5, 1));
    let admitted = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for index in 0..8 {
            let (place, admitted) = (&place, &admitted);
            scope.spawn(move || {
                let mut account = place.open().unwrap();
                if !spent(account.reserve(run(&index.to_string(), third()))) {
                    admitted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let standing = place.open().unwrap().standing().clone();
    assert_eq!(admitted.into_inner(), standing.reservations().len() as u64);
    assert!((1..8).contains(&standing.reservations().len()));
    assert!(standing.epsilon_spent() <= 3.0);
    assert!(!standing.admits(&run("9", third()).release).unwrap());
}

#[test]
fn a_plan_beyond_the_total_is_refused_and_leaves_the_file_as_it_was() {
    let place = Place::new();
    let mut account = place.opened(1.0, 1e-5, 1);
    let before = fs::read(place.file()).unwrap();
    assert!(spent(account.reserve(run("a", plan(0.5, 1.0, 100)))));
    assert_eq!(fs::read(place.file()).unwrap(), before);
    assert_eq!(account.standing().epsilon_spent(), 0.0);
}

/// The filter pays some ε for being valid whatever comes; one plan that was fixed first need not.
#[test]
fn the_first_plan_may_take_the_whole_total_by_its_exact_figure_and_then_nothing_comes_after_it() {
    let place = Place::new();
    let whole = plan(0.05, 1.0, 300);
    let exact = Pld::default()
        .epsilon(&whole, 1e-5 * (1.0 - TAIL_SHARE))
        .unwrap()
        .upper_bound()
        .unwrap();
    let mut account = place.opened(exact * 1.000_001, 1e-5, 1);
    assert!(!spent(account.reserve(run("a", whole.clone()))));
    assert!(account.standing().reservations()[0].alone);
    assert!(spent(account.reserve(run("b", plan(0.001, 50.0, 1)))));
    drop(account);
    let mut account = place.open().unwrap();
    assert_eq!(account.standing().room().left, 0.0);
    assert!(spent(account.reserve(run("b", plan(0.001, 50.0, 1)))));
    assert!(!account.standing().is_exceeded());
    // What was released without the account is too much for it.
    account.enter(run("old", plan(0.001, 50.0, 1))).unwrap();
    assert!(account.standing().is_exceeded());
    account.give_back("old").unwrap();
    // Not as the second one.
    account.give_back("a").unwrap();
    assert!(!spent(account.reserve(run("c", plan(0.001, 50.0, 1)))));
    assert!(spent(account.reserve(run("a", whole))));
}

#[test]
fn a_run_is_reserved_once_and_under_one_plan() {
    let place = Place::new();
    let mut account = place.opened(3.0, 1e-5, 1);
    let first = account.reserve(run("a", third())).unwrap();
    let lines = fs::read(place.file()).unwrap();
    assert_eq!(account.reserve(run("a", third())).unwrap(), first);
    assert_eq!(fs::read(place.file()).unwrap(), lines);
    let other = account.reserve(run("a", plan(0.05, 2.0, 151)));
    assert!(matches!(other, Err(AccountError::OtherPlan { .. })));
}

#[test]
fn what_ended_before_it_began_is_given_back() {
    let place = Place::new();
    let mut account = place.opened(3.0, 1e-5, 1);
    account.reserve(run("a", third())).unwrap();
    let once = account.standing().room();
    account.reserve(run("b", third())).unwrap();
    account.give_back("b").unwrap();
    account.give_back("b").unwrap();
    assert_eq!(account.standing().room(), once);
    drop(account);
    let account = place.open().unwrap();
    assert_eq!(account.standing().room(), once);
    assert_eq!(account.standing().reservations().len(), 1);
}

#[test]
fn what_was_released_before_counts_even_beyond_the_total() {
    let place = Place::new();
    let mut account = place.opened(1.0, 1e-5, 1);
    account.enter(run("old", plan(0.5, 1.0, 100))).unwrap();
    assert!(account.standing().is_exceeded());
    assert!(spent(account.reserve(run("new", plan(0.001, 50.0, 1)))));
    drop(account);
    let standing = place.open().unwrap().standing().clone();
    assert!(standing.is_exceeded() && standing.epsilon_spent() > 1.0);
}

#[test]
fn owners_of_several_records_leave_room_for_less() {
    let cost = |records: u32| {
        let place = Place::new();
        let mut account = place.opened(8.0, 1e-5, records);
        account.reserve(run("a", plan(0.01, 3.0, 100))).unwrap();
        account.standing().epsilon_spent()
    };
    let costs: Vec<f64> = [1, 2, 5].map(cost).to_vec();
    assert!(costs.is_sorted() && costs[0] < costs[2], "{costs:?}");
}

#[test]
fn a_random_search_enters_as_one_release_and_costs_more_than_one_run_of_it() {
    let place = Place::new();
    let mut account = place.opened(3.0, 1e-5, 1);
    let candidate = plan(0.02, 3.0, 100);
    let alone = account
        .standing()
        .cost(&run("a", candidate.clone()).release);
    let search = |runs| ReservedRelease::best_of(runs, vec![candidate.clone()]);
    for (id, runs) in [
        ("a", RandomRuns::logarithmic(5.0).unwrap()),
        ("b", RandomRuns::poisson(3.0).unwrap()),
    ] {
        let release = search(runs);
        let cost = account.standing().cost(&release).unwrap();
        assert!(cost > *alone.as_ref().unwrap());
        let left = account.standing().room().left;
        let reserved = Reservation {
            release,
            ..run(id, candidate.clone())
        };
        account.reserve(reserved).unwrap();
        assert!(account.standing().room().left <= left - cost * (1.0 - 1e-9));
    }
    // There is no exact figure of it.
    assert_eq!(
        account.standing().epsilon_if_fixed_beforehand().unwrap(),
        None
    );
    drop(account);
    assert_eq!(place.open().unwrap().standing().reservations().len(), 2);
}

/// Every beginning of the file, as a copy that was put back or a disk that lost its end would be.
#[test]
fn an_older_or_shorter_file_is_refused() {
    let place = Place::new();
    let mut account = place.opened(3.0, 1e-5, 1);
    account.reserve(run("a", plan(0.01, 4.0, 10))).unwrap();
    let mark = account.reserve(run("b", plan(0.01, 4.0, 20))).unwrap();
    drop(account);
    let whole = fs::read(place.file()).unwrap();
    for length in 0..whole.len() {
        fs::write(place.file(), &whole[..length]).unwrap();
        let refused = place.open();
        assert!(refused.is_err(), "{length} of {} bytes", whole.len());
        // Refused and left alone.
        assert_eq!(fs::read(place.file()).unwrap().len(), length);
    }
    // Without its witness the ledger of a run still knows.
    fs::remove_dir_all(place.witnesses()).unwrap();
    let end = whole[..whole.len() - 1]
        .iter()
        .rposition(|&byte| byte == b'\n');
    fs::write(place.file(), &whole[..end.unwrap() + 1]).unwrap();
    let seen = Account::open(
        &place.file(),
        &place.witnesses(),
        std::slice::from_ref(&mark),
    );
    assert!(matches!(
        seen,
        Err(AccountError::RolledBack {
            line: 3,
            lines: 2,
            ..
        })
    ));
    fs::write(place.file(), &whole).unwrap();
    Account::open(&place.file(), &place.witnesses(), &[mark]).unwrap();
}

#[test]
fn a_line_that_was_never_finished_reserves_nothing_and_is_dropped() {
    let place = Place::new();
    let mut account = place.opened(3.0, 1e-5, 1);
    account.reserve(run("a", third())).unwrap();
    drop(account);
    let whole = fs::read(place.file()).unwrap();
    let torn = [&whole[..], b"{\"run\":\"b\",\"data\":\"pat"].concat();
    fs::write(place.file(), &torn).unwrap();
    assert_eq!(
        Account::read(&place.file(), &place.witnesses(), &[])
            .unwrap()
            .reservations()
            .len(),
        1
    );
    let mut account = place.open().unwrap();
    assert_eq!(fs::read(place.file()).unwrap(), whole);
    account.reserve(run("b", plan(0.01, 4.0, 10))).unwrap();
    drop(account);
    assert_eq!(place.open().unwrap().standing().reservations().len(), 2);
    // Where nothing tells whether it was finished, it is refused.
    fs::remove_dir_all(place.witnesses()).unwrap();
    fs::write(place.file(), &torn).unwrap();
    assert!(matches!(place.open(), Err(AccountError::Torn { .. })));
}

#[test]
fn a_file_edited_anywhere_is_refused() {
    let place = Place::new();
    let mut account = place.opened(3.0, 1e-5, 1);
    account.reserve(run("a", third())).unwrap();
    drop(account);
    let whole = fs::read(place.file()).unwrap();
    for index in 0..whole.len() {
        let mut edited = whole.clone();
        edited[index] ^= 1;
        fs::write(place.file(), &edited).unwrap();
        assert!(place.open().is_err(), "byte {index}");
    }
}

#[test]
fn a_total_that_promises_nothing_is_refused() {
    let place = Place::new();
    for (epsilon, delta) in [(80.0, 1e-5), (0.0, 1e-5), (1.0, 0.0), (f64::NAN, 1e-5)] {
        let total = AccountTotal {
            epsilon,
            delta,
            records_per_unit: 1,
        };
        assert!(Account::open_new(&place.file(), &place.witnesses(), "x", total).is_err());
        assert!(!place.file().exists());
    }
}
