//! Somebody with a home folder of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

use crate::install::Installed;

pub(crate) struct Person(TempDir);

/// What a client finds in its environment, if it takes its token from there.
pub(crate) const TOKEN: (&str, &str) = ("TOOLGATE_TOKEN", "tg_test");

impl Person {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs Toolgate, and gives what it printed.
    pub(crate) fn toolgate(&self, args: &[&str]) -> String {
        printed(self.command(Path::new(env!("CARGO_BIN_EXE_toolgate"))).args(args))
    }

    /// A program in the project, which finds nothing of whoever runs the tests.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .envs([TOKEN])
            .current_dir(self.path("project"));
        command
    }

    /// The same for a script for Node.
    pub(crate) fn script(&self, installed: &Installed, script: &Path) -> Command {
        let mut command = self.command(&installed.node());
        command.arg(script);
        command
    }
}

/// What a program printed that must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout.into_owned()
}
