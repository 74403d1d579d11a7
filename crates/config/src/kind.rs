//! What can be written as a value.

use std::fmt;

use crate::{base_url::HOW as URL, host::HOW, server::HOW as ORIGIN};

/// What can be written as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name, of a tool or a group of tools.
    Name,
    /// A path a tool would name.
    Path,
    /// A folder of the machine.
    Folder,
    /// Hosts of the network.
    Host,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// On or off.
    Switch,
    /// A length of time.
    Duration,
    /// A number of bytes.
    Size,
    /// How many.
    Count,
    /// How many, and not none.
    Positive,
    /// So many in some time.
    Rate,
    /// A number with a point.
    Decimal,
    /// Where a secret is.
    Secret,
    /// What a secret is called.
    SecretName,
    /// Any text.
    Text,
    /// A text, or a file with a text.
    Prompt,
    /// Where a service is.
    Url,
    /// An address of this machine.
    Address,
    /// Where a page comes from.
    Origin,
    /// Several of a kind.
    List(&'static Self),
}

impl Kind {
    /// The kinds that [`Kind::how`] explains, in the order they are shown.
    pub(crate) const EXPLAINED: [Self; 17] = [
        Self::Name,
        Self::Path,
        Self::Folder,
        Self::Host,
        Self::Duration,
        Self::Size,
        Self::Count,
        Self::Positive,
        Self::Rate,
        Self::Decimal,
        Self::Secret,
        Self::SecretName,
        Self::Text,
        Self::Prompt,
        Self::Url,
        Self::Address,
        Self::Origin,
    ];

    /// How it is written, to read on after "expected".
    pub fn how(self) -> String {
        let how = match self {
            Self::Name => "a name such as `read`",
            Self::Path => "a path such as `.env`, `/etc/hosts` or `~/.ssh`",
            Self::Folder => "an absolute path such as `/srv/data` or `~/data`",
            Self::Host => HOW,
            Self::OneOf(words) => return one_of(words),
            Self::Switch => "`true` or `false`",
            Self::Duration => {
                "a duration such as `250ms`, `30s`, `5m`, `1h` or `2d`, or a number of seconds"
            }
            Self::Size => {
                "a size such as `50KB` (1,000 bytes each) or `64KiB` (1,024), or a number of bytes"
            }
            Self::Count => "a whole number from 0 to 4294967295",
            Self::Positive => "a whole number from 1 to 4294967295",
            Self::Rate => "a rate such as `5/s`, `30/min`, `100/h` or `1000/day`",
            Self::Decimal => {
                "a number from 0 to 1000000, such as `3` or `0.25`, with up to six digits after the \
                 point"
            }
            Self::Secret => "the place of a secret, `env:NAME` or `file:PATH`",
            Self::SecretName => "the name of one of `secrets`",
            Self::Text => "a text",
            Self::Prompt => "a text, or the place of one, `file:PATH`",
            Self::Url => URL,
            Self::Address => "an address with a port such as `127.0.0.1:7717` or `[::1]:7717`",
            Self::Origin => ORIGIN,
            Self::List(Self::Name) => return r#"a list of names such as `["read"]`"#.to_owned(),
            Self::List(kind) => return format!("a list, each item {}", kind.how()),
        };
        how.to_owned()
    }
}

/// The name of the kind, as a table shows it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "name",
            Self::Path => "path",
            Self::Folder => "folder",
            Self::Host => "host",
            Self::OneOf(words) => return f.write_str(&one_of(words)),
            Self::Switch => "`true` or `false`",
            Self::Duration => "duration",
            Self::Size => "size",
            Self::Count => "number",
            Self::Positive => "number, not 0",
            Self::Rate => "rate",
            Self::Decimal => "decimal number",
            Self::Secret => "secret",
            Self::SecretName => "name of a secret",
            Self::Text => "text",
            Self::Prompt => "text or file",
            Self::Url => "URL",
            Self::Address => "address",
            Self::Origin => "origin",
            Self::List(kind) => return write!(f, "list of {kind}s"),
        })
    }
}

/// The words as people read them: `` `a`, `b` or `c` ``.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
