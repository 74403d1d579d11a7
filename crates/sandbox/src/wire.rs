//! What a launcher and its parent say to each other.

use std::{io, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::Access;

/// What a launcher is told. Descriptors travel beside it and are named by their place.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// What to become; the descriptors are the files of the cgroups to join.
    SetUp(SetUp),
    /// What to run.
    Run(Box<Spec>),
    /// Try what the kernel offers, say it, and end.
    Probe(Identity),
    /// Stand in a new user namespace until it has been taken.
    Hold,
    /// Stay on the host as who we are, for one command; the descriptors are the files of the cgroups
    /// it is to join.
    Stay,
    /// What to run on the host.
    RunOnHost(Box<HostSpec>),
    /// Kill the command on the host, and everything it has started.
    Kill,
}

/// What a launcher answers. The first process inside answers on the same socket.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It can take an order.
    Ready,
    /// A step failed and nothing ran.
    SetUpFailed(Failure),
    /// Everything is set up, but the program could not be executed.
    ExecFailed(i32),
    /// The command runs; the descriptors are those of [`Started`].
    Started(Started),
    /// The command has ended.
    Exited(Exited),
    /// Nothing of it is left.
    Gone(Gone),
    /// What a probe found.
    Probed(Vec<Tried>),
}

/// Who a command is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Who to become on the host first; nobody else if we are not root.
    pub(crate) become_id: Option<u32>,
    /// The user and group seen inside.
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SetUp {
    pub(crate) identity: Identity,
    pub(crate) host_network: bool,
    /// Whether the first process watches memory, because no cgroup counts it.
    pub(crate) watched: bool,
    pub(crate) system: Vec<PathBuf>,
}

/// Everything about one command. Paths are bytes: they need not be text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) program: Program,
    pub(crate) cwd: Bytes,
    pub(crate) home: Bytes,
    pub(crate) hostname: String,
    /// Parents before what is beneath them.
    pub(crate) mounts: Vec<Mount>,
    pub(crate) read_only: Vec<Bytes>,
    pub(crate) masked: Vec<Bytes>,
    pub(crate) absent: Vec<Bytes>,
    pub(crate) proxy_port: Option<u16>,
    pub(crate) limits: Ceiling,
    pub(crate) stdio: Console,
}

/// Everything about one command on the host. The first descriptor is the folder it starts in.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HostSpec {
    pub(crate) program: Program,
    pub(crate) limits: Ceiling,
    /// Landlock and seccomp around the command, where there are no namespaces.
    pub(crate) confinement: Option<Confinement>,
    pub(crate) stdio: Console,
}

/// What holds a command that shares the host's namespaces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    /// The place of the Landlock ruleset among the descriptors.
    pub(crate) rules: usize,
    pub(crate) sockets: Sockets,
    /// Places of the writable folders among the descriptors, for counting what is written.
    pub(crate) writable: Vec<usize>,
}

/// Which sockets a command may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sockets {
    /// Those of a network namespace of its own.
    Namespaced,
    /// Unix sockets that connect to nothing.
    Unconnected,
    /// TCP, and Landlock says to which port.
    Proxied,
    /// TCP and UDP.
    Open,
}

/// What is executed, and where it is looked for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) argv: Vec<Bytes>,
    /// What is executed, if it is not looked for by the first of `argv`.
    pub(crate) file: Option<Bytes>,
    pub(crate) env: Vec<Bytes>,
    pub(crate) path: Bytes,
}

/// What the first process is told, by the launcher that has prepared it. The descriptors are those
/// of the spec, then both ends of a terminal, then what the proxy listens on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Begin {
    pub(crate) spec: Spec,
    /// Where something is held that must not come into being.
    pub(crate) held: Vec<Bytes>,
    pub(crate) terminal: bool,
    pub(crate) listener: bool,
}

/// A path, or anything else the kernel takes byte for byte.
pub(crate) type Bytes = Vec<u8>;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mount {
    pub(crate) target: Bytes,
    pub(crate) what: What,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum What {
    /// A folder or file of the host.
    Tree { tree: Tree, access: Access },
    /// A folder of the host with changes kept in another one.
    Overlay { lower: Tree, layers: Tree },
    /// Memory.
    Memory { max_bytes: u64 },
}

/// A folder or file of the host, by a descriptor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub(crate) fd: usize,
    /// Where the launcher finds it again, and compares. If not given, the descriptor is a mount.
    pub(crate) path: Option<Bytes>,
    pub(crate) is_folder: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ceiling {
    pub(crate) open_files: u64,
    pub(crate) file_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) shared_bytes: u64,
    /// Most memory of the whole tree, where no cgroup counts it.
    pub(crate) memory: Option<u64>,
    /// Most processes and threads of the whole tree, where no cgroup counts them.
    pub(crate) processes: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Console {
    /// Descriptors for 0, 1 and 2.
    Given([usize; 3]),
    /// A terminal made inside.
    Pty { rows: u16, cols: u16 },
}

/// What the descriptors beside it are: the command, then these.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Started {
    /// The first process inside; on the host there is none.
    pub(crate) first: bool,
    pub(crate) terminal: bool,
    pub(crate) listener: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Exited {
    pub(crate) status: i32,
    pub(crate) max_rss_bytes: u64,
    pub(crate) over: Option<Over>,
}

/// Which limit was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Over {
    Memory,
    Processes,
    Written,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Gone {
    pub(crate) cpu: Duration,
    pub(crate) max_rss_bytes: u64,
}

/// A step that failed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) step: String,
    pub(crate) errno: i32,
}

/// What trying a feature showed: nothing, or an errno; and what is worth knowing.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tried {
    pub(crate) name: String,
    pub(crate) errno: Option<i32>,
    pub(crate) note: String,
}

impl Failure {
    pub(crate) fn new(step: impl Into<String>, error: &io::Error) -> Self {
        Self { step: step.into(), errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }
}

/// Names the step that failed.
pub(crate) trait Step<T> {
    fn step(self, step: &str) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, step: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(step, &error.into()))
    }
}
