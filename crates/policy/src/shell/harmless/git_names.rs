//! Names of commits, files of commits and paths, as git takes them on its command line.

use super::path;

/// A commit, a range, a file of a commit, or a path; none of them leaves the repository or names a
/// file with credentials.
pub(super) fn check_revision_or_path(text: &str) -> Result<(), String> {
    match file_of(text) {
        // `a..b` is a range; as a path it has no `..` between slashes.
        None => check_pathspec(text),
        // The tree itself.
        Some("") => Ok(()),
        Some(file) => path::check(file),
    }
}

/// A path, or a pattern of paths, whose magic words change only how it is compared.
pub(super) fn check_pathspec(text: &str) -> Result<(), String> {
    let plain = match text.strip_prefix(":(") {
        Some(magic) => magic.split_once(')').map_or(text, |(_, plain)| plain),
        None => text.strip_prefix(":!").or_else(|| text.strip_prefix(":^")).unwrap_or(text),
    };
    if plain.is_empty() { Ok(()) } else { path::check(plain) }
}

/// The file in `HEAD:file`, `:file` and `:0:file`; `None` if it is no such name.
pub(super) fn file_of(text: &str) -> Option<&str> {
    if let Some(index) = text.strip_prefix(':') {
        // `:/text` searches messages, `:(magic)` and `:!` are paths.
        if index.starts_with(['/', '(', '!', '^']) {
            return None;
        }
        let staged =
            index.split_once(':').filter(|(stage, _)| matches!(*stage, "0" | "1" | "2" | "3"));
        return Some(staged.map_or(index, |(_, file)| file));
    }
    // A colon in braces belongs to a time or a text: `HEAD@{12:00}`, `HEAD^{/a: b}`.
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// Makes sure that what may be the number of an object is that of a commit: the numbers of files are
/// easily found, and files are printed by them whatever their names. `None` if that cannot be done.
pub(super) fn as_commits(text: &str) -> Option<String> {
    if file_of(text).is_some() || text.starts_with(':') {
        return Some(text.to_owned());
    }
    let (before, symbol, after) = match (text.split_once("..."), text.split_once("..")) {
        (Some((before, after)), _) => (before, "...", Some(after)),
        (None, Some((before, after))) => (before, "..", Some(after)),
        (None, None) => (text, "", None),
    };
    let after = after.map_or(Some(String::new()), as_commit)?;
    Some(format!("{}{symbol}{after}", as_commit(before)?))
}

fn as_commit(name: &str) -> Option<String> {
    let (sign, plain) = name.strip_prefix('^').map_or(("", name), |plain| ("^", plain));
    let end = plain.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(plain.len());
    let (number, rest) = plain.split_at_checked(end)?;
    // Git takes no fewer digits for a number; what goes on otherwise is another name.
    if number.len() < 4 || !(rest.is_empty() || rest.starts_with(['^', '~', '@'])) {
        // `name^{blob}` and `name^{}` of a ref that names a file are somebody's own doing.
        return Some(name.to_owned());
    }
    Some(format!("{sign}{number}^{{commit}}{}", rest.replace("^{}", "").replace("^{object}", "")))
        .filter(|name| !name.contains("^{blob}"))
}

#[cfg(test)]
mod tests {
    use super::{as_commits, check_pathspec, check_revision_or_path};

    #[test]
    fn files_with_credentials_are_found_in_every_form() {
        for (text, expected) in [
            ("HEAD", true),
            ("main..HEAD", true),
            ("HEAD@{yesterday}", true),
            ("HEAD@{2024-01-01 12:00}", true),
            ("HEAD^{/fix: a}", true),
            (":/fix", true),
            ("HEAD:src/a.rs", true),
            (":src/a.rs", true),
            (":0:src/a.rs", true),
            ("HEAD:", true),
            (":(icase)src", true),
            ("HEAD:.env", false),
            (":.env", false),
            (":0:.env", false),
            (":3:a/.ENV", false),
            ("HEAD@{12:00}:.env", false),
            ("HEAD^{/a: b}:./.env", false),
            ("stash@{0}:id_rsa", false),
            (":(icase).ENV", false),
            (":!.env", false),
            (":(top)../x", false),
            ("../x", false),
            ("/x", false),
        ] {
            assert_eq!(check_revision_or_path(text).is_ok(), expected, "{text}");
        }
        assert!(check_pathspec("src").is_ok());
    }

    #[test]
    fn numbers_are_those_of_commits() {
        for (text, expected) in [
            ("HEAD", Some("HEAD")),
            ("main", Some("main")),
            ("abc", Some("abc")),
            ("deadbeef", Some("deadbeef^{commit}")),
            ("DEADBEEF", Some("DEADBEEF^{commit}")),
            ("^deadbeef", Some("^deadbeef^{commit}")),
            ("dead..beef", Some("dead^{commit}..beef^{commit}")),
            ("dead...main", Some("dead^{commit}...main")),
            ("deadbeef~2", Some("deadbeef^{commit}~2")),
            ("deadbeef^{}", Some("deadbeef^{commit}")),
            ("deadbeef^{blob}", None),
            ("deadbeef:a", Some("deadbeef:a")),
            ("feature/dead", Some("feature/dead")),
            ("added.txt", Some("added.txt")),
        ] {
            assert_eq!(as_commits(text).as_deref(), expected, "{text}");
        }
    }
}
