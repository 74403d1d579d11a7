//! Changing files.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use tool::{Commit, Digest, Expect, FileChange, FileContent, FilePath, FileState, Live};

use crate::helper::{Setup, delete, shown, write};

fn mode(setup: &Setup, name: &str) -> u32 {
    fs::metadata(setup.path(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn reports_what_changed_and_leaves_nothing_else_behind() {
    let setup = Setup::new();
    setup.put("a.txt", "old");
    setup.put("gone.txt", "old");
    setup.put("same.txt", "same");
    let changes = vec![
        write("a.txt", "new"),
        write("new/deep/b.txt", "b"),
        write("new/deep/c.txt", "c"),
        delete("gone.txt"),
        write("same.txt", "same"),
        delete("never.txt"),
    ];
    let changed =
        "Modified a.txt, Created new/deep/b.txt, Created new/deep/c.txt, Deleted gone.txt";
    assert_eq!(setup.commit(changes), changed);
    assert_eq!(
        setup.everything(),
        ["a.txt", "new", "new/deep", "new/deep/b.txt", "new/deep/c.txt", "same.txt"]
    );
    assert_eq!(setup.get("a.txt").unwrap(), "new");
    assert_eq!(setup.log.records.lock().unwrap().len(), 1, "one record for all of it");
    assert_eq!(setup.write("same.txt", "same"), "");
}

#[test]
fn one_bad_change_stops_all_of_them() {
    let setup = Setup::with(|settings, _| settings.max_file_bytes = 10);
    setup.put("a.txt", "old");
    setup.put("large.txt", "more than ten");
    setup.put("folder/x", "x");
    let read = Expect::Content(Digest::of("something else"));
    let stale = FileChange { expect: read, ..write("folder/x", "y") };
    let absent = FileChange { expect: Expect::State(FileState::Absent), ..write("folder/x", "y") };
    for (second, expected) in [
        (write(".git/config", "x"), "path_not_allowed: `.git/config` is protected"),
        (write("folder", "x"), "path_not_allowed: `folder` is a folder"),
        (write("a.txt/x", "x"), "path_not_allowed: `a.txt/x` is beneath a file"),
        (write("large.txt", "x"), "file_too_large: `large.txt` has 13 bytes"),
        (stale, "execution_error: `folder/x` changed since, so nothing was changed; read it again"),
        (
            absent,
            "execution_error: `folder/x` changed since, so nothing was changed; read it again",
        ),
        (write("./a.txt", "x"), "execution_error: `a.txt` is changed twice in one commit"),
    ] {
        let error = setup.commit(vec![write("a.txt", "new"), second]);
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(setup.everything(), ["a.txt", "folder", "folder/x", "large.txt"]);
        assert_eq!(setup.get("a.txt").unwrap(), "old");
    }
    assert!(setup.log.records.lock().unwrap().is_empty());
}

/// Somebody else is faster than us, after the record and before the change.
#[test]
fn a_commit_that_fails_half_way_is_rolled_back() {
    for (disturb, path) in
        [("new/deep/b.txt", "new/deep/b.txt"), ("gone.txt", "gone.txt"), ("last.txt", "last.txt")]
    {
        let setup = Setup::new();
        for name in ["a.txt", "gone.txt", "last.txt"] {
            setup.put(name, "old");
        }
        let file = setup.path(disturb);
        *setup.log.between.lock().unwrap() = Some(Box::new(move || {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "by somebody else").unwrap();
        }));
        let error = setup.commit(vec![
            write("a.txt", "new"),
            write("new/deep/b.txt", "b"),
            delete("gone.txt"),
            write("last.txt", "new"),
        ]);
        let expected = format!(
            "execution_error: `{path}` changed since, so nothing was changed; read it again"
        );
        assert_eq!(error, expected);
        for name in ["a.txt", "gone.txt", "last.txt"] {
            let expected = if name == disturb { "by somebody else" } else { "old" };
            assert_eq!(setup.get(name).unwrap(), expected, "{disturb}: {name}");
        }
        let left = setup.everything();
        assert!(!left.iter().any(|name| name.contains("toolgate")), "{left:?}");
        assert_eq!(setup.path("new").exists(), disturb == "new/deep/b.txt");
        let records = setup.log.records.lock().unwrap();
        assert_eq!(records.len(), 2, "the roll-back is recorded too");
        assert_eq!(records[0][0].before, records[1][3].after);
    }
}

#[test]
fn what_a_call_changed_can_be_undone() {
    let setup = Setup::new();
    setup.put("a.txt", "old");
    setup.put("gone.sh", "#!/bin/sh");
    fs::set_permissions(setup.path("gone.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.txt", setup.path("link")).unwrap();
    setup.commit(vec![
        write("a.txt", "new"),
        write("b.txt", "b"),
        delete("gone.sh"),
        delete("link"),
    ]);
    let record = setup.log.records.lock().unwrap()[0].clone();
    let undo = record.into_iter().map(|change| FileChange {
        path: change.path,
        expect: Expect::State(change.after),
        content: FileContent::from(&change.before),
    });
    let undone = "Modified a.txt, Deleted b.txt, Created gone.sh, Created link";
    assert_eq!(setup.commit(undo.collect()), undone);
    assert_eq!(setup.everything(), ["a.txt", "gone.sh", "link"]);
    assert_eq!(setup.get("link").unwrap(), "old");
    assert_eq!(mode(&setup, "gone.sh"), 0o755);
}

#[test]
fn what_is_no_longer_kept_is_said_so() {
    let setup = Setup::new();
    let content = FileContent::Kept { digest: Digest::of("never kept"), mode: 0o644 };
    let change = FileChange { path: FilePath::new("a.txt"), expect: Expect::Anything, content };
    let expected = "execution_error: the earlier content of `a.txt` is no longer kept";
    assert_eq!(setup.commit(vec![change]), expected);
}

#[test]
fn a_file_keeps_its_mode_but_no_special_bits() {
    let setup = Setup::new();
    setup.put("run.sh", "old");
    fs::set_permissions(setup.path("run.sh"), fs::Permissions::from_mode(0o4750)).unwrap();
    setup.write("run.sh", "new");
    assert_eq!(mode(&setup, "run.sh"), 0o750);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let setup = Setup::new();
    setup.put("a.txt", "old");
    fs::set_permissions(setup.path("a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    let expected = "execution_error: cannot write `a.txt`: it is read-only";
    assert_eq!(setup.write("a.txt", "new"), expected);
    assert_eq!(setup.delete("a.txt"), "Deleted a.txt");
}

#[test]
fn a_hard_link_to_outside_is_broken_not_written_through() {
    let setup = Setup::new();
    fs::hard_link(setup.beside("outside/secret"), setup.path("twin")).unwrap();
    assert_eq!(setup.write("twin", "new"), "Modified twin");
    assert_eq!(fs::read_to_string(setup.beside("outside/secret")).unwrap(), "SECRET");
}

#[test]
fn a_call_that_has_ended_changes_nothing() {
    let setup = Setup::new();
    setup.put("a.txt", "old");
    let live = Live::default();
    live.end();
    let commit = Commit { call: setup.ids.next(), live: &live, log: &setup.log };
    let error = setup.disk().commit(commit, vec![write("a.txt", "new")]).unwrap_err();
    assert_eq!(shown(&error), "cancelled: cancelled by the caller");
    assert_eq!(setup.everything(), ["a.txt"]);
    assert_eq!(setup.get("a.txt").unwrap(), "old");
}

#[test]
fn commits_at_the_same_time_wait_for_each_other() {
    let setup = Setup::new();
    setup.put("count", "");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    add_one(&setup);
                }
            });
        }
    });
    assert_eq!(setup.get("count").unwrap().len(), 40);
}

/// Reads, adds, and tries again if somebody else was faster.
fn add_one(setup: &Setup) {
    loop {
        let old = setup.read("count");
        let expect = Expect::Content(Digest::of(&old));
        let change = FileChange { expect, ..write("count", &format!("{old}x")) };
        if setup.try_commit(vec![change]).is_ok() {
            return;
        }
    }
}
