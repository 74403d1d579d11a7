//! Changes of a command, kept apart until it has ended.
//!
//! A sandboxed command sees the workspace through an overlay: what it changes lands in a folder of
//! ours, in the kernel's format. When it has ended, that folder is read, made harmless, and committed
//! like any other change; or it is dropped.

mod asked;
mod collect;
mod held;
mod layers;
mod lost;
mod notes;
mod propose;
mod sweeper;
mod sync;
mod tidy;

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use tool::{
    CallId, Caller, Capabilities as _, Changed, Commit, Disk as _, Extent, FilePath, Keep, Live,
    Proposal, Proposed, ToolError,
};

pub use self::held::{HeldRun, HeldRuns};
use self::{
    asked::without_asked,
    collect::{AskedChange, Collector, Found},
    held::NewHeldRun,
    layers::Layers,
    propose::propose,
    sync::sync,
};
pub(crate) use self::{
    layers::{sweep, sweep_abandoned},
    sweeper::Sweeper,
    tidy::open_tidy,
};
use crate::{
    World,
    commit::{HowMoved, Moment, Since, Wanted, commit, step},
    workspace::Workspace,
};

/// A workspace that a command is about to change.
#[derive(Debug)]
pub struct Overlay {
    workspace: Workspace,
    layers: Layers,
    /// How many commits there had been.
    commits: u64,
}

/// What a command changed.
#[derive(Debug, Default)]
pub struct Committed {
    /// The files and folders.
    pub changed: Vec<Changed>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl World {
    /// Prepares an overlay of the caller's workspace for `call`. May block.
    pub fn overlay(&self, caller: &Caller, call: CallId) -> Result<Overlay, ToolError> {
        let workspace = self.workspace_of(caller);
        // Read first: a commit that comes between counts as one that came after.
        let commits = workspace.common.locks.commits(&workspace.root);
        let layers = Layers::new(&workspace, call)?;
        Ok(Overlay { workspace, layers, commits })
    }

    /// The same for a run of `command` whose changes a person is to see: the overlay stays on the disk
    /// until they have said what to keep, also if this process is killed. May block.
    pub fn overlay_to_review(
        &self,
        caller: &Caller,
        call: CallId,
        command: &str,
    ) -> Result<Overlay, ToolError> {
        let mut overlay = self.overlay(caller, call)?;
        let (above, made, commits) =
            (overlay.layers.above()?, overlay.layers.made(), overlay.commits);
        overlay.layers.hold(NewHeldRun {
            id: call,
            command,
            caller,
            workspace: overlay.workspace.folder(),
            overlays: &above,
            made,
            commits,
        })?;
        Ok(overlay)
    }

    /// Opens the overlay of a run that waits for a person. Fails if the run belongs to another
    /// workspace than the caller's, or is still going on. May block.
    pub fn held_overlay(&self, caller: &Caller, id: CallId) -> Result<Overlay, ToolError> {
        let workspace = self.workspace_of(caller);
        let run = self.common.held.get(id).filter(|run| run.workspace == workspace.folder());
        let run = run.ok_or_else(|| {
            ToolError::failed(format!("no changes of a run `{id}` wait in this workspace"))
        })?;
        let layers = Layers::reopen(&workspace, &run)?;
        Ok(Overlay { workspace, layers, commits: run.commits() })
    }

    /// The runs that wait for a person.
    pub fn held_runs(&self) -> &HeldRuns {
        &self.common.held
    }

    /// The private temp folder of the caller's session, as a place on the disk.
    pub fn temp_folder(&self, caller: &Caller) -> Result<PathBuf, ToolError> {
        Ok(self.workspace_of(caller).temp()?.path().to_owned())
    }

    /// Paths at the top of the caller's workspace that exist and that no tool may write. May block.
    pub fn protected(&self, caller: &Caller) -> Vec<PathBuf> {
        let workspace = self.workspace_of(caller);
        let root = workspace.root.path();
        let rules = workspace.common.protected.rules();
        rules.map(|rule| root.join(rule)).filter(|path| path.symlink_metadata().is_ok()).collect()
    }

    /// What no tool may see, wherever it is.
    pub fn hidden(&self) -> Result<PathBuf, ToolError> {
        self.common.data.path().map_err(ToolError::internal)
    }

    /// The folders that configuration adds to every workspace.
    pub fn roots(&self) -> Vec<PathBuf> {
        self.common.extra.iter().map(|root| root.path().to_owned()).collect()
    }

    /// Waits until nothing is left of overlays that are not needed any more. May block.
    pub fn settle(&self) {
        self.common.sweeper.settle();
    }

    /// Where the caller's workspace is.
    pub fn root(&self, caller: &Caller) -> Result<PathBuf, ToolError> {
        Ok(self.disk(caller)?.folder().to_owned())
    }
}

impl Overlay {
    /// The folder of the workspace.
    pub fn root(&self) -> &Path {
        self.workspace.folder()
    }

    /// The same, open, so that what was checked is what is mounted.
    pub fn root_fd(&self) -> BorrowedFd<'_> {
        self.workspace.root.as_fd()
    }

    /// The folder for what changes; `upper` in it is what will be committed.
    pub fn layers(&self) -> Result<&OwnedFd, ToolError> {
        self.layers.folder()
    }

    /// Drops all changes.
    pub fn discard(mut self) -> Result<(), ToolError> {
        self.layers.release()
    }

    /// Whether the changes stay on the disk until a person has seen them.
    pub const fn is_held(&self) -> bool {
        self.layers.is_held()
    }

    /// Reads what the command changed, and makes it harmless. May block.
    pub fn collect(self, live: &Live) -> Result<Collected, ToolError> {
        let Self { workspace, layers, commits } = self;
        let mut since = Since { moment: layers.made(), commits };
        if workspace.common.locks.commits(&workspace.root) != commits {
            // Somebody committed since; what carries the same time may be theirs.
            let Moment(seconds, nanos) = since.moment;
            since.moment = Moment(seconds, nanos.saturating_sub(1));
        }
        let how = if layers.is_held() { HowMoved::Linked } else { HowMoved::Renamed };
        let mut collector = Collector::new(&workspace, live, since, how);
        if let Some(upper) = layers.upper()? {
            collector.all(&upper)?;
        }
        let Found { wanted, notes, lost, asked, largest_grown } = collector.done();
        Ok(Collected { workspace, layers, wanted, notes, lost, asked, largest_grown })
    }

    /// Makes all changes of the command, or none: [`Overlay::collect`], then
    /// [`Collected::commit`].
    pub fn commit(self, making: Commit<'_>) -> Result<Committed, ToolError> {
        self.collect(making.live)?.commit(making, &Keep::All)
    }
}

/// What a command changed and nobody kept yet. Dropping it drops the changes, unless they are held
/// for a person.
#[derive(Debug)]
pub struct Collected {
    workspace: Workspace,
    layers: Layers,
    wanted: Vec<Wanted>,
    notes: Vec<String>,
    lost: Extent,
    asked: Vec<AskedChange>,
    largest_grown: u64,
}

impl Collected {
    /// The size of the largest file that is new or longer than it was.
    pub const fn largest_grown(&self) -> u64 {
        self.largest_grown
    }

    /// What would be lost if all changes were kept.
    pub const fn lost(&self) -> Extent {
        self.lost
    }

    /// The changes, for people to look at. May block.
    pub fn proposal(&self) -> Proposal {
        let rule_of = |path: &FilePath| {
            let mut asked = self.asked.iter().filter(|asked| asked.path == *path);
            asked.next().map(|asked| asked.rule.clone())
        };
        let changes = self.wanted.iter().map(|wanted| Proposed {
            ask_rule: rule_of(&wanted.path),
            ..propose(&self.workspace, wanted)
        });
        Proposal { changes: changes.collect(), lost: self.lost }
    }

    /// Whether nothing changed.
    pub const fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Makes the changes that are to be kept, all of them or none. Fails, naming it, if something
    /// that the command changed was changed by somebody else meanwhile. May block.
    pub fn commit(self, making: Commit<'_>, keep: &Keep) -> Result<Committed, ToolError> {
        let Self { workspace, mut layers, mut wanted, mut notes, asked, .. } = self;
        match keep {
            Keep::Later if layers.is_held() => return Ok(Committed { changed: Vec::new(), notes }),
            Keep::All => {}
            Keep::Unasked => {
                wanted = without_asked(wanted, &asked, making.live)?;
                notes.extend(asked.iter().map(AskedChange::note));
            }
            Keep::Nothing | Keep::Later => wanted.clear(),
            Keep::Only(paths) => wanted.retain(|wanted| paths.contains(&wanted.path)),
        }
        if wanted.is_empty() {
            layers.release()?;
            return Ok(Committed { changed: Vec::new(), notes });
        }
        layers.committing(making.call)?;
        step();
        sync(&workspace, &wanted).map_err(ToolError::internal)?;
        let changed = commit(&workspace, making, wanted)?;
        step();
        // If this fails, the run is shown once more, and its changes are there already.
        let _ = layers.release();
        Ok(Committed { changed, notes })
    }
}
