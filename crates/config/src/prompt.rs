//! What a model is told before anything else.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

/// Longer than any prompt; a wrong path must not fill the memory.
const MAX_BYTES: u64 = 1 << 18;

/// What a model is told before anything else, or where that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// The text itself.
    Text(String),
    /// The text of this file, read anew for every run.
    File(PathBuf),
}

impl Prompt {
    /// The text. Reads the file, so not for async code.
    pub fn read(&self) -> io::Result<Cow<'_, str>> {
        let path = match self {
            Self::Text(text) => return Ok(text.into()),
            Self::File(path) => path,
        };
        let mut text = String::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
        }
        Ok(text.into())
    }
}
