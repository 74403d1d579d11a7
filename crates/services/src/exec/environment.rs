//! The environment of a command: a small fixed set, and what was added by name.

use std::{
    ffi::{OsStr, OsString},
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

/// Who a command is, to itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) home: PathBuf,
}

/// All of it, for a command in the sandbox.
pub(super) fn environment(from: &Ingredients<'_>) -> Vec<(OsString, OsString)> {
    let agent = Person { name: "agent".to_owned(), home: HOME.into() };
    let mut all = on_host(from, &agent);
    if let Reach::Hosts(hosts) = &from.run.reach {
        let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
        for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            set(&mut all, name, &proxy);
        }
        // What listens inside is not behind the proxy, unless somebody named this machine.
        let is_here = |host: &String| {
            ["localhost", "127.", "[::1]"].iter().any(|here| host.starts_with(here))
        };
        if !hosts.iter().any(is_here) {
            set(&mut all, "NO_PROXY", "localhost,127.0.0.1,::1");
            set(&mut all, "no_proxy", "localhost,127.0.0.1,::1");
        }
    }
    all
}

/// All of it for a command on the host: it is this person, and needs no proxy.
pub(super) fn on_host(from: &Ingredients<'_>, person: &Person) -> Vec<(OsString, OsString)> {
    let Ingredients { run, terminal, toolchains, author, passed, shell } = from;
    let terminal = match terminal {
        Terminal::Yes => "xterm-256color",
        Terminal::No => "dumb",
    };
    let mut all: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in [
        ("LANG", "C.UTF-8"),
        ("LOGNAME", person.name.as_str()),
        ("PAGER", "cat"),
        ("SHELL", shell),
        ("TERM", terminal),
        ("TMPDIR", "/tmp"),
        ("USER", person.name.as_str()),
    ] {
        set(&mut all, name, value);
    }
    set(&mut all, "HOME", &person.home);
    set(&mut all, "PATH", path(&toolchains.programs));
    for (name, folder) in &toolchains.variables {
        set(&mut all, name, folder);
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
            set(&mut all, variable, value);
        }
    }
    let passed = passed.iter().map(|(name, value)| (name, value));
    for (name, value) in passed.chain(&run.env) {
        set(&mut all, name, value);
    }
    all
}

/// Each name is there once, and what comes later counts.
pub(super) fn set(all: &mut Vec<(OsString, OsString)>, name: &str, value: impl AsRef<OsStr>) {
    all.retain(|(known, _)| known != name);
    all.push((name.into(), value.as_ref().to_owned()));
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
