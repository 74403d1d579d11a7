//! Changes that a person has to agree to, taken out again because nobody did.

use std::{io, path::Path};

use tool::{FileState, Live, ToolError};

use super::collect::AskedChange;
use crate::{
    beneath::{Links, open_folder},
    commit::{Content, Wanted},
    problem,
    tree::{Hashing, hash, remove},
};

impl AskedChange {
    /// Says that it was left out.
    pub(super) fn note(&self) -> String {
        let Self { path, inside, rule } = self;
        let path = if inside == Path::new("") {
            path.clone()
        } else {
            path.join(&inside.to_string_lossy())
        };
        format!(
            "the change of `{path}` was left out: other programs or agents obey it (rule `{rule}`), and \
             nobody agreed to it"
        )
    }
}

/// The changes without those that a person would have to agree to. A new folder is kept without the
/// files in question.
pub(super) fn without_asked(
    wanted: Vec<Wanted>,
    asked: &[AskedChange],
    live: &Live,
) -> Result<Vec<Wanted>, ToolError> {
    let mut kept = Vec::new();
    for mut one in wanted {
        let inside: Vec<_> = asked.iter().filter(|asked| asked.path == one.path).collect();
        let is_whole = inside.iter().any(|asked| asked.inside == Path::new(""));
        match &mut one.content {
            _ if inside.is_empty() => {}
            Content::Moved(moved) if !is_whole && matches!(moved.state, FileState::Tree { .. }) => {
                let prune = || -> io::Result<FileState> {
                    let folder = open_folder(&moved.folder, &*moved.name, Links::Refused)?;
                    for asked in &inside {
                        let above = asked.inside.parent().filter(|above| *above != Path::new(""));
                        let above =
                            open_folder(&folder, above.unwrap_or(Path::new(".")), Links::Refused)?;
                        remove(&above, asked.inside.file_name().unwrap_or_default())?;
                    }
                    let hashed = hash(&folder, &mut Hashing { live, visit: &mut |_| Ok(()) })?;
                    Ok(hashed.into())
                };
                moved.state = prune().map_err(|error| problem::reading(&one.path, error))?;
            }
            Content::Moved(_) | Content::Given(_) | Content::Removed => continue,
        }
        kept.push(one);
    }
    Ok(kept)
}
