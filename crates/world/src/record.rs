//! What was committed of late, in the lock file of a root.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    os::unix::fs::FileExt,
};

/// So many removals are remembered; a command that ran while there were more is not told of all.
const REMEMBERED: u64 = 4_096;
/// The number of commits, and that of removals.
const HEAD: u64 = 16;
/// The number of the commit, and the hash of the path.
const ENTRY: u64 = 16;

/// A file that only grows to a fixed size.
#[derive(Debug)]
pub(crate) struct Record(pub(crate) File);

impl Record {
    /// How many commits there were.
    pub(crate) fn commits(&self) -> u64 {
        self.number(0)
    }

    /// Adds a commit.
    pub(crate) fn add(&self, removed: impl Iterator<Item = String>) -> io::Result<()> {
        let (commit, mut removals) = (self.commits().wrapping_add(1), self.number(8));
        for path in removed {
            let at = HEAD + removals % REMEMBERED * ENTRY;
            let entry = [commit.to_le_bytes(), hash(&path).to_le_bytes()].concat();
            self.0.write_all_at(&entry, at)?;
            removals = removals.wrapping_add(1);
        }
        let head = [commit.to_le_bytes(), removals.to_le_bytes()].concat();
        self.0.write_all_at(&head, 0)
    }

    /// Whether a commit after the first `commits` removed this path.
    pub(crate) fn was_removed(&self, path: &str, commits: u64) -> bool {
        if self.commits() == commits {
            return false;
        }
        let hash = hash(path);
        (0..self.number(8).min(REMEMBERED))
            .map(|number| HEAD + number * ENTRY)
            .any(|at| self.number(at) > commits && self.number(at + 8) == hash)
    }

    /// What cannot be read was never written.
    fn number(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, at).map_or(0, |()| u64::from_le_bytes(bytes))
    }
}

fn hash(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(paths: &[&str]) -> impl Iterator<Item = String> {
        paths.iter().map(ToString::to_string).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn remembers_who_removed_what_after_which_commit() {
        let record = Record(tempfile::tempfile().unwrap());
        assert_eq!(record.commits(), 0);
        record.add(gone(&["a", "b"])).unwrap();
        record.add(gone(&[])).unwrap();
        record.add(gone(&["c"])).unwrap();
        assert_eq!(record.commits(), 3);
        for (path, commits, expected) in
            [("a", 0, true), ("a", 1, false), ("c", 2, true), ("c", 3, false), ("d", 0, false)]
        {
            assert_eq!(record.was_removed(path, commits), expected, "{path} {commits}");
        }
    }

    #[test]
    fn does_not_grow_for_ever() {
        let record = Record(tempfile::tempfile().unwrap());
        for number in 0..REMEMBERED + 10 {
            record.add(gone(&[&number.to_string()])).unwrap();
        }
        assert_eq!(record.0.metadata().unwrap().len(), HEAD + REMEMBERED * ENTRY);
        assert!(record.was_removed(&(REMEMBERED + 9).to_string(), 0));
        assert!(!record.was_removed("3", 0));
    }
}
