//! Going through a folder.

use std::{fs::File, io, ops::ControlFlow};

use crate::{FileKind, FilePath, FileStat};

/// Which entries a walk leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Hidden entries, and what `.gitignore` and `.ignore` files name.
    Skipped,
    /// None.
    Shown,
}

/// How to go through a folder.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    /// How many levels down; 1 is the folder's own entries.
    pub depth: usize,
    /// What to leave out.
    pub ignored: Ignored,
    /// On how many threads at most; with one, entries come in name order.
    pub threads: usize,
}

/// One entry found. Opening it is safe: it is reached from the folder it was found in, and links
/// are not followed.
pub trait WalkEntry {
    /// Its path, as calls name it.
    fn path(&self) -> &FilePath;
    /// What it is.
    fn kind(&self) -> FileKind;
    /// 1 for an entry of the folder the walk began in.
    fn depth(&self) -> usize;
    /// Opens a regular file for reading.
    fn open(&self) -> io::Result<File>;
    /// Looks at it.
    fn stat(&self) -> io::Result<FileStat>;
}

/// Looks at each entry, on several threads at once; `Break` ends the walk.
pub type Visit<'a> = &'a (dyn Fn(&dyn WalkEntry) -> ControlFlow<()> + Sync);

/// How deep the braces of a glob pattern are nested, at most. Libraries for globs recurse into them,
/// so a pattern or an ignore file with many could end the process.
pub fn brace_depth(pattern: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}
