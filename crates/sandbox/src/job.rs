//! What is to be run, and what it may see.

use std::{
    ffi::OsString,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Level, Limits};

/// One command, everything it may see, and what it may use up.
///
/// Nothing is added to it: a variable that is not in `env` is not set, a folder that is not named
/// here is not there. Every target is an absolute path inside.
#[derive(Debug)]
pub struct Job {
    /// The program and its arguments. A name without a slash is looked up in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The file to execute, if the first of `argv` is only what the program is to be called.
    pub file: Option<PathBuf>,
    /// Where it starts, inside.
    pub cwd: PathBuf,
    /// All of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// Folders and files of the host besides the system's own.
    pub binds: Vec<Bind>,
    /// The folder it works on.
    pub workspace: Option<Workspace>,
    /// What is beneath a writable folder and must not change. What does not exist is not guarded.
    pub read_only: Vec<PathBuf>,
    /// What must look empty, such as sockets. What does not exist is passed over.
    pub masked: Vec<PathBuf>,
    /// What must not come into being. While the command runs, the first part of such a path that is
    /// missing is held by an empty folder, which is removed at the end.
    pub absent: Vec<PathBuf>,
    /// What is mounted on `/tmp`.
    pub temp: Scratch,
    /// What is mounted where `HOME` points; nothing if `HOME` lies in another folder of this job.
    pub home: Option<Home>,
    /// What the machine calls itself inside.
    pub hostname: String,
    /// What it can reach.
    pub network: Network,
    /// What it may use up.
    pub limits: Limits,
    /// Where it reads and writes.
    pub stdio: Stdio,
    /// The call is refused on a machine that offers less.
    pub minimum: Level,
}

impl Job {
    /// A command that sees the system's own folders and nothing else, reads and writes pipes, and
    /// needs all protection there is.
    pub fn new(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            file: None,
            cwd: PathBuf::from("/"),
            env: Vec::new(),
            binds: Vec::new(),
            workspace: None,
            read_only: Vec::new(),
            masked: Vec::new(),
            absent: Vec::new(),
            temp: Scratch::default(),
            home: None,
            hostname: "sandbox".to_owned(),
            network: Network::None,
            limits: Limits::default(),
            stdio: Stdio::Piped,
            minimum: Level::Full,
        }
    }
}

/// One command on the host itself: it is who we are, and sees and can do what we can.
///
/// What it starts ends with it, also what has detached itself. Nothing is added to its environment.
/// Where no cgroup is writable, memory and processes are watched.
#[derive(Debug)]
pub struct HostJob {
    /// The program and its arguments. A name without a slash is looked up in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The file to execute, if the first of `argv` is only what the program is to be called.
    pub file: Option<PathBuf>,
    /// The folder it starts in, opened before, so that what was checked is what is entered.
    pub cwd: OwnedFd,
    /// All of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// What it may use up.
    pub limits: Limits,
    /// Where it reads and writes.
    pub stdio: Stdio,
}

/// A folder or file of the host.
#[derive(Debug)]
pub enum Source {
    /// The real path; one with a link in it is refused, because links can change.
    Path(PathBuf),
    /// What was opened before, so that what was checked is what is mounted.
    Fd(OwnedFd),
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

/// A folder or file of the host that can be seen inside.
#[derive(Debug)]
pub struct Bind {
    /// What it is on the host.
    pub source: Source,
    /// Where it is inside.
    pub target: PathBuf,
    /// Whether it can be changed.
    pub access: Access,
}

/// Whether something can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// It cannot.
    ReadOnly,
    /// It cannot, and sockets in the folder lead nowhere: somebody outside may listen on them.
    ReadOnlyWithoutSockets,
    /// It can.
    ReadWrite,
}

impl Access {
    /// The attribute of a mount that makes it so.
    pub(crate) const fn flag(self) -> u64 {
        const RDONLY: u64 = 1;
        match self {
            Self::ReadOnly | Self::ReadOnlyWithoutSockets => RDONLY,
            Self::ReadWrite => 0,
        }
    }
}

/// The folder a command works on.
#[derive(Debug)]
pub struct Workspace {
    /// The folder on the host.
    pub source: Source,
    /// Where it is inside, usually the same path.
    pub target: PathBuf,
    /// What becomes of changes.
    pub mode: Changes,
}

/// What becomes of changes to a workspace.
#[derive(Debug)]
pub enum Changes {
    /// There can be none.
    Refused,
    /// They happen at once.
    Direct,
    /// They are kept apart, in `layers`: a folder of the caller's on the workspace's file system and
    /// outside it. After the call its folder `upper` holds what changed; `work` is the kernel's.
    Overlay {
        /// The folder that gets `upper` and `work`.
        layers: Source,
    },
}

/// A folder for files nobody wants to keep.
#[derive(Debug)]
pub enum Scratch {
    /// It lives in memory and is gone afterwards.
    Memory {
        /// How much fits.
        max_bytes: u64,
    },
    /// It is a folder of the caller's.
    Folder(Source),
}

impl Default for Scratch {
    fn default() -> Self {
        Self::Memory { max_bytes: 256 << 20 }
    }
}

/// Where `HOME` points.
#[derive(Debug)]
pub struct Home {
    /// Where it is inside.
    pub target: PathBuf,
    /// What is there.
    pub scratch: Scratch,
}

/// What a command can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Only itself, by the loopback addresses.
    None,
    /// Itself, and whoever accepts on `127.0.0.1` and this port: see `Process::take_listener`.
    Proxied {
        /// The port inside.
        port: u16,
    },
    /// Everything the host can.
    Host,
}

/// Where a command reads and writes.
#[derive(Debug)]
pub enum Stdio {
    /// Three pipes.
    Piped,
    /// A terminal of its own.
    Pty {
        /// Lines.
        rows: u16,
        /// Characters in a line.
        cols: u16,
    },
    /// What the caller has opened.
    Given {
        /// Descriptor 0.
        stdin: OwnedFd,
        /// Descriptor 1.
        stdout: OwnedFd,
        /// Descriptor 2.
        stderr: OwnedFd,
    },
}
