//! Which file a path means.

use std::{fs, os::unix::fs::symlink};

use tool::{Caller, Capabilities, FileKind, FilePath};
use world::{SystemClock, World, WorldError, WorldSettings};

use crate::helper::{Setup, read};

#[test]
fn a_file_has_several_names() {
    let setup = Setup::with(|settings, dir| {
        fs::create_dir(dir.join("more")).unwrap();
        fs::write(dir.join("more/b.txt"), "more").unwrap();
        settings.roots.push(dir.join("more"));
    });
    setup.put("sub/a.txt", "text");
    symlink("sub", setup.path("link")).unwrap();
    let absolute = |path: std::path::PathBuf| path.display().to_string();
    for (path, expected) in [
        ("sub/a.txt", "text"),
        ("./sub/../sub//a.txt", "text"),
        ("link/a.txt", "text"),
        (&absolute(setup.path("sub/a.txt")), "text"),
        (&absolute(setup.beside("more/b.txt")), "more"),
        ("~/a.txt", "path_not_allowed: `~/a.txt` starts with `~`, which is not expanded here"),
        ("sub", "path_not_allowed: `sub` is a folder"),
        ("sub/b.txt", "file_not_found: `sub/b.txt` does not exist; did you mean `sub/a.txt`?"),
        ("zzz", "file_not_found: `zzz` does not exist"),
        ("sub/a.txt/x", "file_not_found: `sub/a.txt/x` does not exist"),
        ("a\0b", "path_not_allowed: `a\0b` is not a valid path"),
        ("artifact:../x", "file_not_found: `artifact:../x` does not exist"),
    ] {
        assert_eq!(setup.read(path), expected, "{path}");
    }
}

#[test]
fn each_session_has_its_own_temp_folder() {
    let setup = Setup::new();
    assert_eq!(setup.write("/tmp/x/note", "mine"), "Created /tmp/x/note");
    assert_eq!(setup.read("/tmp/x/note"), "mine");
    let other = Caller { session: "other".into(), ..Caller::owner("main") };
    let other = setup.world.disk(&other).unwrap();
    assert_eq!(read(&*other, "/tmp/x/note"), "file_not_found: `/tmp/x/note` does not exist");
    assert_eq!(other.identity(), setup.disk().identity(), "the root is the same");
    assert_eq!(
        setup.read("/tmp/../etc/passwd"),
        "path_not_allowed: `/etc/passwd` is outside the workspace"
    );
}

#[test]
fn each_agent_has_its_own_root() {
    let setup = Setup::with(|settings, dir| {
        settings.agents.insert("other".into(), dir.join("outside"));
    });
    let other = setup.world.disk(&Caller::owner("other")).unwrap();
    assert_eq!(read(&*other, "secret"), "SECRET");
    assert_eq!(setup.read("secret"), "file_not_found: `secret` does not exist");
}

#[test]
fn data_inside_a_workspace_is_invisible() {
    let setup = Setup::with(|settings, dir| settings.data = dir.join("ws/state"));
    setup.put("a.txt", "old");
    setup.write("a.txt", "new");
    symlink("state/blobs", setup.path("link")).unwrap();
    symlink("state", setup.path("stat")).unwrap();
    for path in
        ["state", "state/blobs", "link", "stat/locks/x", "state/none/x", "state/locks/blobs.lock/x"]
    {
        let missing = format!("file_not_found: `{path}` does not exist");
        assert!(setup.read(path).starts_with(&missing), "{}", setup.read(path));
        assert!(!setup.read(path).contains("did you mean `state"), "{}", setup.read(path));
        let written = setup.write(path, "x");
        assert!(written.starts_with("file_not_found") || written.contains("link"), "{written}");
    }
    assert!(setup.disk().stat(&FilePath::new("state")).is_err());
    let link = setup.disk().stat(&FilePath::new("link")).unwrap();
    assert_eq!((link.kind, link.target.as_deref()), (FileKind::Link, Some("state/blobs")));
}

#[test]
fn a_workspace_in_the_data_folder_is_refused() {
    let setup = Setup::new();
    let settings = WorldSettings::new(setup.beside(""), setup.path(""));
    let opened = World::open(settings, std::sync::Arc::new(SystemClock));
    assert!(matches!(opened, Err(WorldError::RootInData { .. })), "{opened:?}");
}
