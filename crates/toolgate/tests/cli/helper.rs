//! A person's machine: a home, a data folder and a workspace that no other test sees.

use std::{
    env, fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// Longer than any command takes, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Machine {
    folder: TempDir,
}

/// What a command left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::on(&env::temp_dir())
    }

    /// In a folder of its own within another.
    pub(crate) fn on(folder: &Path) -> Self {
        let folder = TempDir::new_in(folder).unwrap();
        for name in ["config/toolgate", "home", "temp", "workspace"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// With a configuration file where it is looked for.
    pub(crate) fn configured(text: &str) -> Self {
        let machine = Self::new();
        fs::write(machine.path("config/toolgate/toolgate.toml"), text).unwrap();
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        fs::write(self.path("workspace").join(name), content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path("workspace").join(name)).ok()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self.start(args);
        // Who knows enough may end before it has read everything.
        if let Err(error) = child.stdin.take().unwrap().write_all(input.as_bytes()) {
            assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
        }
        finish(child)
    }

    /// Calls a tool and gives the outcome.
    pub(crate) fn call(&self, tool: &str, args: &Value) -> Value {
        self.run(&["call", tool, &args.to_string()]).json()
    }

    /// Starts a command without a terminal, in the workspace.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(&[], args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// A command in the workspace. A session of its own has no terminal, also where the tests were
    /// started from one; `session` are options of `setsid` that give it one.
    pub(crate) fn command(&self, session: &[&str], args: &[&str]) -> Command {
        let mut command = Command::new("setsid");
        command
            .args(session)
            .arg(env!("CARGO_BIN_EXE_toolgate"))
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("TMPDIR", self.path("temp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.path("workspace"));
        command
    }

    /// Starts a call that waits, and gives it with the question it asks.
    pub(crate) fn start_asking(&self, tool: &str, args: &Value) -> (Child, Value) {
        let child = self.start(&["call", tool, &args.to_string(), "--wait", "2m"]);
        (child, self.question())
    }

    /// Waits until a call asks.
    pub(crate) fn question(&self) -> Value {
        let mut question = None;
        self.until("a call asks", || {
            let list = self.run(&["approvals", "list", "--json"]).json();
            question = list["pending"].get(0).cloned();
            question.is_some()
        });
        question.unwrap()
    }

    /// Waits until `holds`.
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < PATIENCE, "never: {what}, in {:?}", self.folder);
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Waits until a command has ended.
pub(crate) fn finish(child: Child) -> Ran {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    Ran {
        code: status.code().unwrap(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

impl Ran {
    /// The output, which must be JSON and nothing else.
    pub(crate) fn json(&self) -> Value {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The output, one value per line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
