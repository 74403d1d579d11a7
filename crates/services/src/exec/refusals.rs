//! Explains why the kernel refused to change a protected file.

use std::path::PathBuf;

use tool::Captured;

/// How programs name the errors that changing a guarded file gives: it is a mount of its own, which
/// cannot be replaced (`EBUSY`) or written to (`EROFS`).
const ERRORS: [&str; 2] = ["Device or resource busy", "Read-only file system"];

/// The files of a workspace that a command could not change, whatever it tried.
pub(super) struct Refusals {
    pub(super) root: PathBuf,
    pub(super) guarded: Vec<PathBuf>,
}

impl Refusals {
    /// One note for each guarded file that the command complained about.
    pub(super) fn notes(&self, output: &Captured) -> Vec<String> {
        let pieces = output.head.iter().chain(&output.tail).flat_map(|(_, bytes)| bytes);
        let text: Vec<u8> = pieces.copied().collect();
        let text = String::from_utf8_lossy(&text);
        let complaints: Vec<_> =
            text.lines().filter(|line| ERRORS.iter().any(|error| line.contains(error))).collect();
        let names = self.guarded.iter().filter_map(|path| path.strip_prefix(&self.root).ok());
        let names = names.map(|name| name.display().to_string()).filter(|name| !name.is_empty());
        let refused = names.filter(|name| complaints.iter().any(|line| names_path(line, name)));
        refused
            .map(|name| {
                format!(
                    "`{name}` was not changed: it is protected by the rule `{name}`, because it decides \
                     what other programs run; ask the person to change it"
                )
            })
            .collect()
    }
}

/// Whether a complaint is about this path, or about something beneath or temporary beside it.
fn names_path(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_'))
    })
}

#[cfg(test)]
mod tests {
    use tool::Stream;

    use super::*;

    #[test]
    fn refusals_of_guarded_files_are_explained() {
        let refusals = Refusals {
            root: "/ws".into(),
            guarded: vec!["/ws/.git/config".into(), "/ws/.git/hooks".into()],
        };
        for (said, expected) in [
            ("error: could not write config file .git/config: Device or resource busy\n", 1),
            ("sh: 1: cannot create .git/hooks/pre-commit: Read-only file system\n", 1),
            ("mv: cannot move 'x' to '/ws/.git/config': Device or resource busy\n", 1),
            ("cat: .git/config: Permission denied\n", 0),
            ("rm: cannot remove 'x.git/config': Device or resource busy\n", 0),
            ("all is well\n", 0),
        ] {
            let head = vec![(Stream::Stderr, said.as_bytes().to_vec())];
            let output = Captured { head, left_out: 0, tail: Vec::new() };
            let notes = refusals.notes(&output);
            assert_eq!(notes.len(), expected, "{said}: {notes:?}");
        }
    }
}
