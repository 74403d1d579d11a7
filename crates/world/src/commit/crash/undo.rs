//! Crashes during an undo, during the undo of an undo, and while undo data is pruned.
//!
//! A sample of all steps by default; `CRASH_TEST_STEPS=1` tries every one, `7` every seventh.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use tempfile::TempDir;
use tool::{
    CallId, Caller, Capabilities as _, Change, Clock as _, Commit, Expect, FileChange, FileContent,
    FilePath, Live, ToolError,
};

use super::{Log, dies};
use crate::{Ending, Keep, Recovered, SystemClock, Unfinished, World, WorldSettings};

/// Calls are numbered; each has a log of its own.
pub(super) fn call(number: u32) -> CallId {
    format!("0198c0de-0000-7000-8000-00000000{number:04}").parse().unwrap()
}

fn log(dir: &Path, number: u32) -> Log {
    Log(dir.join(format!("log-{number}")))
}

fn world(dir: &Path, keep: Keep) -> World {
    let settings = WorldSettings { keep, ..WorldSettings::new(dir.join("data"), dir.join("ws")) };
    World::open(settings, Arc::new(SystemClock)).unwrap()
}

/// How many steps apart the tried ones are.
#[expect(clippy::disallowed_methods, reason = "how a person asks for more")]
pub(super) fn stride(default: usize) -> usize {
    std::env::var("CRASH_TEST_STEPS").map_or(default, |text| text.parse().unwrap())
}

/// A folder with everything that can be in one; all of them with the same `content` are equal.
fn grow(folder: &Path, content: &str) {
    for inner in ["x/same", "y/same", "empty", "x/deep/er/and/deeper"] {
        fs::create_dir_all(folder.join(inner)).unwrap();
    }
    let long = "n".repeat(255);
    for (name, mode) in [
        ("x/same/file", 0o644),
        ("y/same/file", 0o644),
        ("x/deep/er/and/deeper/tool", 0o755),
        ("read-only", 0o444),
        ("secret", 0o600),
        ("closed", 0o000),
        ("a name\nwith a line break", 0o640),
        (long.as_str(), 0o644),
    ] {
        fs::write(folder.join(name), content).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::hard_link(folder.join("secret"), folder.join("hard")).unwrap();
    symlink("x/same/file", folder.join("link")).unwrap();
    symlink("/nowhere", folder.join("broken")).unwrap();
    mknodat(CWD, folder.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let times = fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_hours(9));
    fs::File::open(folder.join("x/same/file")).unwrap().set_times(times).unwrap();
    for (name, mode) in [("x/deep", 0o500), ("y", 0o750), ("empty", 0o700)] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// A workspace before and after a command that removed two equal folders and a different one, made
/// one, changed a file, and turned a file into a folder and a folder into a file.
fn commanded() -> TempDir {
    let dir = TempDir::new().unwrap();
    let ws = dir.path().join("ws");
    for (name, content) in
        [("one", "equal"), ("two", "equal"), ("other", "different"), ("was-folder", "third")]
    {
        grow(&ws.join(name), content);
    }
    fs::write(ws.join("a.txt"), "old").unwrap();
    fs::write(ws.join("was-file"), "file").unwrap();
    // Also has a name outside the folders that are kept.
    fs::hard_link(ws.join("one/read-only"), ws.join("outside")).unwrap();
    let world = world(dir.path(), Keep::default());
    let overlay = world.overlay(&Caller::owner("main"), call(1)).unwrap();
    let upper = dir.path().join("data/overlays").join(call(1).to_string()).join("upper");
    for name in ["one", "two", "other"] {
        mknodat(CWD, upper.join(name), FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }
    for name in ["made", "was-file"] {
        fs::create_dir_all(upper.join(name).join("in/it")).unwrap();
        fs::write(upper.join(name).join("in/it/file"), name).unwrap();
        setxattr(upper.join(name), "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    }
    fs::write(upper.join("was-folder"), "now a file").unwrap();
    fs::write(upper.join("a.txt"), "new").unwrap();
    let live = Live::default();
    overlay.commit(Commit { call: call(1), live: &live, log: &log(dir.path(), 1) }).unwrap();
    dir
}

/// Takes back what the call `undone` recorded, as the call `number`; what `toolgate undo` does.
pub(super) fn undo(dir: &Path, number: u32, undone: u32) -> Result<(), ToolError> {
    let records: Vec<Change> = log(dir, undone).records().into_iter().flatten().collect();
    let changes = records.iter().map(|change| FileChange {
        path: FilePath::new(&change.inner),
        expect: Expect::State(change.after.clone()),
        content: FileContent::from(&change.before),
    });
    let (live, log) = (Live::default(), log(dir, number));
    let disk = world(dir, Keep::default()).disk(&Caller::owner("main")).unwrap();
    let commit = Commit { call: call(number), live: &live, log: &log };
    disk.commit(commit, changes.collect()).map(drop)
}

pub(super) fn recover(dir: &Path, number: u32, undone: u32) -> Recovered {
    let (log, undone) = (log(dir, number), log(dir, undone).records());
    let planned: Vec<_> =
        undone.iter().flatten().map(|change| FilePath::new(&change.inner)).collect();
    let unfinished = Unfinished {
        workspace: None,
        call: call(number),
        caller: &Caller::owner("main"),
        planned: &planned,
        records: &log.records(),
        log: &log,
    };
    world(dir, Keep::default()).recover(unfinished).unwrap()
}

/// Drops what is older than a day.
pub(super) fn prune(dir: &Path) {
    world(dir, Keep { age: Duration::from_hours(24), ..Keep::default() }).prune().unwrap();
}

/// Everything in the workspace: kind, mode and content.
fn state(dir: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut paths) = (BTreeMap::new(), vec![dir.join("ws")]);
    while let Some(path) = paths.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        let what = if stat.is_symlink() {
            format!("link to {}", fs::read_link(&path).unwrap().display())
        } else if stat.is_dir() {
            paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            format!("folder {:o}", stat.mode())
        } else if stat.is_file() {
            let content = fs::read_to_string(&path).unwrap();
            // Of files in kept folders also the time; others are written anew.
            let time = Some(stat.mtime()).filter(|time| *time < 100_000);
            format!("file {:o} of {time:?} {content}", stat.mode())
        } else {
            format!("special {:o}", stat.mode())
        };
        found.insert(path.strip_prefix(dir).unwrap().to_owned(), what);
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "nothing else copies a folder as it is")]
fn copied(from: &Path) -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut command = std::process::Command::new("cp");
    command.arg("-a").arg(from.join(".")).arg(dir.path());
    assert!(command.status().unwrap().success());
    // Records name the workspace by its path.
    for number in 1..9 {
        let log = dir.path().join(format!("log-{number}"));
        if let Ok(text) = fs::read_to_string(&log) {
            let [from, to] = [from, dir.path()].map(|path| path.display().to_string());
            fs::write(&log, text.replace(&from, &to)).unwrap();
        }
    }
    dir
}

/// Lets `number` die at a sample of its steps while it takes back `undone`: the workspace is then as
/// before or as after, a second attempt ends in `after`, and all of it can be taken back once more.
fn dies_everywhere(template: &Path, (number, undone): (u32, u32), every: usize) {
    let before = state(template);
    let whole = copied(template);
    undo(whole.path(), number, undone).unwrap();
    let after = state(whole.path());
    assert_ne!(before, after);
    let (mut steps, mut seen) = (0, [0, 0]);
    loop {
        let dir = copied(template);
        let at = format!("undo {number} of {undone} died at step {steps}");
        if !dies(dir.path(), &format!("undo-{number}-{undone}"), steps) {
            break;
        }
        let recovered = recover(dir.path(), number, undone);
        assert_eq!(recovered.conflicts, [], "{at}");
        let found = state(dir.path());
        let is_done = recovered.ending == Ending::Finished;
        assert_eq!(found, if is_done { after.clone() } else { before.clone() }, "{at}");
        let last = if is_done { number } else { number + 1 };
        if !is_done {
            undo(dir.path(), last, undone).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(state(dir.path()), after, "{at}, then done");
        }
        undo(dir.path(), 8, last).unwrap_or_else(|error| panic!("{at}, then back: {error}"));
        assert_eq!(state(dir.path()), before, "{at}, then back");
        seen[usize::from(is_done)] += 1;
        steps += every;
    }
    assert!(steps > 20 && seen.iter().all(|count| *count > 0), "{steps} steps, {seen:?}");
}

#[test]
fn an_undo_loses_nothing_wherever_it_dies() {
    dies_everywhere(commanded().path(), (2, 1), stride(4));
}

#[test]
fn the_undo_of_an_undo_loses_nothing_wherever_it_dies() {
    let dir = commanded();
    undo(dir.path(), 2, 1).unwrap();
    dies_everywhere(dir.path(), (3, 2), stride(4));
}

#[test]
fn the_recovery_of_an_undo_can_die_too() {
    let template = commanded();
    let whole = copied(template.path());
    undo(whole.path(), 2, 1).unwrap();
    let (before, after) = (state(template.path()), state(whole.path()));
    // All copies are made and the record is written: the last steps of the undo.
    let mut last = 0;
    while dies(copied(template.path()).path(), "undo-2-1", last) {
        last += 20;
    }
    let every = stride(12);
    for first in (last.saturating_sub(60)..last).step_by(every) {
        let half = copied(template.path());
        if !dies(half.path(), "undo-2-1", first) {
            break;
        }
        let mut steps = 0;
        loop {
            let dir = copied(half.path());
            if !dies(dir.path(), "recover-2-1", steps) {
                break;
            }
            let at = format!("the undo died at {first}, its recovery at {steps}");
            let recovered = recover(dir.path(), 2, 1);
            let is_done = recovered.ending == Ending::Finished;
            assert_eq!(recovered.conflicts, [], "{at}");
            assert_eq!(
                state(dir.path()),
                if is_done { after.clone() } else { before.clone() },
                "{at}"
            );
            if !is_done {
                undo(dir.path(), 3, 1).unwrap();
                assert_eq!(state(dir.path()), after, "{at}");
            }
            steps += every.min(3);
        }
    }
}

#[test]
fn pruning_drops_what_is_old_and_nothing_else_wherever_it_dies() {
    let template = TempDir::new().unwrap();
    let dir = template.path();
    fs::create_dir_all(dir.join("ws")).unwrap();
    for (number, name) in [(1, "old"), (2, "older"), (3, "new")] {
        grow(&dir.join("ws").join(name), name);
        let change = FileChange {
            path: FilePath::new(name),
            expect: Expect::Anything,
            content: FileContent::Absent,
        };
        let world = world(dir, Keep::default());
        let overlay = world.overlay(&Caller::owner("main"), call(number)).unwrap();
        let upper = dir.join("data/overlays").join(call(number).to_string()).join("upper");
        mknodat(CWD, upper.join(change.path.as_str()), FileType::CharacterDevice, Mode::empty(), 0)
            .unwrap();
        let live = Live::default();
        overlay.commit(Commit { call: call(number), live: &live, log: &log(dir, number) }).unwrap();
        if number < 3 {
            for shelf in fs::read_dir(dir.join("data/trees")).unwrap() {
                let shelf = fs::File::open(shelf.unwrap().path()).unwrap();
                shelf.set_modified(SystemClock.now() - Duration::from_hours(48)).unwrap();
            }
        }
    }
    let mut steps = 0;
    loop {
        let dir = copied(template.path());
        if !dies(dir.path(), "prune", steps) {
            break;
        }
        let mut gone = 0;
        for number in [1, 2] {
            match undo(dir.path(), number + 3, number) {
                Ok(()) => {}
                Err(error) => {
                    assert!(error.to_string().contains("no longer kept"), "{steps}: {error}");
                    gone += 1;
                }
            }
        }
        assert!(gone > 0 || steps == 0, "{steps}: nothing was pruned");
        undo(dir.path(), 6, 3).unwrap();
        prune(dir.path());
        let left: Vec<_> = fs::read_dir(dir.path().join("data/trees"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| !name.as_bytes().is_ascii() || name.as_bytes().ends_with(b".drop"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        steps += 1;
    }
    assert!(steps >= 4, "{steps}");
}

#[test]
fn later_writes_through_a_hard_link_do_not_reach_what_is_kept() {
    let dir = commanded();
    let outside = dir.path().join("ws/outside");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&outside, "written in place").unwrap();
    undo(dir.path(), 2, 1).unwrap();
    let restored = dir.path().join("ws/one/read-only");
    assert_eq!(fs::read_to_string(&restored).unwrap(), "equal");
    // Nor do writes to what was brought back.
    fs::set_permissions(&restored, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&restored, "written in place").unwrap();
    fs::write(&restored, "equal").unwrap();
    fs::set_permissions(&restored, fs::Permissions::from_mode(0o444)).unwrap();
    undo(dir.path(), 3, 2).unwrap();
    undo(dir.path(), 4, 3).unwrap();
    assert_eq!(fs::read_to_string(&restored).unwrap(), "equal");
}
