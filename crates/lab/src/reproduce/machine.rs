//! Where and when a result was made.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use tacita_cli::device::DeviceName;

/// The processor and its cores, and the device the run was on if that is another.
pub fn machine(device: Option<DeviceName>) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or(std::env::consts::ARCH, |line| {
        line.trim_start_matches(['\t', ' ', ':'])
    });
    match device.filter(|device| device.is_gpu()) {
        Some(device) => format!("{model}, {cores} cores, {device}"),
        None => format!("{model}, {cores} cores"),
    }
}

/// The commit of the source in the current folder, if it is one; `+` if files differ from it.
pub fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { head } else { head + "+" })
}

/// Today, as in 2026-11-15.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
    date(seconds.map_or(0, |time| time.as_secs() / 86_400))
}

/// The date so many days after 1970-01-01, by counting years and months.
fn date(mut days: u64) -> String {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_772), "2026-11-15");
    }
}
