//! Where something stands in a configuration.

use std::{fmt, str::FromStr};

/// Deeper than any key.
const MAX_PARTS: usize = 16;
/// Longer than any key, names of people's own choice included.
const MAX_BYTES: usize = 1024;

const HOW: &str = "write it like `agents.main.model`, with a part that has other characters than \
                   letters, digits, `_` and `-` in double quotes: `agents.\"a.b\".model`";

/// The path of a key or a table, as a configuration file names it; empty is all of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// The parts, from the outside in.
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

impl<const N: usize> From<[&str; N]> for KeyPath {
    fn from(parts: [&str; N]) -> Self {
        Self(parts.map(str::to_owned).into())
    }
}

/// The error says what to write instead.
impl FromStr for KeyPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("is longer than {MAX_BYTES} bytes, which no key is"));
        }
        let (mut parts, mut rest) = (Vec::new(), text.trim());
        if rest.is_empty() {
            return Ok(Self(parts));
        }
        loop {
            let (part, after) = first(rest).ok_or_else(|| format!("is not a key; {HOW}"))?;
            parts.push(part);
            if after.is_empty() {
                break;
            }
            rest = after.strip_prefix('.').ok_or_else(|| format!("is not a key; {HOW}"))?;
        }
        if parts.len() > MAX_PARTS {
            return Err(format!("has more than {MAX_PARTS} parts, which no key has"));
        }
        Ok(Self(parts))
    }
}

/// The first part of `text`, and what follows it.
fn first(text: &str) -> Option<(String, &str)> {
    let quoted = text.starts_with('"');
    let end = if quoted { closing(text)? } else { text.find('.').unwrap_or(text.len()) };
    let (part, rest) = text.split_at_checked(end)?;
    let part = if quoted { serde_json::from_str(part).ok()? } else { part.to_owned() };
    (quoted || is_bare(&part)).then_some((part, rest))
}

/// Where the quoted text at the beginning of `text` is over.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn is_bare(part: &str) -> bool {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !part.is_empty() && part.chars().all(bare)
}

/// As it would be written, and can be read again.
impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            if is_bare(part) {
                write!(f, "{dot}{part}")?;
            } else {
                write!(f, "{dot}{}", serde_json::Value::from(part.as_str()))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::KeyPath;

    #[test]
    fn parts_are_what_stands_between_dots_that_are_not_quoted() {
        for (text, expected) in [
            ("", Some(&[][..])),
            (" agents.main.model ", Some(&["agents", "main", "model"])),
            (r#""agents"."main"."model""#, Some(&["agents", "main", "model"])),
            (r#"agents."a.b".model"#, Some(&["agents", "a.b", "model"])),
            (r#"agents."a\"b\\".model"#, Some(&["agents", "a\"b\\", "model"])),
            (r#"agents."\u0061\n".model"#, Some(&["agents", "a\n", "model"])),
            (r#"agents."".model"#, Some(&["agents", "", "model"])),
            ("agents..model", None),
            (".agents", None),
            ("agents.", None),
            ("agents.ma in", None),
            ("agents .main", None),
            ("'agents'.main", None),
            (r#"agents."main"#, None),
            (r#"agents."main"model"#, None),
            (r#"agents.m"a"in"#, None),
            ("agents.main\nmodel", None),
            ("agents.main = 1", None),
            ("[agents]", None),
            ("agents.ma\u{0456}n", None),
        ] {
            let read = text.parse::<KeyPath>().ok();
            assert_eq!(
                read.as_ref()
                    .map(KeyPath::parts)
                    .map(|parts| { parts.iter().map(String::as_str).collect::<Vec<_>>() }),
                expected.map(<[_]>::to_vec),
                "{text}"
            );
            if let Some(read) = read {
                assert_eq!(read.to_string().parse(), Ok(read), "{text}");
            }
        }
    }

    #[test]
    fn what_is_longer_than_any_key_is_refused() {
        for text in ["a.".repeat(16) + "a", "a".repeat(1025)] {
            assert!(text.parse::<KeyPath>().is_err(), "{text}");
        }
    }
}
