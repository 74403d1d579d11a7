//! Changes one key of a file, and leaves the rest as it was written.

use ::toml::{Table as Read, Value as ReadValue};
use serde_json::{Number, Value as Json};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};
use tool::KeyPath;

use crate::{
    ConfigError,
    key::is_name,
    load::{MAX_BYTES, is_json, parse},
    place::{Place, snake_case},
};

/// `text`, which is that of `file`, with `value` at `path`; `null` removes the key. Comments and order
/// stay, and so does everything else that the file says. The result can be read.
///
/// Only TOML: nobody has a way to change JSON5 that keeps its comments.
pub fn edit(text: &str, file: &str, path: &KeyPath, value: &Json) -> Result<String, ConfigError> {
    let refused = |message: String| ConfigError::whole(file, message);
    if is_json(file) {
        let message = "is JSON5, which cannot be changed without losing its comments";
        return Err(refused(format!("{message}; change `{path}` in it by hand")));
    }
    // What is broken is not made worse.
    parse(text, file)?;
    let place = Place::of(path).map_err(refused)?;
    let new = new_value(path, value).map_err(refused)?;
    let mut document: DocumentMut = text.parse().map_err(|_| refused(UNREADABLE.to_owned()))?;
    let parts = put(document.as_item_mut(), &place, new.clone()).map_err(refused)?;
    let edited = document.to_string();
    if edited.len() as u64 > MAX_BYTES {
        return Err(refused(format!("would be larger than {MAX_BYTES} bytes")));
    }
    parse(&edited, file)?;
    let holds = only_changed(text, &edited, &parts, new.as_ref());
    if holds == Some(true) { Ok(edited) } else { Err(refused(format!("`{path}`: {UNREADABLE}"))) }
}

const UNREADABLE: &str = "cannot be changed without changing more; change it in the file by hand";

/// The value as TOML has it, or `None` to remove what is there.
fn new_value(path: &KeyPath, value: &Json) -> Result<Option<Value>, String> {
    Ok(Some(match value {
        Json::Null => return Ok(None),
        Json::Object(_) => {
            return Err(format!("`{path}`: a table cannot be set; set one key at a time"));
        }
        Json::Array(items) => {
            let items = items.iter().map(|item| match item {
                Json::Null | Json::Array(_) | Json::Object(_) => {
                    Err(format!("`{path}`: a list can hold texts, numbers, and true or false"))
                }
                Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                    new_value(path, item)?.ok_or_else(|| format!("`{path}`: an item is nothing"))
                }
            });
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => number_of(number)
            .ok_or_else(|| format!("`{path}`: the number is too large for a file"))?,
        Json::String(text) => text.as_str().into(),
    }))
}

fn number_of(number: &Number) -> Option<Value> {
    if number.is_f64() {
        return number.as_f64().filter(|float| float.is_finite()).map(Value::from);
    }
    number.as_i64().map(Value::from)
}

/// Puts `value` where `place` says, or removes what is there; gives the path as the file spells it.
fn put(top: &mut Item, place: &Place, value: Option<Value>) -> Result<Vec<String>, String> {
    let key = place.leaf();
    let key =
        key.ok_or_else(|| format!("`{}` is a table; set one key at a time", place.shown()))?;
    let (mut table, mut parts) = (top, Vec::new());
    let mut wanted = place.path().iter().enumerate().peekable();
    while let Some((depth, name)) = wanted.next() {
        let name = spelling(table, name, key.part(depth).unwrap_or_default());
        parts.push(name.clone());
        if value.is_none() && table.get(&name).is_none() {
            return Err(format!("`{}` is not set", place.shown()));
        }
        if wanted.peek().is_none() {
            set(table, &name, value);
            break;
        }
        table = inside(table, &name).ok_or_else(|| {
            let table = parts.join(".");
            format!("`{table}` is not written as a table; change it in the file by hand")
        })?;
    }
    Ok(parts)
}

/// How `table` spells `name`, if it has it: `part` is what the reference says, and camelCase is alike.
fn spelling(table: &Item, name: &str, part: &str) -> String {
    let known = table.as_table_like().into_iter().flat_map(|table| table.iter());
    let mut known = known.map(|(key, _)| key);
    let same = |key: &&str| if is_name(part) { *key == name } else { snake_case(key) == part };
    known.find(same).unwrap_or(name).to_owned()
}

/// The table `name` inside `table`; a new one if there is none.
fn inside<'a>(table: &'a mut Item, name: &str) -> Option<&'a mut Item> {
    if table.get(name).is_none() {
        let new = match &*table {
            Item::Value(_) => Item::Value(InlineTable::new().into()),
            Item::None | Item::Table(_) | Item::ArrayOfTables(_) => {
                let mut new = Table::new();
                // Its header is written once there is something in it.
                new.set_implicit(true);
                Item::Table(new)
            }
        };
        table.as_table_like_mut()?.insert(name, new);
    }
    table.get_mut(name).filter(|inner| inner.is_table_like())
}

fn set(table: &mut Item, name: &str, value: Option<Value>) {
    let Some(mut value) = value else { return remove(table, name) };
    let Some(entries) = table.as_table_like_mut() else { return };
    match entries.get_mut(name) {
        Some(Item::Value(old)) => {
            // A comment behind the value belongs to the key.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(old @ (Item::None | Item::Table(_) | Item::ArrayOfTables(_))) => {
            *old = Item::Value(value);
        }
        None => drop(entries.insert(name, Item::Value(value))),
    }
}

/// An empty table is still there: an agent about whom nothing is said is an agent.
fn remove(table: &mut Item, name: &str) {
    let Some(entries) = table.as_table_like_mut() else { return };
    entries.remove(name);
    let is_empty = entries.is_empty();
    if let Some(table) = table.as_table_mut().filter(|_| is_empty) {
        table.set_dotted(false);
        table.set_implicit(false);
    }
}

/// Whether `after` says `value` at `parts` and all else as `before`; `None` if it cannot be told.
fn only_changed(
    before: &str,
    after: &str,
    parts: &[String],
    value: Option<&Value>,
) -> Option<bool> {
    let (mut before, mut after): (Read, Read) = (before.parse().ok()?, after.parse().ok()?);
    let (last, tables) = parts.split_last()?;
    // A table that was there is still there.
    let there = value.is_some() || table_at(&mut after, tables, Missing::Stays).is_some();
    table_at(&mut before, tables, Missing::Made)?.remove(last);
    let now = table_at(&mut after, tables, Missing::Made)?.remove(last);
    let meant = value.map(|value| format!("v={value}").parse::<Read>().ok()?.remove("v"));
    Some(there && now == meant.flatten() && now.is_some() == value.is_some() && before == after)
}

/// What becomes of a table that is not there.
#[derive(Clone, Copy)]
enum Missing {
    Made,
    Stays,
}

fn table_at<'a>(top: &'a mut Read, path: &[String], missing: Missing) -> Option<&'a mut Read> {
    path.iter().try_fold(top, |table, name| {
        let found = match missing {
            Missing::Made => {
                table.entry(name.as_str()).or_insert_with(|| ReadValue::Table(Read::new()))
            }
            Missing::Stays => table.get_mut(name)?,
        };
        found.as_table_mut()
    })
}
