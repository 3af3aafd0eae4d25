//! Ranks that are processes of MPI.

use crate::exit_codes::BAD_INPUT;
use anyhow::{Context, Result, ensure};
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use tacita::ranks::{Ranks, RanksError};

/// Values of one message: MPI counts them in 32 bits.
const MOST_AT_ONCE: usize = 1 << 22;

/// The processes that `mpirun` or `srun` started.
///
/// An error within MPI ends all of them, and so does one that dies.
struct Mpi {
    universe: Universe,
    failed_together: AtomicBool,
    waited: AtomicU64,
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mpi(rank {} of {})", self.rank(), self.size())
    }
}

impl Mpi {
    /// Starts MPI for this process; none if that was done before, or if it cannot be used by several threads in turn.
    fn start() -> Option<Self> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)?;
        (threading >= Threading::Serialized).then_some(Self {
            universe,
            failed_together: AtomicBool::new(false),
            waited: AtomicU64::new(0),
        })
    }

    fn waiting<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let nanoseconds = start.elapsed().as_nanos() as u64;
        self.waited.fetch_add(nanoseconds, Ordering::Relaxed);
        result
    }

    /// How long each rank waited for the others and the network, in seconds: as private as the time that steps take.
    fn show_waiting(&self) -> Result<(), RanksError> {
        let mut waited = vec![0; self.size()];
        waited[self.rank()] = self.waited.load(Ordering::Relaxed) as i64;
        self.sum_to_first(&mut waited)?;
        if self.rank() == 0 {
            let seconds = waited.iter().map(|own| format!("{:.2}", *own as f64 / 1e9));
            let seconds: Vec<String> = seconds.collect();
            eprintln!(
                "NOT PRIVATE: seconds that each rank waited: {}",
                seconds.join(" ")
            );
        }
        Ok(())
    }

    /// Replaces values by those of the first rank.
    fn broadcast<T: Equivalence>(&self, values: &mut [T]) {
        let world = self.universe.world();
        for part in values.chunks_mut(MOST_AT_ONCE) {
            world.process_at_rank(0).broadcast_into(part);
        }
    }
}

/// Does something on all processes that a launcher started.
pub(super) fn run_several(
    size: usize,
    timing: bool,
    work: impl FnOnce(&Arc<dyn Ranks>) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let mpi = Arc::new(Mpi::start().context("MPI cannot be started; nothing was spent")?);
    ensure!(
        mpi.size() == size,
        "the launcher started {size} processes, but MPI sees {} of them: this program was built with another MPI than the \
         one of the launcher. Nothing was spent",
        mpi.size()
    );
    let ranks: Arc<dyn Ranks> = mpi.clone();
    let done = catch_unwind(AssertUnwindSafe(|| work(&ranks)));
    let Ok(done) = done else {
        // It has said why. The others wait for it.
        mpi.universe.world().abort(i32::from(BAD_INPUT))
    };
    let together = mpi.failed_together.load(Ordering::SeqCst);
    match done {
        Ok(code) => {
            if timing {
                mpi.show_waiting()?;
            }
            Ok(code)
        }
        Err(error) if mpi.rank() > 0 => {
            // Of what the first rank says itself nothing is said again.
            let error = format!("{error:#}");
            if !error.contains(&RanksError::OtherRank.to_string()) {
                eprintln!("error on rank {}: {error}", mpi.rank());
            }
            if !together {
                mpi.universe.world().abort(i32::from(BAD_INPUT));
            }
            // The first rank tells the launcher; two that fail would be reported as a crash.
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if !together => {
            eprintln!("error: {error:#}");
            mpi.universe.world().abort(i32::from(BAD_INPUT))
        }
        Err(error) => Err(error),
    }
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.universe.world().rank() as usize
    }

    fn size(&self) -> usize {
        self.universe.world().size() as usize
    }

    fn sum_to_first(&self, values: &mut [i64]) -> Result<(), RanksError> {
        let world = self.universe.world();
        let (first, sum) = (world.process_at_rank(0), SystemOperation::sum);
        self.waiting(|| {
            for part in values.chunks_mut(MOST_AT_ONCE) {
                match self.rank() {
                    0 => first.reduce_into_root(&*part.to_vec(), part, sum()),
                    _ => first.reduce_into(&*part, sum()),
                }
            }
        });
        Ok(())
    }

    fn receive_from_first(&self, bytes: &mut Vec<u8>) -> Result<(), RanksError> {
        self.waiting(|| {
            let mut length = [bytes.len() as u64];
            self.broadcast(&mut length);
            bytes.resize(length[0] as usize, 0);
            self.broadcast(bytes);
        });
        Ok(())
    }

    fn all(&self, fine: bool) -> Result<bool, RanksError> {
        let (fine, mut all) = ([i32::from(fine)], [0]);
        let world = self.universe.world();
        self.waiting(|| world.all_reduce_into(&fine[..], &mut all[..], SystemOperation::min()));
        self.failed_together.fetch_or(all == [0], Ordering::SeqCst);
        Ok(all == [1])
    }
}
