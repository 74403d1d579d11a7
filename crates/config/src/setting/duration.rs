//! Lengths of time.

use std::time::Duration;

use super::{Scalar, number_and_unit};
use crate::{
    Kind,
    node::{Node, Value, shorten},
};

/// More than anybody waits, and little enough to be added to any clock.
const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);

/// Reads `250ms`, `30s`, `5m`, `1h` or `2d`; the error says what was expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    from_text(text)
        .and_then(bounded)
        .map_err(|expected| format!("expected {expected}, got `{}`", shorten(text)))
}

impl Scalar for Duration {
    const KIND: Kind = Kind::Duration;

    fn read(node: &Node) -> Result<Self, String> {
        let duration = match &node.value {
            Value::Text(text) => from_text(text)?,
            Value::Integer(seconds) => {
                Self::from_secs(u64::try_from(*seconds).map_err(|_| range())?)
            }
            Value::Float(seconds) => Self::try_from_secs_f64(*seconds).map_err(|_| range())?,
            Value::Bool(_) | Value::List(_) | Value::Table(_) | Value::Other(_) => {
                return Err(Self::KIND.how());
            }
        };
        bounded(duration)
    }
}

fn from_text(text: &str) -> Result<Duration, String> {
    let how = || Kind::Duration.how();
    let (number, unit) = number_and_unit(text).ok_or_else(how)?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(how()),
    };
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(range)
}

fn bounded(duration: Duration) -> Result<Duration, String> {
    if duration.is_zero() || duration > LONGEST { Err(range()) } else { Ok(duration) }
}

fn range() -> String {
    "a duration longer than 0 and at most 36500d".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_number_and_a_unit() {
        for (text, millis) in [
            ("250ms", 250),
            ("30s", 30_000),
            ("5m", 300_000),
            (" 1 h ", 3_600_000),
            ("2d", 172_800_000),
            ("36500d", 3_153_600_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_quite_a_duration() {
        for text in ["", "30", "s", "-5s", "1.5h", "1h30m", "5M", "30 sec", "０s", "30s\u{1b}[0m"]
        {
            let error = parse_duration(text).unwrap_err();
            assert!(error.starts_with("expected a duration such as `250ms`"), "{text}: {error}");
            assert!(!error.contains('\u{1b}'), "{error}");
        }
        for text in ["0s", "36501d", "18446744073709551615d"] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.starts_with("expected a duration longer than 0"), "{text}: {error}");
        }
    }
}
