//! Memory of this process, where the system tells (Linux).

use std::fs;

/// Bytes the process holds now.
pub fn resident() -> Option<u64> {
    status("VmRSS:")
}

/// The most bytes the process has held.
pub fn peak() -> Option<u64> {
    status("VmHWM:")
}

fn status(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
