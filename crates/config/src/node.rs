//! A configuration file as a tree, whatever language it is written in.

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) position: Position,
}

/// One `key = value` of a table.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) position: Position,
    pub(crate) node: Node,
}

/// Line and column, counted from 1; columns are characters, and 0 if nobody counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What languages for configuration have in common.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Bool(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// Something no key wants, and what to call it.
    Other(&'static str),
}

impl Node {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Integer(_)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Other(_) => None,
        }
    }

    /// What it is, to read on after "got", without its content.
    pub(crate) const fn what(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(what) => what,
        }
    }

    /// What it is, to read on after "got", with its content if that is short.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Text(text) if text.is_empty() => "an empty text".to_owned(),
            Value::Text(text) => format!("`{}`", shorten(text)),
            Value::Integer(number) => format!("`{number}`"),
            Value::Float(number) => format!("`{number}`"),
            Value::Bool(flag) => format!("`{flag}`"),
            Value::List(_) | Value::Table(_) | Value::Other(_) => self.what().to_owned(),
        }
    }
}

/// One line of at most 60 characters, nothing in it that a terminal would obey.
pub(crate) fn shorten(text: &str) -> String {
    let mut short = String::new();
    for (count, letter) in text.chars().enumerate() {
        match letter {
            _ if count == 60 => return short + "…",
            '"' | '\'' | '\\' => short.push(letter),
            _ => short.extend(letter.escape_debug()),
        }
    }
    short
}
