//! Which root a path belongs to.

use std::{path::Path, sync::Arc};

use tool::{FilePath, ToolError};

use super::Workspace;
use crate::{problem, root::Root};

/// What callers call their private temp folder.
pub(super) const TEMP: &str = "/tmp";

/// A path and the root it is looked up in. Whether it stays there is the kernel's word.
#[derive(Debug)]
pub(crate) struct Located {
    /// As the call names it.
    pub(crate) path: FilePath,
    pub(crate) root: Arc<Root>,
    /// Relative to the root; `.` for the root itself.
    pub(crate) inner: String,
}

/// The id in `artifact:ID`.
pub(super) fn artifact_id(path: &FilePath) -> Option<&str> {
    path.as_str().strip_prefix("artifact:")
}

/// Finds the root of `path` by component; of nested roots the innermost.
pub(super) fn locate(workspace: &Workspace, path: &FilePath) -> Result<Located, ToolError> {
    let text = path.as_str();
    if text == "~" || text.starts_with("~/") {
        return Err(ToolError::path(path, "starts with `~`, which is not expanded here"));
    }
    if artifact_id(path).is_some() {
        return Err(ToolError::path(path, "is an artifact, which can only be read"));
    }
    let located = |root: &Arc<Root>, inner: &str| Located {
        path: path.clone(),
        root: root.clone(),
        inner: if inner.is_empty() { ".".to_owned() } else { inner.to_owned() },
    };
    if !text.starts_with('/') {
        return Ok(located(&workspace.root, text));
    }
    let roots = std::iter::once(&workspace.root).chain(&workspace.common.extra);
    let own = roots.filter_map(|root| {
        let (length, inner) = root.strip(Path::new(text))?;
        Some((length, located(root, inner.to_str()?)))
    });
    // Of two equally long ones the first: the workspace comes before what was added to it.
    let own = own.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let temp = Path::new(text).strip_prefix(TEMP).ok().and_then(Path::to_str);
    match (own, temp) {
        (Some((length, found)), Some(_)) if length > 1 => Ok(found),
        (_, Some(inner)) => Ok(located(workspace.temp()?, inner)),
        (Some((_, found)), None) => Ok(found),
        (None, None) => Err(problem::outside(path)),
    }
}
