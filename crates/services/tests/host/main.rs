//! Commands on the host, through the runner.
//!
//! The launcher is this binary executed again, so it has a `main` of its own.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::{
    fs,
    future::Future,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use config::Config;
use libtest_mimic::{Arguments, Trial};
use services::Runner;
use tool::{
    BoxFuture, CallId, CallIds, Caller, Captured, Change, ChangeLog, Exec, Extent, FilePath, How,
    Keep, Lasting, Live, Place, Process, Proposal, Ran, Reach, Review, Run, Start, Terminal,
    ToolError, Updates,
};
use world::{SystemClock, World, WorldSettings};

fn main() {
    sandbox::init();
    let trials = vec![
        trial("a_command_changes_the_workspace_itself", a_command_changes_the_workspace_itself),
        trial("a_command_is_the_person", a_command_is_the_person),
        trial("time_runs_out_and_nothing_is_left", time_runs_out_and_nothing_is_left),
        trial("a_cancelled_command_is_ended", a_cancelled_command_is_ended),
        trial("pipes_that_others_hold_do_not_matter", pipes_that_others_hold_do_not_matter),
        trial("a_process_says_where_it_runs", a_process_says_where_it_runs),
        trial("what_is_not_possible_is_said", what_is_not_possible_is_said),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial<F: Future<Output = ()> + 'static>(name: &str, test: fn(Arc<Setup>) -> F) -> Trial {
    Trial::test(name.to_owned(), move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let setup = Arc::new(Setup::new());
            let patience = Duration::from_mins(1);
            tokio::time::timeout(patience, test(setup.clone())).await.unwrap();
            setup.runner.shutdown().await;
        });
        Ok(())
    })
}

/// A runner with a workspace, and what a call of it needs.
struct Setup {
    _temp: tempfile::TempDir,
    workspace: PathBuf,
    runner: Runner,
    call: CallId,
    caller: Caller,
    live: Arc<Live>,
    log: Arc<dyn ChangeLog>,
    updates: Updates,
    review: Arc<dyn Review>,
}

/// Nothing may be recorded: on the host nobody knows what changes.
#[derive(Debug)]
struct NoLog;

impl ChangeLog for NoLog {
    fn record(&self, _: CallId, changes: &[Change]) -> Result<(), ToolError> {
        panic!("{changes:?}")
    }
}

#[derive(Debug)]
struct NoReview;

impl Review for NoReview {
    fn is_wanted(&self, _: Extent) -> bool {
        false
    }

    fn judge<'a>(&'a self, _: &'a Proposal) -> BoxFuture<'a, Result<Keep, ToolError>> {
        panic!("there is nothing to review")
    }
}

impl Setup {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let workspace = base.join("workspace");
        fs::create_dir_all(workspace.join("folder")).unwrap();
        let clock = Arc::new(SystemClock);
        let settings = WorldSettings::new(base.join("data"), &workspace);
        let world = Arc::new(World::open(settings, clock.clone()).unwrap());
        Self {
            _temp: temp,
            workspace,
            runner: Runner::new(world, &Config::default()),
            call: CallIds::new(clock).next(),
            caller: Caller::owner("main"),
            live: Arc::new(Live::default()),
            log: Arc::new(NoLog),
            updates: Updates::default(),
            review: Arc::new(NoReview),
        }
    }

    fn start<'a>(&'a self, run: &'a Run, timeout: Duration) -> Start<'a> {
        let Self { call, caller, live, log, updates, review, .. } = self;
        let how = How { timeout, terminal: Terminal::No };
        Start { run, how, call: *call, caller, live, log, updates, review, pinned: None }
    }

    async fn run(&self, run: &Run) -> Result<Ran, ToolError> {
        self.runner.run(self.start(run, Duration::from_secs(30))).await
    }
}

fn on_host(command: &str) -> Run {
    Run { place: Some(Place::Host), reach: Reach::Everybody, ..Run::new(command) }
}

fn text(Captured { head, left_out, tail }: &Captured) -> String {
    assert_eq!(*left_out, 0);
    let bytes = head.iter().chain(tail).flat_map(|(_, bytes)| bytes).copied().collect();
    String::from_utf8(bytes).unwrap()
}

fn is_running(mark: &str) -> bool {
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.into_iter().any(|line| line.starts_with(mark))
}

async fn a_command_changes_the_workspace_itself(setup: Arc<Setup>) {
    let command = "echo new > file; pwd -P; echo oops >&2; exit 3";
    let run = Run { cwd: FilePath::new("folder"), ..on_host(command) };
    let ran = setup.run(&run).await.unwrap();
    let folder = setup.workspace.join("folder");
    assert_eq!((ran.ended.exit_code, ran.ended.killed_for), (Some(3), None));
    let output = text(&ran.output);
    assert!(output.contains(&format!("{}\n", folder.display())) && output.contains("oops\n"));
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "new\n");
    assert_eq!((ran.place, ran.changed.as_slice()), (Place::Host, &[][..]));
    let note = "it ran on the host, outside the sandbox; what it changed cannot be undone";
    assert_eq!(ran.notes, [note]);
}

async fn a_command_is_the_person(setup: Arc<Setup>) {
    let run = Run { env: [("ADDED".to_owned(), "1".to_owned())].into(), ..on_host("env") };
    let output = text(&setup.run(&run).await.unwrap().output);
    let value = |name: &str| {
        let mut lines = output.lines();
        lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    };
    assert_eq!(value("ADDED").as_deref(), Some("1"));
    if let Some(home) = config::environment("HOME") {
        assert_eq!(value("HOME"), Some(home));
    }
    assert!(value("USER").is_some_and(|name| !name.is_empty() && name != "agent"), "{output}");
    assert_eq!(value("USER"), value("LOGNAME"));
    assert!(value("PATH").unwrap().ends_with("/usr/bin:/bin:/usr/local/sbin:/usr/sbin"));
    for name in ["http_proxy", "HTTPS_PROXY", "NO_PROXY", "CARGO_PKG_NAME"] {
        assert_eq!(value(name), None, "{name}");
    }
}

async fn time_runs_out_and_nothing_is_left(setup: Arc<Setup>) {
    let mark = format!("sleep 60.71{}", std::process::id());
    let run = on_host(&format!("echo before; setsid {mark} & {mark}"));
    let start = setup.start(&run, Duration::from_millis(300));
    let ran = setup.runner.run(start).await.unwrap();
    assert_eq!((ran.ended.timed_out, ran.ended.killed_for.as_deref()), (true, Some("timeout")));
    assert_eq!(text(&ran.output), "before\n");
    assert!(!is_running(&mark));
}

async fn a_cancelled_command_is_ended(setup: Arc<Setup>) {
    let mark = format!("sleep 60.72{}", std::process::id());
    let run = on_host(&format!("setsid {mark} & {mark}"));
    let cancel = async {
        while !is_running(&mark) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        setup.live.cancellation().cancel();
    };
    let (ran, ()) = tokio::join!(setup.run(&run), cancel);
    assert!(matches!(ran, Err(ToolError::Cancelled)), "{ran:?}");
    assert!(!is_running(&mark));
}

/// Whoever is not of the command's tree may have been given its output.
async fn pipes_that_others_hold_do_not_matter(setup: Arc<Setup>) {
    let run = on_host("echo $$ > number; echo done; sleep 0.3");
    let hold = async {
        let number = loop {
            let text = fs::read_to_string(setup.workspace.join("number")).unwrap_or_default();
            if text.ends_with('\n') {
                break text.trim().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        fs::File::options().write(true).open(format!("/proc/{number}/fd/1")).unwrap()
    };
    let began = Instant::now();
    let (ran, _held) = tokio::join!(setup.run(&run), hold);
    let ran = ran.unwrap();
    assert_eq!((ran.ended.exit_code, text(&ran.output).as_str()), (Some(0), "done\n"));
    assert!(began.elapsed() < Duration::from_secs(20));
}

async fn a_process_says_where_it_runs(setup: Arc<Setup>) {
    let mark = format!("sleep 60.73{}", std::process::id());
    let run = on_host(&format!("read line; echo got $line; setsid {mark} & {mark}"));
    let run = Run { lasting: Lasting::Session, ..run };
    let start = setup.start(&run, Duration::from_mins(1));
    let process: Arc<dyn Process> = setup.runner.start(start).await.unwrap();
    assert_eq!(process.status().place, Place::Host);
    process.write(b"hello\n").await.unwrap();
    process.changed(0).await;
    assert_eq!(process.output(0, 100).bytes, b"got hello\n");
    while !is_running(&mark) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    process.kill().unwrap();
    while process.status().ended.is_none() {
        process.changed(u64::MAX).await;
    }
    let status = process.status();
    assert_eq!(status.place, Place::Host);
    assert_eq!(status.ended.unwrap().killed_for.as_deref(), Some("cancelled"));
    assert!(!is_running(&mark));
    assert_eq!(setup.runner.processes(&setup.caller).len(), 1);
}

async fn what_is_not_possible_is_said(setup: Arc<Setup>) {
    let elsewhere = Run { cwd: FilePath::new("../.."), ..on_host("true") };
    for (run, expected) in [
        (elsewhere, "`../..` is not in the workspace"),
        (
            Run { place: Some(Place::Container), ..on_host("true") },
            "`container` comes with a later version; leave `host` out",
        ),
        (
            Run { place: Some(Place::Node), ..on_host("true") },
            "`node` comes with a later version; leave `host` out",
        ),
    ] {
        assert_eq!(setup.run(&run).await.unwrap_err().to_string(), expected);
    }
    let run = on_host("true");
    let start = setup.start(&run, Duration::from_secs(30));
    let error = setup.runner.interact(start).await.unwrap_err();
    let expected = "a command at your own terminal runs in the sandbox only; leave `host` out";
    assert_eq!(error.to_string(), expected);
}
