//! Overlays that outlive their process, until a person has said what of them stays.
//!
//! A file in the data folder stands for each. While it is there, no sweep removes the overlay.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags, flock, open, unlinkat},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use tool::{CallId, Caller, ToolError};

use crate::{
    WorldError,
    beneath::{Links, open_file, open_folder},
    commit::Moment,
    data::{Data, is_partial, put_whole},
    tree::{names, remove},
};

/// In the data folder.
const FOLDER: &str = "held";
/// More reviews than this are not kept; the oldest goes first.
const MAX_HELD_RUNS: usize = 20;

/// A run of `toolgate run` whose changes wait for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldRun {
    /// The call that ran the program.
    pub id: CallId,
    /// The program and its arguments.
    pub command: String,
    /// The user it ran for.
    pub user: String,
    /// The agent it ran as.
    pub agent: String,
    /// The conversation it belonged to.
    pub session: String,
    /// The folder it worked in.
    pub workspace: PathBuf,
    /// When it began.
    pub started: SystemTime,
    /// The folder that the overlay is in, under the name of the call.
    overlays: PathBuf,
    /// When the overlay was made, in the time of its file system.
    made: (i64, u64),
    /// How many commits there had been.
    commits: u64,
    /// The call that commits what a person kept: once that is done, nothing is held any more.
    committed_by: Option<CallId>,
}

/// What is known about an overlay when it is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewHeldRun<'a> {
    pub(super) id: CallId,
    pub(super) command: &'a str,
    pub(super) caller: &'a Caller,
    pub(super) workspace: &'a Path,
    pub(super) overlays: &'a Path,
    pub(super) made: Moment,
    pub(super) commits: u64,
}

impl HeldRun {
    pub(super) fn new(new: NewHeldRun<'_>, now: SystemTime) -> Self {
        let NewHeldRun { id, command, caller, workspace, overlays, made, commits } = new;
        Self {
            id,
            command: command.to_owned(),
            user: caller.user.to_string(),
            agent: caller.agent.to_string(),
            session: caller.session.to_string(),
            workspace: workspace.to_owned(),
            started: now,
            overlays: overlays.to_owned(),
            made: (made.0, made.1),
            commits,
            committed_by: None,
        }
    }

    pub(super) const fn made(&self) -> Moment {
        Moment(self.made.0, self.made.1)
    }

    pub(super) const fn commits(&self) -> u64 {
        self.commits
    }

    /// Opens the folder that the overlay is in, and the overlay, for this process alone.
    pub(super) fn open(&self) -> Result<(OwnedFd, OwnedFd), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = open(&self.overlays, flags, Mode::empty())?;
        let folder = open_folder(&above, self.id.to_string().as_str(), Links::Refused)?;
        flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
        Ok((above, folder))
    }
}

/// The runs that wait for a person.
#[derive(Debug)]
pub struct HeldRuns(OwnedFd);

impl HeldRuns {
    /// Opens the list in a data folder.
    pub fn open(data: &Path) -> Result<Self, WorldError> {
        let opened = Data::open(data)?;
        let failed =
            |errno: Errno| WorldError::Data { path: data.to_owned(), source: errno.into() };
        Self::of(&opened).map_err(failed)
    }

    pub(crate) fn of(data: &Data) -> Result<Self, Errno> {
        data.folder(FOLDER).map(Self)
    }

    /// All of them, newest first.
    pub fn list(&self) -> Vec<HeldRun> {
        let mut runs: Vec<_> = self.read_all().collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.started, run.id)));
        runs
    }

    /// One of them.
    pub fn get(&self, id: CallId) -> Option<HeldRun> {
        self.read(&name_of(id))
    }

    /// Drops one of them with its changes. Fails if the program still runs, or if somebody is asked
    /// about it elsewhere.
    pub fn discard(&self, run: &HeldRun) -> io::Result<()> {
        match run.open() {
            Ok((above, _locked)) => {
                self.release(run.id)?;
                remove(&above, run.id.to_string().as_str())
            }
            // The overlay is gone, with its workspace or by hand.
            Err(Errno::NOENT) => Ok(self.release(run.id)?),
            Err(errno) => Err(errno.into()),
        }
    }

    fn read_all(&self) -> impl Iterator<Item = HeldRun> {
        let names = names(&self.0).unwrap_or_default();
        // A process that was killed while it wrote one leaves a second file about the same run.
        let whole = names.into_iter().filter(|name| !is_partial(OsStr::from_bytes(name)));
        whole.filter_map(|name| self.read(std::str::from_utf8(&name).ok()?))
    }

    fn read(&self, name: &str) -> Option<HeldRun> {
        let (mut file, _) = open_file(&self.0, name, Links::Refused).ok()?;
        let mut text = String::new();
        File::read_to_string(&mut file, &mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps the overlay from being swept, also when this process is killed.
    pub(super) fn hold(&self, run: &HeldRun) -> Result<(), ToolError> {
        let text = serde_json::to_vec(run).map_err(ToolError::internal)?;
        put_whole(&self.0, &name_of(run.id), &text, run.started).map_err(ToolError::internal)
    }

    /// Notes that `call` is about to commit what is kept of a run.
    pub(super) fn committing(&self, id: CallId, call: CallId) -> Result<(), ToolError> {
        let Some(run) = self.get(id) else { return Ok(()) };
        self.hold(&HeldRun { committed_by: Some(call), ..run })
    }

    /// Lets the overlay go: from now on it is swept.
    pub(super) fn release(&self, id: CallId) -> Result<(), Errno> {
        match unlinkat(&self.0, name_of(id), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    pub(crate) fn has(&self, overlay: &[u8]) -> bool {
        let id = std::str::from_utf8(overlay).ok().and_then(|name| name.parse().ok());
        id.is_some_and(|id| self.get(id).is_some())
    }

    /// Lets go what `call` committed before its process died.
    pub(crate) fn finish(&self, call: CallId) {
        for run in self.read_all().filter(|run| run.committed_by == Some(call)) {
            // If this fails, the run is shown once more, and its changes are there already.
            let _ = self.discard(&run);
        }
    }

    /// Drops runs that are older than `age`, and the oldest of too many. One that still runs stays.
    pub(crate) fn prune(&self, age: Duration, now: SystemTime) {
        for (number, run) in self.list().into_iter().enumerate() {
            let old = now.duration_since(run.started).unwrap_or_default() > age;
            if old || number >= MAX_HELD_RUNS {
                // One that still runs is locked.
                let _ = self.discard(&run);
            }
        }
    }
}

fn name_of(id: CallId) -> String {
    format!("{id}.json")
}
