//! One change on its way.

use std::{io, os::fd::OwnedFd, sync::Arc};

use rustix::{
    fs::{Access, AtFlags, accessat, renameat, unlinkat},
    io::Errno,
};
use tool::{Change, Expect, FileChange, FileContent, FileState, ToolError};

use super::{
    folders::Folders,
    found::{Found, Seen, absent, find},
    step::step,
    target::Target,
    temp::{New, Temp, rename_new, swap, unsupported},
};
use crate::{blobs::Blobs, problem, workspace::Common};

/// A change whose new content waits in a temp file.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) target: Target,
    before: FileState,
    after: FileState,
    seen: Option<Seen>,
    temp: Temp,
    /// The folder the target is in, once that is sure to exist.
    parent: Option<Arc<OwnedFd>>,
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// In place; what was there before has the temp file's name.
    Swapped,
    /// In place; what was there before is only in the store of pre-images.
    Replaced,
}

impl Pending {
    /// Checks a change, keeps what it replaces and writes what is to be there. `None` if that is
    /// there already.
    pub(super) fn prepare(
        common: &Common,
        target: Target,
        change: FileChange,
        temp: String,
    ) -> Result<Option<Self>, ToolError> {
        let FileChange { path, expect, content } = change;
        let Found { state: before, content: old, seen } = if target.missing.is_empty() {
            find(&target.folder, &target.name, &path, common.max_file_bytes)?
        } else {
            absent()
        };
        let content = joined(content, &old);
        check_expected(&before, &expect, &target)?;
        refuse_read_only(&before, &content, &target)?;
        let Some(new) = changed(common, &before, content, &target)? else { return Ok(None) };
        let failed = |source| problem::writing(&path, source);
        if let FileState::File { digest, .. } = before {
            common.blobs.put(digest, &old).map_err(failed)?;
            step();
        }
        let (temp, after) = Temp::write(target.folder.clone(), temp, &new, seen).map_err(failed)?;
        step();
        let progress = Progress::Waiting;
        Ok(Some(Self { target, before, after, seen, temp, parent: None, progress }))
    }

    /// What the journal records.
    pub(super) fn change(&self) -> Change {
        let staged = self.target.above.join(&self.temp.name).to_string_lossy().into_owned();
        Change {
            path: self.target.path.clone(),
            root: self.target.root.path().to_string_lossy().into_owned(),
            inner: self.target.inner(),
            before: self.before.clone(),
            after: self.after.clone(),
            staged: (self.after != FileState::Absent).then_some(staged),
        }
    }

    /// Puts the new content in place, if what is there still is what was kept.
    pub(super) fn apply(&mut self, folders: &mut Folders) -> Result<(), ToolError> {
        self.target.refuse_moved()?;
        let failed = |errno: Errno| problem::writing(&self.target.path, errno);
        let parent = folders.parent(&self.target).map_err(failed)?;
        self.parent = Some(parent.clone());
        let (temp, place) = self.names(&parent);
        self.progress = match (&self.before, &self.after) {
            (FileState::Absent, _) => rename_new(temp, place).map(|()| Progress::Swapped),
            (_, FileState::Absent) => rename_new(place, temp).map(|()| Progress::Swapped),
            (_, _) => match swap(temp, place) {
                Err(errno) if unsupported(errno) => {
                    self.refuse_touched(place)?;
                    renameat(temp.0, temp.1, place.0, place.1).map(|()| Progress::Replaced)
                }
                swapped => swapped.map(|()| Progress::Swapped),
            },
        }
        .map_err(failed)?;
        // Only now is it certain that nobody wrote to it after it was kept.
        if self.before != FileState::Absent && self.progress == Progress::Swapped {
            self.refuse_touched((&self.temp.folder, &self.temp.name))?;
        }
        Ok(())
    }

    /// Removes what was there before; it is kept among the pre-images.
    pub(super) fn settle(&mut self) {
        if self.progress == Progress::Swapped && self.before != FileState::Absent {
            let _ = unlinkat(&self.temp.folder, &self.temp.name, AtFlags::empty());
            self.progress = Progress::Replaced;
        }
    }

    /// Puts back what was there before.
    pub(super) fn roll_back(&mut self, blobs: &Blobs) -> io::Result<()> {
        let Some(parent) = self.parent.clone() else { return Ok(()) };
        let (temp, place) = self.names(&parent);
        match (self.progress, &self.before, &self.after) {
            (Progress::Waiting, _, _) => {}
            (_, FileState::Absent, _) => rename_new(place, temp)?,
            (Progress::Swapped, _, FileState::Absent) => rename_new(temp, place)?,
            (Progress::Swapped, _, _) => swap(temp, place)?,
            (Progress::Replaced, before, _) => {
                let new = kept(blobs, before).ok_or(io::ErrorKind::NotFound)?;
                let name = format!("{}.back.tmp", self.temp.name);
                let (back, _) = Temp::write(parent.clone(), name, &new, self.seen)?;
                renameat(&back.folder, &back.name, place.0, place.1)?;
            }
        }
        self.progress = Progress::Waiting;
        Ok(())
    }

    fn refuse_touched(&self, (folder, name): (&OwnedFd, &str)) -> Result<(), ToolError> {
        if Seen::at(folder, name).ok() == self.seen {
            return Ok(());
        }
        Err(problem::changed_since(&self.target.path))
    }

    fn names<'a>(
        &'a self,
        parent: &'a OwnedFd,
    ) -> ((&'a OwnedFd, &'a str), (&'a OwnedFd, &'a str)) {
        ((&self.temp.folder, &self.temp.name), (parent, &self.target.name))
    }
}

/// What to write to get `state` back, if it is still kept.
pub(super) fn kept(blobs: &Blobs, state: &FileState) -> Option<New> {
    Some(match state {
        FileState::Absent => New::Absent,
        FileState::Link { target } => New::Link(target.clone()),
        FileState::File { digest, mode, bytes: _ } => {
            New::File { bytes: blobs.get(*digest)?, mode: Some(*mode) }
        }
    })
}

fn check_expected(before: &FileState, expect: &Expect, target: &Target) -> Result<(), ToolError> {
    let met = match expect {
        Expect::Anything => true,
        Expect::State(state) => state == before,
        Expect::Content(wanted) => {
            matches!(before, FileState::File { digest, .. } if digest == wanted)
        }
    };
    if met { Ok(()) } else { Err(problem::changed_since(&target.path)) }
}

/// A rename would replace a file that nobody may write. Who gives a mode means to.
fn refuse_read_only(
    before: &FileState,
    content: &FileContent,
    target: &Target,
) -> Result<(), ToolError> {
    let (FileState::File { mode, .. }, FileContent::File { mode: None, .. }) = (before, content)
    else {
        return Ok(());
    };
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    let may = accessat(&target.folder, &target.name, Access::WRITE_OK, flags);
    if mode & 0o222 != 0 && !matches!(may, Err(Errno::ACCESS | Errno::PERM)) {
        return Ok(());
    }
    Err(ToolError::failed(format!("cannot write `{}`: it is read-only", target.path)))
}

/// What is added to a file is added to what is there under the lock.
fn joined(content: FileContent, old: &[u8]) -> FileContent {
    match content {
        FileContent::Append(more) => {
            FileContent::File { bytes: [old, more.as_slice()].concat(), mode: None }
        }
        other @ (FileContent::File { .. }
        | FileContent::Kept { .. }
        | FileContent::Link(_)
        | FileContent::Absent) => other,
    }
}

/// What is to be written, or `None` if it is there already.
fn changed(
    common: &Common,
    before: &FileState,
    content: FileContent,
    target: &Target,
) -> Result<Option<New>, ToolError> {
    let new = match content {
        FileContent::File { bytes, mode } => New::File { bytes, mode },
        FileContent::Append(bytes) => New::File { bytes, mode: None },
        FileContent::Kept { digest, mode } => {
            let bytes = common.blobs.get(digest).ok_or_else(|| no_longer_kept(target))?;
            New::File { bytes, mode: Some(mode) }
        }
        FileContent::Link(to) => New::Link(to),
        FileContent::Absent => New::Absent,
    };
    let same = match (&new, before) {
        (New::File { .. }, FileState::Link { .. }) => {
            return Err(ToolError::path(&target.path, "is a link"));
        }
        (New::File { bytes, mode }, FileState::File { digest, mode: old, bytes: _ }) => {
            mode.is_none_or(|mode| mode == *old) && tool::Digest::of(bytes) == *digest
        }
        (New::Link(to), FileState::Link { target }) => to == target,
        (New::Absent, FileState::Absent) => true,
        (New::File { .. } | New::Link(_) | New::Absent, _) => false,
    };
    // A file that is replaced keeps its mode.
    let new = match (new, before) {
        (New::File { bytes, mode: None }, FileState::File { mode, .. }) => {
            New::File { bytes, mode: Some(*mode) }
        }
        (new, _) => new,
    };
    Ok((!same).then_some(new))
}

fn no_longer_kept(target: &Target) -> ToolError {
    ToolError::failed(format!("the earlier content of `{}` is no longer kept", target.path))
}
