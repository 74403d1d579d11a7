//! What a machine offers, tried out and explained.

use std::io;

use crate::{
    Feature, Found, Level, Report, SandboxError,
    id_map::IdMaps,
    parked::{Kind, Parked},
    pool::Pool,
    source::try_mapping,
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
];

const NAMESPACE: &str = "use a kernel built with namespaces, and see user namespaces";

const CGROUPS: (&str, &str, &str) = (
    "cgroups",
    "memory and processes of a whole tree are counted by the kernel",
    "run it as a user service or with: systemd-run --user --scope -p Delegate=yes; or set \
     tools.sandbox.minimum = \"reduced\"",
);

/// Tries everything out.
pub(crate) async fn report(pool: &Pool, maps: Option<&IdMaps>) -> Result<Report, SandboxError> {
    let parked = Parked::spawn(None, Kind::Networked).map_err(SandboxError::Launcher)?;
    let asked = parked.order(&Order::Probe(pool.identity), &[]);
    let answer = match asked {
        Ok(()) => parked.answer().await,
        Err(error) => Err(error),
    };
    pool.bury(parked);
    let Some((Answer::Probed(mut tried), _)) = answer.map_err(SandboxError::Launcher)? else {
        return Err(SandboxError::LauncherDied);
    };
    tried.push(id_mapped(maps));
    let mut features: Vec<_> = FEATURES.iter().map(|known| feature(*known, &tried)).collect();
    let complete = !features.iter().any(|feature| matches!(feature.found, Found::No { .. }));
    features.push(cgroups(pool));
    let level = if complete { pool.level() } else { Level::None };
    Ok(Report { level, features })
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
    let found = match &pool.bases {
        Ok(bases) => Found::Yes(bases.describe()),
        Err(reason) => Found::No { reason: reason.clone(), fix: fix.to_owned() },
    };
    Feature { name: name.to_owned(), purpose: purpose.to_owned(), found }
}
