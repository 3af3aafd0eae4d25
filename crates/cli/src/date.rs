//! Days, in universal time. No clock is read any finer: a time would tell how long something took.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS: u64 = 24 * 60 * 60;

/// Today as `2026-11-18`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    day(since.map_or(0, |since| since.as_secs() / SECONDS))
}

/// A day of the Gregorian calendar, counted from 1 January 1970.
fn day(since_1970: u64) -> String {
    let mut left = since_1970;
    let mut year = 1970;
    while left >= days_of(year) {
        left -= days_of(year);
        year += 1;
    }
    let mut month = 0;
    while left >= days_of_month(year, month) {
        left -= days_of_month(year, month);
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, left + 1)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u64, month: usize) -> u64 {
    let february = if is_leap(year) { 29 } else { 28 };
    [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month % 12]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // As `date -u -d @$((day * 86400)) +%F` says.
        for (since, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_775, "2026-11-18"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(day(since), date);
        }
    }
}
