//! What a machine offers, tried out and explained.

use std::{fs, io, path::Path, thread, time::Duration};

use crate::{
    Feature, Found, IsolationMode, IsolationWalls, Level, LimitKeeper, Report, SandboxError,
    confined::{self, LEAST_ABI},
    id_map::IdMaps,
    parked::{Kind, Parked},
    pool::Pool,
    scope,
    source::try_mapping,
    sys,
    wire::{Answer, Order, Tried},
};

/// What is looked for: a name, what it is for, and how to get it.
pub(crate) const FEATURES: &[(&str, &str, &str)] = &[
    (
        "user namespaces",
        "a command has no rights outside of its own",
        "as root: sysctl -w user.max_user_namespaces=15000; on Debian also \
         kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("mount namespaces", "a command sees only the folders it is given", NAMESPACE),
    (
        "process namespaces",
        "a command sees only its own processes, and all of them end with it",
        NAMESPACE,
    ),
    ("network namespaces", "a command reaches nothing by default", NAMESPACE),
    ("ipc namespaces", "a command shares no memory with others", NAMESPACE),
    ("uts namespaces", "a command does not learn what the machine is called", NAMESPACE),
    ("cgroup namespaces", "a command does not learn how it is limited", NAMESPACE),
    (
        "pivot_root",
        "the host's folders are gone, not only hidden",
        "a container must allow mounts: start it with --security-opt seccomp=unconfined and apparmor=unconfined",
    ),
    (
        "own /proc",
        "a command sees only its own processes",
        "a container must not hide parts of /proc: start it with --security-opt systempaths=unconfined",
    ),
    (
        "overlayfs",
        "what a command changes can be looked at before it is kept",
        "use Linux 5.11 or newer, and load the module: modprobe overlay",
    ),
    (
        "id-mapped mounts",
        "started as root, a command can work on root's files without being root",
        "use Linux 5.19 or newer, and a file system such as ext4, xfs or btrfs",
    ),
    (
        "Landlock",
        "a second wall around files",
        "use Linux 5.13 or newer, started with lsm=landlock,… on its command line",
    ),
    (
        "seccomp",
        "the kernel's dangerous calls are refused",
        "use a kernel built with CONFIG_SECCOMP_FILTER",
    ),
    ("pidfd", "no wrong process is ever killed", "use Linux 5.3 or newer"),
    ("close_range", "no descriptor leaks into a command", "use Linux 5.9 or newer"),
    (
        PROCESS_LIMITS,
        "processes of one command are limited without a cgroup",
        "use Linux 5.14 or newer, or make a cgroup writable",
    ),
];

const PROCESS_LIMITS: &str = "process limits";

/// Without namespaces these hold a command, and all of them are needed.
const WITHOUT_NAMESPACES: &[&str] = &["Landlock", "seccomp", "pidfd", "close_range"];

const NAMESPACE: &str = "use a kernel built with namespaces, and see user namespaces";

const CGROUPS: (&str, &str, &str) =
    ("cgroups", "memory and processes of a whole tree are counted by the kernel", SCOPE_COMMAND);

const SCOPE_COMMAND: &str = "systemd-run --user --scope -p Delegate=yes toolgate …";

/// Tries everything out. Blocks for some milliseconds.
pub(crate) fn report(pool: &Pool, maps: Option<&IdMaps>) -> Result<Report, SandboxError> {
    let limits = pool.keeper_of_limits();
    let mut tried = probe(pool)?;
    tried.push(id_mapped(maps));
    if limits == LimitKeeper::Cgroup {
        let note = "a cgroup limits them".to_owned();
        tried.retain(|tried| tried.name != PROCESS_LIMITS);
        tried.push(Tried { name: PROCESS_LIMITS.to_owned(), errno: Some(0), note });
    }
    let mut features: Vec<_> = FEATURES.iter().map(|known| feature(*known, &tried)).collect();
    let works = |feature: &Feature| !matches!(feature.found, Found::No { .. });
    let needed = |feature: &Feature| WITHOUT_NAMESPACES.contains(&feature.name.as_str());
    let abi = sys::landlock_abi().unwrap_or(0);
    let (walls, level) = if features.iter().all(works) {
        (Some(IsolationWalls::Namespaces), Level::Full)
    } else if abi >= LEAST_ABI && features.iter().filter(|it| needed(it)).all(works) {
        (Some(IsolationWalls::Landlock), Level::Reduced)
    } else {
        (None, Level::None)
    };
    let mode = walls.map(|walls| IsolationMode { walls, limits });
    features.push(cgroups(pool));
    Ok(Report { level, mode, lacks: lacks(mode, abi), fix: fix(mode), features })
}

/// What commands lack of namespaces and a cgroup.
fn lacks(mode: Option<IsolationMode>, abi: u32) -> Vec<String> {
    let Some(IsolationMode { walls, limits }) = mode else { return Vec::new() };
    let mut lacks = match walls {
        IsolationWalls::Namespaces => Vec::new(),
        IsolationWalls::Landlock => confined::lacks(abi),
    };
    if limits == LimitKeeper::Watching {
        let watched = "a cgroup: memory is watched, and may exceed its limit for a moment; memfd and \
                       System V shared memory are refused";
        lacks.push(watched.to_owned());
    }
    lacks
}

/// The one command that gives better isolation.
fn fix(mode: Option<IsolationMode>) -> Option<String> {
    match mode {
        Some(IsolationMode { walls: IsolationWalls::Namespaces, limits }) => {
            let helps = limits == LimitKeeper::Watching && scope::has_user_manager();
            helps.then(|| SCOPE_COMMAND.to_owned())
        }
        Some(IsolationMode { walls: IsolationWalls::Landlock, .. }) | None => namespaces_fix(),
    }
}

/// What lets a user make namespaces, by what forbids it.
fn namespaces_fix() -> Option<String> {
    let is = |file: &str, value: &str| {
        fs::read_to_string(Path::new("/proc/sys").join(file)).is_ok_and(|now| now.trim() == value)
    };
    for (file, forbids, allows) in [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
        ("kernel/unprivileged_userns_clone", "0", "1"),
        ("user/max_user_namespaces", "0", "15000"),
    ] {
        if is(file, forbids) {
            return Some(format!("sudo sysctl -w {}={allows}", file.replace('/', ".")));
        }
    }
    let in_container =
        ["/.dockerenv", "/run/.containerenv"].iter().any(|it| Path::new(it).exists());
    in_container.then(|| {
        "start the container with --security-opt seccomp=unconfined --security-opt \
         apparmor=unconfined --security-opt systempaths=unconfined"
            .to_owned()
    })
}

fn probe(pool: &Pool) -> Result<Vec<Tried>, SandboxError> {
    let parked = Parked::spawn(None, Kind::Networked).map_err(SandboxError::Launcher)?;
    let asked = parked.order(&Order::Probe(pool.identity), &[]);
    let answer = asked.and_then(|()| parked.answer_blocking());
    let mut leaving = parked.let_go();
    while !leaving.is_gone() {
        thread::sleep(Duration::from_micros(500));
    }
    match answer.map_err(SandboxError::Launcher)? {
        Some((Answer::Probed(tried), _)) => Ok(tried),
        _ => Err(SandboxError::LauncherDied),
    }
}

/// Only root needs them.
fn id_mapped(maps: Option<&IdMaps>) -> Tried {
    let (errno, note) = match maps.map(try_mapping) {
        None => (Some(0), "commands run as the user who asks"),
        Some(Ok(note)) => (None, note),
        Some(Err(error)) => (Some(error.raw_os_error().unwrap_or(libc::EIO)), ""),
    };
    Tried { name: "id-mapped mounts".to_owned(), errno, note: note.to_owned() }
}

fn feature((name, purpose, fix): (&str, &str, &str), tried: &[Tried]) -> Feature {
    let found = match tried.iter().find(|tried| tried.name == name) {
        Some(Tried { errno: None, note, .. }) => Found::Yes(note.clone()),
        Some(Tried { errno: Some(0), note, .. }) => Found::NotNeeded(note.clone()),
        Some(Tried { errno: Some(errno), .. }) => Found::No {
            reason: io::Error::from_raw_os_error(*errno).to_string(),
            fix: fix.to_owned(),
        },
        None => Found::No { reason: "it was not tried".to_owned(), fix: fix.to_owned() },
    };
    Feature { name: name.to_owned(), purpose: purpose.to_owned(), found }
}

fn cgroups(pool: &Pool) -> Feature {
    let (name, purpose, fix) = CGROUPS;
    let found = match pool.bases() {
        Ok(bases) => Found::Yes(bases.describe()),
        Err(reason) => Found::No { reason: reason.clone(), fix: fix.to_owned() },
    };
    Feature { name: name.to_owned(), purpose: purpose.to_owned(), found }
}
