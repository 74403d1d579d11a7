//! How deep folders may be nested.

use std::{fmt, io};

/// Deeper than any folder people make. Each level costs a descriptor and, in recursive functions,
/// stack.
pub(crate) const MAX_DEPTH: usize = 200;

/// Folders are nested more than [`MAX_DEPTH`] deep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "folders in it are nested more than {MAX_DEPTH} deep, so it could not be kept for undo; \
             remove or flatten it yourself, outside of Toolgate"
        )
    }
}

impl std::error::Error for TooDeep {}

/// Refuses to go below `depth` folders.
pub(crate) fn check(depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH { Err(io::Error::other(TooDeep)) } else { Ok(()) }
}

impl From<TooDeep> for io::Error {
    fn from(error: TooDeep) -> Self {
        Self::other(error)
    }
}
