//! What is kept from a command that changes the workspace itself.

use std::{
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
};

use tool::Caller;
use world::Fence;

use crate::helper::Setup;

fn fence(setup: &Setup) -> Fence {
    setup.world.fence(&Caller::owner("main")).unwrap()
}

fn within(setup: &Setup, paths: &[PathBuf]) -> Vec<String> {
    let root = setup.path("");
    let inner = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    let mut names: Vec<_> = paths.iter().map(inner).collect();
    names.sort();
    names
}

#[test]
fn what_is_protected_anywhere_must_not_change_and_sockets_are_not_reached() {
    let setup = Setup::new();
    for name in ["a.txt", ".envrc", "sub/.GIT/Hooks/pre-commit", "x/.vscode/tasks.json", "x/.git"] {
        setup.put(name, "");
    }
    let _listener = UnixListener::bind(setup.path("x/socket")).unwrap();
    let fence = fence(&setup);
    let expected = [".envrc", "sub/.GIT/Hooks", "x/.git", "x/.vscode/tasks.json"];
    assert_eq!(within(&setup, &fence.read_only), expected);
    assert_eq!(within(&setup, &fence.masked), ["x/socket"]);
    assert_eq!(within(&setup, &fence.absent), [""; 0], "there is no repository");
}

#[test]
fn a_repository_without_hooks_gets_none() {
    let setup = Setup::new();
    setup.put(".git/config", "");
    setup.put(".git/info/exclude", "");
    let absent = within(&setup, &fence(&setup).absent);
    assert_eq!(absent, [".git/hooks", ".git/modules", ".git/worktrees"]);
}

#[test]
fn what_is_new_and_protected_is_named() {
    let setup = Setup::new();
    setup.put(".bashrc", "");
    let fence = fence(&setup);
    assert!(fence.appeared().unwrap().is_empty());
    setup.put("sub/.mcp.json", "{}");
    setup.put("plain", "");
    assert_eq!(fence.appeared().unwrap(), [Path::new("sub/.mcp.json")]);
}

#[test]
fn a_link_cannot_be_fenced() {
    let setup = Setup::new();
    std::os::unix::fs::symlink("elsewhere", setup.path(".envrc")).unwrap();
    let refused = setup.world.fence(&Caller::owner("main")).unwrap_err().to_string();
    assert!(refused.starts_with("`.envrc` is protected and a link"), "{refused}");
}

#[test]
fn data_in_the_workspace_is_not_looked_at() {
    let setup = Setup::with(|settings, top| settings.data = top.join("ws/data"));
    setup.put("data/.envrc", "");
    assert_eq!(within(&setup, &fence(&setup).read_only), [""; 0]);
    assert_eq!(setup.world.hidden().unwrap(), setup.path("data"));
}
