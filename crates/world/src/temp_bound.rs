//! Keeps the private temp folder of a session within bounds.

use std::{io, os::fd::OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstatvfs, openat, statat};
use tool::{Caller, ToolError};

use crate::{
    World,
    tree::{MAX_DEPTH, names, remove},
};

/// The home folder of commands in the temp folder: caches, which are worth more than the rest.
const HOME: &str = ".home";

impl World {
    /// Free bytes on the disk of the caller's temp folder.
    pub fn temp_free(&self, caller: &Caller) -> Result<u64, ToolError> {
        let workspace = self.workspace_of(caller);
        let stat = fstatvfs(&**workspace.temp()?).map_err(ToolError::internal)?;
        Ok(stat.f_bfree.saturating_mul(stat.f_frsize))
    }

    /// Empties the caller's temp folder if it takes more than `max_bytes` of the disk: first all but
    /// the home folder in it, then that too. Says how much there was, if it was too much. May block.
    pub fn bound_temp(&self, caller: &Caller, max_bytes: u64) -> Result<Option<u64>, ToolError> {
        let workspace = self.workspace_of(caller);
        let temp = workspace.temp()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let bound = || -> io::Result<Option<u64>> {
            let folder = openat(&**temp, ".", flags, Mode::empty())?;
            let used = disk_usage(&folder, max_bytes)?;
            if used <= max_bytes {
                return Ok(None);
            }
            for name in names(&folder)? {
                if name != HOME.as_bytes() {
                    remove(&folder, name.as_slice())?;
                }
            }
            if disk_usage(&folder, max_bytes)? > max_bytes {
                let home = openat(&folder, HOME, flags | OFlags::NOFOLLOW, Mode::empty())?;
                names(&home)?.iter().try_for_each(|name| remove(&home, name.as_slice()))?;
            }
            Ok(Some(used))
        };
        bound().map_err(ToolError::internal)
    }
}

/// The blocks that a folder takes on the disk with everything in it; the count ends beyond `enough`.
/// A tree that is nested too deep counts as too much.
fn disk_usage(folder: &OwnedFd, enough: u64) -> io::Result<u64> {
    const BLOCK_BYTES: u64 = 512;
    let mut levels = vec![(folder.try_clone()?, names(folder)?)];
    let mut used = 0_u64;
    while let Some((folder, rest)) = levels.last_mut() {
        let Some(name) = rest.pop() else {
            levels.pop();
            continue;
        };
        // What is gone meanwhile takes nothing.
        let Ok(stat) = statat(&*folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(BLOCK_BYTES);
        used = used.saturating_add(blocks);
        if used > enough {
            break;
        }
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(inner) = openat(&*folder, name.as_slice(), flags, Mode::empty()) else {
                continue;
            };
            if levels.len() > MAX_DEPTH {
                return Ok(u64::MAX);
            }
            let inside = names(&inner)?;
            levels.push((inner, inside));
        }
    }
    Ok(used)
}
