//! Small federations and their clients.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use tacita_federated::{Client, Descent, Keys, Plan, Scale, Server};

/// A plan whose noise is small beside a threshold of 1, so that sums can be told apart.
pub fn plan(clients: u64, cohort: f64, rounds: u64) -> Plan {
    Plan::new(clients, cohort, rounds, Scale::NoiseMultiplier(1.0), 1e-5)
}

/// A server in memory whose keys repeat.
pub fn server(plan: Plan, seed: u64, parameters: usize) -> Server {
    let keys = Keys::fixed_seed(seed);
    let plan = plan.certify().unwrap();
    Server::in_memory(plan, keys, vec![0.0; parameters], Descent::at(1.0)).unwrap()
}

/// The honest answer of a client to the open round.
pub fn answer(server: &Server, client: u64, update: &[f32]) -> Vec<u8> {
    let order = server.order(client).unwrap();
    Client::asked(&order).unwrap().answer(update).unwrap()
}

/// Everyone's identity.
pub fn everyone(clients: u64) -> Vec<u64> {
    (0..clients).map(|client| 1_000 + client).collect()
}

/// A folder of its own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tacita-federated-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
