//! From a job to what a launcher is told.

use std::{
    ffi::{OsStr, OsString},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Component, Path, PathBuf},
};

use crate::{
    Home, HostJob, Job, LimitKeeper, Limits, Network, SandboxError, Stdio,
    channel::MOST_DESCRIPTORS,
    furniture::Furniture,
    id_map::IdMaps,
    stdio::Ends,
    wire::{Ceiling, Console, HostSpec, Order, Program, Spec},
};

const USUAL_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";
/// The first process of a namespace is one of those that are counted in it.
const FIRST_PROCESS: u64 = 1;

/// What a launcher is told, the descriptors that go along, and our ends of the pipes.
pub(crate) struct Ready {
    pub(crate) order: Order,
    pub(crate) fds: Vec<OwnedFd>,
    pub(crate) ends: Ends,
}

/// Opens everything a job names. `maps` are there if we are root.
pub(crate) fn ready(
    job: Job,
    maps: Option<&IdMaps>,
    keeper: LimitKeeper,
) -> Result<Ready, SandboxError> {
    let Job {
        argv,
        file,
        cwd,
        env,
        binds,
        workspace,
        read_only,
        masked,
        absent,
        temp,
        home,
        hostname,
        network,
        limits,
        stdio,
        minimum: _,
    } = job;
    let program = program(&argv, file, &env)?;
    let home_path = home.as_ref().map(|home| inside(&home.target)).transpose()?;
    let mut furniture = Furniture::new(maps, limits.memory_bytes);
    furniture.scratch(Path::new("/tmp"), temp)?;
    if let Some(Home { target, scratch }) = home {
        furniture.scratch(&target, scratch)?;
    }
    if let Some(workspace) = workspace {
        furniture.workspace(workspace)?;
    }
    for bind in binds {
        furniture.bind(bind)?;
    }
    let (mounts, mut fds) = furniture.finish();
    let (stdio, ends) = console(stdio, &mut fds)?;
    // A terminal, a listener and a long message need some too.
    if fds.len() + 4 > MOST_DESCRIPTORS {
        return Err(SandboxError::Invalid(format!("more than {MOST_DESCRIPTORS} folders")));
    }
    let all_inside = |paths: Vec<PathBuf>| -> Result<Vec<_>, _> {
        paths.iter().map(|path| inside(path)).collect()
    };
    let spec = Spec {
        program,
        cwd: inside(&cwd)?,
        home: home_path.unwrap_or_default(),
        hostname,
        mounts,
        read_only: all_inside(read_only)?,
        masked: all_inside(masked)?,
        absent: all_inside(absent)?,
        proxy_port: match network {
            Network::None | Network::Host => None,
            Network::Proxied { port } => Some(port),
        },
        limits: ceiling(&limits, keeper, FIRST_PROCESS),
        stdio,
    };
    Ok(Ready { order: Order::Run(Box::new(spec)), fds, ends })
}

/// The same for a command on the host.
pub(crate) fn ready_on_host(job: HostJob, keeper: LimitKeeper) -> Result<Ready, SandboxError> {
    let HostJob { argv, file, cwd, env, limits, stdio } = job;
    let program = program(&argv, file, &env)?;
    let mut fds = vec![cwd];
    let (stdio, ends) = console(stdio, &mut fds)?;
    let limits = ceiling(&limits, keeper, 0);
    let spec = HostSpec { program, limits, confinement: None, stdio };
    Ok(Ready { order: Order::RunOnHost(Box::new(spec)), fds, ends })
}

pub(crate) fn program(
    argv: &[OsString],
    file: Option<PathBuf>,
    env: &[(OsString, OsString)],
) -> Result<Program, SandboxError> {
    check(argv.iter().map(OsString::as_os_str))?;
    check(env.iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]))?;
    if argv.first().is_none_or(|program| program.is_empty()) {
        return Err(SandboxError::Invalid("there is no command to run".to_owned()));
    }
    let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_bytes());
    Ok(Program {
        file: file.map(|file| inside(&file)).transpose()?,
        path: path.unwrap_or(USUAL_PATH).to_vec(),
        argv: argv.iter().map(|text| text.as_bytes().to_vec()).collect(),
        env: env.iter().map(|(name, value)| variable(name, value)).collect::<Result<_, _>>()?,
    })
}

/// The limits as the launcher applies them. `ours` are processes of our own that count as well.
pub(crate) fn ceiling(limits: &Limits, keeper: LimitKeeper, ours: u64) -> Ceiling {
    let watched = keeper == LimitKeeper::Watching;
    Ceiling {
        open_files: limits.open_files.into(),
        file_bytes: limits.file_bytes,
        written_bytes: limits.written_bytes,
        shared_bytes: limits.memory_bytes / 2,
        memory: watched.then_some(limits.memory_bytes),
        processes: watched.then_some(u64::from(limits.processes) + ours),
    }
}

pub(crate) fn console(
    stdio: Stdio,
    fds: &mut Vec<OwnedFd>,
) -> Result<(Console, Ends), SandboxError> {
    let (theirs, ends) = match stdio {
        Stdio::Pty { rows, cols } => return Ok((Console::Pty { rows, cols }, Ends::default())),
        Stdio::Given { stdin, stdout, stderr } => ([stdin, stdout, stderr], Ends::default()),
        Stdio::Piped => Ends::pipes().map_err(SandboxError::Launcher)?,
    };
    let first = fds.len();
    fds.extend(theirs);
    Ok((Console::Given([first, first + 1, first + 2]), ends))
}

/// A path inside: absolute, and without parts that depend on what is there.
pub(crate) fn inside(path: &Path) -> Result<Vec<u8>, SandboxError> {
    check([path.as_os_str()])?;
    let plain =
        path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if path.is_absolute() && plain {
        // Without a slash at the end or two in the middle.
        return Ok(bytes(&path.components().collect::<PathBuf>()));
    }
    Err(SandboxError::Invalid(format!("`{}` is not an absolute path without `..`", path.display())))
}

fn variable(name: &OsStr, value: &OsStr) -> Result<Vec<u8>, SandboxError> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        let message = format!("`{}` cannot name a variable", name.display());
        return Err(SandboxError::Invalid(message));
    }
    Ok([name.as_bytes(), b"=", value.as_bytes()].concat())
}

fn check<'a>(texts: impl IntoIterator<Item = &'a OsStr>) -> Result<(), SandboxError> {
    for text in texts {
        if text.as_bytes().contains(&0) {
            return Err(SandboxError::Invalid(format!("`{}` holds a NUL", text.display())));
        }
    }
    Ok(())
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}
