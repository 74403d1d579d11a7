//! Copies that outlive what they were made from.

use std::{
    io::{Read, Seek as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use rustix::fs::{AtFlags, Mode, fchmod, statat, unlinkat};
use tool::{Digest, ToolError};

use crate::{
    World,
    data::{Data, private_file},
    tree::names,
};

const FOLDER: &str = "copies";
/// Nobody needs one longer than it takes to start a command.
const OLD: Duration = Duration::from_hours(1);

/// A file of ours that nobody else can change; gone when dropped.
#[derive(Debug)]
pub struct Copied(PathBuf);

impl Copied {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // What is left is removed at the next start.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl World {
    /// A file with this content in the data folder, and what names it. May block.
    pub fn copy_of(
        &self,
        mut content: impl Read,
        mode: u32,
    ) -> Result<(Copied, Digest), ToolError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let mut make = || {
            let folder = self.common.data.folder(FOLDER)?;
            // One of a process that had our number and was killed.
            let _ = unlinkat(&folder, &*name, AtFlags::empty());
            let mut file = private_file(&folder, &name)?;
            let copied = Copied(self.common.data.path()?.join(FOLDER).join(&name));
            std::io::copy(&mut content, &mut file)?;
            file.rewind()?;
            let (digest, _) = Digest::of_reader(&file)?;
            fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
            Ok::<_, std::io::Error>((copied, digest))
        };
        make().map_err(ToolError::internal)
    }
}

/// Removes what a killed process left.
pub(crate) fn sweep_copies(data: &Data, now: SystemTime) {
    let Ok(folder) = data.folder(FOLDER) else { return };
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    for name in names(&folder).unwrap_or_default() {
        let stat = statat(&folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
        let made = stat.map_or(0, |stat| u64::try_from(stat.st_ctime).unwrap_or(0));
        if now.abs_diff(made) > OLD.as_secs() {
            let _ = unlinkat(&folder, name.as_slice(), AtFlags::empty());
        }
    }
}
