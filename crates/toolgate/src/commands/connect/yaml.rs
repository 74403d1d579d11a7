//! Changes YAML where it stands, line by line: two levels of plain blocks, as this is the form in which
//! the only client that has YAML writes its file. Anything else is left to its owner.

use serde_json::{Map, Value};

use super::format::Mistake;

/// Puts `entry` at `path`, which is a key within a key.
pub(super) fn put(
    text: &str,
    path: &[&str],
    entry: &Map<String, Value>,
) -> Result<String, Mistake> {
    let [outer, name] = path else { return Err(Mistake::new("is not written in a known way")) };
    let file = File::read(text)?;
    let newline = file.newline;
    let Some(section) = file.section(outer)? else {
        let start = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        let block = block(name, entry, "  ").join(newline);
        return Ok(format!("{text}{start}{outer}:{newline}{block}{newline}"));
    };
    let indent = section.indent.clone().unwrap_or_else(|| "  ".to_owned());
    let new = block(name, entry, &indent);
    let mut lines: Vec<String> = file.lines.iter().map(|line| (*line).to_owned()).collect();
    let Some(range) = file.child(&section, name) else {
        if let Some(head) = lines.get_mut(section.line).filter(|_| section.is_empty_flow) {
            head.replacen("{}", "", 1).trim_end().clone_into(head);
        }
        lines.splice(section.end..section.end, new);
        return Ok(file.joined(&lines));
    };
    let old = lines.get(range.clone()).unwrap_or_default();
    if old == new.as_slice() {
        return Ok(text.to_owned());
    }
    let known = |line: &String| {
        let key = line.trim_start().split(':').next().unwrap_or_default();
        key == *name || OWN.contains(&key) || line.trim_start().starts_with("- ")
    };
    if !old.iter().all(known) {
        let message = format!("`{outer}.{name}` holds more than Toolgate wrote");
        return Err(Mistake { offset: file.offset(range.start), message });
    }
    lines.splice(range, new);
    Ok(file.joined(&lines))
}

/// Removes what is at `path`, if it is there.
pub(super) fn take(text: &str, path: &[&str]) -> Result<String, Mistake> {
    let [outer, name] = path else { return Err(Mistake::new("is not written in a known way")) };
    let file = File::read(text)?;
    let Some(section) = file.section(outer)? else { return Ok(text.to_owned()) };
    let Some(range) = file.child(&section, name) else { return Ok(text.to_owned()) };
    let mut lines: Vec<String> = file.lines.iter().map(|line| (*line).to_owned()).collect();
    lines.drain(range.clone());
    // A key with nothing beneath it would be nothing, which is no list of extensions.
    let others = file.lines.iter().enumerate().skip(section.line + 1);
    let mut others = others.take_while(|(at, _)| *at < section.end);
    if !others.any(|(at, line)| !range.contains(&at) && is_content(line))
        && let Some(head) = lines.get_mut(section.line)
    {
        *head = head.replacen(':', ": {}", 1);
    }
    Ok(file.joined(&lines))
}

/// The keys of an entry as we write it.
const OWN: &[&str] = &[
    "args",
    "bundled",
    "cmd",
    "description",
    "enabled",
    "env_keys",
    "envs",
    "headers",
    "name",
    "timeout",
    "type",
    "uri",
    "Authorization",
];

struct File<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    newline: &'static str,
}

/// A key at the top, and what is beneath it.
struct Section {
    /// Where its key is.
    line: usize,
    /// Behind its last line.
    end: usize,
    /// The blanks before each key in it, if it has any.
    indent: Option<String>,
    /// Whether it is written as `{}`.
    is_empty_flow: bool,
}

impl<'a> File<'a> {
    fn read(text: &'a str) -> Result<Self, Mistake> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines: Vec<_> = text.lines().collect();
        let file = Self { text, lines, newline };
        for (number, line) in file.lines.iter().enumerate() {
            let problem = if line.trim_start_matches(' ').starts_with('\t') {
                "a tab, which YAML does not allow here"
            } else if is_content(line) && !line.starts_with(' ') && !is_known_top(line, number) {
                "this is not written in a known way"
            } else {
                continue;
            };
            return Err(Mistake { offset: file.offset(number), message: problem.to_owned() });
        }
        Ok(file)
    }

    fn offset(&self, number: usize) -> usize {
        self.text.split_inclusive('\n').take(number).map(str::len).sum()
    }

    fn section(&self, name: &str) -> Result<Option<Section>, Mistake> {
        let mut found = self.lines.iter().enumerate().filter(|(_, line)| key(line) == Some(name));
        let Some((line, head)) = found.next() else { return Ok(None) };
        let refused = |at: usize, message: &str| {
            let offset = self.offset(at);
            Err(Mistake { offset, message: format!("`{name}` {message}") })
        };
        if let Some((again, _)) = found.next() {
            return refused(again, "stands here twice; keep one of them");
        }
        let behind = head.split_once(':').map_or("", |(_, rest)| rest);
        let behind = behind.split(" #").next().unwrap_or_default().trim();
        let is_empty_flow = behind == "{}";
        if !is_empty_flow && !behind.is_empty() && !behind.starts_with('#') {
            return refused(line, "is not written as a block");
        }
        let beneath = || self.lines.iter().enumerate().skip(line + 1);
        let next = beneath().find(|(_, line)| is_content(line) && !line.starts_with(' '));
        let limit = next.map_or(self.lines.len(), |(at, _)| at);
        let inside =
            beneath().take_while(|(at, _)| *at < limit).filter(|(_, line)| is_content(line));
        let contents: Vec<_> = inside.collect();
        let end = contents.last().map_or(line, |(at, _)| *at) + 1;
        let indent = contents.first().map(|(_, line)| blanks(line).to_owned());
        if contents.iter().any(|(_, line)| {
            let own = indent.as_deref().unwrap_or_default().len();
            let deep = blanks(line).len();
            deep < own || (deep == own && key(line.trim_start()).is_none())
        }) {
            return refused(line, "is not written as a block of keys");
        }
        Ok(Some(Section { line, end, indent, is_empty_flow }))
    }

    /// The lines of one key of a section.
    fn child(&self, section: &Section, name: &str) -> Option<std::ops::Range<usize>> {
        let indent = section.indent.as_deref()?;
        let inside = || self.lines.iter().enumerate().take(section.end).skip(section.line + 1);
        let at_level = |line: &str| is_content(line) && blanks(line) == indent;
        let (start, _) =
            inside().find(|(_, line)| at_level(line) && key(line.trim_start()) == Some(name))?;
        let next = inside().find(|(at, line)| *at > start && at_level(line));
        let limit = next.map_or(section.end, |(at, _)| at);
        // What stands right above the next key is about that.
        let last = inside().rfind(|(at, line)| (start..limit).contains(at) && is_content(line));
        Some(start..last.map_or(start, |(at, _)| at) + 1)
    }

    fn joined(&self, lines: &[String]) -> String {
        let end = if self.text.ends_with('\n') || self.text.is_empty() { self.newline } else { "" };
        lines.join(self.newline) + end
    }
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

fn blanks(line: &str) -> &str {
    let rest = line.trim_start_matches(' ');
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// The key a line begins with, if it is written plainly or in quotes.
fn key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\r']);
    let key = key.trim_end();
    let bare = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    let bare = bare.or_else(|| key.strip_prefix('\'').and_then(|key| key.strip_suffix('\'')));
    let key = bare.unwrap_or(key);
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    (ends && !key.is_empty() && key.chars().all(plain)).then_some(key)
}

/// Whether a line without blanks before it is a key, an item of a list, or the beginning.
fn is_known_top(line: &str, number: usize) -> bool {
    key(line).is_some() || line.starts_with("- ") || (line.trim_end() == "---" && number == 0)
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
