//! The `files` capability.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use serde::Serialize;

use crate::{
    CallId, ChangeLog, Changed, Commit, FileChange, FilePath, Live, Need, PathFact, Plan,
    ToolError, Visit, Walk,
};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum FileKind {
    File,
    Folder,
    Link,
    Other,
}

/// What is known about a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Its size.
    pub bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// When its content changed.
    pub modified: SystemTime,
    /// When it was last read, if the file system keeps that.
    pub accessed: SystemTime,
    /// When it was made, if the file system keeps that.
    pub created: Option<SystemTime>,
    /// Where it points, if it is a link.
    pub target: Option<String>,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub struct Opened {
    /// Its content.
    pub file: File,
    /// What is known about it.
    pub stat: FileStat,
}

/// Files beneath the roots of one workspace. Every method may block.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Tells root folders apart, for the result cache and fingerprints; the same in every session.
    fn identity(&self) -> &str;
    /// Where the root folder is.
    fn folder(&self) -> &Path;
    /// What a plan's path means here, and whether it can be used at all.
    fn look(&self, need: &Need) -> Result<PathFact, ToolError>;
    /// Opens a regular file for reading; `artifact:ID` too.
    fn open(&self, path: &FilePath) -> Result<Opened, ToolError>;
    /// Looks at a path without following a link at its end.
    fn stat(&self, path: &FilePath) -> Result<FileStat, ToolError>;
    /// Goes through a folder.
    fn walk(
        &self,
        path: &FilePath,
        walk: Walk,
        live: &Live,
        visit: Visit<'_>,
    ) -> Result<(), ToolError>;
    /// Makes all of `changes`, or none.
    fn commit(
        &self,
        commit: Commit<'_>,
        changes: Vec<FileChange>,
    ) -> Result<Vec<Changed>, ToolError>;
}

/// The files one call planned to read or write; any other is refused.
#[derive(Debug, Clone)]
pub struct Files {
    pub(crate) call: CallId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) live: Arc<Live>,
    pub(crate) disk: Option<Arc<dyn Disk>>,
    pub(crate) log: Arc<dyn ChangeLog>,
}

impl Files {
    /// Reads all of a file of at most `max_bytes`.
    pub async fn read(
        &self,
        path: &FilePath,
        max_bytes: u64,
    ) -> Result<(Vec<u8>, FileStat), ToolError> {
        let name = path.clone();
        self.open_with(path, move |file, stat| {
            let mut bytes = Vec::new();
            // One byte more than allowed: the size that `stat` gives can change while we read.
            let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes);
            read.map_err(|source| read_failed(&name, source))?;
            if bytes.len() as u64 > max_bytes {
                return Err(ToolError::FileTooLarge {
                    path: name.to_string(),
                    bytes: stat.bytes.max(bytes.len() as u64),
                    max_bytes,
                    hint: "read a part of it, or search it".into(),
                });
            }
            Ok((bytes, stat))
        })
        .await
    }

    /// Opens a file and lets `work` read it, where blocking does no harm.
    pub async fn open_with<T: Send + 'static>(
        &self,
        path: &FilePath,
        work: impl FnOnce(LiveFile, FileStat) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (disk, path) = (self.planned(&Need::Read(path.clone()))?, path.clone());
        self.blocking(move |live| {
            let Opened { file, stat } = disk.open(&path)?;
            let result = work(LiveFile { file, live: live.clone() }, stat);
            // What a stopped call failed with is that it was stopped.
            live.check()?;
            result
        })
        .await
    }

    /// Looks at a path without following a link at its end.
    pub async fn stat(&self, path: &FilePath) -> Result<FileStat, ToolError> {
        let (disk, path) = (self.planned(&Need::Read(path.clone()))?, path.clone());
        self.blocking(move |_| disk.stat(&path)).await
    }

    /// Goes through a folder; `visit` runs on several threads at once.
    pub async fn walk(
        &self,
        path: &FilePath,
        walk: Walk,
        visit: impl Fn(&dyn crate::WalkEntry) -> std::ops::ControlFlow<()> + Send + Sync + 'static,
    ) -> Result<(), ToolError> {
        let (disk, path) = (self.planned(&Need::Read(path.clone()))?, path.clone());
        self.blocking(move |live| disk.walk(&path, walk, &live, &visit)).await
    }

    /// Makes all of `changes`, or none.
    pub async fn commit(&self, changes: Vec<FileChange>) -> Result<Vec<Changed>, ToolError> {
        let mut disk = Err(ToolError::internal("nothing to commit"));
        for change in &changes {
            disk = self.planned(&Need::Write(change.path.clone()));
            if disk.is_err() {
                break;
            }
        }
        let (disk, log, call) = (disk?, self.log.clone(), self.call);
        self.blocking(move |live| {
            let commit = Commit { call, live: &live, log: log.as_ref() };
            let changed = disk.commit(commit, changes)?;
            live.note(&changed);
            Ok(changed)
        })
        .await
    }

    fn planned(&self, need: &Need) -> Result<Arc<dyn Disk>, ToolError> {
        self.plan.require(need)?;
        self.disk.clone().ok_or_else(|| {
            ToolError::denied("plan", "uses", "this tool does not say that it uses files")
        })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Live>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let live = self.live.clone();
        live.check()?;
        let slot = live.worker();
        let work = move || {
            let result = work(live);
            drop(slot);
            result
        };
        tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)?
    }
}

/// An open file whose reads fail once the call was stopped.
#[derive(Debug)]
pub struct LiveFile {
    file: File,
    live: Arc<Live>,
}

impl Read for LiveFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.live.check().map_err(io::Error::other)?;
        self.file.read(buffer)
    }
}

fn read_failed(path: &FilePath, source: io::Error) -> ToolError {
    ToolError::failed_by(format!("cannot read `{path}`: {}", source.kind()), source)
}
