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

/// A payload: an object in JSON, in which anything large is `{"$large": {"bytes", "sha256", "head"}}`. Written key by key,
/// so that large arguments are not copied, and in alphabetical order: compact JSON with sorted keys gives its digest again.
#[derive(Debug, Default)]
pub(super) struct Payload(Vec<u8>);

impl Payload {
    /// With a value.
    pub(super) fn value(self, key: &str, value: &Value) -> Result<Self, StoreError> {
        let Self(mut json) = self.key(key);
        let start = json.len();
        serde_json::to_writer(&mut json, &Bounded(value))?;
        if json.len() - start > MAX_VALUE {
            let long = String::from_utf8_lossy(json.get(start..).unwrap_or_default());
            let marker = serde_json::to_vec(&marker(&long))?;
            json.truncate(start);
            json.extend(marker);
        }
        Ok(Self(json))
    }

    /// With a text that may be absent.
    pub(super) fn text(self, key: &str, text: Option<&str>) -> Result<Self, StoreError> {
        self.whole(key, text.map(BoundedText))
    }

    /// With something that is never large.
    pub(super) fn whole(self, key: &str, value: impl Serialize) -> Result<Self, StoreError> {
        let Self(mut json) = self.key(key);
        serde_json::to_writer(&mut json, &value)?;
        Ok(Self(json))
    }

    /// All of it.
    pub(super) fn done(self) -> Result<String, StoreError> {
        let Self(mut json) = self;
        json.extend(if json.is_empty() { "{}" } else { "}" }.bytes());
        String::from_utf8(json).map_err(|error| StoreError::NotUnderstood(error.to_string()))
    }

    fn key(self, key: &str) -> Self {
        let Self(mut json) = self;
        for part in [if json.is_empty() { "{\"" } else { ",\"" }, key, "\":"] {
            json.extend_from_slice(part.as_bytes());
        }
        Self(json)
    }
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

    fn written(value: &Value) -> String {
        Payload::default().value("a", value).unwrap().done().unwrap()
    }

    fn stored(value: &Value) -> Value {
        serde_json::from_str::<Value>(&written(value)).unwrap()["a"].take()
    }

    #[test]
    fn a_payload_is_compact_json_with_sorted_keys() {
        assert_eq!(Payload::default().done().unwrap(), "{}");
        let payload = Payload::default().value("a", &json!({"c": [1], "b": null})).unwrap();
        let payload = payload.text("b", None).unwrap().text("c", Some("\"")).unwrap();
        let json = payload.whole("d", [1, 2]).unwrap().done().unwrap();
        assert_eq!(json, r#"{"a":{"b":null,"c":[1]},"b":null,"c":"\"","d":[1,2]}"#);
        assert_eq!(json.parse::<Value>().unwrap().to_string(), json);
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
        assert!(written(&value).len() < 1_000);
        assert!(stored(&value)["$large"]["bytes"].as_u64().unwrap() > 4_000_000);
    }
}
