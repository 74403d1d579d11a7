//! What is left when calls have ended, however they ended: nothing.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

use libtest_mimic::Trial;
use sandbox::{Changes, Job, Sandbox, SandboxSettings, Stdio};

use crate::helper::{Folder, block_on, shell, trial};

const CALLS: usize = 100;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("nothing_is_left", nothing_is_left),
        trial("a_killed_parent_leaves_nothing", a_killed_parent_leaves_nothing),
    ]
}

/// Starts something that would take long, and waits to be killed.
pub(crate) fn run(args: &[String]) -> ! {
    block_on(async {
        let workspace = Path::new(&args[0]);
        let source = sandbox::Source::Path(workspace.to_owned());
        let target = workspace.to_owned();
        let job = Job {
            workspace: Some(sandbox::Workspace { source, target, mode: Changes::Direct }),
            absent: vec![workspace.join(".envrc")],
            ..shell(&format!("setsid sleep 64 & exec sleep 65 {}", args[1]))
        };
        let _process = crate::helper::start(job).await.unwrap();
        println!("started");
        std::future::pending::<()>().await;
    });
    unreachable!("it is killed")
}

async fn a_killed_parent_leaves_nothing() {
    let folder = Folder::new();
    let mark = format!("6{}", std::process::id());
    let own = std::env::current_exe().unwrap();
    let mut parent = std::process::Command::new(own)
        .args(["abandon", folder.workspace.to_str().unwrap(), &mark])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    assert!(folder.workspace.join(".envrc").exists());
    // Also the process that waits for the end of the test has it in its arguments.
    let others = |mark: &str| processes_with(&format!("sleep 65 {mark}"));
    settle(|| !others(&mark).is_empty(), || "it does not run".to_owned()).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    settle(|| others(&mark).is_empty(), || format!("{:?}", others(&mark))).await;
    settle(|| !folder.workspace.join(".envrc").exists(), || "it is still held".to_owned()).await;
    // Its groups are removed by whoever comes next.
    let gone = || {
        drop(Sandbox::new(SandboxSettings::default()));
        groups_of(parent.id()).is_empty()
    };
    settle(gone, || format!("{:?}", groups_of(parent.id()))).await;
}

async fn nothing_is_left() {
    let folder = Folder::new();
    let mark = format!("leak{}", std::process::id());
    let sandbox = Sandbox::new(SandboxSettings::default());
    // The first ones start what stays until the end.
    for _ in 0..3 {
        call(&sandbox, &folder, &mark, 0).await;
    }
    let before = descriptors();
    let calls = std::env::var("SANDBOX_TEST_CALLS").map_or(CALLS, |calls| calls.parse().unwrap());
    for number in 0..calls {
        call(&sandbox, &folder, &mark, number).await;
    }
    settle(
        || descriptors() <= before + 8,
        || format!("{} descriptors, {before} before", descriptors()),
    )
    .await;
    settle(|| processes_with(&mark).is_empty(), || format!("{:?}", processes_with(&mark))).await;
    sandbox.shutdown().await;
    // Other tests run at the same time; what is theirs is in use.
    let unused = || {
        let groups = groups_of(std::process::id()).into_iter();
        groups.filter(|group| is_unused(group)).collect::<Vec<_>>()
    };
    settle(|| unused().is_empty(), || format!("{:?}", unused())).await;
    assert_eq!(mounts_of(&folder.path), 0);
    let entries: Vec<_> = fs::read_dir(&folder.workspace).unwrap().collect();
    assert!(entries.is_empty(), "{entries:?}");
}

async fn call(sandbox: &Sandbox, folder: &Folder, mark: &str, number: usize) {
    let script = format!(
        "(setsid sh -c 'exec sleep 61 {mark}' &) ; nohup sh -c 'sleep 62; : {mark}' > /dev/null 2>&1 & "
    );
    let job = Job {
        workspace: Some(folder.workspace(Changes::Direct)),
        absent: vec![folder.workspace.join(".envrc")],
        stdio: if number.is_multiple_of(5) {
            Stdio::Pty { rows: 2, cols: 2 }
        } else {
            Stdio::Piped
        },
        ..shell(&match number % 4 {
            // It ends, and what it has started does not.
            0 => script,
            _ => format!("{script} sleep 63"),
        })
    };
    let mut process = sandbox.start(job).await.unwrap();
    match number % 4 {
        0 => drop(process.wait().await.unwrap()),
        1 => {
            // Its time is up.
            let short = Duration::from_millis(5);
            assert!(tokio::time::timeout(short, process.wait()).await.is_err());
            process.kill().unwrap();
            process.wait().await.unwrap();
        }
        2 => drop(process),
        _ => {
            process.kill().unwrap();
            process.wait().await.unwrap();
        }
    }
}

/// What has been let go is given the time to go.
pub(crate) async fn settle(is_so: impl Fn() -> bool, what: impl Fn() -> String) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{}", what());
}

pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

pub(crate) fn processes_with(mark: &str) -> Vec<String> {
    let command = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark).then_some(line)
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(command).collect()
}

/// Groups that a process has made.
pub(crate) fn groups_of(pid: u32) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    look(Path::new("/sys/fs/cgroup"), &format!("toolgate-{pid}-"), 0, &mut found);
    found
}

fn look(folder: &Path, mine: &str, depth: usize, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if depth > 6 || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if entry.file_name().to_string_lossy().starts_with(mine) {
            found.insert(entry.path());
        }
        look(&entry.path(), mine, depth + 1, found);
    }
}

pub(crate) fn is_unused(group: &Path) -> bool {
    fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|procs| procs.is_empty())
}

fn mounts_of(folder: &Path) -> usize {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let name = folder.display().to_string();
    mounts.lines().filter(|line| line.contains(&name)).count()
}
