//! A server, as a person starts it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// So many lines of its log are shown when something fails.
const LOGGED: usize = 40;

/// Ends with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) base: String,
    pub(crate) token: String,
    folder: TempDir,
}

impl Served {
    /// A server with this configuration. Approvers that it names are added first: nobody unknown can be one.
    pub(crate) fn new(config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::write(folder.path().join("toolgate.toml"), config).unwrap();
        let named = config::parse(config, "toolgate.toml").unwrap().tools.approvers;
        for user in named.iter() {
            let added =
                command(folder.path()).args(["users", "add", &user.value]).output().unwrap();
            assert!(added.status.success(), "{added:?}");
        }
        let (child, base, token) = start(folder.path());
        Self { child, base, token, folder }
    }

    /// Another process after this one, on the same data.
    pub(crate) fn again(&mut self) {
        self.kill();
        let (child, base, _) = start(self.folder.path());
        (self.child, self.base) = (child, base);
    }

    /// As `kill -9` does it, with no chance to put anything in order.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end, as whoever watches over it does, and waits until it has.
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        let id = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(id, Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Another command of the same person.
    pub(crate) fn command(&self) -> Command {
        command(self.folder.path())
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    /// What it has logged last.
    pub(crate) fn log(&self) -> String {
        let all = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<_> = all.lines().collect();
        lines.get(lines.len().saturating_sub(LOGGED)..).unwrap_or_default().join("\n")
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
    command
        .arg("--config")
        .arg(folder.join("toolgate.toml"))
        .arg("--data")
        .arg(folder.join("data"))
        .current_dir(folder.join("ws"))
        .stdin(Stdio::null());
    command
}

/// The process, where it listens, and the token it showed, if it showed one.
fn start(folder: &Path) -> (Child, String, String) {
    let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    let mut child = command(folder)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let word = |line: String, number: usize| {
        line.split_whitespace().nth(number).unwrap_or_default().to_owned()
    };
    let base = lines.find(|line| line.contains("listens on")).unwrap();
    let token = lines.find(|line| line.contains("Token")).unwrap();
    (child, word(base, 3), word(token, 1))
}
