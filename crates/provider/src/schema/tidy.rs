//! Any JSON as a valid JSON Schema (2020-12), as near to what was meant as can be.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    DEPTH, Schema, keyword,
    keyword::{Holds, Words},
    types,
};
use crate::names::wire_key;

/// What schemas are written in here.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Schemas in all, once references are followed: a few that refer to each other can mean millions.
const NODES: usize = 5_000;
/// Text and values in all, for the same reason.
const BYTES: usize = 4_000_000;
/// Names and values in one list.
const ENTRIES: usize = 5_000;

/// What becomes of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refs {
    /// It stays if it points into the definitions at the root.
    Keep,
    /// What it points to is put in its place.
    Inline,
}

/// What becomes of a parameter's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    Map,
    Keep,
}

/// Whether a schema describes all arguments, or something in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Inside,
}

/// Tidies one schema.
#[derive(Debug)]
pub(super) struct Tidy<'a> {
    root: &'a Value,
    refs: Refs,
    keys: Keys,
    words: Words,
    nodes: usize,
    bytes: usize,
    /// References that are being followed.
    open: Vec<&'a str>,
}

impl<'a> Tidy<'a> {
    pub(super) const fn new(root: &'a Value, refs: Refs, keys: Keys, words: Words) -> Self {
        Self { root, refs, keys, words, nodes: NODES, bytes: BYTES, open: Vec::new() }
    }

    pub(super) fn root(mut self) -> Schema {
        self.schema(self.root, 0, Place::Root)
    }

    fn schema(&mut self, schema: &'a Value, depth: usize, place: Place) -> Schema {
        if depth > DEPTH || self.nodes == 0 {
            return Schema::new();
        }
        self.nodes -= 1;
        match schema {
            Value::Object(object) => self.object(object, depth, place),
            Value::Bool(false) => Schema::from_iter([("not".to_owned(), json!({}))]),
            // `{"properties": {"count": "integer"}}`
            Value::String(_) => {
                let mut tidy = Schema::new();
                types::write(schema, &mut tidy);
                complete(&mut tidy);
                tidy
            }
            Value::Null | Value::Bool(true) | Value::Number(_) | Value::Array(_) => Schema::new(),
        }
    }

    fn object(&mut self, object: &'a Schema, depth: usize, place: Place) -> Schema {
        let mut tidy = Schema::new();
        for (key, value) in object {
            if let Some(holds) = keyword::holds(key, self.words) {
                self.keyword(&mut tidy, key, (holds, value), (depth, place));
            }
        }
        if let Some(at) = object.get("$ref").and_then(Value::as_str) {
            self.reference(&mut tidy, at, depth, place);
        }
        complete(&mut tidy);
        tidy
    }

    fn keyword(
        &mut self,
        tidy: &mut Schema,
        key: &str,
        (holds, value): (Holds, &'a Value),
        (depth, place): (usize, Place),
    ) {
        let value = match (holds, value) {
            (Holds::Types, _) => return types::write(value, tidy),
            (Holds::SchemaOrBool | Holds::Bool, Value::Bool(_))
            | (Holds::Number, Value::Number(_)) => value.clone(),
            (Holds::Any, _) | (Holds::Text, Value::String(_)) if self.affords(value) => {
                value.clone()
            }
            (Holds::Dialect, Value::String(dialect)) if depth == 0 && dialect == DIALECT => {
                value.clone()
            }
            // What is put in the place of a reference must not have the same name again.
            (Holds::Anchor, Value::String(name)) if self.open.is_empty() && is_anchor(name) => {
                value.clone()
            }
            (Holds::Count, Value::Number(number)) if number.is_u64() => value.clone(),
            (Holds::Items, Value::Array(places)) => {
                let places = self.list(places, depth, Place::Inside);
                // An older draft's way to say it.
                tidy.extend(
                    (!places.is_empty()).then(|| ("prefixItems".to_owned(), places.into())),
                );
                return;
            }
            (Holds::Schema | Holds::SchemaOrBool | Holds::Items, _) => {
                self.schema(value, depth + 1, Place::Inside).into()
            }
            (Holds::Properties, Value::Object(map)) => self.properties(map, depth).into(),
            (Holds::Named, Value::Object(map)) => self.named(map, depth).into(),
            (Holds::Definitions, Value::Object(map))
                if self.refs == Refs::Keep && depth == 0 && self.open.is_empty() =>
            {
                self.named(map, depth).into()
            }
            (Holds::Variants, Value::Array(list)) if !list.is_empty() => {
                self.list(list, depth, place).into()
            }
            (Holds::Places, Value::Array(list)) if !list.is_empty() => {
                self.list(list, depth, Place::Inside).into()
            }
            (Holds::Required, Value::Array(names)) => self.required(names),
            (Holds::Values, Value::Array(values)) if !values.is_empty() && self.affords(value) => {
                distinct(values)
            }
            _ => return,
        };
        tidy.insert(key.to_owned(), value);
    }

    /// Whether there is room for one more value; what does not fit is left out.
    fn affords(&mut self, value: &Value) -> bool {
        let size = value.as_str().map_or_else(|| value.to_string().len(), str::len);
        let left = self.bytes.checked_sub(size);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }

    fn list(&mut self, list: &'a [Value], depth: usize, place: Place) -> Vec<Value> {
        list.iter().map(|schema| self.schema(schema, depth + 1, place).into()).collect()
    }

    fn named(&mut self, map: &'a Schema, depth: usize) -> Schema {
        let tidy = |(name, schema): (&String, &'a Value)| {
            (name.clone(), self.schema(schema, depth + 1, Place::Inside).into())
        };
        map.iter().map(tidy).collect()
    }

    /// As [`Self::named`], but a parameter nobody can give is left out.
    fn properties(&mut self, map: &'a Schema, depth: usize) -> Schema {
        let mut tidy = Schema::new();
        for (name, schema) in map.iter().filter(|(_, schema)| **schema != Value::Bool(false)) {
            let schema = self.schema(schema, depth + 1, Place::Inside);
            tidy.insert(self.key(name), schema.into());
        }
        tidy
    }

    fn required(&self, names: &[Value]) -> Value {
        let names = names.iter().filter_map(Value::as_str).map(|name| Value::from(self.key(name)));
        distinct(&names.collect::<Vec<_>>())
    }

    fn key(&self, name: &str) -> String {
        match self.keys {
            Keys::Map => wire_key(name).into_owned(),
            Keys::Keep => name.to_owned(),
        }
    }

    /// What stands beside a reference says more than what it points to.
    fn reference(&mut self, tidy: &mut Schema, at: &'a str, depth: usize, place: Place) {
        let Some(target) = target(self.root, at) else { return };
        if self.refs == Refs::Keep && place == Place::Inside && is_definition(at) {
            tidy.insert("$ref".to_owned(), json!(at));
            return;
        }
        let mut found = if self.open.contains(&at) {
            // It contains itself; once more is enough to say what kind of thing it is.
            let mut only_type = Schema::new();
            types::write(target.get("type").unwrap_or(&Value::Null), &mut only_type);
            only_type
        } else {
            self.open.push(at);
            let found = self.schema(target, depth + 1, place);
            self.open.pop();
            found
        };
        found.retain(|key, _| !tidy.contains_key(key));
        tidy.append(&mut found);
    }
}

/// What a local reference points to.
pub(crate) fn target<'a>(root: &'a Value, at: &str) -> Option<&'a Value> {
    let found = root.pointer(at.strip_prefix('#')?)?;
    (found.is_object() || found.is_boolean()).then_some(found)
}

fn is_definition(at: &str) -> bool {
    let name = at.strip_prefix("#/$defs/").or_else(|| at.strip_prefix("#/definitions/"));
    name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

fn is_anchor(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
}

/// Says what is only implied, and what some providers insist on.
fn complete(tidy: &mut Schema) {
    if !tidy.contains_key("type") {
        let implied = [("properties", "object"), ("items", "array"), ("prefixItems", "array")];
        let implied = implied.into_iter().find(|(key, _)| tidy.contains_key(*key));
        tidy.extend(implied.map(|(_, kind)| ("type".to_owned(), json!(kind))));
    }
    if has_type(tidy, "array") {
        tidy.entry("items").or_insert_with(|| json!({}));
    }
}

/// Whether the schema names this type, alone or among others.
pub(super) fn has_type(schema: &Schema, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(types)) => types.iter().any(|one| one == kind),
        _ => false,
    }
}

fn distinct(values: &[Value]) -> Value {
    let mut kept: Vec<Value> = Vec::new();
    let mut seen = HashSet::new();
    for value in values.iter().take(ENTRIES) {
        if seen.insert(value.to_string()) {
            kept.push(value.clone());
        }
    }
    Value::Array(kept)
}
