//! Saying what was probably meant.

use rustix::fs::{Dir, FileType};
use tool::{FilePath, ToolError, nearest};

use crate::{
    beneath::{Links, open_folder},
    root::Root,
};

// Enough to help, little enough to be free.
const ENTRIES: usize = 2_000;

/// Says that `path` is not there, and names the entry of the same folder that looks like it.
pub(super) fn missing(root: &Root, inner: &str, path: &FilePath) -> ToolError {
    let hint = similar(root, inner, path);
    let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    ToolError::FileNotFound { path: path.to_string(), hint }
}

fn similar(root: &Root, inner: &str, path: &FilePath) -> Option<FilePath> {
    let name = path.name()?;
    let folder = inner.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let fd = open_folder(root, folder, Links::Followed).ok()?;
    // Of a folder that must not be seen nothing is named.
    root.inner(&fd).ok()?;
    let names = names(root, Dir::read_from(&fd).ok()?);
    let near = nearest(name, names.iter().map(String::as_str))?;
    Some(path.join("..").join(near))
}

fn names(root: &Root, entries: Dir) -> Vec<String> {
    let hidden = root.hidden().map(|id| id.inode);
    let seen = entries.filter_map(Result::ok).take(ENTRIES).filter(|entry| {
        // A file with the data folder's number on another disk is not named either: no loss.
        entry.file_type() != FileType::Directory || Some(entry.ino()) != hidden
    });
    let names = seen.filter_map(|entry| entry.file_name().to_str().map(str::to_owned).ok());
    names.filter(|name| name != "." && name != "..").collect()
}
