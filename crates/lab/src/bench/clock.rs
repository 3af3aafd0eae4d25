//! Wall-clock time, processor time and memory of this process.

use std::fs;
use std::time::{Duration, Instant};
use tacita_cli::memory;

/// A moment.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    wall: Instant,
    cpu: Option<Duration>,
}

/// Time between two moments, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Elapsed {
    /// By the clock on the wall.
    pub wall: f64,
    /// Of all threads of the process, where the system tells it.
    pub cpu: Option<f64>,
}

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// Time since this moment.
    pub fn elapsed(self) -> Elapsed {
        let now = Self::now();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        Elapsed {
            wall: milliseconds(now.wall - self.wall),
            cpu: (now.cpu.zip(self.cpu)).map(|(now, then)| milliseconds(now.saturating_sub(then))),
        }
    }
}

/// Processor time of all threads, to the nanosecond (Linux). A thread that ended no longer counts,
/// but the pool's threads live as long as the process.
fn cpu_time() -> Option<Duration> {
    // The system books a running thread's time at its ticks, 4 ms apart, or when it lets go.
    std::thread::yield_now();
    let mut total = Duration::ZERO;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
        total += Duration::from_nanos(nanoseconds);
    }
    Some(total)
}

/// Memory the process holds now, in MiB (Linux).
pub fn resident_mib() -> Option<f64> {
    memory::resident().map(mib)
}

/// The most memory the process has held, in MiB (Linux).
pub fn peak_resident_mib() -> Option<f64> {
    memory::peak().map(mib)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1u64 << 20) as f64
}
