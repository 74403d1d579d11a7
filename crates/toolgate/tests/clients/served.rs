//! A server, as a person starts it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// Ends with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) base: String,
    pub(crate) token: String,
    folder: TempDir,
}

impl Served {
    /// With this configuration.
    pub(crate) fn new(config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::write(folder.path().join("toolgate.toml"), config).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .arg("--config")
            .arg(folder.path().join("toolgate.toml"))
            .arg("--data")
            .arg(folder.path().join("data"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(folder.path().join("ws"))
            .stdin(Stdio::null())
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
        Self { child, base: word(base, 3), token: word(token, 1), folder }
    }

    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("ws")
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
