//! The folders of an overlay on the disk.

use std::{os::fd::OwnedFd, path::PathBuf, sync::Arc};

use rustix::{
    fs::{
        FlockOperation, IFlags, Mode, OFlags, flock, fstat, ioctl_getflags, ioctl_setflags,
        mkdirat, open,
    },
    io::Errno,
};
use tool::{CallId, DiskProblem, ToolError};

use super::{
    held::{HeldRun, HeldRuns, NewHeldRun},
    sweeper::Left,
};
use crate::{
    beneath::{Links, open_folder, path_of},
    commit::Moment,
    data::{Data, private_folder},
    tree::{names, remove},
    workspace::{Common, Workspace},
};

/// Beside a workspace whose file system is not that of the data folder.
const BESIDE: &str = ".toolgate-overlays";
/// In the data folder.
const IN_DATA: &str = "overlays";

/// A folder for one call, on the file system of the workspace and outside it; gone when dropped.
#[derive(Debug)]
pub(super) struct Layers {
    /// Gone only while this is dropped.
    left: Option<Left>,
    made: Moment,
    /// Whether it stays when this is dropped, until a person has seen it.
    is_held: bool,
    common: Arc<Common>,
}

impl Layers {
    pub(super) fn new(workspace: &Workspace, call: CallId) -> Result<Self, ToolError> {
        let parent = parent(workspace).map_err(|errno| impossible(workspace, errno))?;
        let name = call.to_string();
        let make = || {
            let folder = make_locked(&parent, &name)?;
            for inner in ["upper", "work"] {
                mkdirat(&folder, inner, Mode::RWXU)?;
            }
            // The upper folder stands for the workspace itself, whose mode it gets.
            let made = Moment::of(&fstat(&folder)?);
            Ok((folder, made))
        };
        let (folder, made) = make().map_err(|errno| impossible(workspace, errno))?;
        let left = Some(Left { parent, name, folder });
        Ok(Self { left, made, is_held: false, common: workspace.common.clone() })
    }

    /// Opens those of a run that waits for a person.
    pub(super) fn reopen(workspace: &Workspace, run: &HeldRun) -> Result<Self, ToolError> {
        let (parent, folder) = run.open().map_err(|errno| match errno {
            Errno::WOULDBLOCK => ToolError::failed(format!(
                "run `{}` is still going on, or somebody is looking at its changes elsewhere",
                run.id
            )),
            _ => ToolError::failed_by(format!("the changes of run `{}` are gone", run.id), errno),
        })?;
        let left = Some(Left { parent: Arc::new(parent), name: run.id.to_string(), folder });
        let (made, common) = (run.made(), workspace.common.clone());
        Ok(Self { left, made, is_held: true, common })
    }

    /// Leaves the layers on the disk when this is dropped, and when the process is killed.
    pub(super) fn hold(&mut self, run: NewHeldRun<'_>) -> Result<(), ToolError> {
        self.common.held.hold(&HeldRun::new(run, self.common.clock.now()))?;
        self.is_held = true;
        Ok(())
    }

    pub(super) const fn is_held(&self) -> bool {
        self.is_held
    }

    /// Notes that `call` is about to commit what is kept.
    pub(super) fn committing(&self, call: CallId) -> Result<(), ToolError> {
        match self.id() {
            Some(id) if self.is_held => self.common.held.committing(id, call),
            _ => Ok(()),
        }
    }

    /// Removes the layers when this is dropped after all.
    pub(super) fn release(&mut self) -> Result<(), ToolError> {
        if let Some(id) = self.id() {
            self.common.held.release(id).map_err(ToolError::internal)?;
        }
        self.is_held = false;
        Ok(())
    }

    fn id(&self) -> Option<CallId> {
        self.left.as_ref()?.name.parse().ok()
    }

    /// The folder that the layers are in.
    pub(super) fn above(&self) -> Result<PathBuf, ToolError> {
        let left = self.left.as_ref().ok_or_else(|| ToolError::internal("the overlay is gone"))?;
        path_of(&*left.parent).map_err(ToolError::internal)
    }

    pub(super) fn folder(&self) -> Result<&OwnedFd, ToolError> {
        let left = self.left.as_ref().map(|left| &left.folder);
        left.ok_or_else(|| ToolError::internal("the overlay is gone"))
    }

    /// What changed, if the command got as far as to change anything.
    pub(super) fn upper(&self) -> Result<Option<OwnedFd>, ToolError> {
        match open_folder(self.folder()?, "upper", Links::Refused) {
            Err(Errno::NOENT) => Ok(None),
            opened => opened.map(Some).map_err(ToolError::internal),
        }
    }

    /// When it was made, in the time of the file system.
    pub(super) const fn made(&self) -> Moment {
        self.made
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        if let Some(left) = self.left.take().filter(|_| !self.is_held) {
            self.common.sweeper.remove(left);
        }
    }
}

/// Makes a folder and locks it: a folder that no process has locked is swept.
fn make_locked(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    // Another process may sweep it before it is locked; that is rare, and hardly happens twice.
    const TRIES: usize = 16;
    for _ in 0..TRIES {
        match mkdirat(parent, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let folder = match open_folder(parent, name, Links::Refused) {
            Err(Errno::NOENT) => continue,
            opened => opened?,
        };
        match flock(&folder, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => continue,
            locked => locked?,
        }
        if fstat(&folder)?.st_nlink > 0 {
            return Ok(folder);
        }
    }
    Err(Errno::WOULDBLOCK)
}

/// Removes the overlays of processes that died: those that no process has locked.
pub(crate) fn sweep_abandoned(data: &Data) {
    if let Ok(parent) = data.folder(IN_DATA) {
        sweep_unlocked(&parent, data);
    }
}

/// Removes what no process has locked and no person is to see.
fn sweep_unlocked(parent: &OwnedFd, data: &Data) {
    let Ok(held) = HeldRuns::of(data) else { return };
    for name in names(parent).unwrap_or_default() {
        if held.has(&name) {
            continue;
        }
        let lock = || {
            let folder = open_folder(parent, name.as_slice(), Links::Refused)?;
            flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
            Ok::<_, Errno>(folder)
        };
        if let Ok(_locked) = lock() {
            // If this fails, some space on the disk stays in use until the next start.
            let _ = remove(parent, name.as_slice());
        }
    }
}

/// Removes what a call that no longer runs left.
pub(crate) fn sweep(workspace: &Workspace, call: CallId) {
    if workspace.common.held.get(call).is_some() {
        return;
    }
    if let Ok(parent) = parent(workspace) {
        // What is still in the way then is no more than some space on the disk.
        let _ = remove(&parent, call.to_string().as_str());
    }
}

/// Where overlays of this workspace are.
fn parent(workspace: &Workspace) -> Result<Arc<OwnedFd>, Errno> {
    let known = &workspace.root.overlays;
    if let Some(parent) = known.get() {
        return Ok(parent.clone());
    }
    let found = Arc::new(find_parent(workspace)?);
    Ok(known.get_or_init(|| found).clone())
}

fn find_parent(workspace: &Workspace) -> Result<OwnedFd, Errno> {
    let root = &workspace.root;
    let data = workspace.common.data.path()?;
    if workspace.common.data.id.device == root.id.device && !data.starts_with(root.path()) {
        return workspace.common.data.folder(IN_DATA).inspect(spread);
    }
    let above = root.path().parent().ok_or(Errno::XDEV)?;
    let above = open(above, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    if fstat(&above)?.st_dev != root.id.device {
        return Err(Errno::XDEV);
    }
    // Nobody looks there at the start of a process, which does not know its workspaces yet.
    let swept = |folder: &OwnedFd| sweep_unlocked(folder, &workspace.common.data);
    private_folder(&above, BESIDE).inspect(spread).inspect(swept)
}

/// Asks the file system to keep the folders in this one apart.
///
/// ext4 keeps what is in one folder close together on the disk, and does not use the place of a
/// deleted file again for some minutes. Where folders come and go all the time, each new one then
/// takes longer than the one before. Other file systems have no need of it, and say so.
fn spread(folder: &OwnedFd) {
    if let Ok(flags) = ioctl_getflags(folder)
        && !flags.contains(IFlags::TOPDIR)
    {
        let _ = ioctl_setflags(folder, flags | IFlags::TOPDIR);
    }
}

fn impossible(workspace: &Workspace, errno: Errno) -> ToolError {
    if let Some(problem) = DiskProblem::of(&errno.into(), Some(workspace.root.path())) {
        return ToolError::failed_by(problem.to_string(), errno);
    }
    let root = workspace.root.path().display();
    let message = format!(
        "there is no room for an overlay of `{root}`: the data folder is on another file system, and \
         nothing can be made beside it; move the data folder with `--data`, or give the agent a \
         workspace elsewhere"
    );
    ToolError::failed_by(message, errno)
}
