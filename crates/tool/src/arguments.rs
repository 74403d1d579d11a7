//! JSON as callers write it, read without losing anything.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// No caller means an object with more keys than this.
const MAX_KEYS: usize = 10_000;
/// Values, nested ones included. Each takes some 200 bytes of memory, however short its text.
const MAX_VALUES: usize = 250_000;

/// Parses JSON. Refuses a key that is there twice: which of the two would have been checked? Refuses
/// objects with more than 10,000 keys and texts with more than 250,000 values as soon as one too many
/// comes, because a text of some megabytes can take a gigabyte of memory once it is parsed.
pub fn parse_json(text: &str) -> Result<Value, String> {
    let left = Cell::new(MAX_VALUES);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = StrictVisitor { left: &left }.deserialize(&mut deserializer);
    let value = value.map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct StrictVisitor<'a> {
    /// How many more values there may be.
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for StrictVisitor<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1).ok_or_else(|| {
            D::Error::custom(format_args!("more than {MAX_VALUES} values; send less at once"))
        })?;
        self.left.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictVisitor<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            if map.len() == MAX_KEYS {
                return Err(A::Error::custom(format_args!(
                    "an object with more than {MAX_KEYS} keys"
                )));
            }
            map.insert(key, entries.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

/// Every text in a value, keys too.
pub fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            let each =
                fields.iter().map(|(name, value)| [vec![name.as_str()], texts(value)].concat());
            each.flatten().collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Whether a value holds more than is worth going through on a thread that others wait for.
pub fn is_large(value: &Value) -> bool {
    const MUCH: usize = 64 * 1024;
    room_after(value, MUCH).is_none()
}

/// What is left of `room` when a value has taken its place: that of its texts, and some for each of its parts.
fn room_after(value: &Value, room: usize) -> Option<usize> {
    const PART: usize = 64;
    let room = room.checked_sub(PART)?;
    match value {
        Value::String(text) => room.checked_sub(text.len()),
        Value::Array(items) => items.iter().try_fold(room, |room, item| room_after(item, room)),
        Value::Object(map) => map
            .iter()
            .try_fold(room, |room, (name, value)| room_after(value, room.checked_sub(name.len())?)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(room),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_large, parse_json};

    #[test]
    fn much_is_large_however_it_is_spread() {
        let text = "x".repeat(1_000);
        let fields = |count: usize| -> Value {
            (0..count).map(|number| (number.to_string(), json!(1))).collect()
        };
        for (value, large) in [
            (json!({"a": [1, true, null, "x"]}), false),
            (json!("x".repeat(60_000)), false),
            (json!("x".repeat(70_000)), true),
            (json!({"x".repeat(70_000): 1}), true),
            (json!(vec![&text; 30]), false),
            (json!(vec![json!({"text": text}); 70]), true),
            (json!(vec![0; 2_000]), true),
            (fields(100), false),
            (fields(2_000), true),
        ] {
            assert_eq!(is_large(&value), large, "{}", value.to_string().len());
        }
    }

    #[test]
    fn refuses_more_than_can_be_meant_while_it_reads() {
        let keys = |count: usize| -> String {
            let keys: Vec<_> = (0..count).map(|number| format!("\"k{number}\":0")).collect();
            format!("{{{}}}", keys.join(","))
        };
        let items = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(parse_json(&keys(10_000)).is_ok());
        assert!(parse_json(&keys(10_001)).unwrap_err().contains("more than 10000 keys"));
        assert!(parse_json(&items(249_999)).is_ok());
        assert!(parse_json(&items(250_000)).unwrap_err().contains("more than 250000 values"));
        // What comes after the first value too many is not even looked at.
        let began = std::time::Instant::now();
        assert!(parse_json(&keys(1_000_000)).is_err());
        let nested = format!("[{}]", vec![keys(9_000); 100].join(","));
        assert!(parse_json(&nested).unwrap_err().contains("250000 values"));
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }

    #[test]
    fn refuses_what_would_be_read_two_ways() {
        for (text, expected) in [
            (r#"{"a":1,"a":2}"#, "duplicate key `a`"),
            (r#"{"x":{"a":1,"b":[{"c":1,"c":1}]}}"#, "duplicate key `c`"),
            (r#""\ud800""#, "lone leading surrogate"),
            ("1e999", "number out of range"),
            ("{} {}", "trailing characters"),
        ] {
            let error = parse_json(text).unwrap_err();
            assert!(error.contains(expected) || expected.starts_with("lone"), "{text}: {error}");
        }
        assert_eq!(parse_json(r#"{"a":[1,2.5,null,true,"x"]}"#).unwrap()["a"][1], 2.5);
    }
}
