//! Times as they are stored, whole microseconds since 1970, and as they are shown, RFC 3339.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// As stored.
pub(crate) fn micros(time: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

/// Back from what is stored.
pub(crate) fn from_micros(micros: i64) -> SystemTime {
    let span = Duration::from_micros(micros.unsigned_abs());
    let time = if micros < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(span)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(span)
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// As shown, RFC 3339 with milliseconds.
pub fn rfc3339(time: SystemTime) -> String {
    Timestamp::from_microsecond(micros(time)).map_or_else(
        |_| format!("{} microseconds after 1970", micros(time)),
        |time| format!("{time:.3}"),
    )
}

/// For `#[serde(serialize_with)]`.
pub(crate) fn shown<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*time))
}

/// For `#[serde(serialize_with)]`; an absent time is `null`.
#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
pub(crate) fn shown_if_any<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => shown(time, serializer),
        None => serializer.serialize_none(),
    }
}

/// For `#[serde(deserialize_with)]`: what [`shown`] wrote.
pub(crate) fn read_shown<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let time: Timestamp = String::deserialize(from)?.parse().map_err(D::Error::custom)?;
    Ok(time.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_rfc_3339() {
        for (stored, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_794_776_546_123_456, "2026-11-15T21:02:26.123Z"),
            (-1_000, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(from_micros(stored)), expected);
            assert_eq!(micros(from_micros(stored)), stored);
        }
    }

    #[test]
    fn times_out_of_range_do_not_panic() {
        for stored in [i64::MIN, i64::MAX] {
            assert!(!rfc3339(from_micros(stored)).is_empty());
        }
    }
}
