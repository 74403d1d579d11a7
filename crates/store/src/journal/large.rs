//! Keeps records small: what is too large to keep is named by its hash.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tool::Digest;

use crate::StoreError;

/// A longer string is replaced.
const MAX_TEXT: usize = 4 * 1024;
/// A value that is longer even so is replaced as a whole.
const MAX_VALUE: usize = 256 * 1024;
/// How much of it can still be read.
const HEAD_CHARS: usize = 200;

/// The JSON of `value`, in which anything large is `{"$large": {"bytes", "sha256", "head"}}`.
pub(super) fn bounded(value: &Value) -> Result<String, StoreError> {
    capped(serde_json::to_string(&Bounded(value))?)
}

/// The same for a text that may be absent.
pub(super) fn bounded_text(text: Option<&str>) -> Result<String, StoreError> {
    Ok(serde_json::to_string(&text.map(BoundedText))?)
}

fn capped(json: String) -> Result<String, StoreError> {
    if json.len() <= MAX_VALUE {
        return Ok(json);
    }
    Ok(serde_json::to_string(&marker(&json))?)
}

fn marker(text: &str) -> Value {
    let head: String = text.chars().take(HEAD_CHARS).collect();
    json!({ "$large": { "bytes": text.len(), "sha256": Digest::of(text), "head": head } })
}

struct Bounded<'a>(&'a Value);

impl Serialize for Bounded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) => BoundedText(text).serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Bounded)),
            Value::Object(fields) => {
                serializer.collect_map(fields.iter().map(|(name, value)| (name, Bounded(value))))
            }
            small @ (Value::Null | Value::Bool(_) | Value::Number(_)) => {
                small.serialize(serializer)
            }
        }
    }
}

struct BoundedText<'a>(&'a str);

impl Serialize for BoundedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.len() <= MAX_TEXT {
            return serializer.serialize_str(self.0);
        }
        marker(self.0).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(value: &Value) -> Value {
        serde_json::from_str(&bounded(value).unwrap()).unwrap()
    }

    #[test]
    fn what_is_small_stays_as_it_is() {
        for value in [
            json!(null),
            json!({"a": [1, 2.5, true, "x"], "b": {"c": ""}}),
            json!("x".repeat(MAX_TEXT)),
        ] {
            assert_eq!(stored(&value), value);
        }
    }

    #[test]
    fn a_long_string_is_named_by_its_hash_wherever_it_is() {
        let text = "é".repeat(MAX_TEXT / 2 + 1);
        let large = json!({"$large": {
            "bytes": MAX_TEXT + 2,
            "sha256": Digest::of(&text),
            "head": "é".repeat(HEAD_CHARS),
        }});
        for (value, expected) in [
            (json!(text), large.clone()),
            (
                json!({"path": "a", "edits": [{"new": text}]}),
                json!({"path": "a", "edits": [{"new": large}]}),
            ),
        ] {
            assert_eq!(stored(&value), expected);
        }
    }

    #[test]
    fn many_small_strings_are_bounded_together() {
        let value = json!(vec!["x".repeat(MAX_TEXT); 1_000]);
        assert!(bounded(&value).unwrap().len() < 1_000);
        assert!(stored(&value)["$large"]["bytes"].as_u64().unwrap() > 4_000_000);
    }
}
