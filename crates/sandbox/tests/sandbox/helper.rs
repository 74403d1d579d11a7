//! How a test runs a command.

use std::{
    ffi::OsString,
    fs,
    future::Future,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use libtest_mimic::Trial;
use sandbox::{
    Access, Bind, Changes, Exit, IsolationMode, IsolationWalls, Job, Level, LimitKeeper, Limits,
    Process, Sandbox, SandboxError, SandboxSettings, Source, Workspace,
};
use tokio::io::AsyncReadExt;

/// Where this binary is inside.
pub(crate) const ATTACKER: &str = "/attacker";
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

static SANDBOX: OnceLock<(Sandbox, Level)> = OnceLock::new();

/// One for all tests, as a program has it; and what this machine offers.
pub(crate) fn the_sandbox() -> &'static (Sandbox, Level) {
    SANDBOX.get_or_init(|| {
        let make = || {
            block_on(async {
                let sandbox = Sandbox::new(SandboxSettings::default());
                let level = sandbox.report().await.expect("a report").level;
                assert_ne!(level, Level::None, "{:?}", sandbox.report().await);
                (sandbox, level)
            })
        };
        // Who asks first is in a runtime already.
        std::thread::spawn(make).join().unwrap()
    })
}

/// How commands are isolated and limited here.
pub(crate) fn the_mode() -> IsolationMode {
    the_sandbox().0.report_now().expect("a report").mode.expect("a mode")
}

/// Whether the kernel counts what commands use.
pub(crate) fn is_counted() -> bool {
    the_mode().limits == LimitKeeper::Cgroup
}

pub(crate) fn shut_down() {
    if let Some((sandbox, _)) = SANDBOX.get() {
        block_on(sandbox.shutdown());
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await.expect("in time") })
}

/// A trial from a future.
pub(crate) fn trial<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name.to_owned(), move || {
        block_on(test());
        Ok(())
    })
}

/// A folder with a workspace in it, gone afterwards.
pub(crate) struct Folder {
    _temp: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) workspace: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Self {
        // Not in `/tmp`, which is private inside, and would hide a way out.
        let temp = tempfile::Builder::new().prefix("sandbox-test-").tempdir_in(base()).unwrap();
        let path = temp.path().canonicalize().unwrap();
        let workspace = path.join("workspace");
        fs::create_dir(&workspace).unwrap();
        Self { _temp: temp, path, workspace }
    }

    pub(crate) fn workspace(&self, mode: Changes) -> Workspace {
        let source = Source::Path(self.workspace.clone());
        Workspace { source, target: self.workspace.clone(), mode }
    }

    /// Layers for an overlay, in a new folder.
    pub(crate) fn overlay(&self, name: &str) -> (PathBuf, Changes) {
        let layers = self.path.join(name);
        fs::create_dir(&layers).unwrap();
        (layers.join("upper"), Changes::Overlay { layers: Source::Path(layers) })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The kernel's own folder in an overlay has no rights at all.
        open_up(&self.path);
    }
}

fn open_up(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop(fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700)));
            open_up(&entry.path());
        }
    }
}

/// A folder of this user's.
pub(crate) fn base() -> PathBuf {
    std::env::var_os("SANDBOX_TEST_BASE").map_or_else(|| "/var/tmp".into(), PathBuf::from)
}

/// A job with limits a small machine can bear.
pub(crate) fn job(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Job {
    let limits = Limits { memory_bytes: 2 << 30, processes: 64, ..Limits::default() };
    Job { limits, minimum: Level::Reduced, ..Job::new(argv) }
}

pub(crate) fn shell(script: &str) -> Job {
    job(["/bin/sh", "-c", script])
}

/// This binary, inside, as something else.
pub(crate) fn inside(argv: &[&str]) -> Job {
    let own = Source::Path(std::env::current_exe().unwrap().canonicalize().unwrap());
    let bind = Bind { source: own, target: ATTACKER.into(), access: Access::ReadOnly };
    let own = std::env::current_exe().unwrap();
    // Without namespaces nothing can be mounted anywhere.
    let is_mounted = the_mode().walls == IsolationWalls::Namespaces;
    let attacker = if is_mounted { ATTACKER } else { own.to_str().unwrap() };
    let argv: Vec<_> = [attacker].into_iter().chain(argv.iter().copied()).collect();
    Job { binds: vec![bind], ..job(argv) }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) async fn start(job: Job) -> Result<Process, SandboxError> {
    the_sandbox().0.start(job).await
}

pub(crate) async fn run(job: Job) -> Ran {
    let mut process = start(job).await.expect("it starts");
    drop(process.take_stdin());
    finish(&mut process).await
}

pub(crate) async fn finish(process: &mut Process) -> Ran {
    let (stdout, stderr) = (process.take_stdout(), process.take_stderr());
    let read = async |output: Option<sandbox::Output>| {
        let mut bytes = Vec::new();
        if let Some(mut output) = output {
            output.read_to_end(&mut bytes).await.unwrap();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (stdout, stderr, exit) = tokio::join!(read(stdout), read(stderr), process.wait());
    Ran { exit: exit.expect("it ends"), stdout, stderr }
}

/// What a script prints.
pub(crate) async fn printed(job: Job) -> String {
    let Ran { exit, stdout, stderr } = run(job).await;
    assert_eq!((exit.code, stderr.as_str()), (Some(0), ""), "{stdout}");
    stdout
}
