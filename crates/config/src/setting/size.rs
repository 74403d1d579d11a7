//! Numbers of bytes.

use super::{Scalar, number_and_unit};
use crate::{
    Kind,
    node::{Node, Value},
};

/// The most that a database or a file offset can hold.
const LARGEST: u64 = i64::MAX.unsigned_abs();

impl Scalar for u64 {
    const KIND: Kind = Kind::Size;

    fn read(node: &Node) -> Result<Self, String> {
        let bytes = match &node.value {
            Value::Text(text) => from_text(text),
            Value::Integer(bytes) => Self::try_from(*bytes).ok(),
            Value::Float(_)
            | Value::Bool(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Other(_) => None,
        };
        bytes.filter(|bytes| *bytes <= LARGEST).ok_or_else(|| Self::KIND.how())
    }
}

fn from_text(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(bytes)
}

#[cfg(test)]
mod tests {
    use super::from_text;

    #[test]
    fn reads_a_number_and_a_unit() {
        for (text, expected) in [
            ("0B", Some(0)),
            ("50KB", Some(50_000)),
            ("64KiB", Some(65_536)),
            ("10 mb", Some(10_000_000)),
            ("1GB", Some(1_000_000_000)),
            ("2TiB", Some(2_199_023_255_552)),
            ("50", None),
            ("50K", None),
            ("1.5MB", None),
            ("-1B", None),
            ("99999999999TB", None),
        ] {
            assert_eq!(from_text(text), expected, "{text}");
        }
    }
}
