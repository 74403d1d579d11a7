//! Changes the text of a client's file, whatever its format, and nothing else in it.

use serde_json::{Map, Value};

use super::{json, json_tree::Dialect, toml, yaml};

/// What a client's file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json(Dialect),
    Toml,
    Yaml,
}

/// One thing that is to stand in a file.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// These keys at this path; what somebody added beside them stays.
    Entry {
        path: &'static [&'static str],
        entry: Map<String, Value>,
        /// Keys that would contradict, if they are not among them.
        stale: &'static [&'static str],
    },
    /// This item in the list at this path, once.
    Item { path: &'static [&'static str], item: Value, ours: fn(&Value) -> bool },
}

/// What keeps a file from being changed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) offset: usize,
    pub(super) message: String,
}

impl Mistake {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { offset: 0, message: message.into() }
    }

    /// Line and column, from 1.
    pub(super) fn position(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

/// Stands for a token that is not made yet.
pub(super) const TOKEN: &str = "YOUR_TOKEN";

impl Format {
    /// `text` with all of it; the same text if it is there already.
    pub(super) fn put(self, text: &str, edits: &[Edit]) -> Result<String, Mistake> {
        edits.iter().try_fold(text.to_owned(), |text, edit| self.put_one(&text, edit))
    }

    /// `text` without any of it; the same text if none is there.
    pub(super) fn take(self, text: &str, edits: &[Edit]) -> Result<String, Mistake> {
        edits.iter().try_fold(text.to_owned(), |text, edit| self.take_one(&text, edit))
    }

    /// Whether the entry at `path` is for a server that runs by itself.
    pub(super) fn reaches(self, text: &str, path: &[&str]) -> Result<bool, Mistake> {
        let has =
            |entry: &Map<String, Value>| ["uri", "url"].iter().any(|key| entry.contains_key(*key));
        Ok(match self {
            Self::Json(dialect) => {
                json::get(text, dialect, path)?.as_ref().and_then(Value::as_object).is_some_and(has)
            }
            Self::Toml => toml::has(text, path, "url")?,
            Self::Yaml => yaml::get(text, path)?.as_ref().is_some_and(has),
        })
    }

    fn put_one(self, text: &str, edit: &Edit) -> Result<String, Mistake> {
        match (self, edit) {
            (Self::Json(dialect), Edit::Entry { path, entry, stale }) => {
                let found = json::get(text, dialect, path)?;
                let entry = with_known_token(entry, found.as_ref());
                let new = json::put(text, dialect, path, (&entry, stale))?;
                only(text, &new, dialect, path)?;
                Ok(new)
            }
            (Self::Json(dialect), Edit::Item { path, item, ours }) => {
                let found = json::get(text, dialect, path)?;
                let known = found.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let mut own = known.iter().filter(|item| ours(item));
                if own.next() == Some(item) && own.next().is_none() {
                    return Ok(text.to_owned());
                }
                let new = json::drop_items(text, dialect, path, ours)?;
                let new = json::push(&new, dialect, path, item)?;
                only(text, &new, dialect, path)?;
                Ok(new)
            }
            (Self::Toml, Edit::Entry { path, entry, stale }) => {
                toml::put(text, path, (entry, stale))
            }
            (Self::Yaml, Edit::Entry { path, entry, stale }) => {
                yaml::put(text, path, (entry, stale))
            }
            (Self::Toml | Self::Yaml, Edit::Item { .. }) => {
                Err(Mistake::new("a list is changed by hand in this format"))
            }
        }
    }

    fn take_one(self, text: &str, edit: &Edit) -> Result<String, Mistake> {
        match (self, edit) {
            (Self::Json(dialect), Edit::Entry { path, .. }) => {
                let new = json::take(text, dialect, path)?;
                only(text, &new, dialect, path)?;
                Ok(new)
            }
            (Self::Json(dialect), Edit::Item { path, ours, .. }) => {
                let new = json::drop_items(text, dialect, path, ours)?;
                only(text, &new, dialect, path)?;
                Ok(new)
            }
            (Self::Toml, Edit::Entry { path, .. }) => toml::take(text, path),
            (Self::Yaml, Edit::Entry { path, .. }) => yaml::take(text, path),
            (Self::Toml | Self::Yaml, Edit::Item { .. }) => Ok(text.to_owned()),
        }
    }
}

/// Where only some token is wanted, the one that is there will do.
fn with_known_token(entry: &Map<String, Value>, found: Option<&Value>) -> Map<String, Value> {
    let wanted = format!("Bearer {TOKEN}");
    let known = found.and_then(|found| found.pointer("/headers/Authorization"));
    let known =
        known.filter(|known| known.as_str().is_some_and(|text| text.starts_with("Bearer ")));
    let mut entry = entry.clone();
    let header = entry.get_mut("headers").and_then(|headers| headers.get_mut("Authorization"));
    if let (Some(header), Some(known)) = (header, known)
        && *header == *wanted
    {
        *header = known.clone();
    }
    entry
}

/// Makes sure that nothing but what is at `path` has changed.
fn only(before: &str, after: &str, dialect: Dialect, path: &[&str]) -> Result<(), Mistake> {
    let rest = |text: &str| -> Result<Value, Mistake> {
        let mut value = json::get(text, dialect, &[])?.unwrap_or_else(|| Value::Object(Map::new()));
        clear(&mut value, path);
        Ok(value)
    };
    if rest(before)? == rest(after)? {
        return Ok(());
    }
    Err(Mistake::new("cannot be changed without changing more"))
}

/// Removes what is at `path`, and makes what is above it.
fn clear(value: &mut Value, path: &[&str]) {
    let Some(((first, rest), fields)) = path.split_first().zip(value.as_object_mut()) else {
        return;
    };
    if rest.is_empty() {
        fields.remove(*first);
        return;
    }
    let inner = fields.entry(*first).or_insert_with(|| Value::Object(Map::new()));
    clear(inner, rest);
}
