//! Reads a line both ways and follows what its commands run themselves.

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use super::{
    Analysis, Command, Opaque, Within, builtins, found::Found, grammar, portable::is_portable,
    reader::Reader, wrappers,
};

/// Longer lines are opaque: nobody reads them before approving.
const MAX_BYTES: usize = 64 * 1024;

/// What `line` would run, given to bash. The environment is taken to be plain: a caller who adds
/// variables to it can make bash run more.
pub fn analyse(line: &str) -> Analysis {
    let mut found = Found::default();
    match everything(line, &mut found) {
        Ok(()) => Analysis::Commands(found.commands),
        Err(opaque) => Analysis::Opaque(opaque),
    }
}

/// The simple commands that stand in `line`, without those that its programs run themselves.
pub(super) fn read_commands(line: &str) -> Result<Vec<Command>, Opaque> {
    let mut found = Found::default();
    text(line, &mut found)?;
    Ok(found.commands)
}

fn everything(line: &str, found: &mut Found) -> Result<(), Opaque> {
    text(line, found)?;
    let mut next = 0;
    // What a wrapper runs is added at the end and looked at in its turn.
    while let Some(command) = found.commands.get(next).cloned() {
        next += 1;
        found.resume(&command);
        builtins::check(&command, &mut found.names)?;
        wrappers::follow(&command, found)?;
    }
    found.names.check()
}

/// Reads `line` and whatever stands in it, except what its commands run themselves.
pub(super) fn text(line: &str, found: &mut Found) -> Result<(), Opaque> {
    check_characters(line)?;
    // Backticks and wrappers bring texts of their own, whose places mean nothing outside.
    let outer = (std::mem::take(&mut found.starts), std::mem::take(&mut found.masks));
    Reader::new(line, found).all()?;
    let starts = std::mem::replace(&mut found.starts, outer.0);
    let masks = std::mem::replace(&mut found.masks, outer.1);
    agree(&masked(line, &masks), &starts)
}

/// The line with spaces in place of what is masked, and letters in place of what is not ASCII, which
/// is a part of words to bash.
fn masked<'a>(line: &'a str, masks: &[Range<usize>]) -> Cow<'a, str> {
    if masks.is_empty() && line.is_ascii() {
        return line.into();
    }
    let mut bytes: Vec<_> =
        line.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect();
    for mask in masks {
        if let Some(part) = bytes.get_mut(mask.clone()) {
            part.fill(b' ');
        }
    }
    Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
}

/// Reads what `within` runs as a text of its own.
pub(super) fn inner(line: &str, within: Within, found: &mut Found) -> Result<(), Opaque> {
    found.enter(within)?;
    if found.in_another_shell() && !is_portable(line) {
        return Err(Opaque("another shell than bash may read it in another way".to_owned()));
    }
    text(line, found)?;
    found.leave();
    Ok(())
}

fn agree(line: &str, starts: &BTreeSet<usize>) -> Result<(), Opaque> {
    let seen = grammar::starts(line)?;
    if seen.iter().all(|start| starts.contains(start)) {
        return Ok(());
    }
    Err(Opaque("two ways of reading it find different commands".to_owned()))
}

fn check_characters(line: &str) -> Result<(), Opaque> {
    if line.len() > MAX_BYTES {
        return Err(Opaque(format!("it is longer than {MAX_BYTES} bytes")));
    }
    let strange = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || (c.is_whitespace() && !c.is_ascii())
    };
    if let Some(strange) = line.chars().find(strange) {
        return Err(Opaque(format!("it contains `{}`", strange.escape_unicode())));
    }
    let mut before = ' ';
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.peek() == Some(&'\n') && !matches!(before, ' ' | '\t') {
            return Err(Opaque("a word goes on in the next line".to_owned()));
        }
        before = letter;
    }
    Ok(())
}
