//! From a job to a command behind Landlock and seccomp alone, for machines that forbid namespaces.
//!
//! Nothing can be mounted here: a folder is where it is on the host, so `TMPDIR` and `HOME` are set to
//! the folders a job has for them. Landlock allows by folder and cannot take a part of a writable
//! folder out again; [`lacks`] says what that means.

use std::{
    ffi::OsString,
    fs, io,
    net::{Ipv4Addr, TcpListener},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, fstat, openat},
    process::geteuid,
};

use crate::{
    Access, Bind, Changes, Home, Job, LimitKeeper, Network, SandboxError, Scratch, Workspace,
    launcher::{SHARED_ETC, etc_names},
    rights,
    source::Opened,
    spec::{self, Ready},
    stdio::Ends,
    sys::{self, Landlock, add_path_rule, add_port_rule},
    wire::{Confinement, HostSpec, Order, Sockets},
};

/// With older Landlock a command could empty any file of the user.
pub(crate) const LEAST_ABI: u32 = 3;
/// The first Landlock that holds TCP connections to a port.
const NETWORK_ABI: u32 = 4;
/// The first Landlock that holds signals and abstract sockets.
const SCOPE_ABI: u32 = 6;

const DEVICES: &[&str] = &["full", "null", "random", "tty", "urandom", "zero"];

/// A job that is ready, and where connections to its proxy arrive.
pub(crate) struct ConfinedReady {
    pub(crate) ready: Ready,
    pub(crate) listener: Option<TcpListener>,
}

/// What a command behind Landlock and seccomp alone lacks of full isolation: a noun, and what follows.
pub(crate) fn lacks(abi: u32) -> Vec<String> {
    let mut lacks = vec![
        "an overlay: what it changes is changed, and cannot be undone",
        "guards for protected and secret files in the workspace",
        "a view of its own: it sees your other processes, and can change modes and times of your files",
        "a network of its own: it has no loopback, and Unix sockets do not connect",
        "/dev/shm and new terminals",
    ];
    if abi < SCOPE_ABI {
        lacks.push("guards against signals: it can end your other processes");
    }
    if geteuid().is_root() {
        lacks.push("a user of its own: it runs as root, without any capability");
    }
    lacks.into_iter().map(str::to_owned).collect()
}

/// Opens everything a job names, and says to Landlock what the command may do with it.
pub(crate) fn ready(
    job: Job,
    system: &[PathBuf],
    keeper: LimitKeeper,
) -> Result<ConfinedReady, SandboxError> {
    let Job {
        argv,
        file,
        cwd,
        mut env,
        binds,
        workspace,
        read_only: _,
        masked,
        absent: _,
        temp,
        home,
        hostname: _,
        network,
        limits,
        stdio,
        minimum: _,
    } = job;
    let abi = sys::landlock_abi().map_err(landlock)?;
    let (sockets, listener) = sockets(network, abi)?;
    let port = listener.as_ref().map(TcpListener::local_addr).transpose();
    let port = port.map_err(SandboxError::Launcher)?.map(|address| address.port());
    let rules = Rules::new(abi, port).map_err(landlock)?;
    rules.system(system).map_err(landlock)?;
    for Bind { source, target: _, access } in binds {
        rules.opened(&Opened::new(source)?, access, &masked)?;
    }
    let mut places = Places::default();
    places.scratch(Path::new("/tmp"), temp, &rules)?;
    if let Some(Home { target, scratch }) = home {
        places.scratch(&target, scratch, &rules)?;
    }
    if let Some(workspace) = workspace {
        places.workspace(workspace, &masked, &rules)?;
    }
    for (name, value) in &mut env {
        if name == "TMPDIR" || name == "HOME" {
            *value = places.on_host(Path::new(&*value)).into_os_string();
        }
        if let (Network::Proxied { port: named }, Some(port)) = (network, port) {
            *value = proxied(value, named, port);
        }
    }
    let cwd = places.on_host(&cwd);
    let cwd = open(&cwd).map_err(|source| SandboxError::Source { path: cwd, source })?;
    let program = spec::program(&argv, file, &env)?;
    let mut fds = vec![cwd, rules.rules];
    let writable = (fds.len()..).take(places.writable.len()).collect();
    fds.extend(places.writable);
    let (stdio, ends): (_, Ends) = spec::console(stdio, &mut fds)?;
    let spec = HostSpec {
        program,
        limits: spec::ceiling(&limits, keeper, 0),
        confinement: Some(Confinement { rules: 1, sockets, writable }),
        stdio,
    };
    let order = Order::RunOnHost(Box::new(spec));
    Ok(ConfinedReady { ready: Ready { order, fds, ends }, listener })
}

fn landlock(source: io::Error) -> SandboxError {
    SandboxError::SetUp { step: "rules for Landlock".to_owned(), source }
}

/// Which sockets the command may make, and what its proxy listens on.
fn sockets(network: Network, abi: u32) -> Result<(Sockets, Option<TcpListener>), SandboxError> {
    match network {
        Network::None => Ok((Sockets::Unconnected, None)),
        Network::Host => Ok((Sockets::Open, None)),
        Network::Proxied { .. } if abi < NETWORK_ABI => Err(SandboxError::NotHere(
            "without namespaces a command can be held to certain hosts only by Landlock 4 (Linux \
             6.7), which this machine does not have"
                .to_owned(),
        )),
        Network::Proxied { .. } => {
            let listener =
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(SandboxError::Launcher)?;
            Ok((Sockets::Proxied, Some(listener)))
        }
    }
}

/// A variable with the address of the proxy: on the host several commands cannot share one port.
fn proxied(value: &OsString, named: u16, port: u16) -> OsString {
    let Some(text) = value.to_str() else { return value.clone() };
    text.replace(&format!("127.0.0.1:{named}"), &format!("127.0.0.1:{port}")).into()
}

/// Where the folders of a job are on the host, and which of them can be written to.
#[derive(Default)]
struct Places {
    moved: Vec<(PathBuf, PathBuf)>,
    writable: Vec<OwnedFd>,
}

impl Places {
    fn scratch(
        &mut self,
        target: &Path,
        scratch: Scratch,
        rules: &Rules,
    ) -> Result<(), SandboxError> {
        // A folder in memory needs a mount; without one there is nothing to write to.
        let Scratch::Folder(source) = scratch else { return Ok(()) };
        let opened = Opened::folder(source)?;
        rules.opened(&opened, Access::ReadWrite, &[])?;
        self.moved.push((target.to_owned(), opened.path));
        self.writable.push(opened.fd);
        Ok(())
    }

    fn workspace(
        &mut self,
        workspace: Workspace,
        masked: &[PathBuf],
        rules: &Rules,
    ) -> Result<(), SandboxError> {
        let Workspace { source, target, mode } = workspace;
        let opened = Opened::folder(source)?;
        let access = match mode {
            Changes::Refused => Access::ReadOnly,
            Changes::Direct => Access::ReadWrite,
            Changes::Overlay { .. } => {
                return Err(SandboxError::NotHere(
                    "there is no overlay without namespaces, so changes cannot be kept apart"
                        .to_owned(),
                ));
            }
        };
        rules.opened(&opened, access, masked)?;
        self.moved.push((target, opened.path));
        if access == Access::ReadWrite {
            self.writable.push(opened.fd);
        }
        Ok(())
    }

    /// Where something is that a job names by its path inside.
    fn on_host(&self, path: &Path) -> PathBuf {
        let beneath = |(target, source): &(PathBuf, PathBuf)| {
            let rest = path.strip_prefix(target).ok()?;
            let found =
                if rest.as_os_str().is_empty() { source.clone() } else { source.join(rest) };
            Some((target.components().count(), found))
        };
        let found = self.moved.iter().filter_map(beneath).max_by_key(|(depth, _)| *depth);
        found.map_or_else(|| path.to_owned(), |(_, path)| path)
    }
}

/// A Landlock ruleset in the making.
struct Rules {
    rules: OwnedFd,
    files: u64,
}

impl Rules {
    fn new(abi: u32, port: Option<u16>) -> io::Result<Self> {
        let files = rights::known(abi);
        let scoped = if abi >= SCOPE_ABI { rights::ABSTRACT_SOCKETS | rights::SIGNALS } else { 0 };
        let net = port.map_or(0, |_| rights::BIND_TCP | rights::CONNECT_TCP);
        let rules = Landlock { files, net, scoped }.create()?;
        if let Some(port) = port {
            add_port_rule(&rules, port, rights::CONNECT_TCP)?;
        }
        Ok(Self { rules, files })
    }

    /// What every command may read.
    fn system(&self, system: &[PathBuf]) -> io::Result<()> {
        let etc = etc_names().into_iter().chain(SHARED_ETC.iter().map(|name| (*name).to_owned()));
        let etc = etc.map(|name| Path::new("/etc").join(name));
        for path in system.iter().cloned().chain(etc).chain(["/proc".into()]) {
            // What is not there, or is not this user's to read, is not shown.
            if let Ok(found) = open(&path) {
                self.allow(&found, rights::READ)?;
            }
        }
        let device = rights::WRITE_FILE | rights::READ_FILE | rights::TRUNCATE | rights::IOCTL_DEV;
        for name in DEVICES {
            if let Ok(found) = open(&Path::new("/dev").join(name)) {
                self.allow(&found, device)?;
            }
        }
        Ok(())
    }

    /// Lets the command use a folder or file, but for what is masked.
    fn opened(
        &self,
        opened: &Opened,
        access: Access,
        masked: &[PathBuf],
    ) -> Result<(), SandboxError> {
        let beneath: Vec<_> =
            masked.iter().filter(|path| path.starts_with(&opened.path) && path.exists()).collect();
        let failed = |source| SandboxError::Source { path: opened.path.clone(), source };
        match (access, beneath.as_slice()) {
            (Access::ReadWrite, []) => {
                let all =
                    self.files & !(rights::MAKE_CHAR | rights::MAKE_BLOCK | rights::IOCTL_DEV);
                self.allow(&opened.fd, all).map_err(failed)
            }
            (Access::ReadWrite, [hidden, ..]) => Err(SandboxError::NotHere(format!(
                "`{}` lies in `{}` and cannot be hidden there without namespaces; move one of them",
                hidden.display(),
                opened.path.display()
            ))),
            (Access::ReadOnly | Access::ReadOnlyWithoutSockets, []) => {
                self.allow(&opened.fd, rights::READ).map_err(failed)
            }
            (Access::ReadOnly | Access::ReadOnlyWithoutSockets, hidden) => {
                self.around(&opened.path, hidden).map_err(failed)
            }
        }
    }

    /// Allows to read everything in a folder but what is hidden: by its entries, one by one.
    fn around(&self, folder: &Path, hidden: &[&PathBuf]) -> io::Result<()> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            if hidden.iter().any(|hidden| **hidden == folder) {
                continue;
            }
            self.allow(&open(&folder)?, rights::READ_DIR)?;
            for entry in fs::read_dir(&folder)?.filter_map(Result::ok) {
                let path = entry.path();
                if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                    folders
                        .extend(entry.file_type().is_ok_and(|kind| kind.is_dir()).then_some(path));
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file()) {
                    self.allow(&open(&path)?, rights::READ)?;
                }
            }
        }
        Ok(())
    }

    fn allow(&self, found: &OwnedFd, allowed: u64) -> io::Result<()> {
        let is_folder = FileType::from_raw_mode(fstat(found)?.st_mode) == FileType::Directory;
        let allowed = if is_folder { allowed } else { allowed & rights::OF_FILES };
        add_path_rule(&self.rules, found, allowed & self.files)
    }
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}
