//! A scope from a systemd user manager, played by a script: none runs where tests do.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Stdio, exit},
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use sandbox::{Sandbox, SandboxSettings};

use crate::{
    helper::{block_on, is_counted, trial},
    user::{Groups, USER, is_root},
};

pub(crate) fn trials() -> Vec<Trial> {
    // Root needs no scope, and nobody else can give groups away.
    if !is_root() || !is_counted() {
        return Vec::new();
    }
    vec![
        trial("a_scope_of_systemd_is_divided", || async { a_scope_is_divided() }),
        trial("without_a_scope_commands_are_watched", || async { without_a_scope() }),
    ]
}

/// Says how commands are isolated, after one has run.
pub(crate) fn run() -> ! {
    let mode = block_on(async {
        let sandbox = Sandbox::new(SandboxSettings::default());
        let mode = sandbox.report().await.unwrap().mode.unwrap();
        let mut process = sandbox.start(crate::helper::shell("exit 7")).await.unwrap();
        assert_eq!(process.wait().await.unwrap().code, Some(7));
        sandbox.shutdown().await;
        mode
    });
    println!("{mode}");
    exit(0)
}

/// What the manager does: makes a group for the process that asks, and moves it there.
fn moves(groups: &[impl AsRef<Path>]) -> String {
    let groups = groups.iter().map(|group| group.as_ref().display().to_string());
    format!(
        "echo \"$@\" > $XDG_RUNTIME_DIR/asked\nwhile [ \"$1\" != PIDs ]; do last=$1; shift; done\n\
         for group in {}; do mkdir $group/toolgate-$4.scope\n\
         echo $4 > $group/toolgate-$4.scope/cgroup.procs; done",
        groups.collect::<Vec<_>>().join(" ")
    )
}

/// The mode that a user has with this `busctl`, how long that took, and what the manager was asked.
fn mode_with(busctl: &str) -> (String, Duration, String) {
    let folder = tempfile::Builder::new().prefix("sandbox-scope-").tempdir_in("/var/tmp").unwrap();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir(base.join("systemd")).unwrap();
    fs::write(base.join("busctl"), format!("#!/bin/sh\n{busctl}\n")).unwrap();
    fs::copy(std::env::current_exe().unwrap(), base.join("tests")).unwrap();
    for name in ["busctl", "tests", ""] {
        fs::set_permissions(base.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    chown(&base, Some(USER), Some(USER)).unwrap();
    let start = Instant::now();
    let output = Command::new(base.join("tests"))
        .arg("scope")
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", base.display()))
        .env("XDG_RUNTIME_DIR", &base)
        .uid(USER)
        .gid(USER)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let asked = fs::read_to_string(base.join("asked")).unwrap_or_default();
    (text(&output.stdout), start.elapsed(), asked)
}

fn a_scope_is_divided() {
    let groups = Groups::named(&format!("toolgate-scope-{}", std::process::id()));
    let (mode, _, asked) = mode_with(&moves(&groups.0));
    assert_eq!(mode, "namespaces+cgroup");
    assert!(asked.starts_with("--user --quiet call org.freedesktop.systemd1 "), "{asked}");
    assert!(asked.contains("StartTransientUnit ssa(sv)a(sa(sv)) toolgate-"), "{asked}");
    assert!(asked.contains("Delegate b true"), "{asked}");
}

fn without_a_scope() {
    for busctl in ["echo no bus >&2; exit 1", "exit 0", "exec sleep 60"] {
        let (mode, took, _) = mode_with(busctl);
        assert_eq!(mode, "namespaces+watching", "{busctl}");
        assert!(took < Duration::from_secs(30), "{busctl}: {took:?}");
    }
}
