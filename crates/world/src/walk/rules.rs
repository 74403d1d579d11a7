//! What `.gitignore` and `.ignore` files leave out.

use std::{
    ffi::OsStr,
    io::Read,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use tool::FileKind;

use super::listing::Marks;
use crate::{
    beneath::{Links, open_file, open_folder},
    root::Root,
};

// Nobody writes a longer one by hand; the rest of it is not read.
const LONGEST: u64 = 1024 * 1024;

/// Lines with more nested braces are left out: the glob library recurses into each.
const MAX_BRACE_DEPTH: usize = 32;

/// The ignore files of one folder, and those above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Self>>,
    /// How much of a path lies above the folder.
    offset: usize,
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// A repository's own files end what the `.gitignore` files above it say.
    repository: bool,
}

impl Rules {
    /// The rules that hold above `inner`.
    pub(super) fn above(root: &Root, inner: &Path) -> Option<Arc<Self>> {
        let mut folders: Vec<_> = inner.ancestors().skip(1).collect();
        folders.reverse();
        folders.into_iter().fold(None, |above, folder| {
            let path = if folder == Path::new("") { Path::new(".") } else { folder };
            let Ok(fd) = open_folder(root, path, Links::Refused) else { return above };
            let all = Marks { ignore: true, gitignore: true, repository: true };
            let slash = usize::from(folder != Path::new(""));
            Self::within(above, fd.as_fd(), all, folder.as_os_str().len() + slash)
        })
    }

    /// The rules that hold in a folder. No file is opened that is not there.
    pub(super) fn within(
        above: Option<Arc<Self>>,
        folder: BorrowedFd<'_>,
        marks: Marks,
        offset: usize,
    ) -> Option<Arc<Self>> {
        if marks == Marks::default() {
            return above;
        }
        let read = |name: &str| read(folder, name);
        let mut rules = Self {
            offset,
            ignore: marks.ignore.then(|| read(".ignore")).flatten(),
            gitignore: marks.gitignore.then(|| read(".gitignore")).flatten(),
            exclude: marks.repository.then(|| read(".git/info/exclude")).flatten(),
            repository: marks.repository && open_folder(folder, ".git", Links::Refused).is_ok(),
            above,
        };
        let empty = rules.ignore.is_none()
            && rules.gitignore.is_none()
            && rules.exclude.is_none()
            && !rules.repository;
        if empty { rules.above.take() } else { Some(Arc::new(rules)) }
    }

    /// Whether `path` is left out, or shown by name, or neither. The nearest folder speaks first;
    /// `.ignore` files outrank all `.gitignore` files, and those outrank `.git/info/exclude`.
    pub(super) fn verdict(&self, path: &[u8], kind: FileKind) -> Option<bool> {
        let (mut ignore, mut gitignore, mut exclude) = (None, None, None);
        let mut in_repository = true;
        for rules in std::iter::successors(Some(self), |rules| rules.above.as_deref()) {
            let path = Path::new(OsStr::from_bytes(path.get(rules.offset..).unwrap_or_default()));
            let ask = |rules: &Option<Gitignore>| matched(rules.as_ref()?, path, kind);
            ignore = ignore.or_else(|| ask(&rules.ignore));
            if in_repository {
                gitignore = gitignore.or_else(|| ask(&rules.gitignore));
                exclude = exclude.or_else(|| ask(&rules.exclude));
            }
            in_repository &= !rules.repository;
        }
        ignore.or(gitignore).or(exclude)
    }
}

impl Drop for Rules {
    /// Folders can be nested without end, so the rules above are not dropped by recursion.
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(mut rules) = above.and_then(Arc::into_inner) {
            above = rules.above.take();
        }
    }
}

fn matched(rules: &Gitignore, path: &Path, kind: FileKind) -> Option<bool> {
    match rules.matched(path, kind == FileKind::Folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn read(folder: BorrowedFd<'_>, name: &str) -> Option<Gitignore> {
    let (file, _) = open_file(folder, name, Links::Refused).ok()?;
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new("");
    let text = String::from_utf8_lossy(&text);
    let lines = text.trim_start_matches('\u{feff}').lines();
    for line in lines.filter(|line| tool::brace_depth(line) <= MAX_BRACE_DEPTH) {
        // A line that makes no sense leaves nothing out.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
