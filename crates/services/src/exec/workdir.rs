//! The folder a command starts in.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tool::{Caller, Capabilities as _, Need, Run, ToolError};
use world::World;

/// Where the command starts: a folder that is there, in the workspace or in the session's own temp
/// folder, links resolved. May block.
pub(super) fn workdir(world: &World, caller: &Caller, run: &Run) -> Result<PathBuf, ToolError> {
    let disk = world.disk(caller)?;
    let resolved = PathBuf::from(disk.look(&Need::Read(run.cwd.clone()))?.resolved);
    let inside = in_temp(world, caller, &resolved)?;
    if inside.is_none() && !resolved.starts_with(disk.folder()) {
        return Err(ToolError::path(&run.cwd, "is not in the workspace, where commands start"));
    }
    match fs::metadata(&resolved) {
        Ok(found) if found.is_dir() => Ok(inside.unwrap_or(resolved)),
        Ok(_) => Err(ToolError::failed(format!("`{}` is not a folder to start in", run.cwd))),
        Err(_) => Err(ToolError::not_found(&run.cwd)),
    }
}

/// Where commands see what lies in the session's own temp folder; `None` if it lies elsewhere.
pub(super) fn in_temp(
    world: &World,
    caller: &Caller,
    resolved: &Path,
) -> Result<Option<PathBuf>, ToolError> {
    let inner = resolved.strip_prefix(world.temp_folder(caller)?).ok().map(Path::to_owned);
    Ok(inner.map(|inner| Path::new("/tmp").join(inner)))
}
