//! Paths, with `~/` for the home folder.

use std::{borrow::Cow, path::PathBuf};

use tool::FilePath;

use super::Scalar;
use crate::{Kind, environment, node::Node};

impl Scalar for FilePath {
    const KIND: Kind = Kind::Path;

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().filter(|text| !text.is_empty()).ok_or_else(|| Self::KIND.how())?;
        Ok(Self::new(&expand(text)?))
    }
}

impl Scalar for PathBuf {
    const KIND: Kind = Kind::Folder;

    fn read(node: &Node) -> Result<Self, String> {
        absolute(node.text().unwrap_or_default())
    }
}

/// The path that `text` names, wherever the process was started.
pub(super) fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(expand(text)?.as_ref());
    if path.is_absolute() { Ok(path) } else { Err(Kind::Folder.how()) }
}

fn expand(text: &str) -> Result<Cow<'_, str>, String> {
    if text.contains('\0') {
        return Err("a path without NUL".to_owned());
    }
    expand_in(text, environment("HOME").as_deref())
}

fn expand_in<'a>(text: &'a str, home: Option<&str>) -> Result<Cow<'a, str>, String> {
    let Some(rest) = text.strip_prefix('~') else { return Ok(text.into()) };
    // `~ada` is another person's home, and `~x` may be a file.
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err("a path that starts with `~/` or is written out".to_owned());
    }
    let home = home.filter(|home| home.starts_with('/'));
    home.map(|home| format!("{}{rest}", home.trim_end_matches('/')).into())
        .ok_or_else(|| "a path without `~`, because `HOME` is not set".to_owned())
}

#[cfg(test)]
mod tests {
    use super::expand_in;

    #[test]
    fn a_tilde_is_the_home_folder() {
        for (text, home, expected) in [
            ("~/x", Some("/home/ada"), Some("/home/ada/x")),
            ("~", Some("/home/ada/"), Some("/home/ada")),
            ("/a/~/x", Some("/home/ada"), Some("/a/~/x")),
            ("~bob/x", Some("/home/ada"), None),
            ("~/x", Some(""), None),
            ("~/x", None, None),
        ] {
            assert_eq!(expand_in(text, home).ok().as_deref(), expected, "{text}");
        }
    }
}
