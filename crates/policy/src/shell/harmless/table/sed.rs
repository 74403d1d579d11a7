//! Scripts of `sed`: print, delete, quit and substitute, and nothing else.

use super::super::entry::Arguments;

pub(super) const HARMLESS: &[&str] = &[
    "sed -n 1,5p README.md",
    "sed -n '1,5p;$p' a",
    "sed 's/a/b/g' a",
    "sed -n '/foo/p' a",
    "sed -E 's|a(b)|\\1|' a",
    "ls | sed 's/x/y/'",
    "sed -n -e 3p -e 5q a",
    "sed '/^#/d' a",
    "sed 5q a",
    "sed -n '10,+3p' a",
];
pub(super) const NOT: &[&str] = &[
    "sed 's/a/b/w OUT' in.txt",
    "sed -n 'R /etc/passwd' in.txt",
    "sed --in-place=.bak s/a/b/ in.txt",
    "sed -i s/a/b/ a",
    "sed 's/a/b/e' a",
    "sed 's/a/b/gw OUT' a",
    "sed '1e touch x' a",
    "sed 'r /etc/passwd' a",
    "sed -f script a",
    "sed 'w OUT' a",
    "sed '1,5w OUT' a",
    "sed '/a/w OUT' a",
    "sed -n 's/a/b/;w OUT' a",
    "sed p /etc/passwd",
    "sed -n '$!{p;w OUT\n}' a",
    "sed 's/a\\/b/c/w' a",
    "sed -ni p a",
    "sed 's/a/b\\\nc/' a",
];

pub(super) fn check(arguments: &Arguments) -> Result<(), String> {
    let scripts =
        arguments.options.iter().filter(|(name, _)| matches!(name.as_str(), "-e" | "--expression"));
    let mut scripts: Vec<_> = scripts.filter_map(|(_, value)| value.as_deref()).collect();
    if scripts.is_empty() {
        scripts.extend(arguments.operands.first().map(String::as_str));
    }
    match scripts.iter().find(|script| !is_plain(script)) {
        Some(script) => Err(format!("the script `{script}` of `sed` is not known to be harmless")),
        None => Ok(()),
    }
}

/// Whether every command of the script only prints, deletes, quits or substitutes.
fn is_plain(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', ';']);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = command(rest) else { return false };
        if !after.is_empty() && !after.starts_with(';') {
            return false;
        }
        rest = after;
    }
}

/// What follows one command.
fn command(text: &str) -> Option<&str> {
    let text = match address(text) {
        Some(after) => match after.strip_prefix(',') {
            Some(second) => address(second.strip_prefix('+').unwrap_or(second))?,
            None => after,
        },
        None => text,
    };
    let text = text.strip_prefix('!').unwrap_or(text);
    if let Some(after) = text.strip_prefix('s') {
        return substitution(after);
    }
    text.strip_prefix(['p', 'd', '=']).or_else(|| {
        text.strip_prefix('q').map(|after| after.trim_start_matches(|c: char| c.is_ascii_digit()))
    })
}

/// What follows `3`, `$` or `/regex/`.
fn address(text: &str) -> Option<&str> {
    if let Some(regex) = text.strip_prefix('/') {
        return delimited(regex, '/');
    }
    if let Some(after) = text.strip_prefix('$') {
        return Some(after);
    }
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (after.len() < text.len()).then_some(after)
}

/// What follows `/a/b/g`; the flags `w` and `e` write and execute.
fn substitution(text: &str) -> Option<&str> {
    let delimiter = text.chars().next().filter(|c| "/|#,:@!_".contains(*c))?;
    let after = delimited(text.strip_prefix(delimiter)?, delimiter)?;
    let after = delimited(after, delimiter)?;
    Some(
        after.trim_start_matches([
            'g', 'p', 'i', 'I', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0',
        ]),
    )
}

/// What follows the delimiter. One that is escaped or in brackets may or may not count.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let (inner, after) = text.split_once(delimiter)?;
    (!inner.ends_with('\\') && !inner.contains('\n') && bracketed(inner)).then_some(after)
}

/// Whether all brackets are closed, so that none of them can hold the delimiter.
fn bracketed(inner: &str) -> bool {
    inner.matches('[').count() == inner.matches(']').count()
}
