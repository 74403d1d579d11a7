//! Crashes while the changes of a `toolgate run` wait for a person, and while they are kept.

use std::{collections::BTreeMap, fs, path::Path};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use tempfile::TempDir;
use tool::{Caller, Commit, FilePath, Keep, Live};

use super::{
    Log, dies, files,
    undo::{call, stride},
    world,
};
use crate::{Ending, Overlay, Unfinished};

fn fresh() -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, content) in [("a.txt", "old"), ("replaced/x", "old"), ("gone/y", "old")] {
        let path = dir.path().join("ws").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

/// A program that changed, made, replaced and removed something.
fn program(dir: &Path, overlay: &Overlay) {
    let upper = dir.join("data/overlays").join(call(1).to_string()).join("upper");
    for name in ["a.txt", "made/in/it", "made/equal/it", "replaced/z"] {
        fs::create_dir_all(upper.join(name).parent().unwrap()).unwrap();
        fs::write(upper.join(name), "new").unwrap();
    }
    setxattr(upper.join("replaced"), "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
    setxattr(upper.join("a.txt"), "user.overlay.origin", b"y", XattrFlags::empty()).unwrap();
    mknodat(CWD, upper.join("gone"), FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    assert!(overlay.is_held());
}

fn after() -> BTreeMap<String, String> {
    let names = ["a.txt", "made/equal/it", "made/in/it", "replaced/z"];
    names.map(|name| (name.to_owned(), "new".to_owned())).into()
}

fn log(dir: &Path, number: u32) -> Log {
    Log(dir.join(format!("log-{number}")))
}

/// Runs a program, and keeps all it changed.
pub(super) fn run(dir: &Path) {
    let world = world(dir);
    let overlay = world.overlay_to_review(&Caller::owner("main"), call(1), "make").unwrap();
    program(dir, &overlay);
    let (live, log) = (Live::default(), log(dir, 1));
    overlay.commit(Commit { call: call(1), live: &live, log: &log }).unwrap();
}

/// Keeps what an earlier run changed, as another call.
pub(super) fn resume(dir: &Path, number: u32) {
    let overlay = world(dir).held_overlay(&Caller::owner("main"), call(1)).unwrap();
    let (live, log) = (Live::default(), log(dir, number));
    overlay.commit(Commit { call: call(number), live: &live, log: &log }).unwrap();
}

/// What the next process does about the call `number`, whose process died.
fn recover(dir: &Path, number: u32) -> Ending {
    let log = log(dir, number);
    let planned = ["a.txt", "made", "replaced", "gone"].map(FilePath::new);
    let unfinished = Unfinished {
        workspace: None,
        call: call(number),
        caller: &Caller::owner("main"),
        planned: &planned,
        records: &log.records(),
        log: &log,
    };
    world(dir).recover(unfinished).unwrap().ending
}

/// The changes are in the workspace, or still held and kept by the next attempt.
fn check(dir: &Path, number: u32, at: &str) -> Ending {
    let before = files(fresh().path());
    let ending = recover(dir, number);
    let held = world(dir).held_runs().list();
    match ending {
        Ending::Finished => assert_eq!(held, [], "{at}"),
        Ending::Unchanged | Ending::RolledBack => {
            assert_eq!(files(dir), before, "{at}");
            assert_eq!((held.len(), held[0].command.as_str()), (1, "make"), "{at}");
            resume(dir, 7);
            assert_eq!(world(dir).held_runs().list(), [], "{at}");
        }
    }
    assert_eq!(files(dir), after(), "{at}");
    world(dir).settle();
    assert_eq!(fs::read_dir(dir.join("data/overlays")).unwrap().count(), 0, "{at}");
    ending
}

#[test]
fn what_a_program_changed_is_kept_or_held_wherever_it_dies() {
    let (mut steps, mut seen) = (0, [0, 0]);
    loop {
        let dir = fresh();
        if !dies(dir.path(), "run", steps) {
            break;
        }
        let ending = check(dir.path(), 1, &format!("the run died at step {steps}"));
        seen[usize::from(ending == Ending::Finished)] += 1;
        steps += stride(2);
    }
    assert!(steps > 15 && seen.iter().all(|count| *count > 0), "{steps} steps, {seen:?}");
}

#[test]
fn what_is_decided_later_is_kept_or_held_wherever_it_dies() {
    let (mut steps, mut seen) = (0, [0, 0]);
    loop {
        let dir = fresh();
        assert!(dies(dir.path(), "run", 0));
        assert_eq!(recover(dir.path(), 1), Ending::Unchanged);
        // Processes that come and go leave it alone.
        world(dir.path()).prune().unwrap();
        if !dies(dir.path(), "resume", steps) {
            break;
        }
        let ending = check(dir.path(), 2, &format!("the second review died at step {steps}"));
        seen[usize::from(ending == Ending::Finished)] += 1;
        steps += stride(2);
    }
    assert!(steps > 15 && seen.iter().all(|count| *count > 0), "{steps} steps, {seen:?}");
}

#[test]
fn a_held_run_is_looked_at_again_until_it_is_decided_about() {
    let dir = fresh();
    let owner = Caller::owner("main");
    let first = world(dir.path());
    let overlay = first.overlay_to_review(&owner, call(1), "make").unwrap();
    program(dir.path(), &overlay);
    let busy = first.held_overlay(&owner, call(1)).unwrap_err().to_string();
    assert!(busy.contains("still going on"), "{busy}");
    let live = Live::default();
    let shown = overlay.collect(&live).unwrap();
    let proposal = shown.proposal();
    let commit = |number, log| Commit { call: call(number), live: &live, log };
    let (second, third) = (log(dir.path(), 2), log(dir.path(), 3));
    shown.commit(commit(1, &second), &Keep::Later).unwrap();
    for _ in 0..2 {
        let again = world(dir.path()).held_overlay(&owner, call(1)).unwrap();
        let again = again.collect(&live).unwrap();
        assert_eq!(again.proposal(), proposal);
        again.commit(commit(2, &second), &Keep::Later).unwrap();
    }
    // The rest of a write that was killed is no second run.
    let held = dir.path().join("data/held");
    let name = format!("{}.json", call(1));
    fs::copy(held.join(&name), held.join(format!("{name}.1-0.tmp"))).unwrap();
    assert_eq!(world(dir.path()).held_runs().list().len(), 1);
    // A conflict drops nothing either.
    fs::write(dir.path().join("ws/a.txt"), "by hand").unwrap();
    let again = world(dir.path()).held_overlay(&owner, call(1)).unwrap();
    let refused = again.commit(commit(2, &second)).unwrap_err().to_string();
    assert!(refused.contains("`a.txt` changed since"), "{refused}");
    let again = world(dir.path()).held_overlay(&owner, call(1)).unwrap().collect(&live).unwrap();
    let some = Keep::Only(vec![FilePath::new("made")]);
    again.commit(commit(3, &third), &some).unwrap();
    assert!(dir.path().join("ws/made/in/it").exists());
    assert!(world(dir.path()).held_overlay(&owner, call(1)).is_err());
}
