//! A workspace in a temporary folder, and calls on it. The real one is in `world`; this one only
//! has to be good enough to run tools.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use ignore::{WalkBuilder, WalkState};
use serde_json::Value;
use tempfile::TempDir;
use tool::{
    Block, BoxFuture, CallId, CallIds, Caller, Capability, Change, ChangeKind, ChangeLog, Changed,
    Clock, Commit, ContextParts, Digest, Disk, Exec, Execution, Expect, Extent, FileChange,
    FileContent, FileKind, FilePath, FileStat, FileState, Ignored, Keep, Live, Need, Net, Opened,
    OwnData, PathFact, Plan, Proposal, Review, ToolContext, ToolError, ToolResult, Updates, Visit,
    Walk, WalkEntry,
};

/// A workspace to call tools in.
pub(crate) struct Setup {
    folder: TempDir,
    net: Option<Arc<dyn Net>>,
    exec: Option<Arc<dyn Exec>>,
    secret: Secret,
}

impl Setup {
    /// With these files; `/` at the end makes a folder.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let setup =
            Self { folder: TempDir::new().unwrap(), net: None, exec: None, secret: Secret(None) };
        for (path, content) in files {
            let path = setup.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        setup
    }

    /// With this network.
    pub(crate) fn with_net(self, net: Arc<dyn Net>) -> Self {
        Self { net: Some(net), ..self }
    }

    /// With a machine that runs commands.
    pub(crate) fn with_exec(self, exec: Arc<dyn Exec>) -> Self {
        Self { exec: Some(exec), ..self }
    }

    /// With this secret, which nobody may see.
    pub(crate) fn with_secret(self, secret: &'static str) -> Self {
        Self { secret: Secret(Some(secret)), ..self }
    }

    /// What a call would need.
    pub(crate) fn plan(name: &str, args: Value) -> Plan {
        let tools = tools::builtin();
        let tool = tools.iter().find(|tool| *tool.info().name == *name).unwrap();
        tool.prepare(args).unwrap().plan()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The content of a file, or `None` if it is not there.
    pub(crate) fn content(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Calls a tool as the gate would.
    pub(crate) async fn call(&self, name: &str, args: Value) -> ToolResult {
        let tools = tools::builtin();
        let tool = tools.iter().find(|tool| *tool.info().name == *name).unwrap();
        let prepared = tool.prepare(args)?;
        let plan = prepared.plan();
        assert!(
            plan.effects().is_subset(tool.info().effects),
            "{name} plans more than it declares"
        );
        let disk = TestDisk { root: self.folder.path().to_owned() };
        let ctx = ToolContext::new(ContextParts {
            redact: Arc::new(self.secret),
            call: CallIds::new(Arc::new(TestClock)).next(),
            caller: Arc::new(Caller::owner("main")),
            plan: Arc::new(plan),
            live: Arc::new(Live::default()),
            deadline: Instant::now() + Duration::from_secs(10),
            clock: Arc::new(TestClock),
            updates: Updates::default(),
            disk: (!tool.info().uses.is_empty()).then(|| Arc::new(disk) as Arc<dyn Disk>),
            exec: self
                .exec
                .clone()
                .filter(|_| tool.info().uses.contains(&Capability::Exec))
                .map(|exec| Execution { exec, review: Arc::new(KeepsAll), pinned: None }),
            net: self.net.clone(),
            own: Arc::new(Nothing),
            log: Arc::new(NoLog),
        });
        let output = prepared.run(&ctx).await?;
        if let (Some(schema), Some(value)) = (&tool.info().output, &output.value) {
            assert!(jsonschema::is_valid(schema, value), "{name} breaks its word: {value}");
        }
        Ok(output)
    }

    /// The text a model gets, or kind and message of the error.
    pub(crate) async fn text(&self, name: &str, args: Value) -> String {
        match self.call(name, args).await {
            Ok(output) => output.joined_text(),
            Err(error) => format!("{}: {error}", error.kind()),
        }
    }

    /// The structured value.
    pub(crate) async fn value(&self, name: &str, args: Value) -> Value {
        self.call(name, args).await.unwrap().value.unwrap()
    }

    /// Media type and size of the image.
    pub(crate) async fn image(&self, name: &str, args: Value) -> (String, usize) {
        let output = self.call(name, args).await.unwrap();
        let image = output.blocks.into_iter().find_map(|block| match block {
            Block::Image { mime, data } => Some((mime, data.len())),
            Block::Text(_) => None,
        });
        image.unwrap()
    }
}

#[derive(Debug)]
struct TestClock;

impl Clock for TestClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }
}

#[derive(Debug, Clone, Copy)]
struct Secret(Option<&'static str>);

impl tool::Redact for Secret {
    fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
        self.0.map_or_else(|| text.into(), |secret| text.replace(secret, "⟦secret⟧").into())
    }
}

/// Nothing is kept for anybody; calls through the gate have that.
#[derive(Debug)]
struct Nothing;

impl OwnData for Nothing {}

#[derive(Debug)]
struct NoLog;

impl ChangeLog for NoLog {
    fn record(&self, _: CallId, _: &[Change]) -> Result<(), ToolError> {
        Ok(())
    }
}

#[derive(Debug)]
struct TestDisk {
    root: PathBuf,
}

impl TestDisk {
    fn real(&self, path: &FilePath) -> PathBuf {
        self.root.join(path.as_str())
    }
}

impl Disk for TestDisk {
    fn folder(&self) -> &Path {
        &self.root
    }

    fn identity(&self) -> &'static str {
        "test"
    }

    fn look(&self, _: &Need) -> Result<PathFact, ToolError> {
        Err(ToolError::internal("not used"))
    }

    fn open(&self, path: &FilePath) -> Result<Opened, ToolError> {
        let file = File::open(self.real(path)).map_err(|error| failed(path, error))?;
        let meta = file.metadata().map_err(|error| failed(path, error))?;
        if meta.is_dir() {
            return Err(ToolError::failed(format!("`{path}` is a folder")));
        }
        Ok(Opened { file, stat: stat(&meta, None) })
    }

    fn stat(&self, path: &FilePath) -> Result<FileStat, ToolError> {
        stat_at(&self.real(path)).map_err(|error| failed(path, error))
    }

    fn walk(
        &self,
        path: &FilePath,
        walk: Walk,
        _: &Live,
        visit: Visit<'_>,
    ) -> Result<(), ToolError> {
        let base = self.real(path);
        let mut builder = WalkBuilder::new(&base);
        builder.max_depth((walk.depth < usize::MAX).then_some(walk.depth)).threads(walk.threads);
        builder.standard_filters(walk.ignored == Ignored::Skipped).require_git(false);
        let show = |entry: ignore::DirEntry| {
            let beneath = entry.path().strip_prefix(&base).unwrap().to_str().unwrap();
            let found = Found { path: path.join(beneath), entry };
            found.entry.depth() > 0 && visit(&found).is_break()
        };
        if walk.threads == 1 {
            let mut walk = builder.sort_by_file_name(Ord::cmp).build();
            let _ = walk.any(|entry| show(entry.unwrap()));
            return Ok(());
        }
        builder.build_parallel().run(|| {
            Box::new(
                |entry| if show(entry.unwrap()) { WalkState::Quit } else { WalkState::Continue },
            )
        });
        Ok(())
    }

    fn commit(&self, _: Commit<'_>, changes: Vec<FileChange>) -> Result<Vec<Changed>, ToolError> {
        for FileChange { path, expect, .. } in &changes {
            let now = fs::read(self.real(path)).ok();
            let as_expected = match expect {
                Expect::Anything => true,
                Expect::State(FileState::Absent) => now.is_none(),
                Expect::State(_) | Expect::Restorable { .. } => false,
                Expect::Content(digest) => now.is_some_and(|now| Digest::of(now) == *digest),
            };
            if !as_expected {
                return Err(ToolError::failed(format!("`{path}` was changed by somebody else")));
            }
        }
        changes.into_iter().map(|change| self.make(change)).collect()
    }
}

impl TestDisk {
    fn make(&self, change: FileChange) -> Result<Changed, ToolError> {
        let FileChange { path, content, .. } = change;
        let real = self.real(&path);
        let existed = real.exists();
        let wrong = |error| failed(&path, error);
        let kind = match content {
            FileContent::File { bytes, mode } => {
                fs::create_dir_all(real.parent().unwrap()).map_err(wrong)?;
                fs::write(&real, bytes).map_err(wrong)?;
                if let Some(mode) = mode {
                    fs::set_permissions(&real, fs::Permissions::from_mode(mode)).map_err(wrong)?;
                }
                if existed { ChangeKind::Modified } else { ChangeKind::Created }
            }
            FileContent::KeptTree(_) | FileContent::FolderMode(_) => {
                return Err(ToolError::internal("only undo does that"));
            }
            FileContent::Absent => {
                fs::remove_file(&real).map_err(wrong)?;
                ChangeKind::Deleted
            }
            FileContent::Append(more) => {
                let mut bytes = fs::read(&real).unwrap_or_default();
                bytes.extend(more);
                fs::write(&real, bytes).map_err(wrong)?;
                if existed { ChangeKind::Modified } else { ChangeKind::Created }
            }
            FileContent::Kept { .. } | FileContent::Link(_) => {
                return Err(ToolError::internal("not used"));
            }
        };
        Ok(Changed { path, change: kind })
    }
}

struct Found {
    path: FilePath,
    entry: ignore::DirEntry,
}

impl WalkEntry for Found {
    fn path(&self) -> &FilePath {
        &self.path
    }
    fn kind(&self) -> FileKind {
        self.entry.file_type().map_or(FileKind::Other, kind)
    }
    fn depth(&self) -> usize {
        self.entry.depth()
    }
    fn open(&self) -> io::Result<File> {
        File::open(self.entry.path())
    }
    fn stat(&self) -> io::Result<FileStat> {
        stat_at(self.entry.path())
    }
}

fn kind(kind: fs::FileType) -> FileKind {
    match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
        (true, _, _) => FileKind::File,
        (_, true, _) => FileKind::Folder,
        (_, _, true) => FileKind::Link,
        _ => FileKind::Other,
    }
}

fn stat_at(path: &Path) -> io::Result<FileStat> {
    let target = fs::read_link(path).ok().map(|target| target.to_string_lossy().into_owned());
    Ok(stat(&fs::symlink_metadata(path)?, target))
}

fn stat(meta: &fs::Metadata, target: Option<String>) -> FileStat {
    FileStat {
        kind: kind(meta.file_type()),
        bytes: meta.len(),
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        gid: meta.gid(),
        modified: meta.modified().unwrap(),
        accessed: meta.accessed().unwrap(),
        created: meta.created().ok(),
        target,
    }
}

fn failed(path: &FilePath, error: io::Error) -> ToolError {
    if error.kind() == io::ErrorKind::NotFound {
        return ToolError::not_found(path);
    }
    ToolError::failed_by(format!("`{path}`: {}", error.kind()), error)
}

/// Nothing is looked at.
#[derive(Debug)]
struct KeepsAll;

impl Review for KeepsAll {
    fn is_wanted(&self, _: Extent) -> bool {
        false
    }

    fn judge<'a>(&'a self, _: &'a Proposal) -> BoxFuture<'a, Result<Keep, ToolError>> {
        Box::pin(async { Ok(Keep::All) })
    }
}
