//! The processes that `mpirun` or `srun` started to train together, each of them a rank; without either, one.
//!
//! With the feature `mpi` of this crate; without it several of them are refused, because each would make a run of its own.

#[cfg(feature = "mpi")]
mod mpi;
mod shard;

pub(crate) use shard::Shard;

use anyhow::{Result, ensure};
use std::process::ExitCode;
use std::sync::Arc;
use tacita::ranks::{OneRank, Ranks};

/// A process that is all there are.
pub fn alone() -> Arc<dyn Ranks> {
    Arc::new(OneRank)
}

/// What the first rank does alone. All fail if it fails.
pub fn on_first<T>(ranks: &dyn Ranks, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    ranks.agreed(ranks.is_first().then(work).transpose())
}

/// Variables in which launchers say how many processes they started: Open MPI; MPICH, Intel and PMI; Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// How many processes a launcher started; 1 if there is none.
fn launched() -> usize {
    let sizes = SIZES.iter().filter_map(|name| std::env::var(name).ok());
    sizes
        .filter_map(|size| size.parse().ok())
        .max()
        .unwrap_or(1)
}

/// Refuses several processes where each would do the same by itself.
pub fn refuse_several(command: &str) -> Result<()> {
    let size = launched();
    ensure!(
        size == 1,
        "`{command}` runs as one process, and {size} were started; start it without mpirun or srun. Nothing was spent"
    );
    Ok(())
}

/// Does something on the ranks that a launcher started, or on this process alone. An error that the others do not know of
/// ends them at once. `timing` shows how long each rank waited, which is not private.
pub fn run(
    timing: bool,
    work: impl FnOnce(&Arc<dyn Ranks>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    match launched() {
        1 => work(&alone()),
        size => run_several(size, timing, work),
    }
}

#[cfg(feature = "mpi")]
use self::mpi::run_several;

#[cfg(not(feature = "mpi"))]
fn run_several(
    size: usize,
    _: bool,
    _: impl FnOnce(&Arc<dyn Ranks>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    anyhow::bail!(
        "{size} processes were started, and this program was built without MPI: each would make a run, and spend a budget, \
         of its own. Build it with --features mpi, or start it without mpirun or srun. Nothing was spent"
    )
}
