//! The environment of a command: a small fixed set, and what was added by name.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use tool::{Reach, Run, Terminal};

use super::{identity::Author, toolchains::Found};

/// Where `HOME` points inside.
pub(super) const HOME: &str = "/home/agent";
/// Where the proxy listens inside, for commands that reach somebody.
pub(super) const PROXY_PORT: u16 = 3128;

const SYSTEM: [&str; 5] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin"];

/// What the environment is made of.
pub(super) struct Ingredients<'a> {
    pub(super) run: &'a Run,
    pub(super) terminal: Terminal,
    pub(super) toolchains: &'a Found,
    pub(super) author: &'a Author,
    /// By configuration.
    pub(super) passed: &'a [(String, String)],
    pub(super) shell: &'static str,
}

/// All of it, each name once; what comes later counts.
pub(super) fn environment(from: &Ingredients<'_>) -> Vec<(OsString, OsString)> {
    let Ingredients { run, terminal, toolchains, author, passed, shell } = from;
    let terminal = match terminal {
        Terminal::Yes => "xterm-256color",
        Terminal::No => "dumb",
    };
    let mut all: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: OsString| {
        all.retain(|(known, _)| known != name);
        all.push((name.into(), value));
    };
    for (name, value) in [
        ("HOME", HOME),
        ("LANG", "C.UTF-8"),
        ("LOGNAME", "agent"),
        ("PAGER", "cat"),
        ("SHELL", shell),
        ("TERM", terminal),
        ("TMPDIR", "/tmp"),
        ("USER", "agent"),
    ] {
        set(name, value.into());
    }
    set("PATH", path(&toolchains.programs));
    for (name, folder) in &toolchains.variables {
        set(name, folder.into());
    }
    let name = author.name.as_deref();
    let email = author.email.as_deref();
    for (variable, value) in [
        ("GIT_AUTHOR_NAME", name),
        ("GIT_AUTHOR_EMAIL", email),
        ("GIT_COMMITTER_NAME", name),
        ("GIT_COMMITTER_EMAIL", email),
    ] {
        if let Some(value) = value {
            set(variable, value.into());
        }
    }
    let passed = passed.iter().map(|(name, value)| (name, value));
    for (name, value) in passed.chain(&run.env) {
        set(name, value.into());
    }
    if let Reach::Hosts(_) = run.reach {
        let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
        for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            set(name, proxy.clone().into());
        }
        set("NO_PROXY", "localhost,127.0.0.1,::1".into());
        set("no_proxy", "localhost,127.0.0.1,::1".into());
    }
    all
}

fn path(programs: &[PathBuf]) -> OsString {
    let mut path = OsString::new();
    for folder in programs.iter().map(PathBuf::as_path).chain(SYSTEM.map(Path::new)) {
        if !path.is_empty() {
            path.push(":");
        }
        path.push(folder);
    }
    path
}
