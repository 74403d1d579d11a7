//! Spelling, conversion, trimming, `null` and size, in one pass over the arguments.

use serde_json::{Map, Number, Value};
use tool::{Problem, nearest};

use super::{
    ArgumentLimits,
    shape::{Field, Kind, ObjectShape},
};

/// One pass. Collects every problem it meets and goes on.
pub(super) struct Normalise {
    limits: ArgumentLimits,
    problems: Vec<Problem>,
    path: Vec<String>,
}

impl Normalise {
    pub(super) const fn new(limits: ArgumentLimits) -> Self {
        Self { limits, problems: Vec::new(), path: Vec::new() }
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Absent, `null` and empty arguments are none.
    pub(super) fn arguments(&mut self, args: Value, shape: &ObjectShape) -> Value {
        match args {
            Value::Null => Value::Object(Map::new()),
            Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
            Value::Object(map) => self.object(map, shape),
            other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                self.problem("arguments must be an object", "object", &other);
                other
            }
        }
    }

    fn object(&mut self, map: Map<String, Value>, shape: &ObjectShape) -> Value {
        let mut out = Map::new();
        let mut spelled: Vec<(&str, String)> = Vec::new();
        for (key, value) in map {
            self.path.push(key.clone());
            match shape.find(&key) {
                Some(field) => {
                    if let Some((_, other)) = spelled.iter().find(|(name, _)| *name == field.name) {
                        let message = format!("is the same parameter as `{other}`; give it once");
                        self.say(message, None, None);
                    }
                    spelled.push((&field.name, key));
                    if let Some(value) = self.field(value, field) {
                        out.insert(field.name.clone(), value);
                    }
                }
                None if shape.open => {
                    let value = self.any(value);
                    out.insert(key, value);
                }
                None => self.unknown(&key, shape),
            }
            self.path.pop();
        }
        Value::Object(out)
    }

    /// `None` if the value means that the parameter is absent.
    fn field(&mut self, value: Value, field: &Field) -> Option<Value> {
        if value.is_null() {
            return None;
        }
        let trims = field.name_like && matches!(field.kind, Kind::Text { .. });
        match value.as_str().map(str::trim).filter(|_| trims) {
            Some("") => None,
            Some(trimmed) => Some(self.value(Value::from(trimmed), field)),
            None => Some(self.value(value, field)),
        }
    }

    fn value(&mut self, value: Value, field: &Field) -> Value {
        let max =
            if field.large { self.limits.large_string_bytes } else { self.limits.string_bytes };
        self.kind(value, &field.kind, max)
    }

    fn kind(&mut self, value: Value, kind: &Kind, max: usize) -> Value {
        if self.path.len() > self.limits.depth {
            self.say(format!("is nested deeper than {} levels", self.limits.depth), None, None);
            return Value::Null;
        }
        match (value, kind) {
            (Value::Object(map), Kind::Object(shape)) => self.object(map, shape),
            (Value::Array(items), Kind::List(item)) => self.list(items, item, max),
            // One string where a list of them is expected is a list of one.
            (Value::String(text), Kind::List(item)) if matches!(**item, Kind::Text { .. }) => {
                self.list(vec![Value::String(text)], item, max)
            }
            (value @ (Value::Object(_) | Value::Array(_)), _) => self.any(value),
            (value, kind) => {
                let value = convert(value, kind);
                self.scalar(&value, max);
                value
            }
        }
    }

    fn list(&mut self, items: Vec<Value>, kind: &Kind, max: usize) -> Value {
        self.count(items.len());
        let items = items.into_iter().take(self.limits.array_items).enumerate();
        let list = items.map(|(index, item)| {
            self.path.push(format!("[{index}]"));
            let item = self.kind(item, kind, max);
            self.path.pop();
            item
        });
        Value::Array(list.collect())
    }

    /// A value the schema says nothing about: only its size matters.
    fn any(&mut self, value: Value) -> Value {
        if self.path.len() > self.limits.depth + 1 {
            self.say(format!("is nested deeper than {} levels", self.limits.depth), None, None);
            return Value::Null;
        }
        match &value {
            Value::Object(map) => {
                for (key, inner) in map {
                    self.path.push(key.clone());
                    self.any(inner.clone());
                    self.path.pop();
                }
            }
            Value::Array(items) => {
                self.count(items.len());
                for inner in items.iter().take(self.limits.array_items) {
                    self.path.push("[]".to_owned());
                    self.any(inner.clone());
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.scalar(&value, self.limits.string_bytes);
            }
        }
        value
    }

    fn scalar(&mut self, value: &Value, max: usize) {
        let Value::String(text) = value else { return };
        if text.len() > max {
            self.say(format!("has {} bytes, more than the {max} allowed", text.len()), None, None);
        }
        if text.contains('\0') {
            self.say("contains a NUL character; take it out".to_owned(), None, None);
        }
    }

    fn count(&mut self, items: usize) {
        if items > self.limits.array_items {
            let max = self.limits.array_items;
            self.say(format!("has {items} items, more than the {max} allowed"), None, None);
        }
    }

    fn unknown(&mut self, key: &str, shape: &ObjectShape) {
        let hint = match nearest(key, shape.names()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if shape.fields.is_empty() => "; there are none".to_owned(),
            None => format!("; there are {}", quoted(shape.names())),
        };
        self.say(format!("unknown parameter{hint}"), None, None);
    }

    fn problem(&mut self, message: &str, expected: &str, got: &Value) {
        self.say(message.to_owned(), Some(expected.to_owned()), Some(super::problem::kind(got)));
    }

    fn say(&mut self, message: String, expected: Option<String>, got: Option<String>) {
        self.problems.push(Problem { path: joined(&self.path), message, expected, got });
    }
}

/// `edits`, `[0]`, `oldText` as `edits[0].oldText`.
fn joined(path: &[String]) -> String {
    path.iter().fold(String::new(), |text, part| match (text.is_empty(), part.starts_with('[')) {
        (true, _) | (_, true) => text + part,
        (false, false) => text + "." + part,
    })
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Converts what can mean only one thing. What cannot is left for the schema to refuse.
fn convert(value: Value, kind: &Kind) -> Value {
    match (value, kind) {
        (Value::Number(number), Kind::Text { .. }) => Value::String(number.to_string()),
        (Value::String(text), Kind::Text { values }) => Value::String(spelled(text, values)),
        (Value::String(text), Kind::Number | Kind::Integer) => {
            number(text.trim()).map_or(Value::String(text), |number| whole(number, kind))
        }
        (Value::Number(number), Kind::Integer) => whole(number, kind),
        (Value::String(text), Kind::Bool) => match text.trim() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text),
        },
        (value, _) => value,
    }
}

/// A choice in another case is that choice.
fn spelled(text: String, values: &[String]) -> String {
    if values.contains(&text) {
        return text;
    }
    let same = |value: &&String| policy::fold(value) == policy::fold(&text);
    values.iter().find(same).cloned().unwrap_or(text)
}

fn number(text: &str) -> Option<Number> {
    serde_json::from_str(text).ok()
}

/// `42.0` is an integer too, but decoding would not take it.
fn whole(number: Number, kind: &Kind) -> Value {
    let integral = number.as_f64().filter(|float| {
        matches!(kind, Kind::Integer)
            && number.is_f64()
            && float.fract() == 0.0
            && float.abs() < 9e15
    });
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small enough")]
    integral.map_or(Value::Number(number), |float| Value::from(float as i64))
}
