//! The files one caller can see.

mod hint;
mod locate;
mod look;

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use policy::Protected;
use rustix::{fs::OFlags, io::Errno};
use tool::{
    Caller, Change, Changed, Clock, Commit, Disk, FileChange, FilePath, FileStat, Live, Need,
    Opened, PathFact, ToolError, Visit, Walk,
};

pub(crate) use self::locate::Located;
use self::{
    hint::missing,
    locate::{artifact_id, locate},
    look::look,
};
use crate::{
    artifacts::Artifacts,
    beneath::{self, Links, open_file, open_folder},
    blobs::Blobs,
    commit::commit,
    credentials::CredentialCache,
    data::{Data, encoded, private_folder},
    lock::Locks,
    overlay::{HeldRuns, Sweeper},
    problem,
    root::Root,
    stat::stat_at,
    tree::Trees,
    walk::{Start, walk},
};

/// What every workspace of a [`crate::World`] shares.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) data: Arc<Data>,
    pub(crate) blobs: Blobs,
    pub(crate) trees: Trees,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) locks: Locks,
    pub(crate) protected: Protected,
    pub(crate) max_file_bytes: u64,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) extra: Vec<Arc<Root>>,
    pub(crate) sweeper: Sweeper,
    pub(crate) held: HeldRuns,
    pub(crate) credentials: CredentialCache,
}

/// One root, a private temp folder called `/tmp`, and the roots configuration adds.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) common: Arc<Common>,
    pub(crate) root: Arc<Root>,
    user: Arc<str>,
    /// The name of the temp folder in the data folder.
    session: String,
    temp: OnceLock<Arc<Root>>,
    /// Roots that only the past of a call knows.
    former: Vec<Arc<Root>>,
    identity: String,
}

impl Workspace {
    pub(crate) fn new(root: Arc<Root>, caller: &Caller, common: Arc<Common>) -> Self {
        let Caller { user, agent, session, .. } = caller;
        // One part cannot run into the next: no part holds a `+` once it is encoded.
        let session = [user, agent, session].map(|part| encoded(part)).join("+");
        let identity = format!("{}:{}:{}", root.id.device, root.id.inode, root.path().display());
        let user = user.clone();
        Self { common, root, user, session, temp: OnceLock::new(), former: Vec::new(), identity }
    }

    /// The private temp folder, made when it is first needed.
    pub(crate) fn temp(&self) -> Result<&Arc<Root>, ToolError> {
        if let Some(temp) = self.temp.get() {
            return Ok(temp);
        }
        let folder = self.common.data.folder("tmp");
        let folder = folder.and_then(|all| private_folder(&all, &self.session));
        let root = folder.and_then(|fd| Root::private(fd, locate::TEMP));
        let root = Arc::new(root.map_err(ToolError::internal)?);
        Ok(self.temp.get_or_init(|| root))
    }

    /// Opens the roots that `changes` were recorded in and that are not among those of now: the
    /// process that recorded them may have been started elsewhere.
    pub(crate) fn open_former(&mut self, changes: &[Change]) {
        for change in changes {
            if self.recorded_root(&change.root).is_none()
                && let Ok(root) = Root::open(Path::new(&change.root), &self.common.data)
            {
                self.former.push(Arc::new(root));
            }
        }
    }

    /// The root a change was recorded in, if it is still there.
    pub(crate) fn recorded_root(&self, path: &str) -> Option<Arc<Root>> {
        let same = |root: &&Arc<Root>| root.path() == Path::new(path);
        let now = std::iter::once(&self.root).chain(&self.common.extra);
        let known = now.chain(&self.former).find(same);
        known.or_else(|| self.temp().ok().filter(same)).cloned()
    }

    pub(crate) fn locate(&self, path: &FilePath) -> Result<Located, ToolError> {
        locate(self, path)
    }

    /// Opens a folder and says where it is within its root.
    pub(crate) fn start(&self, path: &FilePath, links: Links) -> Result<Start, ToolError> {
        let Located { path, root, inner } = self.locate(path)?;
        let opened = open_folder(&root, &*inner, links)
            .and_then(|fd| Ok((root.inner(&fd)?, fd)))
            .map_err(|errno| match root.discreet(&inner, errno) {
                Errno::NOTDIR => ToolError::path(&path, "is not a folder"),
                Errno::NOENT => missing(&root, &inner, &path),
                errno => problem::reading(&path, errno),
            });
        opened.map(|(inner, fd)| Start { root, fd, inner, shown: path })
    }
}

impl Disk for Workspace {
    fn folder(&self) -> &Path {
        self.root.path()
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn look(&self, need: &Need) -> Result<PathFact, ToolError> {
        look(self, need)
    }

    fn open(&self, path: &FilePath) -> Result<Opened, ToolError> {
        if let Some(id) = artifact_id(path) {
            return self.common.artifacts.read(&self.user, id);
        }
        let Located { path, root, inner } = self.locate(path)?;
        let open = || {
            let (file, _) = open_file(&root, &*inner, Links::Followed)?;
            root.inner(&file)?;
            Ok(Opened { stat: stat_at(&file, "")?, file })
        };
        let opened: Opened = open().map_err(|errno| failed(&root, &inner, &path, errno))?;
        let (bytes, max_bytes) = (opened.stat.bytes, self.common.max_file_bytes);
        if bytes > max_bytes {
            let (path, hint) = (path.to_string(), "search it with `grep` instead".into());
            return Err(ToolError::FileTooLarge { path, bytes, max_bytes, hint });
        }
        Ok(opened)
    }

    fn stat(&self, path: &FilePath) -> Result<FileStat, ToolError> {
        if let Some(id) = artifact_id(path) {
            return Ok(self.common.artifacts.read(&self.user, id)?.stat);
        }
        let Located { path, root, inner } = self.locate(path)?;
        let stat = || {
            let flags = OFlags::PATH | OFlags::NOFOLLOW;
            let fd = beneath::open(&root, &*inner, flags, Links::Followed)?;
            root.inner(&fd)?;
            stat_at(&fd, "")
        };
        stat().map_err(|errno| failed(&root, &inner, &path, errno))
    }

    fn walk(
        &self,
        path: &FilePath,
        how: Walk,
        live: &Live,
        visit: Visit<'_>,
    ) -> Result<(), ToolError> {
        walk(self.start(path, Links::Followed)?, how, live, visit)
    }

    fn commit(
        &self,
        making: Commit<'_>,
        changes: Vec<FileChange>,
    ) -> Result<Vec<Changed>, ToolError> {
        commit(self, making, changes.into_iter().map(Into::into).collect())
    }
}

fn failed(root: &Root, inner: &str, path: &FilePath, errno: Errno) -> ToolError {
    match root.discreet(inner, errno) {
        Errno::NOENT | Errno::NOTDIR => missing(root, inner, path),
        errno => problem::reading(path, errno),
    }
}
