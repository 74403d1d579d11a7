//! A scope of our own, where a systemd user manager gives one: a cgroup that this user may divide.
//!
//! `systemd-run --user --scope -p Delegate=yes` asks the manager for the same, but for a new process.
//! Launchers have to be started in the scope, so this process is moved into it, once.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::geteuid;

/// The manager answers within milliseconds, or something is wrong with it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the manager may take to move this process after it has answered.
const MOVE_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Moves this process into a scope of its own with delegation, or says why that cannot be.
pub(crate) fn enter() -> Result<(), String> {
    if geteuid().is_root() {
        return Err("root has no user manager".to_owned());
    }
    if !has_user_manager() {
        return Err("no systemd user manager runs".to_owned());
    }
    let name = format!("toolgate-{}.scope", std::process::id());
    ask(&name)?;
    wait_until(MOVE_TIMEOUT, || own_groups().contains(&name))
        .ok_or("the systemd user manager did not move this process into a scope")?;
    leave_the_middle(&name).map_err(|error| format!("the scope `{name}` cannot be used: {error}"))
}

/// Whether asking a user manager for a scope has a chance.
pub(crate) fn has_user_manager() -> bool {
    let usual = || PathBuf::from(format!("/run/user/{}", geteuid().as_raw()));
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(usual, PathBuf::from);
    folder.join("systemd").is_dir()
}

fn ask(name: &str) -> Result<(), String> {
    let failed = |why: String| format!("the systemd user manager gave no scope: {why}");
    let mut child = start_call(name).map_err(|error| failed(format!("busctl: {error}")))?;
    let ended = wait_until(ANSWER_TIMEOUT, || !matches!(child.try_wait(), Ok(None)));
    if ended.is_none() {
        drop(child.kill());
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(said.trim().lines().next().unwrap_or("it did not answer").to_owned()))
}

#[expect(clippy::disallowed_methods, reason = "this crate alone spawns")]
fn start_call(name: &str) -> io::Result<Child> {
    let pid = std::process::id().to_string();
    let manager = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1"];
    Command::new("busctl")
        .args(["--user", "--quiet", "call"])
        .args(manager)
        .args(["org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))"])
        .args([name, "fail", "3"])
        .args(["PIDs", "au", "1", &pid])
        .args(["Delegate", "b", "true"])
        .args(["Description", "s", "Toolgate and its commands", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

/// With version 2 a group that has processes cannot have groups with limits: we go one deeper.
fn leave_the_middle(name: &str) -> io::Result<()> {
    let groups = own_groups();
    let Some(path) = groups.lines().find_map(|line| line.strip_prefix("0::")) else {
        return Ok(());
    };
    let folder = Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/'));
    if !path.ends_with(name) || !folder.join("cgroup.procs").exists() {
        return Ok(());
    }
    let inner = folder.join("main");
    fs::create_dir_all(&inner)?;
    fs::write(inner.join("cgroup.procs"), std::process::id().to_string())
}

fn own_groups() -> String {
    fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

fn wait_until(timeout: Duration, mut done: impl FnMut() -> bool) -> Option<()> {
    let deadline = Instant::now() + timeout;
    while !done() {
        if Instant::now() > deadline {
            return None;
        }
        thread::sleep(POLL_INTERVAL);
    }
    Some(())
}
