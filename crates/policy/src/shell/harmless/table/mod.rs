//! The programs that are known, one file per family.

mod archives;
mod awk;
mod coreutils;
mod files;
mod find;
mod git;
mod jq;
mod ps;
mod search;
mod sed;
mod system;
mod text;
mod versions;

use super::{Argv, Entry, Known, Streams, options};

/// Every built-in entry.
pub(super) fn built_in<'a>() -> impl Iterator<Item = &'a Entry> {
    let families = [
        archives::ENTRIES,
        coreutils::ENTRIES,
        files::ENTRIES,
        find::ENTRIES,
        git::ENTRIES,
        search::ENTRIES,
        system::ENTRIES,
        text::ENTRIES,
        versions::ENTRIES,
    ];
    families.into_iter().flatten()
}

/// How the command `words` is executed, if it is known to be harmless.
pub(super) fn check(words: &[String], known: Known<'_>) -> Result<Argv, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("a command is missing".to_owned());
    };
    let (path, name) = located(program, known)?;
    // Git has options of its own before the subcommand; these two change nothing.
    let quiet = |word: &&String| name == "git" && matches!(word.as_str(), "--no-pager" | "-P");
    let skipped = arguments.iter().take_while(quiet).count();
    let arguments = arguments.get(skipped..).unwrap_or_default();
    let mut reasons = Vec::new();
    for entry in entries(name, arguments, known) {
        match executed(entry, name, arguments) {
            Ok(argv) => return Ok(Argv { path, ..argv }),
            Err(reason) => reasons.push(reason),
        }
    }
    let unknown =
        || format!("`{}` is not on the list of harmless programs", called(name, arguments));
    Err(reasons.into_iter().next().unwrap_or_else(unknown))
}

/// Where the program is, and its name.
fn located<'a>(program: &'a str, known: Known<'_>) -> Result<(Option<String>, &'a str), String> {
    let Some((folder, name)) = program.rsplit_once('/') else {
        return Ok(((known.find)(program), program));
    };
    if known.trusted.iter().any(|trusted| trusted.trim_end_matches('/') == folder) {
        return Ok((Some(program.to_owned()), name));
    }
    Err(format!("`{program}` is not in a trusted folder"))
}

/// The entries for it, those of subcommands first and those of the operator before ours.
fn entries<'a>(
    name: &'a str,
    arguments: &'a [String],
    known: Known<'a>,
) -> impl Iterator<Item = &'a Entry> + 'a {
    let fits = move |entry: &&Entry, depth: usize| {
        let mut parts = entry.name.split(' ');
        parts.next() == Some(name)
            && parts.clone().count() == depth
            && arguments.len() >= depth
            && parts.zip(arguments).all(|(part, argument)| part == argument)
    };
    let added: &'a [Entry] = known.entries;
    let all = move || added.iter().chain(built_in());
    [2, 1, 0].into_iter().flat_map(move |depth| all().filter(move |entry| fits(entry, depth)))
}

fn executed(entry: &Entry, name: &str, arguments: &[String]) -> Result<Argv, String> {
    let subcommands = entry.name.split(' ').skip(1);
    let rest = arguments.get(subcommands.clone().count()..).unwrap_or_default();
    let given = if let Some(reads) = entry.reads {
        reads(rest)?
    } else {
        let (read, given) = options::read(entry, rest)?;
        if let Some(check) = entry.check {
            check(&read)?;
        }
        given
    };
    let front: &[&str] = if name == "git" { git::FRONT } else { &[] };
    let words = std::iter::once(name).chain(front.iter().copied()).chain(subcommands);
    let words = words.chain(entry.before.iter().copied()).map(str::to_owned).chain(given).collect();
    let env = if name == "git" { git::ENV } else { entry.env };
    Ok(Argv {
        path: None,
        words,
        env: env.to_vec(),
        folder: entry.folder,
        streams: Streams::default(),
    })
}

fn called(name: &str, arguments: &[String]) -> String {
    match arguments.first() {
        Some(subcommand) if name == "git" => format!("git {subcommand}"),
        _ => name.to_owned(),
    }
}
