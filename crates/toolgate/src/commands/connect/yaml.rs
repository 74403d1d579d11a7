//! Changes YAML where it stands, line by line: two levels of plain blocks, as this is the form in which
//! the only client that has YAML writes its file. Anything else is left to its owner.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::{
    format::Mistake,
    yaml_lines::{File, Line, blanks, key},
};

/// Puts `entry` at `path`, which is a key within a key. Keys that somebody added to it stay, those in `stale` go.
pub(super) fn put(
    text: &str,
    path: &[&str],
    (entry, stale): (&Map<String, Value>, &[&str]),
) -> Result<String, Mistake> {
    let (outer, name) = keys_of(path)?;
    let file = File::read(text)?;
    if let Some(found) = Found::of(&file, outer, name)? {
        return found.replaced(&file, (outer, name), (entry, stale));
    }
    // At its end a text of several lines is another one with a new line behind it.
    if !text.ends_with('\n') && file.kinds.last() == Some(&Line::Text) {
        return Err(file.mistake(file.lines.len(), "a line must end before another one begins"));
    }
    let new = match file.section(outer)? {
        None => {
            let start = if text.is_empty() || text.ends_with('\n') { "" } else { file.newline };
            let block = block(name, entry, "  ").join(file.newline);
            format!("{text}{start}{outer}:{}{block}{}", file.newline, file.newline)
        }
        Some(section) => {
            let indent = section.indent.clone().unwrap_or_else(|| "  ".to_owned());
            let mut lines = owned(&file.lines);
            if let Some(head) = lines.get_mut(section.line).filter(|_| section.is_empty_flow) {
                head.replacen("{}", "", 1).trim_end().clone_into(head);
            }
            lines.splice(section.end..section.end, block(name, entry, &indent));
            file.joined(&lines)
        }
    };
    only(text, new, (outer, name))
}

/// Removes what is at `path`, if it is there.
pub(super) fn take(text: &str, path: &[&str]) -> Result<String, Mistake> {
    let (outer, name) = keys_of(path)?;
    let file = File::read(text)?;
    let Some(section) = file.section(outer)? else { return Ok(text.to_owned()) };
    let Some(range) = file.child(&section, name) else { return Ok(text.to_owned()) };
    let mut lines = owned(&file.lines);
    lines.drain(range.clone());
    // A key with nothing beneath it would be nothing, which is no list of extensions.
    let mut others = file.saying(section.line + 1).take_while(|(at, _)| *at < section.end);
    if !others.any(|(at, _)| !range.contains(&at))
        && let Some(head) = lines.get_mut(section.line)
    {
        *head = head.replacen(':', ": {}", 1);
    }
    only(text, file.joined(&lines), (outer, name))
}

/// What is at `path`, as far as it is written in a known way.
pub(super) fn get(text: &str, path: &[&str]) -> Result<Option<Map<String, Value>>, Mistake> {
    let (outer, name) = keys_of(path)?;
    Ok(Found::of(&File::read(text)?, outer, name)?.and_then(|found| found.says))
}

fn keys_of<'a>(path: &[&'a str]) -> Result<(&'a str, &'a str), Mistake> {
    let [outer, name] = path else { return Err(Mistake::new("is not written in a known way")) };
    Ok((outer, name))
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// An entry that is there.
struct Found {
    range: std::ops::Range<usize>,
    indent: String,
    /// What it says, if all of it is written in a known way.
    says: Option<Map<String, Value>>,
}

impl Found {
    fn of(file: &File<'_>, outer: &str, name: &str) -> Result<Option<Self>, Mistake> {
        let Some(section) = file.section(outer)? else { return Ok(None) };
        let Some(range) = file.child(&section, name) else { return Ok(None) };
        let says = fields(file, range.clone());
        Ok(Some(Self { range, indent: section.indent.unwrap_or_default(), says }))
    }

    /// The text with `entry` in it; the same one if all of it is there, in whatever form.
    fn replaced(
        self,
        file: &File<'_>,
        (outer, name): (&str, &str),
        (entry, stale): (&Map<String, Value>, &[&str]),
    ) -> Result<String, Mistake> {
        let Self { range, indent, says } = self;
        let is_stale = |key: &str| stale.contains(&key) && !entry.contains_key(key);
        if let Some(says) = &says
            && entry.iter().all(|(key, value)| says.get(key) == Some(value))
            && !says.iter().any(|(key, value)| is_stale(key) && !is_nothing(value))
        {
            return Ok(file.text.to_owned());
        }
        let is_commented = |at: usize| {
            let line = file.lines.get(at).copied().unwrap_or_default();
            file.kinds.get(at) == Some(&Line::Silent) && !line.trim().is_empty()
                || line.contains(" #")
        };
        let Some(mut says) = says.filter(|_| !range.clone().any(is_commented)) else {
            let message = format!("`{outer}.{name}` holds more than Toolgate wrote");
            return Err(file.mistake(range.start, message));
        };
        says.retain(|key, _| !is_stale(key));
        says.extend(entry.clone());
        let mut lines = owned(&file.lines);
        lines.splice(range, block(name, &says, &indent));
        only(file.text, file.joined(&lines), (outer, name))
    }
}

/// What goose writes where nothing is.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Makes sure, by reading both, that nothing but what is at a place has changed.
fn only(before: &str, after: String, place: (&str, &str)) -> Result<String, Mistake> {
    if rest(before, place)? == rest(&after, place)? {
        return Ok(after);
    }
    Err(Mistake::new("cannot be changed without changing more"))
}

/// All lines that say something outside of what is at a place, and what they are.
fn rest(text: &str, (outer, name): (&str, &str)) -> Result<Vec<(Line, String)>, Mistake> {
    let file = File::read(text)?;
    let section = file.section(outer)?;
    let child = section.as_ref().and_then(|section| file.child(section, name)).unwrap_or_default();
    let head = section.as_ref().map(|section| section.line);
    let others = file.saying(0).filter(|(at, _)| !child.contains(at) && Some(*at) != head);
    let kind = |at: usize| file.kinds.get(at).copied().unwrap_or(Line::Silent);
    Ok(others.map(|(at, line)| (kind(at), line.to_owned())).collect())
}

/// What an entry says, if all of it is written in a known way: values, lists of them, and keys with them.
fn fields(file: &File<'_>, range: std::ops::Range<usize>) -> Option<Map<String, Value>> {
    if range.clone().any(|at| file.is_text(at)) {
        return None;
    }
    let end = range.end;
    let mut lines = file.saying(range.start).take_while(|(at, _)| *at < end).map(|(_, line)| line);
    // Behind the key itself nothing may stand.
    lines.next()?.trim_end().strip_suffix(':')?;
    let mut lines = lines.peekable();
    let indent = blanks(lines.peek()?);
    let mut all = Map::new();
    while let Some(line) = lines.next() {
        let name = key(line.trim_start()).filter(|_| blanks(line) == indent)?;
        let value = line.split_once(':')?.1.trim();
        let mut beneath = Vec::new();
        let belongs = |line: &&str| blanks(line).len() > indent.len() || item(line).is_some();
        while let Some(line) = lines.next_if(belongs) {
            beneath.push(line);
        }
        let value = if beneath.is_empty() { scalar(value)? } else { inner(value, &beneath)? };
        all.insert(name.to_owned(), value).is_none().then_some(())?;
    }
    Some(all)
}

/// A list, or keys with values.
fn inner(value: &str, lines: &[&str]) -> Option<Value> {
    let (first, own) = (lines.first()?, blanks(lines.first()?));
    if !value.is_empty() || lines.iter().any(|line| blanks(line) != own) {
        return None;
    }
    if item(first).is_some() {
        return lines.iter().map(|line| scalar(item(line)?)).collect::<Option<_>>();
    }
    let field = |line: &&str| {
        let (name, value) = line.trim_start().split_once(':')?;
        key(line.trim_start())?;
        Some((name.trim_matches(['"', '\'']).to_owned(), scalar(value.trim())?))
    };
    lines.iter().map(field).collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn item(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("- ").map(str::trim)
}

/// A value on one line.
fn scalar(text: &str) -> Option<Value> {
    if let Some(inner) = text.strip_prefix('\'') {
        let inner = inner.strip_suffix('\'')?.replace("''", "\0");
        return (!inner.contains('\'')).then(|| inner.replace('\0', "'").into());
    }
    // In brackets and double quotes it is as in JSON, or not as we know it.
    if text.starts_with(['"', '{', '[']) {
        return serde_json::from_str(text).ok();
    }
    let is_plain = text.starts_with(|first: char| first.is_alphabetic() || "/_$".contains(first))
        || text.starts_with("--");
    match text {
        "" | "~" | "null" => Some(Value::Null),
        "true" => Some(true.into()),
        "false" => Some(false.into()),
        // What is one of the two to some, and a word to others.
        _ if ["y", "n", "yes", "no", "on", "off"].contains(&text.to_lowercase().as_str()) => None,
        _ if ["null", "true", "false"].contains(&text.to_lowercase().as_str()) => None,
        _ if text.contains(" #") || text.contains(": ") || text.ends_with(':') => None,
        _ if is_plain => Some(text.into()),
        _ => text.parse::<i64>().ok().filter(|number| number.to_string() == text).map(Value::from),
    }
}

/// An entry as lines, each text in quotes that JSON and YAML share.
fn block(name: &str, entry: &Map<String, Value>, indent: &str) -> Vec<String> {
    let mut lines = vec![format!("{indent}{name}:")];
    for (key, value) in entry {
        match value {
            Value::Array(items) if !items.is_empty() => {
                lines.push(format!("{indent}  {key}:"));
                lines.extend(items.iter().map(|item| format!("{indent}    - {item}")));
            }
            Value::Object(fields) if !fields.is_empty() => {
                lines.push(format!("{indent}  {key}:"));
                let field = |(key, value): (&String, &Value)| format!("{indent}    {key}: {value}");
                lines.extend(fields.iter().map(field));
            }
            Value::Array(_)
            | Value::Object(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => lines.push(format!("{indent}  {key}: {value}")),
        }
    }
    lines
}
