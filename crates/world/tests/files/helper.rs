//! The only file of these tests that knows how to build a world.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use tempfile::TempDir;
use tool::{
    CallId, CallIds, Caller, Capabilities, Change, ChangeLog, Changed, Clock, Commit, Disk, Expect,
    FileChange, FileContent, FilePath, Live, ToolError, Walk,
};
use world::{World, WorldSettings};

/// A clock that tests set.
#[derive(Debug)]
pub(crate) struct SetClock(pub(crate) Mutex<SystemTime>);

impl Clock for SetClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}

type Between = Box<dyn Fn() + Send + Sync>;

/// A journal in memory that can do something between the record and the change.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) records: Mutex<Vec<Vec<Change>>>,
    pub(crate) between: Mutex<Option<Between>>,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("log")
    }
}

impl ChangeLog for Log {
    fn record(&self, _: CallId, changes: &[Change]) -> Result<(), ToolError> {
        self.records.lock().unwrap().push(changes.to_vec());
        if let Some(between) = self.between.lock().unwrap().take() {
            between();
        }
        Ok(())
    }
}

/// A world with one workspace `ws`, beside a folder `outside` that holds `secret`.
pub(crate) struct Setup {
    pub(crate) world: World,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) log: Log,
    pub(crate) ids: CallIds,
    dir: TempDir,
}

pub(crate) const SECRET: &str = "SECRET";

impl Setup {
    pub(crate) fn new() -> Self {
        Self::with(|_, _| {})
    }

    /// `change` may change the settings; it is given the folder everything is in.
    pub(crate) fn with(change: impl FnOnce(&mut WorldSettings, &Path)) -> Self {
        // Not in `/tmp`, which stands for the private temp folder.
        let target = env!("CARGO_TARGET_TMPDIR");
        let place = if target.starts_with("/tmp/") { "/var/tmp" } else { target };
        let dir = TempDir::new_in(place).unwrap();
        for folder in ["ws", "outside", "ws-evil"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("secret"), SECRET).unwrap();
        }
        fs::remove_file(dir.path().join("ws/secret")).unwrap();
        let mut settings = WorldSettings::new(dir.path().join("data"), dir.path().join("ws"));
        change(&mut settings, dir.path());
        let start = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 56);
        let clock = Arc::new(SetClock(Mutex::new(start)));
        let world = World::open(settings, clock.clone()).unwrap();
        let ids = CallIds::new(clock.clone());
        Self { world, clock, log: Log::default(), ids, dir }
    }

    /// A path beside the workspace.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.beside("ws").join(name)
    }

    /// Puts a file in the workspace, as a person would.
    pub(crate) fn put(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    /// What a person finds in the workspace.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        self.world.disk(&Caller::owner("main")).unwrap()
    }

    /// The content of a file, or the error.
    pub(crate) fn read(&self, path: &str) -> String {
        read(&*self.disk(), path)
    }

    /// What a commit changed, or the error.
    pub(crate) fn commit(&self, changes: Vec<FileChange>) -> String {
        match self.try_commit(changes) {
            Ok(changed) => listed(&changed),
            Err(error) => shown(&error),
        }
    }

    pub(crate) fn try_commit(&self, changes: Vec<FileChange>) -> Result<Vec<Changed>, ToolError> {
        let live = Live::default();
        let commit = Commit { call: self.ids.next(), live: &live, log: &self.log };
        self.disk().commit(commit, changes)
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> String {
        self.commit(vec![write(path, content)])
    }

    pub(crate) fn delete(&self, path: &str) -> String {
        self.commit(vec![delete(path)])
    }

    /// The paths a walk visits, in the order it visits them.
    pub(crate) fn walk(&self, path: &str, how: Walk) -> Vec<String> {
        let found = Mutex::new(Vec::new());
        let walked = self.disk().walk(&FilePath::new(path), how, &Live::default(), &|entry| {
            found.lock().unwrap().push(entry.path().to_string());
            ControlFlow::Continue(())
        });
        walked.unwrap();
        found.into_inner().unwrap()
    }

    /// Every file and link in the workspace, as a person would list them.
    pub(crate) fn everything(&self) -> Vec<String> {
        let mut all = Vec::new();
        list(&self.path(""), &self.path(""), &mut all);
        all.sort();
        all
    }
}

pub(crate) fn read(disk: &dyn Disk, path: &str) -> String {
    let opened = disk.open(&FilePath::new(path));
    opened.map_or_else(|e| shown(&e), |opened| std::io::read_to_string(opened.file).unwrap())
}

pub(crate) fn listed(changed: &[Changed]) -> String {
    let line = |one: &Changed| format!("{:?} {}", one.change, one.path);
    changed.iter().map(line).collect::<Vec<_>>().join(", ")
}

pub(crate) fn shown(error: &ToolError) -> String {
    format!("{}: {error}", error.kind())
}

pub(crate) fn write(path: &str, content: &str) -> FileChange {
    let content = FileContent::File { bytes: content.into(), mode: None };
    FileChange { path: FilePath::new(path), expect: Expect::Anything, content }
}

pub(crate) fn delete(path: &str) -> FileChange {
    let content = FileContent::Absent;
    FileChange { path: FilePath::new(path), expect: Expect::Anything, content }
}

fn list(root: &Path, folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            list(root, &entry.path(), all);
        }
        all.push(entry.path().strip_prefix(root).unwrap().display().to_string());
    }
}
