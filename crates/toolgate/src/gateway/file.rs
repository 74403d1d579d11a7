//! The configuration file, read and replaced whole.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use tool::ToolError;

use crate::watch::Stamp;

/// Larger than any configuration a person writes.
const MAX_BYTES: u64 = 1 << 20;
/// Shorter than the time of a call. A change takes milliseconds, and a few may be waiting.
const PATIENCE: Duration = Duration::from_secs(20);
const EVERY: Duration = Duration::from_millis(10);

/// Only the owner's: it says how the machine is guarded.
const NEW_FILE: u32 = 0o600;
const NEW_FOLDER: u32 = 0o700;

/// A configuration file that may be there.
#[derive(Debug)]
pub(super) struct ConfigFile {
    /// Without links.
    path: PathBuf,
    folder: PathBuf,
    shown: String,
}

/// What a file was when it was read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) text: String,
    stamp: Stamp,
    mode: u32,
    owner: (u32, u32),
}

/// Whether a file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replaced {
    /// It was.
    Yes,
    /// It is another one than the one that was read.
    No,
}

/// Nobody else changes files of the folder while this is there, in any process.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "dropping it is its use")] File);

/// The new content, on the disk beside the file.
#[derive(Debug)]
struct Staged<'a> {
    file: &'a ConfigFile,
    temp: PathBuf,
}

impl ConfigFile {
    /// The file at `path`. A link is followed within its folder and no further: what it leads to
    /// elsewhere may be anything.
    pub(super) fn at(path: &Path) -> Result<Self, ToolError> {
        let shown = path.display().to_string();
        let failed = |source| failed("find", &shown, source);
        let path = std::path::absolute(path).map_err(failed)?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ToolError::failed(format!("`{shown}` names no file")));
        };
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {}
            Ok(found) if !found.is_file() => {
                return Err(ToolError::failed(format!("`{shown}` is not a file")));
            }
            Ok(_) => {
                let folder = folder.canonicalize().map_err(failed)?;
                return Ok(Self { path: folder.join(name), folder, shown });
            }
            // It may be made, and its folder too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
                return Ok(Self { path: folder.join(name), folder, shown });
            }
            Err(error) => return Err(failed(error)),
        }
        let folder = folder.canonicalize().map_err(failed)?;
        let target = path.canonicalize().map_err(failed)?;
        if target.parent() != Some(&folder) || !target.is_file() {
            let message = "is a link that leads out of its folder; change what it leads to by hand";
            return Err(ToolError::failed(format!("`{shown}` {message}")));
        }
        Ok(Self { path: target, folder, shown })
    }

    /// As it was named.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is there; `None` if there is no file.
    pub(super) fn read(&self) -> Result<Option<Found>, ToolError> {
        let failed = |source| failed("read", &self.shown, source);
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let about = file.metadata().map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            let message = format!("`{}` is larger than {MAX_BYTES} bytes", self.shown);
            return Err(ToolError::failed(message));
        }
        let text = String::from_utf8(bytes);
        let text = text.map_err(|error| failed(io::Error::other(error)))?;
        let (stamp, mode) = (Stamp::from(&about), about.mode() & 0o7777);
        Ok(Some(Found { text, stamp, mode, owner: (about.uid(), about.gid()) }))
    }

    /// Waits for others who change the file. Makes the folder, if it is not there.
    pub(super) fn lock(&self) -> Result<Lock, ToolError> {
        let failed = |source| failed("lock", &self.shown, source);
        DirBuilder::new().recursive(true).mode(NEW_FOLDER).create(&self.folder).map_err(failed)?;
        // The folder, because the file itself is replaced.
        let folder = File::open(&self.folder).map_err(failed)?;
        let begin = Instant::now();
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Lock(folder)),
                Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => sleep(EVERY),
                Err(TryLockError::WouldBlock) => {
                    let message = "is being changed by another process; try again later";
                    return Err(ToolError::failed(format!("`{}` {message}", self.shown)));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    /// Puts `text` in the place of what was `found`, whole or not at all.
    pub(super) fn replace(&self, found: Option<&Found>, text: &str) -> Result<Replaced, ToolError> {
        let failed = |source| failed("write", &self.shown, source);
        let staged = self.stage(found, text).map_err(failed)?;
        // Whoever writes it by hand knows of no lock.
        if Stamp::of(&self.path) != found.map(|found| found.stamp) {
            staged.drop_it();
            return Ok(Replaced::No);
        }
        staged.put().map_err(failed)?;
        Ok(Replaced::Yes)
    }

    /// Writes `text` beside the file.
    fn stage(&self, found: Option<&Found>, text: &str) -> io::Result<Staged<'_>> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let temp = self.folder.join(format!(".{name}.toolgate-new"));
        // One that a killed process left. Never written into: it may be a link.
        if let Err(error) = fs::remove_file(&temp)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let staged = Staged { file: self, temp };
        let mode = found.map_or(NEW_FILE, |found| found.mode);
        let written = staged.write(mode, found.map(|found| found.owner), text);
        if let Err(error) = written {
            staged.drop_it();
            return Err(error);
        }
        Ok(staged)
    }
}

impl Staged<'_> {
    fn write(&self, mode: u32, owner: Option<(u32, u32)>, text: &str) -> io::Result<()> {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(NEW_FILE).open(&self.temp)?;
        let made = file.metadata()?;
        if let Some((user, group)) = owner.filter(|owner| *owner != (made.uid(), made.gid())) {
            fchown(&file, Some(user), Some(group))?;
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Puts it in the place of the file.
    fn put(self) -> io::Result<()> {
        if let Err(error) = fs::rename(&self.temp, &self.file.path) {
            self.drop_it();
            return Err(error);
        }
        File::open(&self.file.folder)?.sync_all()
    }

    fn drop_it(&self) {
        if let Err(error) = fs::remove_file(&self.temp) {
            tracing::warn!(file = %self.temp.display(), %error, "cannot be removed");
        }
    }
}

fn failed(what: &str, file: &str, source: io::Error) -> ToolError {
    ToolError::failed_by(format!("cannot {what} `{file}`: {}", source.kind()), source)
}

#[cfg(test)]
mod tests;
