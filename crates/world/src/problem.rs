//! What a model is told when the kernel says no.

use std::io;

use rustix::io::Errno;
use tool::{FilePath, ToolError};

use crate::{beneath::NOT_REGULAR, tree::TooDeep};

/// Says what went wrong with reading `path`; the errno stays with the operator.
pub(crate) fn reading(path: &FilePath, source: impl Into<io::Error>) -> ToolError {
    let source = match refused(source.into()) {
        Ok(refused) => return refused,
        Err(source) => source,
    };
    match Errno::from_io_error(&source) {
        Some(Errno::NOENT | Errno::NOTDIR) => ToolError::not_found(path),
        Some(errno) => misplaced(path, errno).unwrap_or_else(|| failed("read", path, source)),
        None => failed("read", path, source),
    }
}

/// Says what went wrong with changing `path`.
pub(crate) fn writing(path: &FilePath, source: impl Into<io::Error>) -> ToolError {
    let source = match refused(source.into()) {
        Ok(refused) => return refused,
        Err(source) => source,
    };
    match Errno::from_io_error(&source) {
        Some(Errno::NOTDIR) => ToolError::path(path, "is beneath a file, not a folder"),
        Some(Errno::NOENT | Errno::EXIST | Errno::STALE) => changed_since(path),
        Some(errno) => misplaced(path, errno).unwrap_or_else(|| failed("write", path, source)),
        None => failed("write", path, source),
    }
}

/// A refusal that travelled through code that knows only I/O errors.
fn refused(error: io::Error) -> Result<ToolError, io::Error> {
    error.downcast::<ToolError>()
}

/// Somebody else was faster.
pub(crate) fn changed_since(path: &FilePath) -> ToolError {
    ToolError::failed(format!("`{path}` changed since, so nothing was changed; read it again"))
}

/// A path that leads out of every root.
pub(crate) fn outside(path: &FilePath) -> ToolError {
    ToolError::path(path, "is outside the workspace")
}

fn misplaced(path: &FilePath, errno: Errno) -> Option<ToolError> {
    Some(match errno {
        Errno::XDEV => outside(path),
        Errno::LOOP => ToolError::path(path, "goes through a link"),
        Errno::ISDIR => ToolError::path(path, "is a folder"),
        NOT_REGULAR | Errno::NXIO | Errno::NODEV => ToolError::path(path, "is not a regular file"),
        Errno::INVAL => ToolError::path(path, "is not a valid path"),
        Errno::NAMETOOLONG => ToolError::path(path, "has a name that is too long"),
        _ => return None,
    })
}

fn failed(what: &str, path: &FilePath, source: io::Error) -> ToolError {
    let why = match Errno::from_io_error(&source) {
        Some(Errno::NOSPC | Errno::DQUOT) => "the disk is full".to_owned(),
        Some(Errno::ROFS) => "the file system is read-only".to_owned(),
        Some(Errno::ACCESS | Errno::PERM) => "permission denied".to_owned(),
        Some(Errno::MFILE | Errno::NFILE) => "too many files are open".to_owned(),
        Some(Errno::IO) => "the disk reports an error".to_owned(),
        _ if is_too_deep(&source) => source.to_string(),
        _ => source.kind().to_string(),
    };
    ToolError::failed_by(format!("cannot {what} `{path}`: {why}"), source)
}

fn is_too_deep(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<TooDeep>())
}
