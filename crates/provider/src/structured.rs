//! What a model may get of a structured value: no more than it gets of text, and fenced like text.
//!
//! Some clients show their models nothing else of a result, so what holds for its text must hold here.

use serde_json::{Map, Value};
use tool::{Meta, ToolOutput};

/// What a model gets of a result where nobody says otherwise.
pub(crate) const MODEL_BYTES: usize = 50_000;
/// Text that is no longer is never cut; and without a space in it, it tells nobody what to do.
const SHORT: usize = 64;
/// How deep a schema is followed at one place: it may lead back to itself.
const DEEPEST: usize = 8;
/// Where a value says that something is missing in its lists.
const CUT: &str = "_cut";

/// What decides how much of a value a model gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds<'a> {
    /// So long it is at most, as JSON.
    pub(crate) bytes: usize,
    /// What its tool promises about it.
    pub(crate) schema: Option<&'a Value>,
    /// Where it comes from, and where the whole of it is.
    pub(crate) meta: &'a Meta,
}

/// The value as a model may get it; `None` if it cannot be made short enough.
pub(crate) fn for_model(value: Value, bounds: Bounds<'_>) -> Option<Value> {
    let Bounds { bytes, schema, meta } = bounds;
    let source = meta.untrusted.as_deref();
    let fence = source.map_or(0, |source| written(&ToolOutput::fenced(meta.call_id, source, "")));
    let fits = length(&value, fence, bytes).is_some();
    if fits && source.is_none() {
        return Some(value);
    }
    // Some is kept back: for the marks, and for what is never cut.
    let left = (!fits).then_some(bytes / 8 * 7);
    let mut shaping =
        Shaping { root: schema, meta, fence, mark: mark(meta), left, shortened: false };
    let at = schema.map(|schema| shaping.read(&[schema])).unwrap_or_default();
    let mut shaped = shaping.value(value, &at);
    if shaping.shortened
        && let Some(object) = shaped.as_object_mut().filter(|_| is_open(&at))
    {
        object.insert(CUT.to_owned(), Value::String(format!("lists{}", shaping.mark)));
    }
    length(&shaped, 0, bytes).map(|_| shaped)
}

/// Whether a value has at least the fields that its tool promises.
pub(crate) fn has_required(value: &Value, schema: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    required.all(|name| value.get(name).is_some())
}

/// What stands where something was cut off.
fn mark(meta: &Meta) -> String {
    let is_text = |mime: &str| matches!(mime, "text/plain" | "application/json");
    match meta.artifacts.iter().rfind(|artifact| is_text(&artifact.mime)) {
        Some(artifact) => format!("… [cut; all of it is artifact:{}]", artifact.id),
        None => "… [cut]".to_owned(),
    }
}

/// Whether a tool lets its results have more than it names.
fn is_open(at: &[&Value]) -> bool {
    let closes = |schema: &&Value, key: &str| schema.get(key) == Some(&Value::Bool(false));
    !at.iter().any(|schema| {
        closes(schema, "additionalProperties") || closes(schema, "unevaluatedProperties")
    })
}

/// How long a value is as JSON, with `fence` for each text that may be fenced; `None` if longer than `most`.
/// Counted, because writing it down only to see how long it is would cost as much as sending it.
fn length(value: &Value, fence: usize, most: usize) -> Option<usize> {
    let text = |text: &str| written(text) + if is_telling(text) { fence } else { 0 };
    let own = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => plain(value),
        Value::String(string) => text(string),
        Value::Array(items) => 2 + items.len(),
        Value::Object(fields) => 2 + fields.keys().map(|key| text(key) + 2).sum::<usize>(),
    };
    let mut sum = Some(own).filter(|own| *own <= most)?;
    let add = |inner: &Value| {
        sum += length(inner, fence, most - sum)?;
        Some(())
    };
    match value {
        Value::Array(items) => items.iter().try_for_each(add)?,
        Value::Object(fields) => fields.values().try_for_each(add)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Some(sum)
}

/// How long a value is that is neither text nor made of others.
fn plain(value: &Value) -> usize {
    match value.as_u64() {
        Some(number) => number.checked_ilog10().map_or(1, |digits| digits as usize + 1),
        None => value.as_number().map_or(5, |number| number.to_string().len()),
    }
}

/// How long a text is in JSON.
fn written(text: &str) -> usize {
    text.bytes().map(width).sum::<usize>() + 2
}

const fn width(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// The beginning of a text that has no more bytes than this in JSON.
fn beginning(text: &str, most: usize) -> &str {
    let mut sum = 0;
    let end = text.bytes().position(|byte| {
        sum += width(byte);
        sum > most
    });
    let end = end.map_or(text.len(), |end| text.floor_char_boundary(end));
    text.get(..end).unwrap_or_default()
}

/// Whether a text is long enough to say something, or has more than one word.
fn is_telling(text: &str) -> bool {
    text.len() > SHORT || has_space(text)
}

fn has_space(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

/// Goes through a value and what its tool promises about it.
struct Shaping<'a> {
    root: Option<&'a Value>,
    /// Where it comes from.
    meta: &'a Meta,
    /// How long a fence is.
    fence: usize,
    mark: String,
    /// How much is left, if something must be cut.
    left: Option<usize>,
    /// Whether something is missing in a list.
    shortened: bool,
}

impl<'a> Shaping<'a> {
    fn value(&mut self, value: Value, at: &[&'a Value]) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, at)),
            Value::Array(items) => Value::Array(self.items(items, at)),
            Value::Object(fields) => Value::Object(self.fields(fields, at)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.spend(plain(&value));
                value
            }
        }
    }

    fn text(&mut self, mut text: String, at: &[&Value]) -> String {
        let fixed = at.iter().any(|schema| fixes(schema, &text));
        let share = self.left.map(|left| (left / 4 * 3).saturating_sub(self.fence).max(SHORT));
        if let Some(most) = share.filter(|_| !fixed && text.len() > SHORT)
            && written(&text) > most
        {
            let head = beginning(&text, most);
            text = format!("{head}{}", self.mark);
        }
        let text = if fixed { text } else { self.fenced(text) };
        self.spend(written(&text));
        text
    }

    /// A list ends when it has used up its share; something is left for what comes after it.
    fn items(&mut self, items: Vec<Value>, at: &[&'a Value]) -> Vec<Value> {
        let inner = self.inner(at, |schema| schema.get("items"));
        let least = self.left.map(|left| left / 4);
        let mut kept = Vec::new();
        self.spend(2);
        for item in items {
            if least.is_some_and(|least| self.left.is_some_and(|left| left <= least)) {
                self.shortened = true;
                break;
            }
            kept.push(self.value(item, &inner));
            self.spend(1);
        }
        kept
    }

    fn fields(&mut self, fields: Map<String, Value>, at: &[&'a Value]) -> Map<String, Value> {
        self.spend(2);
        let mut shaped = Map::new();
        for (key, value) in fields {
            let inner = self.inner(at, |schema| {
                let named = schema.get("properties").and_then(|named| named.get(&key));
                named.or_else(|| schema.get("additionalProperties"))
            });
            let key = if names(at, &key) { key } else { self.fenced(key) };
            self.spend(written(&key) + 2);
            shaped.insert(key, self.value(value, &inner));
        }
        shaped
    }

    /// What nobody vouches for, in the same words as the text of the result.
    fn fenced(&self, text: String) -> String {
        match &self.meta.untrusted {
            Some(source) if is_telling(&text) => {
                ToolOutput::fenced(self.meta.call_id, source, &text)
            }
            _ => text,
        }
    }

    fn spend(&mut self, bytes: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(bytes);
        }
    }

    /// What is promised about something inside.
    fn inner(
        &self,
        at: &[&'a Value],
        find: impl Fn(&'a Value) -> Option<&'a Value>,
    ) -> Vec<&'a Value> {
        let found: Vec<_> = at.iter().filter_map(|schema| find(schema)).collect();
        self.read(&found)
    }

    /// These schemas, and what they are made of.
    fn read(&self, schemas: &[&'a Value]) -> Vec<&'a Value> {
        let mut all = Vec::new();
        for schema in schemas {
            self.gather(schema, DEEPEST, &mut all);
        }
        all
    }

    fn gather(&self, schema: &'a Value, deep: usize, all: &mut Vec<&'a Value>) {
        let Some(deep) = deep.checked_sub(1) else { return };
        all.push(schema);
        let pointer = schema.get("$ref").and_then(Value::as_str);
        let pointer = pointer.and_then(|reference| reference.strip_prefix('#'));
        if let Some(found) = pointer.and_then(|pointer| self.root?.pointer(pointer)) {
            self.gather(found, deep, all);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(key).and_then(Value::as_array);
            parts.into_iter().flatten().for_each(|part| self.gather(part, deep, all));
        }
    }
}

/// Whether a schema has this very name for a field.
fn names(at: &[&Value], key: &str) -> bool {
    at.iter().any(|schema| schema.get("properties").and_then(|named| named.get(key)).is_some())
}

/// Whether a tool promises the form of a text, so that it must stay as it is. Prose is no form, whatever its
/// schema calls it.
fn fixes(schema: &Value, text: &str) -> bool {
    let listed = schema.get("enum").and_then(Value::as_array);
    let listed = listed.is_some_and(|listed| listed.iter().any(|one| one == text));
    let formed = schema.get("format").is_some() || schema.get("pattern").is_some();
    listed
        || schema.get("const").is_some_and(|only| only == text)
        || formed && !(text.len() > SHORT && has_space(text))
}

#[cfg(test)]
mod tests;
