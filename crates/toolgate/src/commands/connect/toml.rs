//! Changes TOML where it stands.

use serde_json::{Map, Value as Json};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::format::Mistake;

/// Puts `entry` into the table at `path`. Keys that somebody added to it stay, those in `stale` go.
pub(super) fn put(
    text: &str,
    path: &[&str],
    (entry, stale): (&Map<String, Json>, &[&str]),
) -> Result<String, Mistake> {
    let mut document = read(text)?;
    let before = document.to_string();
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table = document.as_item_mut();
    for name in above {
        table = inside(table, name, Made::Silently)?;
    }
    let apart =
        if before.trim().is_empty() { Made::WithHeader("") } else { Made::WithHeader("\n") };
    let table = inside(table, last, apart)?;
    for key in stale.iter().filter(|key| !entry.contains_key(**key)) {
        table.as_table_like_mut().map(|table| table.remove(key));
    }
    for (key, value) in entry {
        let value =
            value_of(value).ok_or_else(|| Mistake::new(format!("`{key}` has no TOML form")))?;
        set(table, key, value);
    }
    let after = document.to_string();
    read(&after)?;
    // What it is parsed to and written as again is the same, or it would not be safe to change.
    if before != text {
        return Err(Mistake::new("cannot be changed without changing more"));
    }
    Ok(after)
}

/// Removes the table at `path`, if it is there.
pub(super) fn take(text: &str, path: &[&str]) -> Result<String, Mistake> {
    let mut document = read(text)?;
    if document.to_string() != text {
        return Err(Mistake::new("cannot be changed without changing more"));
    }
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table = document.as_item_mut();
    for name in above {
        let Some(inner) = table.get_mut(name) else { return Ok(text.to_owned()) };
        table = inner;
    }
    let removed = table.as_table_like_mut().and_then(|table| table.remove(last));
    let Some(removed) = removed else { return Ok(text.to_owned()) };
    let above = removed.as_table().and_then(|table| table.decor().prefix());
    let above = above.and_then(|prefix| prefix.as_str()).unwrap_or_default();
    // A comment may be about what stood before it.
    if above.contains('#') {
        let trailing = document.trailing().as_str().unwrap_or_default();
        let trailing = format!("{}\n{trailing}", above.trim_end());
        document.set_trailing(trailing);
    }
    Ok(document.to_string())
}

/// Whether the table at `path` has this key.
pub(super) fn has(text: &str, path: &[&str], key: &str) -> Result<bool, Mistake> {
    let document = read(text)?;
    let table = path.iter().try_fold(document.as_item(), |table, name| table.get(name));
    Ok(table.is_some_and(|table| table.get(key).is_some()))
}

fn read(text: &str) -> Result<DocumentMut, Mistake> {
    text.parse().map_err(|error: toml_edit::TomlError| Mistake {
        offset: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    })
}

/// Whether a table that is not there yet gets a header of its own.
#[derive(Clone, Copy)]
enum Made {
    Silently,
    /// With this before it.
    WithHeader(&'static str),
}

fn inside<'a>(table: &'a mut Item, name: &str, made: Made) -> Result<&'a mut Item, Mistake> {
    let refused = || Mistake::new(format!("`{name}` is not written as a table"));
    if table.get(name).is_none() {
        let new = if table.is_value() {
            Item::Value(InlineTable::new().into())
        } else {
            let mut new = Table::new();
            match made {
                Made::Silently => new.set_implicit(true),
                Made::WithHeader(before) => new.decor_mut().set_prefix(before),
            }
            Item::Table(new)
        };
        table.as_table_like_mut().ok_or_else(refused)?.insert(name, new);
    }
    let inner = table.get_mut(name).filter(|inner| inner.is_table_like());
    inner.ok_or_else(refused)
}

fn set(table: &mut Item, key: &str, mut value: Value) {
    let Some(entries) = table.as_table_like_mut() else { return };
    match entries.get_mut(key) {
        Some(Item::Value(old)) => {
            if plain(old) == plain(&value) {
                return;
            }
            // A comment behind the value belongs to the key.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(old @ (Item::None | Item::Table(_) | Item::ArrayOfTables(_))) => {
            *old = Item::Value(value);
        }
        None => drop(entries.insert(key, Item::Value(value))),
    }
}

/// What it says, however it is written.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", text.value()),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::InlineTable(table) => {
            let mut all: Vec<_> =
                table.iter().map(|(key, one)| format!("{key}={}", plain(one))).collect();
            all.sort();
            all.join(",")
        }
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
            value.to_string().trim().to_owned()
        }
    }
}

fn value_of(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => number.as_i64()?.into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().map(value_of).collect::<Option<_>>()?),
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields {
                table.insert(key, value_of(value)?);
            }
            table.into()
        }
    })
}
