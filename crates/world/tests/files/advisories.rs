//! Attacks that worked on others. Each row names the advisory it comes from.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tool::{ArtifactId, Caller, Capabilities};

use crate::helper::{SECRET, Setup};

const OUTSIDE: &str = "is outside the workspace";
const THROUGH: &str = "goes through a link";
const LINK: &str = "is a link";
const NOT_REGULAR: &str = "is not a regular file";

/// A workspace full of traps.
fn traps() -> Setup {
    let setup = Setup::new();
    for (link, target) in [
        ("l", setup.beside("outside")),
        ("s", setup.beside("outside/secret")),
        ("out.txt", setup.beside("outside/secret")),
        ("dangling", setup.beside("outside/new")),
        ("data", setup.beside("data")),
        ("above", setup.beside("")),
        ("environ", "/proc/self/environ".into()),
        ("fds", "/proc/self/fd".into()),
        ("hooks", ".git/hooks".into()),
        ("twin", "repo".into()),
    ] {
        symlink(target, setup.path(link)).unwrap();
    }
    setup.put(".git/hooks/pre-commit", "hook");
    setup.put("repo/.git/hooks/pre-commit", "hook");
    mknodat(CWD, setup.path("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    UnixListener::bind(setup.path("socket")).unwrap();
    setup
}

#[test]
fn nothing_outside_is_read() {
    let setup = traps();
    let evil = setup.beside("ws-evil");
    let file = |name: &str| evil.join(name).display().to_string();
    let inside = setup.path("l/secret").display().to_string();
    for (row, path, problem) in [
        ("path-001", file("secret").as_str(), OUTSIDE),
        ("path-003", file(".env").as_str(), OUTSIDE),
        ("path-003", "../ws-evil/secret", OUTSIDE),
        ("path-004", "s", OUTSIDE),
        ("path-004", "l/secret", OUTSIDE),
        ("path-004", inside.as_str(), OUTSIDE),
        ("path-005", "data/locks", OUTSIDE),
        ("path-005", "above/outside/secret", OUTSIDE),
        ("path-029", "/proc/self/environ", OUTSIDE),
        ("path-029", "/dev/zero", OUTSIDE),
        ("path-029", "environ", OUTSIDE),
        ("path-029", "fds/0", OUTSIDE),
        ("path-029", "fifo", NOT_REGULAR),
        ("path-029", "socket", NOT_REGULAR),
    ] {
        let expected = format!("path_not_allowed: `{path}` {problem}");
        assert_eq!(setup.read(path), expected, "{row}");
    }
}

#[test]
fn nothing_outside_or_protected_is_written() {
    let setup = traps();
    let before = setup.everything();
    let absolute = setup.path("l/cron.d/x").display().to_string();
    for (row, path, problem) in [
        ("path-002", "l/cron.d/x", THROUGH),
        ("path-002", absolute.as_str(), THROUGH),
        ("path-005", "twin/.git/hooks/x", THROUGH),
        ("path-005", "hooks/x", THROUGH),
        ("path-008", "out.txt", LINK),
        ("path-010", ".Cursor/Mcp.json", "is protected by rule `.cursor/mcp.json`"),
        ("path-010", "repo/.GIT/Hooks/x", "is protected by rule `.git/hooks`"),
        ("path-013", "dangling", LINK),
        ("path-024", ".cursor/mcp.json", "is protected by rule `.cursor/mcp.json`"),
        ("path-024", "sub/.vscode/tasks.json", "is protected by rule `.vscode/tasks.json`"),
        ("path-029", "fifo", NOT_REGULAR),
        ("path-029", "socket", NOT_REGULAR),
        ("path-029", "/proc/self/comm", OUTSIDE),
    ] {
        let expected = format!("path_not_allowed: `{path}` {problem}");
        assert_eq!(setup.write(path, "owned"), expected, "{row}");
    }
    assert_eq!(setup.everything(), before);
    assert_eq!(fs::read_to_string(setup.beside("outside/secret")).unwrap(), SECRET);
    assert!(!setup.beside("outside/new").exists(), "path-013");
    assert!(setup.log.records.lock().unwrap().is_empty());
}

#[test]
fn path_016_removes_a_link_but_nothing_behind_it() {
    let setup = traps();
    assert_eq!(setup.delete("l/secret"), format!("path_not_allowed: `l/secret` {THROUGH}"));
    assert_eq!(setup.delete("l"), "Deleted l");
    assert!(fs::symlink_metadata(setup.path("l")).is_err());
    assert_eq!(fs::read_to_string(setup.beside("outside/secret")).unwrap(), SECRET);
}

#[test]
fn path_007_what_somebody_put_there_before_is_not_followed() {
    let setup = Setup::new();
    let victim = setup.beside("outside/secret");
    let id = ArtifactId::new(setup.ids.next(), 1);
    let shelf = setup.beside("data/artifacts/owner");
    fs::create_dir(&shelf).unwrap();
    symlink(&victim, shelf.join(id.as_str())).unwrap();
    let store = setup.world.artifacts();
    assert!(store.put(&Caller::owner("main"), id, "text/plain", b"x").is_err());
    fs::create_dir(setup.beside("data/tmp")).unwrap();
    symlink(setup.beside("outside"), setup.beside("data/tmp/owner+main+main")).unwrap();
    assert_eq!(setup.write("/tmp/secret", "x").split(':').next(), Some("internal_error"));
    assert_eq!(fs::read_to_string(victim).unwrap(), SECRET);
}

#[test]
fn path_007_data_is_for_its_owner_alone() {
    let setup = Setup::new();
    setup.put("a.txt", "old");
    setup.write("a.txt", "new");
    setup.write("/tmp/x", "new");
    let id = ArtifactId::new(setup.ids.next(), 1);
    setup.world.artifacts().put(&Caller::owner("main"), id, "text/plain", b"x").unwrap();
    let mut open = Vec::new();
    let mut folders = vec![setup.beside("data")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let found = entry.metadata().unwrap();
            let own_file = !entry.path().starts_with(setup.beside("data/tmp"));
            let allowed = if found.is_dir() { 0o700 } else { 0o600 };
            if own_file && found.permissions().mode() & 0o7777 != allowed {
                open.push(entry.path());
            }
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(fs::metadata(setup.beside("data")).unwrap().permissions().mode() & 0o777, 0o700);
}
