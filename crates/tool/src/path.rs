//! Paths as calls name them.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// A path in the workspace, normalised once: what is planned, checked and opened is the same text.
///
/// Only the text is looked at here. Whether the path stays beneath a root is the kernel's word,
/// when it is opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct FilePath(String);

impl FilePath {
    /// The workspace itself.
    pub fn root() -> Self {
        Self(".".to_owned())
    }

    /// Normalises `text`: `./a//b/../c` is `a/c`, and nothing is `.`.
    pub fn new(text: &str) -> Self {
        let mut parts: Vec<&str> = Vec::new();
        let absolute = text.starts_with('/');
        for part in text.split('/') {
            match (part, parts.last()) {
                ("" | ".", _) => {}
                ("..", None) if absolute => {}
                ("..", Some(&last)) if last != ".." => {
                    parts.pop();
                }
                _ => parts.push(part),
            }
        }
        match (absolute, parts.is_empty()) {
            (true, _) => Self(format!("/{}", parts.join("/"))),
            (false, true) => Self::root(),
            (false, false) => Self(parts.join("/")),
        }
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part, unless this is a root.
    pub fn name(&self) -> Option<&str> {
        self.parts().next_back().filter(|name| *name != "..")
    }

    /// Whether `other` is this path or beneath it.
    pub fn covers(&self, other: &Self) -> bool {
        if self.is_absolute() != other.is_absolute() || other.parts().any(|part| part == "..") {
            return self == other;
        }
        let mut others = other.parts();
        self.parts().all(|part| others.next() == Some(part))
    }

    /// The folders above, nearest first, up to the workspace or the first below `/`.
    pub fn ancestors(&self) -> Vec<String> {
        let mut parts: Vec<_> = self.parts().collect();
        let mut above = Vec::new();
        while parts.pop().is_some() {
            match (self.is_absolute(), parts.is_empty()) {
                (true, true) => {}
                (true, false) => above.push(format!("/{}", parts.join("/"))),
                (false, true) => above.push(Self::root().0),
                (false, false) => above.push(parts.join("/")),
            }
        }
        above
    }

    /// The path of `name` beneath this one.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        Self::new(&format!("{}/{name}", self.0))
    }

    fn is_absolute(&self) -> bool {
        self.0.starts_with('/')
    }

    fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !matches!(*part, "" | "."))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

impl JsonSchema for FilePath {
    fn schema_name() -> Cow<'static, str> {
        "FilePath".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::FilePath;

    #[test]
    fn normalises_the_text_only() {
        for (text, expected) in [
            ("", "."),
            (".", "."),
            ("./a//b/../c/", "a/c"),
            ("a/../../x", "../x"),
            ("../../x", "../../x"),
            ("/../etc/./passwd", "/etc/passwd"),
            ("/", "/"),
            ("artifact:1", "artifact:1"),
        ] {
            assert_eq!(FilePath::new(text).as_str(), expected, "{text}");
        }
    }

    #[test]
    fn covers_by_component() {
        for (outer, inner, expected) in [
            (".", "a/b", true),
            ("a", "a/b", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("a/b", "a", false),
            (".", "../x", false),
            (".", "/etc", false),
            ("/ws", "/ws/x", true),
            ("/ws", "/ws-evil/x", false),
            ("..", "../x", false),
        ] {
            let covers = FilePath::new(outer).covers(&FilePath::new(inner));
            assert_eq!(covers, expected, "{outer} {inner}");
        }
    }
}
