//! What a command left in an overlay, committed and taken back.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::SystemTime,
};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};
use tool::{CallId, Caller, Commit, Expect, FileChange, FileContent, FilePath, Live};
use world::{Overlay, World, WorldSettings};

use crate::helper::{SetClock, Setup, listed, shown};

/// A command that is running; what it changes is put into the upper layer by hand, as the kernel
/// would.
struct Running<'a> {
    setup: &'a Setup,
    call: CallId,
    overlay: Overlay,
}

impl<'a> Running<'a> {
    fn new(setup: &'a Setup) -> Self {
        let call = setup.ids.next();
        let overlay = setup.world.overlay(&Caller::owner("main"), call).unwrap();
        Self { setup, call, overlay }
    }

    fn upper(&self, name: &str) -> PathBuf {
        let layers = self.setup.beside("data/overlays").join(self.call.to_string());
        let path = layers.join("upper").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn writes(&self, name: &str, content: &str) -> &Self {
        fs::write(self.upper(name), content).unwrap();
        self
    }

    fn removes(&self, name: &str) -> &Self {
        let path = self.upper(name);
        mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
        self
    }

    /// Removed and made again.
    fn replaces(&self, folder: &str) -> &Self {
        self.marked(folder, "opaque")
    }

    fn marked(&self, name: &str, mark: &str) -> &Self {
        let mark = format!("user.overlay.{mark}");
        setxattr(self.upper(name), mark, b"y", XattrFlags::empty()).unwrap();
        self
    }

    fn mode(&self, name: &str, mode: u32) -> &Self {
        fs::set_permissions(self.upper(name), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// What changed and what was left out, or the error.
    fn ends(self) -> (String, Vec<String>) {
        let (live, log) = (Live::default(), &self.setup.log);
        match self.overlay.commit(Commit { call: self.call, live: &live, log }) {
            Ok(committed) => (listed(&committed.changed), committed.notes),
            Err(error) => (shown(&error), Vec::new()),
        }
    }
}

/// The time that files carry moves on.
fn tick() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

/// Everything in the workspace: mode, kind and content.
fn picture(setup: &Setup) -> Vec<String> {
    let (mut lines, mut folders) = (Vec::new(), vec![setup.path(".")]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let found = path.symlink_metadata().unwrap();
            let content = if found.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else if found.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else {
                fs::read_to_string(&path).unwrap()
            };
            let mode = if found.is_symlink() { 0 } else { found.permissions().mode() & 0o7777 };
            let name = path.strip_prefix(setup.path(".")).unwrap_or(Path::new("?"));
            lines.push(format!("{} {mode:o} {content}", name.display()));
        }
    }
    lines.sort();
    lines
}

/// Takes back the last commit.
fn undo(setup: &Setup) -> String {
    let record = setup.log.records.lock().unwrap().last().unwrap().clone();
    let undo = record.into_iter().map(|change| FileChange {
        path: change.path,
        expect: Expect::State(change.after),
        content: FileContent::from(&change.before),
    });
    setup.commit(undo.collect())
}

fn furnished() -> Setup {
    let setup = Setup::new();
    setup.put("a.txt", "old");
    setup.put("run.sh", "#!/bin/sh");
    setup.put("src/lib.rs", "lib");
    setup.put("src/deep/x.rs", "x");
    setup.put("old/one", "1");
    setup.put("old/two/three", "3");
    setup.put("file_to_folder", "f");
    setup.put("folder_to_file/inner", "i");
    symlink("a.txt", setup.path("link")).unwrap();
    fs::set_permissions(setup.path("old/two"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(setup.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    setup
}

#[test]
fn every_kind_of_change_is_made_and_taken_back() {
    for (what, change, expected) in [
        ("nothing", (|_| {}) as fn(&Running<'_>), ""),
        (
            "a file",
            |run| {
                run.writes("a.txt", "new");
            },
            "Modified a.txt",
        ),
        (
            "a file as it was",
            |run| {
                run.writes("a.txt", "old").mode("a.txt", 0o644);
            },
            "",
        ),
        (
            "files in folders that are there",
            |run| {
                run.writes("src/deep/x.rs", "y").writes("src/new.rs", "n");
            },
            "Modified src/deep/x.rs, Created src/new.rs",
        ),
        (
            "a folder that is new",
            |run| {
                run.writes("made/deep/b", "b").writes("made/c", "c").mode("made/c", 0o700);
            },
            "Created made",
        ),
        ("an empty folder", |run| fs::create_dir_all(run.upper("empty")).unwrap(), "Created empty"),
        (
            "a file and a folder removed",
            |run| {
                run.removes("a.txt").removes("old").removes("link").removes("src/deep");
            },
            "Deleted a.txt, Deleted link, Deleted old, Deleted src/deep",
        ),
        (
            "a folder made anew",
            |run| {
                run.writes("old/four", "4").replaces("old");
            },
            "Modified old",
        ),
        (
            "a file in the place of a folder, and the reverse",
            |run| {
                run.writes("folder_to_file", "now a file").writes("file_to_folder/x", "x");
            },
            "Modified file_to_folder, Modified folder_to_file",
        ),
        (
            "modes",
            |run| {
                fs::create_dir_all(run.upper("src")).unwrap();
                run.mode("src", 0o700).writes("run.sh", "#!/bin/sh").mode("run.sh", 0o600);
            },
            "Modified run.sh, Modified src",
        ),
        ("a link", |run| symlink("elsewhere", run.upper("link")).unwrap(), "Modified link"),
    ] {
        let setup = furnished();
        let before = picture(&setup);
        let run = Running::new(&setup);
        change(&run);
        let (changed, notes) = run.ends();
        assert_eq!((changed.as_str(), notes), (expected, Vec::new()), "{what}");
        let after = picture(&setup);
        assert_eq!(before == after, expected.is_empty(), "{what}");
        if !expected.is_empty() {
            undo(&setup);
            assert_eq!(picture(&setup), before, "{what}, undone");
            undo(&setup);
            assert_eq!(picture(&setup), after, "{what}, done again");
        }
        setup.world.settle();
        let left = fs::read_dir(setup.beside("data/overlays")).unwrap().count();
        assert_eq!(left, 0, "{what} left something behind");
    }
}

#[test]
fn what_a_killed_process_left_is_removed_at_the_next_start() {
    let setup = furnished();
    let running = Running::new(&setup);
    fs::create_dir_all(setup.beside("data/overlays/abandoned/upper/x")).unwrap();
    let settings = WorldSettings::new(setup.beside("data"), setup.path("."));
    let later = Arc::new(SetClock(Mutex::new(SystemTime::UNIX_EPOCH)));
    drop(World::open(settings, later).unwrap());
    let left: Vec<_> = fs::read_dir(setup.beside("data/overlays")).unwrap().collect();
    assert_eq!(left.len(), 1, "the one that is in use stays");
    assert_eq!(running.ends().0, "");
}

#[test]
fn what_must_not_come_out_of_a_sandbox_stays_there() {
    let setup = furnished();
    setup.put(".git/config", "[core]");
    setup.put("sub/.git/hooks/pre-commit", "x");
    let run = Running::new(&setup);
    run.writes("suid", "x").mode("suid", 0o6755);
    run.writes("made/suid", "x").mode("made/suid", 0o4711);
    run.writes("made/.envrc", "x").writes("made/.git/hooks/post-checkout", "x");
    run.writes(".git/config", "evil").writes(".mcp.json", "{}").writes("ok", "ok");
    run.removes("sub");
    for name in ["pipe", "made/pipe"] {
        mknodat(CWD, run.upper(name), FileType::Fifo, Mode::RUSR, 0).unwrap();
    }
    drop(UnixListener::bind(run.upper("s")).unwrap());
    let (changed, notes) = run.ends();
    assert_eq!(changed, "Created made, Created ok, Created suid");
    assert_eq!(
        notes,
        [
            "the change of `.git/config` was left out: it is protected by rule `.git/config`",
            "the change of `.mcp.json` was left out: it is protected by rule `.mcp.json`",
            "the change of `made/.envrc` was left out: it is protected by rule `.envrc`",
            "the change of `made/.git/hooks` was left out: it is protected by rule `.git/hooks`",
            "the change of `made/pipe` was left out: it is no file, folder or link",
            "the change of `pipe` was left out: it is no file, folder or link",
            "the change of `s` was left out: it is no file, folder or link",
            "the change of `sub` was left out: `sub/.git/hooks` is in it, and it is protected by \
             rule `.git/hooks`",
        ]
    );
    let picture = picture(&setup);
    assert!(picture.contains(&"suid 755 x".to_owned()), "{picture:?}");
    assert!(picture.contains(&"made/suid 711 x".to_owned()), "{picture:?}");
    assert_eq!(setup.get(".git/config").unwrap(), "[core]");
}

#[test]
fn what_somebody_else_changed_meanwhile_stops_all_of_it() {
    type Change = fn(&Running<'_>);
    type Meanwhile = fn(&Setup);
    let theirs: Meanwhile = |setup| setup.put("a.txt", "theirs");
    let rows: [(&str, Change, Meanwhile); 7] = [
        (
            "a.txt",
            |run| {
                run.writes("a.txt", "mine");
            },
            theirs,
        ),
        (
            "a.txt",
            |run| {
                run.removes("a.txt");
            },
            theirs,
        ),
        (
            "old/one",
            |run| {
                run.removes("old");
            },
            |setup| setup.put("old/one", "theirs"),
        ),
        (
            "new",
            |run| {
                run.writes("new", "mine");
            },
            |setup| setup.put("new", "theirs"),
        ),
        (
            "a.txt",
            |run| {
                run.writes("a.txt", "mine").marked("a.txt", "origin");
            },
            |setup| fs::remove_file(setup.path("a.txt")).unwrap(),
        ),
        (
            "a.txt",
            |run| {
                // As `sed -i` does it: another file takes its name.
                run.writes("a.txt", "mine");
            },
            |setup| assert_eq!(setup.delete("a.txt"), "Deleted a.txt"),
        ),
        (
            "src",
            |run| {
                run.writes("src/lib.rs", "mine").marked("src", "origin");
            },
            |setup| fs::remove_dir_all(setup.path("src")).unwrap(),
        ),
    ];
    for (path, change, meanwhile) in rows {
        let setup = furnished();
        tick();
        let run = Running::new(&setup);
        run.writes("other", "x");
        change(&run);
        tick();
        meanwhile(&setup);
        let before = picture(&setup);
        let (error, _) = run.ends();
        let expected = format!(
            "execution_error: `{path}` changed since, so nothing was changed; read it again"
        );
        assert_eq!(error, expected);
        assert_eq!(picture(&setup), before, "{path}");
    }
}

/// The kernel marks a renamed file like one that came from beneath it.
#[test]
fn a_renamed_file_is_no_conflict() {
    let setup = furnished();
    tick();
    let run = Running::new(&setup);
    run.writes("src/renamed.rs", "lib").marked("src/renamed.rs", "origin").removes("src/lib.rs");
    run.writes("moved.txt", "old").marked("moved.txt", "origin").removes("a.txt");
    tick();
    // What happens in other folders does not matter.
    setup.put("old/new", "theirs");
    let changed = "Deleted a.txt, Created moved.txt, Deleted src/lib.rs, Created src/renamed.rs";
    assert_eq!(run.ends(), (changed.to_owned(), vec![]));
    assert_eq!(setup.get("moved.txt").as_deref(), Some("old"));
}

#[test]
fn two_commands_that_change_the_same_file_do_not_both_win() {
    let setup = furnished();
    let (one, other) = (Running::new(&setup), Running::new(&setup));
    one.writes("a.txt", "one");
    other.writes("a.txt", "other").writes("b.txt", "b");
    assert_eq!(one.ends().0, "Modified a.txt");
    assert!(other.ends().0.contains("`a.txt` changed since"));
    assert_eq!(setup.get("a.txt").unwrap(), "one");
    assert_eq!(setup.get("b.txt"), None);
}

#[test]
fn a_command_that_starts_right_after_a_change_is_no_conflict() {
    for _ in 0..50 {
        let setup = furnished();
        setup.write("a.txt", "just now");
        let run = Running::new(&setup);
        run.writes("a.txt", "later");
        assert_eq!(run.ends().0, "Modified a.txt");
    }
}

#[test]
fn what_changed_is_shown_before_it_is_kept() {
    let setup = furnished();
    let running = Running::new(&setup);
    running.writes("a.txt", "new\n").mode("a.txt", 0o644).removes("run.sh").removes("old");
    running.writes("fresh/text", "1\n2\n").writes("fresh/sub/empty", "");
    fs::write(running.upper("fresh/picture"), b"\x89PNG\0").unwrap();
    let collected = running.overlay.collect(&Live::default()).unwrap();
    let mut shown: Vec<_> = collected
        .proposal()
        .changes
        .into_iter()
        .map(|one| (one.path.to_string(), one.what, one.diff.unwrap_or_default()))
        .collect();
    shown.sort();
    let expected = [
        (
            "a.txt",
            "4 bytes, text, mode 644",
            "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n",
        ),
        (
            "fresh",
            "folder with 4 entries, 9 bytes",
            "+++ b/fresh/picture (not shown as text)\n+++ b/fresh/sub/empty (empty)\n--- a/fresh/text\n\
             +++ b/fresh/text\n@@ -0,0 +1,2 @@\n+1\n+2\n",
        ),
        (
            "old",
            "folder removed, with 2 files of 2 bytes",
            "--- a/old/one (1 bytes)\n--- a/old/two/three (1 bytes)\n",
        ),
        (
            "run.sh",
            "removed, 9 bytes",
            "--- a/run.sh\n+++ b/run.sh\n@@ -1 +0,0 @@\n-#!/bin/sh\n\\ No newline at end of file\n",
        ),
    ];
    let expected = expected.map(|(path, what, diff)| (path.into(), what.into(), diff.into()));
    assert_eq!(shown, expected);
}

/// Nested so deep that nothing recursive survives it.
fn nest(top: &Path, levels: usize) {
    use rustix::fs::{OFlags, mkdirat, open, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    fs::create_dir_all(top).unwrap();
    let mut folder = open(top, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&folder, "d", Mode::RWXU).unwrap();
        folder = openat(&folder, "d", flags, Mode::empty()).unwrap();
    }
}

/// Removes it without recursion, so that the temporary folder can be dropped.
fn flatten(setup: &Setup, top: &Path) {
    let overlay = Running::new(setup);
    fs::rename(top, overlay.upper("deep")).unwrap();
    drop(overlay);
    setup.world.settle();
}

#[test]
fn folders_nested_without_end_are_refused_and_leave_nothing_behind() {
    const REFUSED: &str = "nested more than 200 deep";
    let setup = furnished();
    let before = picture(&setup);

    let made = Running::new(&setup);
    nest(&made.upper("made"), 2_500);
    let said = made.ends().0;
    assert!(said.contains(REFUSED) && said.contains("`made`"), "{said}");
    assert_eq!(picture(&setup), before);
    setup.world.settle();
    assert_eq!(fs::read_dir(setup.beside("data/overlays")).unwrap().count(), 0);

    // As deep, but there before.
    nest(&setup.path("there"), 2_500);
    let removed = Running::new(&setup);
    removed.removes("there");
    let said = removed.ends().0;
    assert!(said.contains(REFUSED), "{said}");
    let merged = Running::new(&setup);
    nest(&merged.upper("there"), 2_500);
    let said = merged.ends().0;
    assert!(said.contains(REFUSED), "{said}");
    setup.world.settle();
    assert_eq!(fs::read_dir(setup.beside("data/overlays")).unwrap().count(), 0);
    flatten(&setup, &setup.path("there"));
    assert_eq!(picture(&setup), before);
}

#[test]
fn a_crash_over_folders_nested_without_end_is_recovered_in_linear_time() {
    let setup = furnished();
    nest(&setup.path("there"), 2_500);
    let call = setup.ids.next();
    nest(&setup.beside(&format!("data/overlays/{call}/upper/made")), 2_500);
    let began = std::time::Instant::now();
    let settings = WorldSettings::new(setup.beside("data"), setup.path("."));
    let world =
        World::open(settings, Arc::new(SetClock(Mutex::new(SystemTime::UNIX_EPOCH)))).unwrap();
    let recovered = world.recover(world::Unfinished {
        call,
        caller: &Caller::owner("main"),
        workspace: None,
        planned: &[FilePath::root()],
        records: &[],
        log: &setup.log,
    });
    recovered.unwrap();
    assert!(began.elapsed().as_secs() < 15, "{:?}", began.elapsed());
    assert_eq!(fs::read_dir(setup.beside("data/overlays")).unwrap().count(), 0);
    flatten(&setup, &setup.path("there"));
}
