//! One change on its way.

use std::{collections::BTreeSet, io, os::fd::OwnedFd, sync::Arc};

use rustix::{
    fs::{Access, AtFlags, Mode, accessat, fchmod, renameat, syncfs, unlinkat},
    io::Errno,
};
use tool::{Change, Expect, FileContent, FileState, Live, ToolError};

use super::{
    folders::Folders,
    found::{AsFolder, Finding, Found, MODE, Seen, absent, find},
    step::step,
    target::Target,
    temp::{New, Temp, rename_new, swap, unsupported},
    wanted::{Content, Wanted},
};
use crate::{
    beneath::{Links, open_folder},
    problem,
    tree::Trees,
    workspace::Common,
};

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
    /// Whether the temp file is a folder that was copied and not synced.
    is_unsynced: bool,
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
        wanted: Wanted,
        temp: String,
        live: &Live,
    ) -> Result<Option<Self>, ToolError> {
        let Wanted { path, expect, content, since } = wanted;
        let (folders, since) = (folders_as(&content, &expect), since.map(|since| since.moment));
        let finding =
            Finding { path: &path, max_bytes: common.max_file_bytes, folders, since, live };
        let Found { state: before, content: old, seen } = if target.missing.is_empty() {
            find(&target.folder, &target.name, finding)?
        } else {
            absent()
        };
        if matches!(&expect, Expect::Restorable { to, .. } if *to == before) {
            return Ok(None);
        }
        check_expected(&before, &expect, &target)?;
        let failed = |source| problem::writing(&path, source);
        let (new, after) = match content {
            Content::Given(FileContent::FolderMode(mode)) => {
                let after = folder_mode(&before, mode, &target)?;
                (New::Absent, Some(after))
            }
            content @ (Content::Given(_) | Content::Moved(_) | Content::Removed) => {
                let content = joined(content, &old);
                refuse_read_only(&before, &content, &target)?;
                match changed(common, &before, content, &target)? {
                    Some(new) => (new, None),
                    None => return Ok(None),
                }
            }
        };
        if after.as_ref() == Some(&before) {
            return Ok(None);
        }
        if let FileState::File { digest, .. } = before {
            common.blobs.put(digest, &old).map_err(failed)?;
            step();
        }
        let place = (target.folder.clone(), temp);
        let is_copied = matches!(new, New::Tree(_));
        let is_unsynced = is_copied || matches!(&new, New::Moved(moved) if moved.is_linked_tree());
        let written = Temp::write(place, &new, seen, &common.trees);
        let (temp, written) = written.map_err(|source| {
            let is_damaged = is_copied && source.kind() == io::ErrorKind::InvalidData;
            if is_damaged { damaged(&target) } else { failed(source) }
        })?;
        step();
        let (after, progress) = (after.unwrap_or(written), Progress::Waiting);
        let parent = None;
        Ok(Some(Self { target, before, after, seen, temp, parent, progress, is_unsynced }))
    }

    /// Brings copied folders to the disk, once for each file system: a record promises that what it
    /// names is there.
    pub(super) fn sync_copies(pending: &[Self]) -> Result<(), ToolError> {
        let mut synced = BTreeSet::new();
        for one in pending.iter().filter(|one| one.is_unsynced) {
            if synced.insert(one.target.root.id.device) {
                let failed = |errno: Errno| problem::writing(&one.target.path, errno);
                syncfs(&one.target.folder).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Whether nothing shall be where something is.
    pub(super) const fn removes(&self) -> bool {
        matches!(self.after, FileState::Absent)
    }

    /// A folder that is opened up comes first, one that is closed last, so that what is in it can
    /// be changed.
    pub(super) const fn order(&self) -> u8 {
        match self.after {
            FileState::Folder { mode } if mode & 0o300 == 0o300 => 0,
            FileState::Folder { .. } => 2,
            FileState::Absent
            | FileState::File { .. }
            | FileState::Link { .. }
            | FileState::Tree { .. } => 1,
        }
    }

    /// What the journal records.
    pub(super) fn change(&self) -> Change {
        let temp = || self.target.above.join(&self.temp.name).to_string_lossy().into_owned();
        let waits = match self.after {
            FileState::Absent | FileState::Folder { .. } => false,
            FileState::File { .. } | FileState::Link { .. } | FileState::Tree { .. } => true,
        };
        Change {
            path: self.target.path.clone(),
            root: self.target.root.path().to_string_lossy().into_owned(),
            inner: self.target.inner(),
            before: self.before.clone(),
            after: self.after.clone(),
            staged: waits.then(temp),
            displaced: is_tree(&self.before).then(temp),
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
            (FileState::Folder { .. }, FileState::Folder { mode }) => {
                set_mode(place, *mode).map(|()| Progress::Replaced)
            }
            (FileState::Absent, _) => rename_new(temp, place).map(|()| Progress::Swapped),
            (_, FileState::Absent) => rename_new(place, temp).map(|()| Progress::Swapped),
            (before, after) => match swap(temp, place) {
                Err(errno) if unsupported(errno) && !is_tree(before) && !is_tree(after) => {
                    self.refuse_touched(place)?;
                    renameat(temp.0, temp.1, place.0, place.1).map(|()| Progress::Replaced)
                }
                swapped => swapped.map(|()| Progress::Swapped),
            },
        }
        .map_err(failed)?;
        if self.progress == Progress::Swapped {
            self.temp.precious = is_tree(&self.before);
            // Only now is it certain that nobody wrote to it after it was kept.
            if self.before != FileState::Absent {
                self.refuse_touched((&self.temp.folder, &self.temp.name))?;
            }
        }
        Ok(())
    }

    /// Removes what was there before; it is kept among the pre-images, a folder from now on.
    pub(super) fn settle(&mut self, trees: &Trees) -> Result<(), ToolError> {
        if self.progress != Progress::Swapped || self.before == FileState::Absent {
            return Ok(());
        }
        match self.before {
            FileState::Tree { digest, .. } => trees
                .put(digest, &self.temp.folder, &self.temp.name)
                .map_err(|source| problem::writing(&self.target.path, source))?,
            FileState::Absent
            | FileState::File { .. }
            | FileState::Link { .. }
            | FileState::Folder { .. } => {
                let _ = unlinkat(&self.temp.folder, &self.temp.name, AtFlags::empty());
            }
        }
        self.temp.precious = false;
        self.progress = Progress::Replaced;
        Ok(())
    }

    /// Puts back what was there before.
    pub(super) fn roll_back(&mut self, common: &Common) -> io::Result<()> {
        let Some(parent) = self.parent.clone() else { return Ok(()) };
        let (temp, place) = self.names(&parent);
        match (self.progress, &self.before, &self.after) {
            (Progress::Waiting, _, _) => {}
            (_, FileState::Folder { mode }, _) => set_mode(place, *mode)?,
            (_, FileState::Absent, _) => rename_new(place, temp)?,
            (Progress::Swapped, _, FileState::Absent) => rename_new(temp, place)?,
            (Progress::Swapped, _, _) => swap(temp, place)?,
            (Progress::Replaced, before, after) => {
                let new = kept(common, before).ok_or(io::ErrorKind::NotFound)?;
                let name = format!("{}.back.tmp", self.temp.name);
                let (back, _) =
                    Temp::write((parent.clone(), name), &new, self.seen, &common.trees)?;
                put_over((&back.folder, &back.name), place, after)?;
            }
        }
        self.temp.precious = false;
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

/// Puts what waits at `from` in place of what is `there`; a folder changes places with it.
pub(super) fn put_over(
    from: (&OwnedFd, &str),
    place: (&OwnedFd, &str),
    there: &FileState,
) -> Result<(), Errno> {
    match there {
        FileState::Absent => rename_new(from, place),
        FileState::Tree { .. } | FileState::Folder { .. } => swap(from, place),
        FileState::File { .. } | FileState::Link { .. } => {
            match renameat(from.0, from.1, place.0, place.1) {
                // A folder does not replace a file by itself.
                Err(Errno::NOTDIR) => swap(from, place),
                done => done,
            }
        }
    }
}

/// Changes the permission bits of a folder, and of nothing a link leads to.
pub(super) fn set_mode((parent, name): (&OwnedFd, &str), mode: u32) -> Result<(), Errno> {
    let folder = open_folder(parent, name, Links::Refused)?;
    fchmod(&folder, Mode::from_raw_mode(mode & MODE))
}

pub(super) const fn is_tree(state: &FileState) -> bool {
    matches!(state, FileState::Tree { .. })
}

/// Whether a folder may be there, and as what.
fn folders_as(content: &Content, expect: &Expect) -> AsFolder {
    let expected = match expect {
        Expect::State(state) | Expect::Restorable { from: state, to: _ } => is_tree(state),
        Expect::Anything | Expect::Content(_) => false,
    };
    match content {
        Content::Given(FileContent::FolderMode(_)) => AsFolder::Itself,
        content if content.replaces_folders() || expected => AsFolder::Tree,
        Content::Given(_) | Content::Moved(_) | Content::Removed => AsFolder::Refused,
    }
}

fn folder_mode(before: &FileState, mode: u32, target: &Target) -> Result<FileState, ToolError> {
    match before {
        FileState::Folder { .. } => Ok(FileState::Folder { mode: mode & MODE }),
        FileState::Absent
        | FileState::File { .. }
        | FileState::Link { .. }
        | FileState::Tree { .. } => Err(problem::changed_since(&target.path)),
    }
}

/// What to write to get `state` back, if it is still kept.
pub(super) fn kept(common: &Common, state: &FileState) -> Option<New> {
    match state {
        // The mode of a folder says it all.
        FileState::Absent | FileState::Folder { .. } => Some(New::Absent),
        FileState::Link { target } => Some(New::Link(target.clone())),
        FileState::File { digest, mode, bytes: _ } => {
            Some(New::File { bytes: common.blobs.get(*digest)?, mode: Some(*mode) })
        }
        FileState::Tree { digest, .. } => {
            common.trees.is_intact(*digest).then_some(New::Tree(*digest))
        }
    }
}

fn check_expected(before: &FileState, expect: &Expect, target: &Target) -> Result<(), ToolError> {
    let met = match expect {
        Expect::Anything => true,
        Expect::State(state) | Expect::Restorable { from: state, to: _ } => state == before,
        Expect::Content(wanted) => {
            matches!(before, FileState::File { digest, .. } if digest == wanted)
        }
    };
    if met { Ok(()) } else { Err(problem::changed_since(&target.path)) }
}

/// A rename would replace a file that nobody may write. Who gives a mode means to.
fn refuse_read_only(
    before: &FileState,
    content: &Content,
    target: &Target,
) -> Result<(), ToolError> {
    let (FileState::File { mode, .. }, Content::Given(FileContent::File { mode: None, .. })) =
        (before, content)
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
fn joined(content: Content, old: &[u8]) -> Content {
    match content {
        Content::Given(FileContent::Append(more)) => {
            let bytes = [old, more.as_slice()].concat();
            Content::Given(FileContent::File { bytes, mode: None })
        }
        other @ (Content::Given(_) | Content::Moved(_) | Content::Removed) => other,
    }
}

/// What is to be written, or `None` if it is there already.
fn changed(
    common: &Common,
    before: &FileState,
    content: Content,
    target: &Target,
) -> Result<Option<New>, ToolError> {
    let new = new(common, content, target)?;
    let same = match (&new, before) {
        (New::File { .. }, FileState::Link { .. }) => {
            return Err(ToolError::path(&target.path, "is a link"));
        }
        (New::File { bytes, mode }, FileState::File { digest, mode: old, bytes: _ }) => {
            mode.is_none_or(|mode| mode == *old) && tool::Digest::of_content(bytes) == *digest
        }
        (New::Link(to), FileState::Link { target }) => to == target,
        (New::Moved(moved), before) => moved.state == *before,
        (New::Absent, FileState::Absent) => true,
        (New::File { .. } | New::Link(_) | New::Tree(_) | New::Absent, _) => false,
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

fn new(common: &Common, content: Content, target: &Target) -> Result<New, ToolError> {
    let content = match content {
        Content::Given(content) => content,
        Content::Moved(moved) => return Ok(New::Moved(moved)),
        Content::Removed => return Ok(New::Absent),
    };
    Ok(match content {
        FileContent::File { bytes, mode } => New::File { bytes, mode },
        FileContent::Append(bytes) => New::File { bytes, mode: None },
        FileContent::Kept { digest, mode } => {
            let bytes = common.blobs.get(digest).ok_or_else(|| no_longer_kept(target))?;
            New::File { bytes, mode: Some(mode) }
        }
        FileContent::KeptTree(digest) => {
            if !common.trees.has(digest) {
                return Err(no_longer_kept(target));
            }
            New::Tree(digest)
        }
        FileContent::Link(to) => New::Link(to),
        FileContent::Absent => New::Absent,
        FileContent::FolderMode(_) => return Err(ToolError::internal("a mode is no content")),
    })
}

fn no_longer_kept(target: &Target) -> ToolError {
    ToolError::failed(format!("the earlier content of `{}` is no longer kept", target.path))
}

fn damaged(target: &Target) -> ToolError {
    let path = &target.path;
    ToolError::failed(format!("the earlier content of `{path}` was damaged where it was kept"))
}
