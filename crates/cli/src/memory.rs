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

/// Bytes that the system could still give to programs.
pub fn available() -> Option<u64> {
    field("/proc/meminfo", "MemAvailable:")
}

fn status(name: &str) -> Option<u64> {
    field("/proc/self/status", name)
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
