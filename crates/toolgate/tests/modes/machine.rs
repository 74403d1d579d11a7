//! A machine as an ordinary user sees it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{groups::Groups, toolchain};

/// The limit of processes in all tests.
pub(crate) const PROCESSES: u32 = 300;

const WRAPPER: &str = include_str!("without_namespaces.py");

/// Each test is a user of its own: the kernel counts processes by user where it counts nothing else.
static NEXT_USER: AtomicU32 = AtomicU32::new(64_200);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespaces {
    Allowed,
    Forbidden,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cgroup {
    Own,
    None,
}

pub(crate) struct Machine {
    user: Option<u32>,
    namespaces: Namespaces,
    groups: Option<Groups>,
    folder: tempfile::TempDir,
    pub(crate) workspace: PathBuf,
}

impl Machine {
    /// Sets it up; `None` where this machine cannot be made to look like that.
    pub(crate) fn new(namespaces: Namespaces, cgroup: Cgroup) -> Option<Self> {
        let is_root = rustix::process::geteuid().is_root();
        let user = is_root.then(|| NEXT_USER.fetch_add(1, Ordering::Relaxed));
        let groups = match (cgroup, user) {
            (Cgroup::None, _) => None,
            (Cgroup::Own, None) => {
                eprintln!("skipped: only root can give a cgroup to a user");
                return None;
            }
            (Cgroup::Own, Some(user)) => {
                let name = format!("toolgate-modes-{}-{user}", std::process::id());
                let groups = Groups::new(&name, user);
                if groups.is_none() {
                    eprintln!("skipped: no cgroup can be made here");
                    return None;
                }
                groups
            }
        };
        // Short: a path of a socket in it has at most 107 bytes.
        let folder = tempfile::Builder::new().prefix("tg").tempdir_in("/var/tmp").unwrap();
        let base = folder.path().canonicalize().unwrap();
        fs::set_permissions(&base, fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_toolgate"), base.join("toolgate")).unwrap();
        fs::write(base.join("wrapper.py"), WRAPPER).unwrap();
        toolchain::make_readable(&base);
        let workspace = base.join("ws");
        for inner in [&workspace, &base.join("home"), &base.join("d")] {
            fs::create_dir(inner).unwrap();
            chown(inner, user, user).unwrap();
        }
        let machine = Self { user, namespaces, groups, folder, workspace };
        machine.configure("");
        Some(machine)
    }

    fn base(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes the configuration, with the limits that all tests have.
    pub(crate) fn configure(&self, text: &str) {
        let limits = format!(
            "memory = \"1500MB\"\nprocesses = {PROCESSES}\nread = [\"{}\"]\n",
            self.base().join("toolchain").display()
        );
        let text = if text.is_empty() { "[tools.sandbox]\n" } else { text };
        let exec = "[tools.exec]\nenv = [\"TEST_TOOLCHAIN\"]\n";
        fs::write(self.config(), format!("{text}{limits}{exec}")).unwrap();
    }

    fn config(&self) -> PathBuf {
        self.base().join("toolgate.toml")
    }

    /// Runs `toolgate` as the user.
    pub(crate) fn toolgate(&self, args: &[&str]) -> Output {
        let base = self.base();
        let doors = self.groups.iter().flat_map(Groups::doors);
        let join: Vec<_> = doors.map(|door| format!("echo $$ > {}; ", door.display())).collect();
        let join = join.concat();
        let identity = self.user.map_or_else(String::new, |user| {
            format!("setpriv --reuid {user} --regid {user} --clear-groups ")
        });
        let wrapped = match self.namespaces {
            Namespaces::Allowed => String::new(),
            Namespaces::Forbidden => {
                format!("/usr/bin/python3 {} ", base.join("wrapper.py").display())
            }
        };
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("{join}exec {identity}{wrapped}\"$@\"")).arg("sh");
        command.arg(base.join("toolgate")).arg("--config").arg(self.config());
        command.arg("--data").arg(base.join("d")).args(args);
        command.current_dir(&self.workspace).env_clear().stdin(Stdio::null());
        command.env("HOME", base.join("home")).env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("TEST_TOOLCHAIN", base.join("toolchain")).output().unwrap()
    }

    /// Runs a command, agreed to, and gives its outcome.
    pub(crate) fn exec(&self, line: &str) -> Value {
        let args = json!({"command": line, "timeout": 300}).to_string();
        let output = self.toolgate(&["call", "exec", &args, "--yes"]);
        let parsed = serde_json::from_slice(&output.stdout);
        parsed.unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// The status of each tool, and the whole answer.
    pub(crate) fn tools(&self) -> (BTreeMap<String, String>, String) {
        let output = self.toolgate(&["tools", "--json"]);
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let tools = all.as_array().or_else(|| all["tools"].as_array()).unwrap().iter();
        let found = tools.map(|tool| (text(&tool["name"]), text(&tool["status"]))).collect();
        (found, all.to_string())
    }

    /// The processes the user still has when those that end have had the time for it.
    pub(crate) fn processes_left(&self) -> Vec<String> {
        for _ in 0..200 {
            if self.processes().is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        self.processes()
    }

    fn processes(&self) -> Vec<String> {
        let Some(user) = self.user else { return Vec::new() };
        let is_theirs = |path: &Path| {
            let is_process = path.file_name().is_some_and(|name| {
                name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
            });
            is_process && fs::metadata(path).is_ok_and(|found| found.uid() == user)
        };
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let theirs = entries.filter(|entry| is_theirs(&entry.path()));
        let line = |path: PathBuf| {
            let line = fs::read_to_string(path.join("cmdline")).unwrap_or_default();
            let status = fs::read_to_string(path.join("status")).unwrap_or_default();
            format!("{} {}", line.replace('\0', " "), status.lines().take(3).collect::<String>())
        };
        let lines = theirs.map(|entry| line(entry.path()));
        // Only who started one can remove it.
        lines.filter(|line| !line.contains("(zombie)")).collect()
    }
}
