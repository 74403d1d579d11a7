//! What a file says, for programs.

use serde_json::{Map, Number, Value as Json};
use tool::KeyPath;

use crate::{
    ConfigError, Key, Kind,
    load::{entries, parse},
    node::{Entry, Node, Value},
    place::Place,
    problems::Problems,
};

/// What stands in place of a text that may be a secret.
const HIDDEN: &str = "(not shown)";

/// Keys whose values may be secrets, although they should not be.
const DOUBTFUL: &[&str] = &["providers.<name>.headers.<header>"];

/// What `text`, which is that of `file`, says at `path`, all of it if that is empty. `None` if it says
/// nothing there. Keys are spelled as in the reference. What is not ours is left out: nobody knows
/// whether it is a secret.
pub fn value_at(text: &str, file: &str, path: &KeyPath) -> Result<Option<Json>, ConfigError> {
    let wanted = Place::of(path).map_err(|problem| ConfigError::whole(file, problem))?;
    let config = parse(text, file)?;
    let secrets: Vec<_> = config.secrets.keys().map(String::as_str).collect();
    let top = Value::Table(entries(text, file, &mut Problems::new(file)));
    let mut found = (Place::root(), top);
    for part in wanted.path() {
        let (place, value) = found;
        let Value::Table(entries) = value else { return Ok(None) };
        let next = entries.into_iter().find_map(|entry| {
            let next = ours(&place, &entry)?;
            (next.path().last() == Some(part)).then_some((next, entry.node.value))
        });
        let Some(next) = next else { return Ok(None) };
        found = next;
    }
    let (place, value) = found;
    Ok(Some(Shown { secrets: &secrets }.value(&place, &value)))
}

/// Where `entry` stands, unless nobody here knows it.
fn ours(place: &Place, entry: &Entry) -> Option<Place> {
    if place.is_foreign(entry) { None } else { place.step(&entry.name) }
}

struct Shown<'a> {
    /// The names of secrets.
    secrets: &'a [&'a str],
}

impl Shown<'_> {
    fn value(&self, place: &Place, value: &Value) -> Json {
        match (place.leaf(), value) {
            (Some(key), _) => self.leaf(key, value),
            (None, Value::Table(entries)) => self.table(place, entries).into(),
            (None, _) => HIDDEN.into(),
        }
    }

    fn table(&self, place: &Place, entries: &[Entry]) -> Map<String, Json> {
        let mut table = Map::new();
        for entry in entries {
            if let Some(next) = ours(place, entry) {
                let name = next.path().last().cloned().unwrap_or_default();
                table.insert(name, self.value(&next, &entry.node.value));
            }
        }
        table
    }

    fn leaf(&self, key: &Key, value: &Value) -> Json {
        let is_name = |text: &str| self.secrets.contains(&text.trim());
        match (key.kind(), value) {
            _ if DOUBTFUL.contains(&key.path) => HIDDEN.into(),
            // Somebody may have written the secret itself.
            (Kind::SecretName, Value::Text(text)) if !is_name(text) => HIDDEN.into(),
            (_, value) => json(value),
        }
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Integer(number) => i64::try_from(*number).map_or(Json::Null, Json::from),
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Bool(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(|Node { value, .. }| json(value)).collect(),
        // No key has either.
        Value::Table(_) | Value::Other(_) => HIDDEN.into(),
    }
}
