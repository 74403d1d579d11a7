//! `find` without actions.

use super::super::{
    entry::{Entry, UnknownWords},
    path, unknown,
};

pub(super) const ENTRIES: &[Entry] =
    &[Entry::new("find", "").reading(read).with_unknown(UnknownWords::Anywhere).with(
        &[
            "find . -type d -not -path './.git/*'",
            "find . -size -10k -print",
            "find src -name '*.rs' -newer README.md",
            "find . \\( -name a -o -name b \\) -maxdepth 2 -printf '%p\\n'",
            "find",
        ],
        &[
            "find . -name in.txt -delete",
            "find . -fprintf OUT %p",
            "find . -fls OUT",
            "find . -fprint0 OUT",
            "find . -fprint OUT",
            "find . -exec touch x \\;",
            "find . -execdir a {} +",
            "find . -ok a {} \\;",
            "find -L .",
            "find / -name x",
            "find .. -name x",
            "find . -files0-from list",
            "find -files0-from list",
            "find . -newer /etc/passwd",
            "find -D tree .",
            "find . -follow",
        ],
    )];

/// Tests and the like without an argument, with one, and with one that is a path.
const ALONE: &[&str] = &[
    "!",
    "(",
    ")",
    ",",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ls",
    "-mount",
    "-nogroup",
    "-not",
    "-nouser",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-writable",
    "-xdev",
    "-noleaf",
    "-nowarn",
    "-warn",
    "-ignore_readdir_race",
];
const WITH_TEXT: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
    "-newermt",
];
const WITH_PATH: &[&str] = &["-anewer", "-cnewer", "-newer", "-samefile"];

/// The arguments as they are, if nothing in them does more than look.
fn read(arguments: &[String]) -> Result<Vec<String>, String> {
    let starts =
        |word: &&String| !word.starts_with('-') && !matches!(word.as_str(), "(" | "!" | ")" | ",");
    if arguments.iter().any(|word| unknown::starts_unknown(word) && !word.is_empty())
        || arguments.iter().any(|word| unknown::may_split(word) && !unknown::is_pattern(word))
    {
        return Err("`find` with words that are not known".to_owned());
    }
    let paths = arguments.iter().take_while(starts).count();
    let mut words = arguments.iter();
    for path in words.by_ref().take(paths) {
        path::check(path)?;
    }
    while let Some(word) = words.next() {
        let word = word.as_str();
        let takes = WITH_TEXT.contains(&word) || WITH_PATH.contains(&word);
        if !takes && !ALONE.contains(&word) {
            return Err(format!("`{word}` of `find` is not known to be harmless"));
        }
        if !takes {
            continue;
        }
        let Some(value) = words.next() else { return Err(format!("`{word}` has no value")) };
        if WITH_PATH.contains(&word) {
            path::check(value)?;
        }
    }
    // Never follow links, whatever the environment says.
    Ok(std::iter::once("-P".to_owned()).chain(arguments.iter().cloned()).collect())
}
