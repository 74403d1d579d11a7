//! What the gate is given.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use policy::Protected;
use tool::{
    ArtifactStore, Caller, Capabilities, Capability, Clock, Disk, Exec, Live, Net, OwnData,
    ToolError,
};

use crate::{
    Artifact, Door, Ending, Keep, Pruned, Recovered, Unfinished, WorldError, WorldSettings,
    artifacts::Artifacts,
    blobs::Blobs,
    commit::recover,
    copied::sweep_copies,
    credentials::CredentialCache,
    data::Data,
    lock::{Locks, Shared},
    overlay::{self, HeldRuns, Sweeper, sweep_abandoned},
    program::find_program,
    prune::{KeptPlaces, prune},
    root::Root,
    tree::Trees,
    workspace::{Common, Workspace},
};

/// The files, the network, the artifacts and the clock of one Toolgate.
#[derive(Debug)]
pub struct World {
    pub(crate) common: Arc<Common>,
    workspace: Arc<Root>,
    agents: RwLock<BTreeMap<String, Arc<Root>>>,
    keep: Keep,
    door: Arc<Door>,
}

impl World {
    /// Opens the data folder and every root. What is configured wrongly is said here, once.
    pub fn open(settings: WorldSettings, clock: Arc<dyn Clock>) -> Result<Self, WorldError> {
        let WorldSettings {
            data: path,
            workspace,
            agents,
            roots,
            protected,
            max_file_bytes,
            keep,
            net,
        } = settings;
        let data = Arc::new(Data::open(&path)?);
        let open = |path: &PathBuf| Root::open(path, &data).map(Arc::new);
        let workspace = open(&workspace)?;
        let agents: Result<_, WorldError> =
            agents.into_iter().map(|(agent, path)| Ok((agent, open(&path)?))).collect();
        let extra: Result<_, _> = roots.iter().map(open).collect();
        let (agents, extra) = (agents?, extra?);
        let failed = |errno: rustix::io::Errno| WorldError::Data { path, source: errno.into() };
        let stores = || {
            Ok((
                Blobs::open(&data, clock.clone())?,
                Trees::open(&data, clock.clone())?,
                Arc::new(Artifacts::open(&data, clock.clone())?),
                Locks::open(&data)?,
                HeldRuns::of(&data)?,
            ))
        };
        let (blobs, trees, artifacts, locks, held) = stores().map_err(failed)?;
        let protected = Protected::new(&protected);
        sweep_abandoned(&data);
        sweep_copies(&data, clock.now());
        let common = Common {
            data,
            blobs,
            trees,
            artifacts,
            locks,
            protected,
            max_file_bytes,
            clock,
            extra,
            sweeper: Sweeper::default(),
            held,
            credentials: CredentialCache::default(),
        };
        let door = Arc::new(Door::new(net));
        let agents = RwLock::new(agents);
        Ok(Self { common: Arc::new(common), workspace, agents, keep, door })
    }

    /// Lets an agent work in a folder of its own, or where all others do. For agents that are new: a call
    /// that waits must run where it was decided about.
    pub fn work_in(&self, agent: &str, folder: Option<&Path>) -> Result<(), WorldError> {
        let root = folder.map(|path| Root::open(path, &self.common.data)).transpose()?;
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        match root {
            Some(root) => agents.insert(agent.to_owned(), Arc::new(root)),
            None => agents.remove(agent),
        };
        Ok(())
    }

    /// The same world behind another door; for tests.
    #[must_use]
    pub fn with_door(self, door: Door) -> Self {
        Self { door: Arc::new(door), ..self }
    }

    /// The door to the network, to give it other settings.
    pub const fn door(&self) -> &Arc<Door> {
        &self.door
    }

    /// Finishes or rolls back what a call of a dead process left half done, and removes its temp
    /// files. Can be repeated, also after a crash in the middle of it.
    ///
    /// The last commit becomes whole if everything it needs is still there, and is undone if not.
    /// A file that somebody else changed since is left alone and reported; if the commit had not
    /// changed any file before that, none of it is done.
    pub fn recover(&self, unfinished: Unfinished<'_>) -> Result<Recovered, ToolError> {
        let root = unfinished.workspace.map(|path| Root::open(path, &self.common.data));
        let mut workspace = match root {
            // The folder is gone, and everything that was left in it.
            Some(Err(_)) => return Ok(Recovered::nothing_left(unfinished)),
            Some(Ok(root)) => {
                Workspace::new(Arc::new(root), unfinished.caller, self.common.clone())
            }
            None => self.workspace_of(unfinished.caller),
        };
        let last = unfinished.records.last().map(Vec::as_slice).unwrap_or_default();
        workspace.open_former(last);
        if last.iter().any(|change| workspace.recorded_root(&change.root).is_none()) {
            return Ok(Recovered::nothing_left(unfinished));
        }
        let recovered = recover(&workspace, unfinished)?;
        if recovered.ending == Ending::Finished {
            self.common.held.finish(unfinished.call);
        }
        overlay::sweep(&workspace, unfinished.call);
        Ok(recovered)
    }

    /// Drops pre-images and artifacts beyond what is to be kept: the oldest of which there is most.
    pub fn prune(&self) -> Result<Pruned, WorldError> {
        let wait = self.common.locks.blobs(Shared::No, &Live::default());
        let _none_needed = wait.map_err(|error| WorldError::Prune(std::io::Error::other(error)))?;
        self.common.held.prune(self.keep.age, self.common.clock.now());
        let data = self.common.data.path().map_err(|e| WorldError::Prune(e.into()))?;
        let [blobs, trees, artifacts] = ["blobs", "trees", "artifacts"].map(|name| data.join(name));
        let places = KeptPlaces { blobs, trees, artifacts };
        let pruned = prune(&places, self.keep, self.common.clock.now());
        pruned.map_err(WorldError::Prune)
    }

    /// Opens an artifact of `caller`'s user, with what it is. Somebody else's is not there.
    pub fn artifact(&self, caller: &Caller, id: &str) -> Result<Artifact, ToolError> {
        self.common.artifacts.get(&caller.user, id)
    }

    pub(crate) fn workspace_of(&self, caller: &Caller) -> Workspace {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        let root = agents.get(&**caller.home()).unwrap_or(&self.workspace);
        Workspace::new(root.clone(), caller, self.common.clone())
    }
}

/// It keeps nothing for anybody.
impl OwnData for World {}

impl Capabilities for World {
    fn disk(&self, caller: &Caller) -> Result<Arc<dyn Disk>, ToolError> {
        Ok(Arc::new(self.workspace_of(caller)))
    }

    fn net(&self, _: &Caller) -> Result<Arc<dyn Net>, ToolError> {
        Ok(self.door.clone())
    }

    fn exec(&self, _: &Caller) -> Result<Arc<dyn Exec>, ToolError> {
        Err(ToolError::internal("a world alone runs no commands"))
    }

    fn artifacts(&self) -> Arc<dyn ArtifactStore> {
        self.common.artifacts.clone()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.common.clock.clone()
    }

    fn missing(&self, capability: Capability) -> Option<String> {
        match capability {
            Capability::Files | Capability::Network => None,
            Capability::Exec
            | Capability::Messages
            | Capability::Browser
            | Capability::Media
            | Capability::Schedule
            | Capability::Nodes
            | Capability::Location => Some(format!("{capability} is not part of this build yet")),
        }
    }

    fn missing_program(&self, program: &str) -> Option<String> {
        // The folders of the small fixed environment that processes get.
        const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
        let found = FOLDERS.iter().any(|folder| Path::new(folder).join(program).is_file());
        (!found).then(|| format!("the program `{program}` is not installed"))
    }

    fn program(&self, name: &str, folders: &[String]) -> Option<String> {
        find_program(name, folders)
    }
}
