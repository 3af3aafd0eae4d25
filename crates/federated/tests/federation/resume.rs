//! A server that dies.

use crate::common::{Folder, answer, everyone, plan};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tacita_accounting::{Accountant, Pld};
use tacita_federated::{Descent, Keys, Server, ServerError};

const ROUNDS: u64 = 400;

fn create(folder: &Path) -> Server {
    let plan = plan(20, 5.0, ROUNDS).certify().unwrap();
    Server::create(
        folder,
        plan,
        Keys::from_os().unwrap(),
        vec![0.0; 4],
        Descent::at(0.1),
    )
    .unwrap()
}

fn resume(folder: &Path) -> Result<Server, ServerError> {
    Server::resume(folder, Keys::from_os().unwrap())
}

fn round(server: &mut Server) {
    for client in server.open_round(&everyone(20)).unwrap().drawn {
        let message = answer(server, client, &[1.0; 4]);
        server.receive(client, &message).unwrap();
    }
    server.close_round().unwrap();
}

#[test]
fn a_run_that_stopped_resumes_where_it_was() {
    let folder = Folder::new();
    let mut server = create(&folder.0);
    (0..3).for_each(|_| round(&mut server));
    let model = server.model().to_vec();
    server.finish().unwrap();
    let mut server = resume(&folder.0).unwrap();
    assert_eq!((server.next_round(), server.model()), (3, &model[..]));
    round(&mut server);
    assert_ne!(server.model(), &model[..]);
    assert!(server.is_private());
}

#[test]
fn a_round_that_was_open_when_the_server_died_is_spent() {
    let folder = Folder::new();
    let mut server = create(&folder.0);
    round(&mut server);
    server.open_round(&everyone(20)).unwrap();
    drop(server);
    // Blocks of a hundredth of the plan: four rounds were reserved together.
    assert_eq!(resume(&folder.0).unwrap().next_round(), 4);
}

#[test]
fn folders_that_lie_are_refused() {
    let folder = Folder::new();
    let mut server = create(&folder.0);
    let keys = Keys::from_os().unwrap();
    let plan = server.plan().clone();
    let twice = Server::create(&folder.0, plan, keys, vec![0.0; 4], Descent::at(0.1));
    assert!(matches!(twice, Err(ServerError::Exists { .. })));
    let ledger = folder.0.join("ledger.jsonl");
    let early = std::fs::read(&ledger).unwrap();
    (0..6).for_each(|_| round(&mut server));
    drop(server);
    // An older ledger put back is behind the model.
    let whole = std::fs::read(&ledger).unwrap();
    std::fs::write(&ledger, early).unwrap();
    assert!(matches!(
        resume(&folder.0),
        Err(ServerError::LedgerBehind { checkpoint: 6, .. })
    ));
    std::fs::write(&ledger, &whole).unwrap();
    // A cheaper plan is not the one of the ledger.
    let run = folder.0.join("run.json");
    let text = std::fs::read_to_string(&run).unwrap();
    let (from, to) = ("\"noise-multiplier\": 1.0", "\"noise-multiplier\": 9.0");
    assert!(text.contains(from));
    std::fs::write(&run, text.replace(from, to)).unwrap();
    assert!(
        resume(&folder.0)
            .unwrap_err()
            .to_string()
            .contains("another plan")
    );
    std::fs::write(&run, text).unwrap();
    // Known keys do not take the place of secret ones.
    assert!(Server::resume(&folder.0, Keys::fixed_seed(1)).is_err());
    assert_eq!(resume(&folder.0).unwrap().next_round(), 8);
}

/// Not a test of its own: the process that [`killed_servers_never_forget_a_round`] kills.
#[test]
#[ignore = "runs until it is killed"]
fn server_that_is_killed() {
    let folder = std::env::var("TACITA_FEDERATION").unwrap();
    let folder = Path::new(&folder);
    let mut server = match folder.join("run.json").exists() {
        true => resume(folder).unwrap(),
        false => create(folder),
    };
    while !server.is_finished() {
        round(&mut server);
    }
}

#[test]
fn killed_servers_never_forget_a_round() {
    let folder = Folder::new();
    std::fs::create_dir_all(&folder.0).unwrap();
    drop(create(&folder.0));
    let mut spent = 0;
    for kill in 1..=4 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["resume::server_that_is_killed", "--exact", "--ignored"])
            .env("TACITA_FEDERATION", &folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Until the model is some rounds further, but not for ever.
        let checkpoint = || {
            std::fs::metadata(folder.0.join("checkpoint.safetensors"))
                .unwrap()
                .modified()
                .unwrap()
        };
        let (before, start) = (checkpoint(), Instant::now());
        while checkpoint() == before && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(kill));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let server = resume(&folder.0).unwrap();
        assert!(server.next_round() > spent, "no round was made");
        spent = server.next_round();
        let cost = Pld::default()
            .epsilon(&server.spent(), 1e-5)
            .unwrap()
            .upper_bound()
            .unwrap();
        assert!(cost <= server.plan().epsilon().upper_bound().unwrap());
    }
    assert!(spent < ROUNDS, "the kills came too late to tell anything");
}
