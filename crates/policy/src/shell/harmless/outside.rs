//! Harmless lines outside the sandbox: on the host, and in the shell of another agent.
//!
//! The sandbox holds what a wrong entry of the table lets through. Outside nothing does, so only
//! programs on this list are harmless there. None of them has a language of its own, and none
//! depends on the small environment, the processes and the mounts of the sandbox.

use super::{Known, judge_plain, path, plain, table};

/// Entries of the table that are harmless outside the sandbox too.
pub(super) const OUTSIDE: &[&str] = &[
    "[",
    "arch",
    "b2sum",
    "base64",
    "basename",
    "bzcat",
    "cargo",
    "cat",
    "cksum",
    "clang",
    "cmake",
    "cmp",
    "column",
    "comm",
    "command",
    "cut",
    "date",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "file",
    "fold",
    "free",
    "gcc",
    "git",
    "git blame",
    "git branch",
    "git cat-file",
    "git count-objects",
    "git describe",
    "git diff",
    "git for-each-ref",
    "git grep",
    "git log",
    "git ls-files",
    "git ls-tree",
    "git merge-base",
    "git reflog",
    "git reflog show",
    "git remote",
    "git remote get-url",
    "git rev-list",
    "git rev-parse",
    "git shortlog",
    "git show",
    "git show-ref",
    "git stash list",
    "git stash show",
    "git status",
    "git tag",
    "git worktree list",
    "grep",
    "groups",
    "head",
    "hexdump",
    "hostname",
    "id",
    "java",
    "join",
    "ls",
    "lscpu",
    "make",
    "md5sum",
    "nl",
    "node",
    "nproc",
    "od",
    "paste",
    "printf",
    "pwd",
    "python3",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "rustc",
    "rustup",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "tar",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "unexpand",
    "uniq",
    "uptime",
    "wc",
    "which",
    "whoami",
    "xxd",
    "xzcat",
    "zcat",
];

/// Why a line that is harmless in the sandbox is not harmless outside of it; `None` if it is.
pub fn outside_doubt(line: &str, known: Known<'_>) -> Option<String> {
    if let Err(why) = judge_plain(line, known) {
        return Some(format!("outside the sandbox {why}"));
    }
    let plain = plain::split(line).unwrap_or_default();
    let commands = plain.iter().flat_map(|step| &step.pipeline);
    commands.filter(|one| one.words.first().is_none_or(|name| name != "cd")).find_map(|command| {
        let public = command.words.iter().skip(1).find(|word| path::is_public(word));
        if let Some(public) = public.filter(|path| *path != "/dev/null") {
            return Some(format!("`{public}` is outside the workspace"));
        }
        if let Some(why) = table::outside_doubt(&command.words, known) {
            return Some(why);
        }
        follows_links(&command.words)
    })
}

/// `ls` shows the attributes of files outside the workspace if it follows links.
fn follows_links(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let follows = |word: &String| {
        word.starts_with("--de")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['H', 'L']))
    };
    let lists = program.rsplit('/').next() == Some("ls");
    (lists && arguments.iter().any(follows)).then(|| "`ls` would follow links".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::Known, OUTSIDE, outside_doubt, table};

    #[test]
    fn every_program_of_the_list_has_an_entry() {
        for name in OUTSIDE {
            assert!(table::built_in().any(|entry| entry.name == *name), "{name}");
        }
    }

    #[test]
    fn programs_with_a_language_are_not_harmless_outside() {
        let find = |name: &str| Some(format!("/usr/bin/{name}"));
        let trusted = ["/usr/bin".to_owned()];
        let known = Known { entries: &[], find: &find, trusted: &trusted };
        for (line, expected) in [
            ("ls -la", true),
            ("cd src && cat a.txt | sort | uniq -c", true),
            ("git status", true),
            ("grep -rn x .", true),
            ("awk '{print $1}' a", false),
            ("cat a | /usr/bin/awk 1", false),
            ("sed -n 1p a", false),
            ("jq . a", false),
            ("find . -name a", false),
            ("ps -e -o args", false),
            ("df", false),
            ("env", false),
            ("diff a b", false),
            ("ls -LR", false),
            ("ls -H a", false),
            ("ls --dereference", false),
            ("ls *", false),
            ("ls && (ls)", false),
        ] {
            assert_eq!(outside_doubt(line, known).is_none(), expected, "{line}");
        }
    }
}
