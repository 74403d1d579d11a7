//! The programs that are known, one file per family.

mod archives;
mod awk;
mod builtins;
mod coreutils;
mod files;
mod find;
mod git;
mod git_contents;
mod jq;
mod packages;
mod ps;
mod search;
mod sed;
mod system;
mod text;
mod versions;

use tool::{Argv, Streams};

pub(super) use git::FRONT as GIT_FRONT;

use super::{Entry, Known, entry::UnknownWords, options, outside::OUTSIDE, path, unknown};

/// Programs that describe themselves if `--help` or `--version` is all they get.
const DESCRIBED: &[&str] = &[
    "ar",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "bc",
    "bison",
    "bzip2",
    "cat",
    "chgrp",
    "chmod",
    "chown",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cp",
    "cpio",
    "csplit",
    "cut",
    "date",
    "dd",
    "df",
    "diff",
    "diff3",
    "dircolors",
    "dirname",
    "dpkg",
    "du",
    "egrep",
    "env",
    "expand",
    "fgrep",
    "file",
    "find",
    "flex",
    "fmt",
    "fold",
    "free",
    "gawk",
    "gdb",
    "grep",
    "groups",
    "gunzip",
    "gzip",
    "head",
    "hexdump",
    "hostname",
    "id",
    "install",
    "jq",
    "join",
    "kill",
    "ld",
    "less",
    "ln",
    "logger",
    "ls",
    "lsblk",
    "lscpu",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mktemp",
    "more",
    "mount",
    "mv",
    "nice",
    "nl",
    "nm",
    "nohup",
    "nproc",
    "numfmt",
    "objcopy",
    "objdump",
    "od",
    "paste",
    "patch",
    "pgrep",
    "pkill",
    "ps",
    "ranlib",
    "readelf",
    "readlink",
    "realpath",
    "rg",
    "rm",
    "rmdir",
    "rsync",
    "sdiff",
    "sed",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shred",
    "shuf",
    "sleep",
    "sort",
    "split",
    "stat",
    "stdbuf",
    "strings",
    "strip",
    "sum",
    "sync",
    "tac",
    "tail",
    "tar",
    "tee",
    "timeout",
    "touch",
    "tr",
    "tree",
    "truncate",
    "tsort",
    "uname",
    "unexpand",
    "uniq",
    "unxz",
    "uptime",
    "wc",
    "which",
    "who",
    "whoami",
    "xargs",
    "xz",
    "yes",
    "zcat",
    "zstd",
];

/// What runs what a shell has itself.
const SHELL: &str = "bash";

/// Every built-in entry.
pub(super) fn built_in<'a>() -> impl Iterator<Item = &'a Entry> {
    let families = [
        archives::ENTRIES,
        builtins::ENTRIES,
        coreutils::ENTRIES,
        files::ENTRIES,
        find::ENTRIES,
        git::ENTRIES,
        packages::ENTRIES,
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
    let name = named(program, known)?;
    let arguments = without_quiet(name, arguments);
    // `git -C folder` is git in another folder of the workspace.
    let (folder, arguments) = git_folder(name, arguments)?;
    if let Some(argv) = described(program, name, arguments, known) {
        return Ok(argv);
    }
    let mut reasons = Vec::new();
    for entry in entries(name, arguments, known) {
        match executed(entry, name, arguments) {
            // What the shell has itself has no folder.
            Ok(_) if entry.builtin.is_some() && program != name => {}
            Ok(argv) => {
                let file = entry.builtin.map_or(program.as_str(), |_| SHELL);
                let env = argv.env.into_iter().chain(path_of(entry, known)).collect();
                let mut words = argv.words;
                if let Some(folder) = folder {
                    words.splice(1..1, ["-C".to_owned(), folder.to_owned()]);
                }
                // It is called as it is written.
                if let Some(first) = words.first_mut().filter(|first| *first == name) {
                    program.clone_into(first);
                }
                return Ok(Argv { path: (known.find)(file), words, env, ..argv });
            }
            Err(reason) => reasons.push(reason),
        }
    }
    let unknown =
        || format!("`{}` is not on the list of harmless programs", called(name, arguments));
    Err(reasons.into_iter().next().unwrap_or_else(unknown))
}

/// Whether the command `words` is harmless with nothing added to it.
pub(super) fn is_bare(words: &[String], known: Known<'_>) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let Ok(name) = named(program, known) else { return false };
    let entry = entries(name, arguments, known)
        .find(|entry| executed(entry, name, arguments).is_ok())
        .filter(|_| name != "git");
    entry.is_some_and(|entry| {
        entry.before.is_empty()
            && entry.behind.is_empty()
            && entry.env.is_empty()
            && entry.reads.is_none()
            && entry.builtin.is_none()
            && entry.folder.is_none()
    })
}

/// The folder of `git -C folder`, and what follows it.
fn git_folder<'a>(
    name: &str,
    arguments: &'a [String],
) -> Result<(Option<&'a str>, &'a [String]), String> {
    match arguments {
        [option, folder, rest @ ..] if name == "git" && option == "-C" => {
            if !unknown::is_known(folder) {
                return Err("`git -C` with a folder that is not known".to_owned());
            }
            path::check(folder)?;
            Ok((Some(folder), without_quiet(name, rest)))
        }
        _ => Ok((None, arguments)),
    }
}

/// `--help` and `--version` alone, which every program of the table understands. They are asked for
/// in `/`, as other versions are.
fn described(program: &str, name: &str, arguments: &[String], known: Known<'_>) -> Option<Argv> {
    let [option] = arguments else { return None };
    let is_known = DESCRIBED.contains(&name) && matches!(option.as_str(), "--help" | "--version");
    is_known.then(|| Argv {
        path: (known.find)(program),
        words: vec![program.to_owned(), option.clone()],
        env: known
            .trusted
            .first()
            .map(|_| ("PATH".to_owned(), known.trusted.join(":")))
            .into_iter()
            .collect(),
        folder: Some("/".to_owned()),
        streams: Streams::default(),
    })
}

/// Why the command `words`, harmless in the sandbox, is not harmless outside of it.
pub(super) fn outside_doubt(words: &[String], known: Known<'_>) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let name = named(program, known).unwrap_or(program);
    let arguments = without_quiet(name, arguments);
    if name == "git" && arguments.first().is_some_and(|option| option == "-C") {
        return Some("`git -C` is harmless in the sandbox only".to_owned());
    }
    let entry = entries(name, arguments, known)
        .find(|entry| executed(entry, name, arguments).is_ok())
        .filter(|entry| entry.is_added() || OUTSIDE.contains(&entry.name.as_ref()));
    entry.is_none().then(|| format!("`{name}` is harmless in the sandbox only"))
}

/// Git has options of its own before the subcommand; these two change nothing.
fn without_quiet<'a>(name: &str, arguments: &'a [String]) -> &'a [String] {
    let quiet = |word: &&String| name == "git" && matches!(word.as_str(), "--no-pager" | "-P");
    let skipped = arguments.iter().take_while(quiet).count();
    arguments.get(skipped..).unwrap_or_default()
}

/// The name of the program; one with a folder must be in a trusted one.
fn named<'a>(program: &'a str, known: Known<'_>) -> Result<&'a str, String> {
    let Some((folder, name)) = program.rsplit_once('/') else { return Ok(program) };
    if known.trusted.iter().any(|trusted| trusted.trim_end_matches('/') == folder) {
        return Ok(name);
    }
    Err(format!("`{program}` is not in a trusted folder"))
}

/// Some programs run others by their name; those must be trusted too.
fn path_of(entry: &Entry, known: Known<'_>) -> Option<(String, String)> {
    let trusted = !entry.finds && !known.trusted.is_empty();
    trusted.then(|| ("PATH".to_owned(), known.trusted.join(":")))
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
        if entry.unknown_words != UnknownWords::Anywhere
            && !rest.iter().all(|word| unknown::is_known(word))
        {
            return Err(format!("`{name}` with words that are not known"));
        }
        reads(rest)?
    } else {
        options::read(entry, rest)?
    };
    let front: &[&str] = if name == "git" { git::FRONT } else { &[] };
    let called: Vec<_> = match entry.builtin {
        // The script is always the same, and gets the rest as its arguments.
        Some(script) => vec![SHELL, "-p", "-c", script, "/bin/bash"],
        None => std::iter::once(name).chain(front.iter().copied()).chain(subcommands).collect(),
    };
    let words = called.into_iter().chain(entry.before.iter().copied()).map(str::to_owned);
    let env = if name == "git" { git::ENV } else { entry.env };
    let env = env.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    Ok(Argv {
        path: None,
        words: words.chain(given).collect(),
        env: env.collect(),
        folder: entry.folder.map(str::to_owned),
        streams: Streams::default(),
    })
}

fn called(name: &str, arguments: &[String]) -> String {
    match arguments.first() {
        Some(subcommand) if name == "git" => format!("git {subcommand}"),
        _ => name.to_owned(),
    }
}
