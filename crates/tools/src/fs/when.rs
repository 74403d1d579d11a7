//! Times of files, as people and programs read them.

use std::time::SystemTime;

use jiff::Timestamp;

/// ISO 8601 in UTC, to the second; `None` for a time no calendar has.
pub(crate) fn iso8601(time: SystemTime) -> Option<String> {
    let time = Timestamp::try_from(time).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::iso8601;

    #[test]
    fn writes_utc_to_the_second() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_999);
        assert_eq!(iso8601(time).unwrap(), "2023-11-14T22:13:20Z");
        assert_eq!(iso8601(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::MAX / 4)), None);
    }
}
