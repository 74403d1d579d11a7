//! Changes JSON where it stands: comments, order and form of everything else stay.

use std::ops::Range;

use serde_json::{Map, Value};

use super::{
    format::Mistake,
    json_tree::{Container, Dialect, Node, parse},
};

/// Puts `entry` at `path`. Keys that somebody added to it stay, those in `stale` go.
pub(super) fn put(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    (entry, stale): (&Map<String, Value>, &[&str]),
) -> Result<String, Mistake> {
    let mut text = with_object(text, dialect, path)?;
    for key in stale.iter().filter(|key| !entry.contains_key(**key)) {
        text = without(&text, dialect, path, key)?;
    }
    for (key, value) in entry {
        text = set(&text, dialect, path, (key, value))?;
    }
    Ok(text)
}

/// Removes what is at `path`, if anything is.
pub(super) fn take(text: &str, dialect: Dialect, path: &[&str]) -> Result<String, Mistake> {
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    without(text, dialect, above, last)
}

/// Puts `item` at the end of the list at `path`.
pub(super) fn push(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    item: &Value,
) -> Result<String, Mistake> {
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let text = with_object(text, dialect, above)?;
    let top = parse(&text, dialect)?;
    let Some(list) = find(&top, path)? else {
        return set(&text, dialect, above, (last, &Value::Array(vec![item.clone()])));
    };
    if list.items().is_none() {
        return Err(list.mistake(format!("`{}` is not a list", path.join("."))));
    }
    Ok(insert(&text, list, None, item))
}

/// Removes the items of the list at `path` that are `ours`.
pub(super) fn drop_items(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    ours: &dyn Fn(&Value) -> bool,
) -> Result<String, Mistake> {
    let mut text = text.to_owned();
    while !text.trim().is_empty() {
        let top = parse(&text, dialect)?;
        let Some(list) = find(&top, path)? else { break };
        let mut items = list.items().into_iter().flatten();
        let Some(index) = items.position(|item| ours(&item.value())) else { break };
        text = remove(&text, list, index);
    }
    Ok(text)
}

/// What is at `path`.
pub(super) fn get(text: &str, dialect: Dialect, path: &[&str]) -> Result<Option<Value>, Mistake> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(find(&parse(text, dialect)?, path)?.map(Node::value))
}

/// With an object at `path`, and all objects above it.
fn with_object(text: &str, dialect: Dialect, path: &[&str]) -> Result<String, Mistake> {
    let mut text = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    for depth in 0..path.len() {
        let (above, name) = (path.get(..depth), path.get(depth));
        let (Some(above), Some(name)) = (above, name) else { break };
        let top = parse(&text, dialect)?;
        let container = object(&top, above)?;
        if container.is_some_and(|node| node.member(name).is_none()) {
            text = set(&text, dialect, above, (name, &Value::Object(Map::new())))?;
        }
    }
    object(&parse(&text, dialect)?, path)?;
    Ok(text)
}

/// Sets one key of the object at `path`, which is there.
fn set(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    (key, value): (&str, &Value),
) -> Result<String, Mistake> {
    let top = parse(text, dialect)?;
    let Some(container) = object(&top, path)? else { return Ok(text.to_owned()) };
    let Some(node) = container.member(key) else {
        return Ok(insert(text, container, Some(key), value));
    };
    if node.value() == *value {
        return Ok(text.to_owned());
    }
    let style = Style::of(text);
    let shown = style.pretty(value, &style.indentation(text, node.start));
    Ok(replace(text, node.start..node.end, &shown))
}

/// Without one key of the object at `path`.
fn without(text: &str, dialect: Dialect, path: &[&str], key: &str) -> Result<String, Mistake> {
    let top = parse(text, dialect)?;
    let Some(container) = find(&top, path)? else { return Ok(text.to_owned()) };
    let index = container.members().and_then(|mut all| all.position(|one| one.key == key));
    Ok(index.map_or_else(|| text.to_owned(), |index| remove(text, container, index)))
}

fn find<'a>(top: &'a Node, path: &[&str]) -> Result<Option<&'a Node>, Mistake> {
    let mut node = top;
    for (depth, name) in path.iter().enumerate() {
        if node.members().is_none() {
            let name = path.get(..depth).unwrap_or_default().join(".");
            return Err(node.mistake(format!("`{name}` is not an object")));
        }
        let Some(inner) = node.member(name) else { return Ok(None) };
        node = inner;
    }
    Ok(Some(node))
}

fn object<'a>(top: &'a Node, path: &[&str]) -> Result<Option<&'a Node>, Mistake> {
    match find(top, path)? {
        Some(node) if node.members().is_none() => {
            Err(node.mistake(format!("`{}` is not an object", path.join("."))))
        }
        found => Ok(found),
    }
}

/// How a file is written.
struct Style {
    newline: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().map(leading).find(|blanks| !blanks.is_empty());
        let unit = match indented {
            Some(blanks) if blanks.starts_with('\t') => "\t".to_owned(),
            Some(blanks) if blanks.len() <= 8 => blanks.to_owned(),
            Some(_) | None => "  ".to_owned(),
        };
        Self { newline, unit }
    }

    /// The blanks that the line of `offset` begins with.
    #[expect(clippy::unused_self, reason = "it is about the form of a file")]
    fn indentation(&self, text: &str, offset: usize) -> String {
        let before = text.get(..offset).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        leading(text.get(line..).unwrap_or_default()).to_owned()
    }

    /// Over several lines, of which all but the first begin with `indent`.
    fn pretty(&self, value: &Value, indent: &str) -> String {
        let mut out = Vec::new();
        let form = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut out, form);
        // A value that was read, or that we made, can be written.
        let _ = serde::Serialize::serialize(value, &mut writer);
        let text = String::from_utf8(out).unwrap_or_default();
        text.replace('\n', &format!("{}{indent}", self.newline))
    }
}

fn leading(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// With an item more at the end of `into`: a member if it has a key.
fn insert(text: &str, into: &Node, key: Option<&str>, value: &Value) -> String {
    let style = Style::of(text);
    let own = style.indentation(text, into.start);
    let item = |indent: &str| {
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        key + &style.pretty(value, indent)
    };
    let close = into.end.saturating_sub(1);
    let Some(Container { items, comma, .. }) = into.container().filter(|c| !c.items.is_empty())
    else {
        let indent = format!("{own}{}", style.unit);
        let inner = text.get(into.start + 1..close).unwrap_or_default().trim_end();
        let newline = style.newline;
        let new = format!("{inner}{newline}{indent}{}{newline}{own}", item(&indent));
        return replace(text, into.start + 1..close, &new);
    };
    let (first, last) =
        (items.first().map_or(0, |one| one.start), items.last().map_or(0, |one| one.end));
    let whole = text.get(into.start..into.end).unwrap_or_default();
    if !whole.contains('\n') {
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        return match comma {
            Some(comma) => replace(text, comma + 1..comma + 1, &format!(" {key}{value},")),
            None => replace(text, last..last, &format!(", {key}{value}")),
        };
    }
    let indent = style.indentation(text, first);
    let anchor = comma.map_or(last, |comma| comma + 1);
    let end = end_of_comment(text, anchor);
    let tail = text.get(end..close).unwrap_or_default();
    let behind =
        if tail.contains('\n') { String::new() } else { format!("{}{own}", style.newline) };
    let more = if comma.is_some() { "," } else { "" };
    let new = format!("{}{indent}{}{more}{behind}", style.newline, item(&indent));
    let text = replace(text, end..end, &new);
    if comma.is_some() { text } else { replace(&text, last..last, ",") }
}

/// Behind `offset` and a comment in the same line.
fn end_of_comment(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let said = line.trim_start_matches([' ', '\t']);
    if said.starts_with("//") {
        return offset + line.len();
    }
    let block = said.strip_prefix("/*").and_then(|inner| inner.find("*/"));
    block.map_or(offset, |at| offset + (line.len() - said.len()) + at + 4)
}

/// Without the item of that number.
fn remove(text: &str, from: &Node, index: usize) -> String {
    let Some(Container { items, comma, commas }) = from.container() else { return text.to_owned() };
    let Some(item) = items.get(index) else { return text.to_owned() };
    let is_last = index + 1 == items.len();
    let before = text.get(..item.start).unwrap_or_default();
    let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
    let starts_line = before.trim_end_matches([' ', '\t']).ends_with('\n');
    let begin = if starts_line { item.start - blanks } else { item.start };
    let own_comma = if is_last { comma } else { commas.get(index).copied() };
    let end = end_of_comment(text, own_comma.map_or(item.end, |comma| comma + 1));
    let rest = text.get(end..).unwrap_or_default();
    let gap = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    let ends_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let end = match (starts_line, ends_line) {
        (true, true) => end + gap + 1,
        (false, _) if !is_last => end + gap,
        (true | false, _) => end,
    };
    let mut text = replace(text, begin..end, "");
    if is_last
        && own_comma.is_none()
        && let Some(comma) = index.checked_sub(1).and_then(|before| commas.get(before))
    {
        text = replace(&text, *comma..*comma + 1, "");
        if !starts_line {
            let rest = text.get(*comma..).unwrap_or_default();
            let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            text = replace(&text, *comma..*comma + gap, "");
        }
    }
    if items.len() == 1 {
        let after = text.get(from.start + 1..).unwrap_or_default();
        let empty = after.len() - after.trim_start().len();
        if after.trim_start().starts_with(['}', ']']) {
            text = replace(&text, from.start + 1..from.start + 1 + empty, "");
        }
    }
    text
}

fn replace(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

#[cfg(test)]
mod tests;
