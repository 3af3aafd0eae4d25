//! Dates and times: ISO 8601 or a declared format, as seconds and as places in a cycle.

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// What of ISO 8601 is understood where no format is declared.
const ISO: [&str; 8] = [
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m",
];

/// Something that comes round again, in which a date has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// The hour of the day.
    Hour,
    /// The day of the week.
    Weekday,
    /// The month of the year.
    Month,
}

impl Cycle {
    /// The place of a date on the circle, both coordinates between 0 and 1.
    pub fn place(self, seconds: f64) -> [f32; 2] {
        let Some(time) = DateTime::from_timestamp(seconds.floor() as i64, 0) else {
            return [0.5; 2];
        };
        let share = match self {
            Self::Hour => f64::from(time.num_seconds_from_midnight()) / 86_400.0,
            Self::Weekday => f64::from(time.weekday().num_days_from_monday()) / 7.0,
            Self::Month => f64::from(time.month0()) / 12.0,
        };
        let (sine, cosine) = (TAU * share).sin_cos();
        [sine, cosine].map(|coordinate| ((1.0 + coordinate) / 2.0) as f32)
    }
}

/// Seconds since the beginning of 1970 of the time as it is written; a time zone after it does not count.
pub fn seconds(text: &str, format: Option<&str>) -> Option<f64> {
    match format {
        Some(format) => by(text, format),
        None => ISO.iter().find_map(|format| by(text, format)),
    }
}

fn by(text: &str, format: &str) -> Option<f64> {
    let mut found = Parsed::new();
    parse(&mut found, text, StrftimeItems::new(format)).ok()?;
    if let Some(seconds) = found.timestamp() {
        return Some(seconds as f64);
    }
    let date = date(&mut found)?;
    let time = found.to_naive_time().unwrap_or(NaiveTime::MIN);
    let time = date.and_time(time).and_utc();
    Some(time.timestamp() as f64 + f64::from(time.timestamp_subsec_micros()) / 1e6)
}

/// The date, or the first of the month or year if no more is said.
fn date(found: &mut Parsed) -> Option<NaiveDate> {
    if let Ok(date) = found.to_naive_date() {
        return Some(date);
    }
    if found.month().is_none() && found.ordinal().is_none() {
        found.set_month(1).ok()?;
    }
    if found.day().is_none() {
        found.set_day(1).ok()?;
    }
    found.to_naive_date().ok()
}

/// Whether a format is one that a date can be read by.
pub fn is_format(format: &str) -> bool {
    if StrftimeItems::new(format).any(|item| matches!(item, Item::Error)) {
        return false;
    }
    let example = NaiveDate::from_ymd_opt(2001, 2, 3).and_then(|day| day.and_hms_opt(4, 5, 6));
    let Some(example) = example else {
        return false;
    };
    let mut written = String::new();
    let item = example.and_utc().format(format);
    if std::fmt::Write::write_fmt(&mut written, format_args!("{item}")).is_err() {
        return false;
    }
    // Not a time without a date, which would be one of 1970.
    by(&written, format).is_some_and(|seconds| date_of(seconds).is_some_and(|at| at.year() == 2001))
}

fn date_of(seconds: f64) -> Option<NaiveDateTime> {
    Some(DateTime::from_timestamp(seconds.floor() as i64, 0)?.naive_utc())
}

/// A time in ISO 8601, a date alone at midnight.
pub fn iso(seconds: f64) -> String {
    match date_of(seconds) {
        Some(time) if time.time() == NaiveTime::MIN => time.format("%Y-%m-%d").to_string(),
        Some(time) => time.format("%Y-%m-%dT%H:%M:%S").to_string(),
        None => seconds.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_iso_8601_or_by_their_format() {
        const NOON: f64 = 1_706_702_400.0;
        for text in [
            "2024-01-31T12:00:00Z",
            "2024-01-31 12:00",
            "2024-01-31T12:00:00.000+02:00",
            "2024-01-31T12:00",
        ] {
            assert_eq!(seconds(text, None), Some(NOON), "{text}");
        }
        let day = Some(NOON - 43_200.0);
        assert_eq!(seconds("2024-01-31", None), day);
        assert_eq!(seconds("31.01.2024", Some("%d.%m.%Y")), day);
        assert_eq!(seconds("01/2024", Some("%m/%Y")), Some(1_704_067_200.0));
        assert_eq!(seconds("1706702400", Some("%s")), Some(NOON));
        for text in ["", "31.01.2024", "2024-02-30", "2024-01-31x", "1e9"] {
            assert_eq!(seconds(text, None), None, "{text}");
        }
        assert_eq!(iso(NOON), "2024-01-31T12:00:00");
        assert_eq!(iso(NOON - 43_200.0), "2024-01-31");
    }

    #[test]
    fn formats_without_a_date_are_none() {
        for format in ["%d.%m.%Y", "%Y", "%m/%y", "%s", "%Y-%jT%H"] {
            assert!(is_format(format), "{format}");
        }
        for format in ["%H:%M", "%Q", "day", "", "%d.%m."] {
            assert!(!is_format(format), "{format}");
        }
    }

    #[test]
    fn a_cycle_closes() {
        let monday = seconds("2024-01-01", None).unwrap();
        assert_eq!(Cycle::Weekday.place(monday), [0.5, 1.0]);
        assert_eq!(
            Cycle::Weekday.place(monday),
            Cycle::Weekday.place(monday + 7.0 * 86_400.0)
        );
        assert_eq!(Cycle::Month.place(monday), [0.5, 1.0]);
        let six = Cycle::Hour.place(monday + 6.0 * 3600.0);
        assert!((six[0] - 1.0).abs() < 1e-6 && (six[1] - 0.5).abs() < 1e-6);
        assert_eq!(Cycle::Hour.place(f64::MAX), [0.5; 2]);
    }
}
