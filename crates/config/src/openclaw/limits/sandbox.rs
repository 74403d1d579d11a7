//! `sandbox` of an agent, or of all agents, of `OpenClaw`. Commands of Toolgate always run in a sandbox without
//! rights, on a read-only system, so that much of it holds anyway.

use super::{FOR_ALL, Limits, drop_if_empty, find, integer, table};
use crate::{
    node::{Entry, Node, Value},
    place::snake_case,
};

/// Tools that change the workspace. Commands work on it too.
const CHANGERS: &[&str] = &["write", "edit", "apply_patch", "exec", "process"];

/// Keys that hold anyway, or were taken over or refused.
const UNDERSTOOD: &[&str] =
    &["backend", "mode", "scope", "session_tools_visibility", "workspace_access"];
const UNDERSTOOD_OF_DOCKER: &[&str] = &[
    "apparmor_profile",
    "cap_drop",
    "cpus",
    "memory",
    "network",
    "pids_limit",
    "read_only_root",
    "seccomp_profile",
    "tmpfs",
    "ulimits",
    "user",
];

/// Whom a sandbox is for.
pub(super) enum Scope<'a> {
    /// `agents.defaults`.
    All,
    Agent(&'a str),
}

impl Scope<'_> {
    fn key(&self, name: &str) -> String {
        match self {
            Self::All => format!("agents.defaults.sandbox.{name}"),
            Self::Agent(id) => format!("agents.{id}.sandbox.{name}"),
        }
    }
}

impl Limits<'_> {
    pub(super) fn sandbox(&mut self, sandbox: &mut Vec<Entry>, scope: &Scope<'_>) {
        let text = |name: &str| find(sandbox, name).and_then(|entry| entry.node.text());
        // Nothing else of the table holds then.
        if text("mode") == Some("off") {
            return;
        }
        if let Some(access) = find(sandbox, "workspace_access") {
            self.workspace_access(access, scope);
        }
        if let Some(backend) = find(sandbox, "backend")
            && !matches!(backend.node.text(), Some("docker" | "podman"))
        {
            let hint = "its commands run on this machine";
            self.refuse(backend.position, &scope.key("backend"), hint);
        }
        if let Some(visibility) = find(sandbox, "session_tools_visibility")
            && visibility.node.text() != Some("all")
        {
            let hint = "deny `sessions_list`, `sessions_history` and `sessions_send` instead";
            self.refuse(visibility.position, &scope.key("sessionToolsVisibility"), hint);
        }
        if let Some(docker) = table(sandbox, "docker") {
            self.docker(docker, scope);
            docker
                .retain(|entry| !UNDERSTOOD_OF_DOCKER.contains(&snake_case(&entry.name).as_str()));
        }
        drop_if_empty(sandbox, "docker");
        sandbox.retain(|entry| !UNDERSTOOD.contains(&snake_case(&entry.name).as_str()));
    }

    fn workspace_access(&mut self, access: &Entry, scope: &Scope<'_>) {
        let key = scope.key("workspaceAccess");
        match access.node.text() {
            Some("rw") => {}
            Some("ro") => {
                let table: &[&str] = match scope {
                    Scope::All => &["tools"],
                    Scope::Agent(id) => &["agents", id, "tools"],
                };
                self.deny(table, CHANGERS, access.position);
                let names: Vec<_> = CHANGERS.iter().map(|name| format!("`{name}`")).collect();
                let message = format!(
                    "`{key}` is kept by denying {}: commands work on the workspace here",
                    names.join(", ")
                );
                self.problems.warn(access.position, &key, message);
            }
            _ => {
                let hint = "give the agent a folder of its own with `agents.<id>.workspace`";
                self.refuse(access.position, &key, hint);
            }
        }
    }

    fn docker(&mut self, docker: &[Entry], scope: &Scope<'_>) {
        for profile in ["seccomp_profile", "apparmor_profile"] {
            if let Some(entry) = find(docker, profile) {
                let key = scope.key(&format!("docker.{}", entry.name));
                self.refuse(entry.position, &key, "it has its own filter of system calls");
            }
        }
        let network = find(docker, "network").filter(|entry| entry.node.text() == Some("none"));
        if let Some(entry) = network {
            let value = Value::Text("listed".to_owned());
            self.keep(entry, scope, (&["tools", "exec", "network", "access"], Some(value)));
        }
        for (name, path, read) in LIMITS {
            if let Some(entry) = find(docker, name) {
                self.keep(entry, scope, (path, read(&entry.node)));
            }
        }
        let limits = find(docker, "ulimits").map(|entry| &entry.node.value);
        if let Some(Value::Table(limits)) = limits
            && let Some(files) = find(limits, "nofile")
        {
            let path = &["tools", "sandbox", "open_files"];
            self.keep(files, scope, (path, soft(&files.node)));
        }
    }

    /// Keeps a limit that Toolgate has for all agents.
    fn keep(
        &mut self,
        entry: &Entry,
        scope: &Scope<'_>,
        (path, value): (&'static [&'static str], Option<Value>),
    ) {
        let (position, key) = (entry.position, scope.key(&format!("docker.{}", entry.name)));
        match (scope, value) {
            (Scope::All, Some(value)) => self.set(path, value, position),
            (Scope::All, None) => {
                self.refuse(position, &key, &format!("write `{}` instead", path.join(".")));
            }
            (Scope::Agent(_), _) => {
                self.refuse(position, &key, &format!("{FOR_ALL}: `{}`", path.join(".")));
            }
        }
    }
}

type Reader = fn(&Node) -> Option<Value>;

/// Keys of `docker`, where Toolgate has them, and how they are read.
const LIMITS: [(&str, &[&str], Reader); 3] = [
    ("memory", &["tools", "sandbox", "memory"], bytes),
    ("pids_limit", &["tools", "sandbox", "processes"], number),
    ("cpus", &["tools", "sandbox", "cpu_percent"], percent),
];

fn number(node: &Node) -> Option<Value> {
    integer(&node.value).map(Value::Integer)
}

/// Docker's units are powers of 1024.
fn bytes(node: &Node) -> Option<Value> {
    if let Some(number) = number(node) {
        return Some(number);
    }
    let text = node.text()?.trim().to_ascii_lowercase();
    let text = text.strip_suffix('b').unwrap_or(&text);
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' => (text.get(..text.len() - 1)?, 10),
        b'm' => (text.get(..text.len() - 1)?, 20),
        b'g' => (text.get(..text.len() - 1)?, 30),
        _ => (text, 0),
    };
    let number: i128 = digits.parse().ok()?;
    Some(Value::Integer(number.checked_shl(shift)?))
}

/// `1.5` processors are 150 per cent of one.
#[expect(clippy::cast_possible_truncation, reason = "a machine has fewer processors")]
fn percent(node: &Node) -> Option<Value> {
    if let Value::Float(number) = node.value {
        let fits = (0.01..10_000.0).contains(&number);
        return fits.then(|| Value::Integer((number * 100.0).round() as i128));
    }
    Some(Value::Integer(integer(&node.value)?.checked_mul(100)?))
}

/// `1024`, or `{soft: 1024, hard: 2048}`.
fn soft(node: &Node) -> Option<Value> {
    if let Value::Table(limits) = &node.value {
        return number(&find(limits, "soft").or_else(|| find(limits, "hard"))?.node);
    }
    number(node)
}
