//! How much of what was there before a command would lose.

use std::path::Path;

use rustix::fs::Stat;
use tool::Extent;

use super::tidy::Kind;

/// Folders that programs fill and fill again: what is lost in them, the next run makes anew.
const REMADE: &[&str] = &[
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".turbo",
    ".venv",
    "__pycache__",
    "node_modules",
    "target",
];

/// Counts what is replaced or removed.
#[derive(Debug, Default)]
pub(super) struct Lost(Extent);

impl Lost {
    /// Counts what was at `inner`, unless it is made again anyway.
    pub(super) fn add(&mut self, inner: &Path, beneath: &Stat) {
        if Kind::of(beneath) == Kind::Folder || is_remade(inner) {
            return;
        }
        self.0.files += 1;
        self.0.bytes += u64::try_from(beneath.st_size).unwrap_or(0);
    }

    pub(super) const fn merge(&mut self, other: &Self) {
        self.0.files += other.0.files;
        self.0.bytes += other.0.bytes;
    }

    pub(super) const fn extent(&self) -> Extent {
        self.0
    }
}

fn is_remade(inner: &Path) -> bool {
    let mut names = inner.iter().filter_map(|name| name.to_str());
    names.any(|name| REMADE.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_again_is_not_lost() {
        for (path, expected) in [
            ("target/debug/app", true),
            ("web/node_modules/x/index.js", true),
            ("src/target.rs", false),
            ("src/lib.rs", false),
            (".git/index", false),
        ] {
            assert_eq!(is_remade(Path::new(path)), expected, "{path}");
        }
    }
}
