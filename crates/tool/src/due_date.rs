//! When a task is due.

use std::{fmt, str::FromStr, time::SystemTime};

use jiff::{
    civil::{Date, DateTime, Time},
    fmt::temporal::Pieces,
    tz::{Offset, TimeZone},
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// A date, or a date and time, as ISO 8601 writes it. One without an offset is meant as people say
/// it, wherever they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct DueDate {
    text: String,
    #[serde(skip)]
    at: SystemTime,
}

impl DueDate {
    /// For sorting: a date counts as its end, and without an offset everything counts as UTC.
    pub const fn at(&self) -> SystemTime {
        self.at
    }

    /// As ISO 8601 writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn new(date: Date, time: Option<Time>, offset: Option<Offset>) -> Option<Self> {
        let text = match (time, offset) {
            (None, None) => date.to_string(),
            (None, Some(_)) => return None,
            (Some(time), None) => DateTime::from_parts(date, time).to_string(),
            (Some(time), Some(offset)) => {
                let at = DateTime::from_parts(date, time);
                Pieces::from(at).with_offset(offset).to_string()
            }
        };
        let last = Time::constant(23, 59, 59, 0);
        let civil = DateTime::from_parts(date, time.unwrap_or(last));
        let zone = TimeZone::fixed(offset.unwrap_or(Offset::UTC));
        let at = zone.to_timestamp(civil).ok()?.into();
        Some(Self { text, at })
    }
}

impl fmt::Display for DueDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for DueDate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = Pieces::parse(text.trim()).ok();
        // A zone in brackets is not ISO 8601, and others could not read it.
        let plain = parsed.filter(|pieces| pieces.time_zone_annotation().is_none());
        let found = plain
            .and_then(|pieces| Self::new(pieces.date(), pieces.time(), pieces.to_numeric_offset()));
        found.ok_or_else(|| {
            format!(
                "`{text}` is not an ISO 8601 date; write `2026-11-20`, or with a time \
                 `2026-11-20T15:00` or `2026-11-20T15:00:00+01:00`"
            )
        })
    }
}

impl<'de> Deserialize<'de> for DueDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(due: &DueDate) -> u64 {
        due.at().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    }

    #[test]
    fn takes_dates_with_and_without_a_time() {
        for (text, expected, at) in [
            ("2026-11-20", "2026-11-20", 1_795_219_199),
            (" 2026-11-20 ", "2026-11-20", 1_795_219_199),
            ("20261120", "2026-11-20", 1_795_219_199),
            ("2026-11-20T15:00", "2026-11-20T15:00:00", 1_795_186_800),
            ("2026-11-20 15:00:30", "2026-11-20T15:00:30", 1_795_186_830),
            ("2026-11-20T15:00:00Z", "2026-11-20T15:00:00+00:00", 1_795_186_800),
            ("2026-11-20T15:00:00+01:00", "2026-11-20T15:00:00+01:00", 1_795_183_200),
            ("2026-11-20t15:00:00.5-0530", "2026-11-20T15:00:00.5-05:30", 1_795_206_600),
        ] {
            let due: DueDate = text.parse().unwrap();
            assert_eq!((due.as_str(), seconds(&due)), (expected, at), "{text}");
            assert_eq!(due.as_str().parse(), Ok(due), "{text}");
        }
    }

    #[test]
    fn says_how_to_write_what_it_does_not_understand() {
        for text in [
            "",
            "tomorrow",
            "2026-02-30",
            "20.11.2026",
            "11/20/2026",
            "15:00",
            "2026-11-20T25:00",
            "2026-11-20T15:00[Europe/Berlin]",
            "2026-11-20T15:00+01:00[Europe/Berlin]",
        ] {
            let error = text.parse::<DueDate>().unwrap_err();
            assert!(error.starts_with(&format!("`{text}` is not an ISO 8601 date")), "{error}");
            assert!(error.contains("`2026-11-20`"), "{error}");
        }
    }
}
