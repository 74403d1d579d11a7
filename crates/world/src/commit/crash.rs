//! Crashes: a process dies at every step of a commit, and of the recovery after it, and the files
//! are whole or untouched every time.

mod review;
mod undo;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use tempfile::TempDir;
use tool::{
    CallId, Caller, Capabilities, Change, ChangeLog, Commit, Expect, FileChange, FileContent,
    FilePath, FileState, Live, ToolError,
};

use super::step::{DIED, die_after};
use crate::{Ending, Recovered, SystemClock, Unfinished, World, WorldSettings};

const CHILD: &str = "TOOLGATE_TEST_CRASH";
const OLD: [(&str, &str); 3] =
    [("a.txt", "old a"), ("b/b.txt", "old b"), ("gone/gone.txt", "old gone")];
const NEW: [(&str, &str); 3] =
    [("a.txt", "new a"), ("b/b.txt", "new b"), ("made/deep/c.txt", "new c")];

/// A journal that outlives its process.
#[derive(Debug)]
struct Log(PathBuf);

impl ChangeLog for Log {
    fn record(&self, _: CallId, changes: &[Change]) -> Result<(), ToolError> {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        writeln!(file, "{}", serde_json::to_string(changes).unwrap()).unwrap();
        Ok(())
    }
}

impl Log {
    fn records(&self) -> Vec<Vec<Change>> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn call() -> CallId {
    "0198c0de-0000-7000-8000-000000000001".parse().unwrap()
}

fn world(dir: &Path) -> World {
    let settings = WorldSettings::new(dir.join("data"), dir.join("ws"));
    World::open(settings, Arc::new(SystemClock)).unwrap()
}

fn fresh() -> TempDir {
    let dir = TempDir::new().unwrap();
    for folder in ["b", "gone"] {
        fs::create_dir_all(dir.path().join("ws").join(folder)).unwrap();
    }
    for (name, content) in OLD {
        fs::write(dir.path().join("ws").join(name), content).unwrap();
    }
    dir
}

fn commit(dir: &Path) {
    let file = |content: &str| FileContent::File { bytes: content.into(), mode: None };
    let mut changes: Vec<_> = NEW.iter().map(|(path, content)| (*path, file(content))).collect();
    changes.push(("gone/gone.txt", FileContent::Absent));
    let changes = changes.into_iter().map(|(path, content)| FileChange {
        path: FilePath::new(path),
        expect: Expect::Anything,
        content,
    });
    let (live, log) = (Live::default(), Log(dir.join("log")));
    let commit = Commit { call: call(), live: &live, log: &log };
    let disk = world(dir).disk(&Caller::owner("main")).unwrap();
    disk.commit(commit, changes.collect()).unwrap();
}

/// The same changes, as a command leaves them in the upper layer of an overlay: one file changed, one
/// folder replaced, one made, one removed.
fn overlay(dir: &Path) {
    let (live, log) = (Live::default(), Log(dir.join("log")));
    let overlay = world(dir).overlay(&Caller::owner("main"), call()).unwrap();
    let upper = dir.join("data/overlays").join(call().to_string()).join("upper");
    for (name, content) in NEW {
        let path = upper.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    setxattr(upper.join("b"), "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    mknodat(CWD, upper.join("gone"), FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    overlay.commit(Commit { call: call(), live: &live, log: &log }).unwrap();
}

fn recover(dir: &Path) -> Recovered {
    let log = Log(dir.join("log"));
    let planned = ["a.txt", "b", "made/deep/c.txt", "gone/gone.txt"].map(FilePath::new);
    let unfinished = Unfinished {
        workspace: None,
        call: call(),
        caller: &Caller::owner("main"),
        planned: &planned,
        records: &log.records(),
        log: &log,
    };
    world(dir).recover(unfinished).unwrap()
}

/// Every file in the workspace and its content.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![dir.join("ws")]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(dir.join("ws")).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    found
}

fn listed(files: [(&str, &str); 3]) -> BTreeMap<String, String> {
    files.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

/// Runs the test below in a process of its own that dies after `steps`; `false` if it got through.
#[expect(clippy::disallowed_methods, reason = "a crash needs a process that can die")]
fn dies(dir: &Path, what: &str, steps: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "commit::crash::the_child_that_dies"])
        .env(CHILD, format!("{what} {steps} {}", dir.display()))
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || status.code() == Some(DIED), "{status}");
    !status.success()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
fn the_child_that_dies() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let [what, steps, dir] = task.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let dir = Path::new(dir);
    die_after(steps.parse().unwrap());
    match what {
        "commit" => commit(dir),
        "overlay" => overlay(dir),
        "recover" => drop(recover(dir)),
        "prune" => undo::prune(dir),
        "run" => review::run(dir),
        "resume" => review::resume(dir, 2),
        what => {
            let [what, number, undone] = what.split('-').collect::<Vec<_>>()[..] else {
                panic!("{task}")
            };
            let (number, undone) = (number.parse().unwrap(), undone.parse().unwrap());
            match what {
                "undo" => undo::undo(dir, number, undone).unwrap(),
                _ => drop(undo::recover(dir, number, undone)),
            }
        }
    }
}

/// Whole or untouched, nothing left behind, and everything there to undo it.
fn check(dir: &Path, recovered: &Recovered, at: &str) {
    let records = Log(dir.join("log")).records();
    let (expected, ending) = match records.len() {
        0 => (listed(OLD), Ending::Unchanged),
        1 => (listed(NEW), Ending::Finished),
        _ => (listed(OLD), Ending::RolledBack),
    };
    assert_eq!(files(dir), expected, "{at}");
    assert_eq!((recovered.ending, recovered.conflicts.len()), (ending, 0), "{at}");
    let world = world(dir);
    for change in records.iter().take(1).flatten() {
        match change.before {
            FileState::File { digest, .. } => {
                assert!(world.common.blobs.get(digest).is_some(), "{at}: {}", change.path);
            }
            FileState::Tree { digest, .. } if ending == Ending::Finished => {
                assert!(world.common.trees.has(digest), "{at}: {}", change.path);
            }
            FileState::Absent
            | FileState::Link { .. }
            | FileState::Folder { .. }
            | FileState::Tree { .. } => {}
        }
    }
    assert_eq!(recover(dir).swept, 0, "{at}");
    assert_eq!(files(dir), expected, "{at}, recovered twice");
}

/// audit-001.
#[test]
fn a_commit_is_whole_or_absent_wherever_it_dies() {
    for (what, least) in [("commit", 12), ("overlay", 9)] {
        let mut steps = 0;
        loop {
            let dir = fresh();
            if !dies(dir.path(), what, steps) {
                break;
            }
            check(dir.path(), &recover(dir.path()), &format!("{what} died at step {steps}"));
            steps += 1;
        }
        assert!(steps > least, "only {steps} steps of {what} were tried");
    }
}

#[test]
fn recovery_can_die_too() {
    // Right after the record, and after the first and the second file.
    let firsts = [8, 9, 10, 13].map(|first| ("commit", first));
    for (what, first) in firsts.into_iter().chain((7..13).map(|first| ("overlay", first))) {
        let mut steps = 0;
        loop {
            let dir = fresh();
            assert!(dies(dir.path(), what, first), "{what} has no step {first}");
            if !dies(dir.path(), "recover", steps) {
                break;
            }
            let at = format!("{what} died at {first}, and again at {steps}");
            check(dir.path(), &recover(dir.path()), &at);
            steps += 1;
        }
        assert!(steps > 3, "only {steps} steps were tried");
    }
}

/// Dies after the first file was changed.
fn half_done() -> TempDir {
    let dir = fresh();
    let mut steps = 0;
    while !(dies(dir.path(), "commit", steps) && files(dir.path())["a.txt"] == "new a") {
        recover(dir.path());
        let _ = fs::remove_file(dir.path().join("log"));
        for (name, content) in OLD {
            fs::write(dir.path().join("ws").join(name), content).unwrap();
        }
        let _ = fs::remove_dir_all(dir.path().join("ws/made"));
        steps += 1;
    }
    dir
}

#[test]
fn a_commit_that_cannot_be_finished_is_undone() {
    let dir = half_done();
    let staged: Vec<_> =
        files(dir.path()).into_keys().filter(|name| name.contains(".toolgate-")).collect();
    assert!(!staged.is_empty());
    for name in staged {
        fs::remove_file(dir.path().join("ws").join(name)).unwrap();
    }
    let recovered = recover(dir.path());
    assert_eq!((recovered.ending, recovered.conflicts), (Ending::RolledBack, vec![]));
    assert_eq!(files(dir.path()), listed(OLD));
    assert_eq!(Log(dir.path().join("log")).records().len(), 2, "recorded like every change");
    assert_eq!(recover(dir.path()).ending, Ending::RolledBack);
    assert_eq!(files(dir.path()), listed(OLD));
}

#[test]
fn what_somebody_else_changed_is_left_alone() {
    let dir = half_done();
    fs::write(dir.path().join("ws/gone/gone.txt"), "mine").unwrap();
    let recovered = recover(dir.path());
    assert_eq!(recovered.conflicts, [FilePath::new("gone/gone.txt")]);
    let mut expected = listed(NEW);
    expected.insert("gone/gone.txt".into(), "mine".into());
    assert_eq!(files(dir.path()), expected);
}
