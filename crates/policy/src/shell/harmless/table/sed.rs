//! Scripts of `sed` that print, delete, hold, quit and substitute, and do nothing else.

use super::super::{entry::Arguments, unknown};

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
    "sed -n '/begin/,/end/p' a",
    "sed '/^$/d; s/[[:space:]]*$//' a",
    "sed -n '/x/I{p;q}' a",
    "sed -n '/x/{=;p}' a",
    "sed '1~2d' a",
    "sed '1!G;h;$!d' a",
    "sed 'N;P;D' a",
    "sed 'y/abc/xyz/' a",
    "sed -n '$=' a",
    "sed -n l a",
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
    "sed 's/][/]/x/;w OUT' a",
    "sed 's/[]/]/x/;w OUT' a",
    "sed 's/[[:x/]/y/;w OUT' a",
    "sed '{w OUT\n}' a",
    "sed '/a/{e touch x\n}' a",
    "sed '1W OUT' a",
    "sed 'F;e' a",
    "sed 'y/a/b/w OUT' a",
    "sed 's/a/b/m;e' a",
    "sed '}' a",
    "sed '{p' a",
    "sed 'bx;w OUT\n:x' a",
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

/// Commands without an argument that neither write nor run anything.
const ALONE: &[char] = &['p', 'P', 'd', 'D', '=', 'n', 'N', 'g', 'G', 'h', 'H', 'x', 'l', 'z', 'F'];

/// Whether every command of the script is known. Labels, files and texts run to the end of a line, so
/// commands that take one are not.
fn is_plain(script: &str) -> bool {
    if !unknown::is_known(script) {
        return false;
    }
    let (mut rest, mut open) = (script, 0_usize);
    loop {
        rest = rest.trim_start_matches([' ', ';', '\n']);
        if rest.is_empty() {
            return open == 0;
        }
        if let Some(after) = rest.strip_prefix('}') {
            let Some(outer) = open.checked_sub(1) else { return false };
            open = outer;
            rest = after;
        } else {
            let Some(after) = addresses(rest) else { return false };
            if let Some(inner) = after.strip_prefix('{') {
                open += 1;
                rest = inner;
                continue;
            }
            let Some(after) = command(after) else { return false };
            rest = after;
        }
        let ends = rest.trim_start_matches(' ');
        if !ends.is_empty() && !ends.starts_with([';', '}', '\n']) {
            return false;
        }
    }
}

/// What follows the addresses of a command.
fn addresses(text: &str) -> Option<&str> {
    let text = match address(text) {
        Some(after) => match after.strip_prefix(',') {
            Some(second) => address(second.strip_prefix(['+', '~']).unwrap_or(second))?,
            None => after,
        },
        // One that starts and is not understood.
        None if text.starts_with(['/', '\\', '$', ',']) => return None,
        None => text,
    };
    let text = text.trim_start_matches(' ');
    Some(text.strip_prefix('!').unwrap_or(text).trim_start_matches(' '))
}

/// What follows one command.
fn command(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix('s') {
        return substitution(after);
    }
    if let Some(after) = text.strip_prefix('y') {
        let (_, after) = both(after)?;
        return Some(after);
    }
    text.strip_prefix(ALONE).or_else(|| {
        let after = text.strip_prefix(['q', 'Q'])?;
        Some(after.trim_start_matches(|c: char| c.is_ascii_digit()))
    })
}

/// What follows `3`, `1~2`, `$` or `/regex/I`.
fn address(text: &str) -> Option<&str> {
    if let Some(regex) = text.strip_prefix('/') {
        let after = delimited(regex, '/')?;
        return Some(after.strip_prefix('I').unwrap_or(after));
    }
    if let Some(after) = text.strip_prefix('$') {
        return Some(after);
    }
    let digits = |text| str::trim_start_matches(text, |c: char| c.is_ascii_digit());
    let after = digits(text);
    let steps = after.strip_prefix('~').map_or(after, digits);
    (after.len() < text.len()).then_some(steps)
}

/// What follows `/a/b/g`; the flags `w` and `e` write and execute.
fn substitution(text: &str) -> Option<&str> {
    let (_, after) = both(text)?;
    Some(
        after.trim_start_matches([
            'g', 'p', 'i', 'I', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0',
        ]),
    )
}

/// The delimiter of `/a/b/`, and what follows.
fn both(text: &str) -> Option<(char, &str)> {
    let delimiter = text.chars().next().filter(|c| "/|#,:@!_".contains(*c))?;
    let after = delimited(text.strip_prefix(delimiter)?, delimiter)?;
    // A bracket in what is put in is one, so that nothing there hides the delimiter.
    let (inner, after) = after.split_once(delimiter)?;
    (!ends_escaped(inner) && !inner.contains('\n')).then_some((delimiter, after))
}

/// What follows the delimiter of a regular expression. One in brackets counts for some versions of
/// `sed` and not for others, so all brackets must be closed before it.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut searched = 0;
    loop {
        let (inner, _) = text.get(searched..)?.split_once(delimiter)?;
        let end = searched + inner.len();
        let (inner, after) = text.split_at_checked(end)?;
        let after = after.strip_prefix(delimiter)?;
        if inner.contains('\n') {
            return None;
        }
        if ends_escaped(inner) {
            // An escaped delimiter is a part of it, to all versions.
            searched = end + delimiter.len_utf8();
            continue;
        }
        return is_closed(inner).then_some(after);
    }
}

/// Whether the last backslash of `inner` escapes what follows.
fn ends_escaped(inner: &str) -> bool {
    let backslashes = inner.len() - inner.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// Whether every list of characters is closed.
fn is_closed(inner: &str) -> bool {
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '[' => {
                let Some(after) = behind_brackets(letters.as_str()) else { return false };
                letters = after.chars();
            }
            _ => {}
        }
    }
    true
}

/// What follows a list of characters; `None` if its end is doubtful.
fn behind_brackets(list: &str) -> Option<&str> {
    let mut rest = list.strip_prefix('^').unwrap_or(list);
    if rest.starts_with(']') {
        return None;
    }
    loop {
        if let Some(class) = rest.strip_prefix("[:") {
            let (name, after) = class.split_once(":]")?;
            if !name.chars().all(|c| c.is_ascii_lowercase()) {
                return None;
            }
            rest = after;
            continue;
        }
        let letter = rest.chars().next()?;
        let after = rest.strip_prefix(letter)?;
        match letter {
            ']' => return Some(after),
            '[' => return None,
            // Brackets do not know escapes to some, and do to others.
            '\\' if after.starts_with([']', '\\']) => return None,
            _ => rest = after,
        }
    }
}
