//! A kernel in which one thing is missing: the call is refused, never run weaker than it must be.
//! Without namespaces, one that may run in a reduced sandbox does.
#![expect(unsafe_code, reason = "what is missing is taken away by a filter")]

use std::{fs, path::Path, process::exit};

use libc::{c_long, sock_filter, sock_fprog};
use libtest_mimic::Trial;
use sandbox::{Changes, HostJob, Job, Level, Sandbox, SandboxSettings};

use crate::{
    helper::{Folder, block_on, shell, trial},
    hosts::host,
};

/// A name, the call, and the argument that makes it the one that fails: which, and a bit or value.
type Row = (&'static str, c_long, Option<Only>);

#[derive(Clone, Copy)]
enum Only {
    /// If one of these bits is set.
    Bits(u32, u32),
    /// If it is this.
    Is(u32, u32),
}

const NS: fn(i32) -> Option<Only> = |flag| Some(Only::Bits(0, flag.cast_unsigned()));

fn rows() -> Vec<Row> {
    vec![
        ("user namespace", libc::SYS_unshare, NS(libc::CLONE_NEWUSER)),
        ("mount namespace", libc::SYS_unshare, NS(libc::CLONE_NEWNS)),
        ("network namespace", libc::SYS_unshare, NS(libc::CLONE_NEWNET)),
        ("ipc namespace", libc::SYS_unshare, NS(libc::CLONE_NEWIPC)),
        ("uts namespace", libc::SYS_unshare, NS(libc::CLONE_NEWUTS)),
        ("cgroup namespace", libc::SYS_unshare, NS(libc::CLONE_NEWCGROUP)),
        ("process namespace", libc::SYS_clone, NS(libc::CLONE_NEWPID)),
        ("mounts of a command", libc::SYS_clone, NS(libc::CLONE_NEWNS)),
        ("mount", libc::SYS_mount, None),
        ("umount2", libc::SYS_umount2, None),
        ("pivot_root", libc::SYS_pivot_root, None),
        ("open_tree", libc::SYS_open_tree, None),
        ("move_mount", libc::SYS_move_mount, None),
        ("mount_setattr", libc::SYS_mount_setattr, None),
        ("fsopen", libc::SYS_fsopen, None),
        ("fsmount", libc::SYS_fsmount, None),
        ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset, None),
        ("landlock_add_rule", libc::SYS_landlock_add_rule, None),
        ("landlock_restrict_self", libc::SYS_landlock_restrict_self, None),
        ("seccomp", libc::SYS_seccomp, None),
        (
            "no_new_privs",
            libc::SYS_prctl,
            Some(Only::Is(0, libc::PR_SET_NO_NEW_PRIVS.cast_unsigned())),
        ),
        ("bounding set", libc::SYS_prctl, Some(Only::Is(0, libc::PR_CAPBSET_DROP.cast_unsigned()))),
        (
            "secure bits",
            libc::SYS_prctl,
            Some(Only::Is(0, libc::PR_SET_SECUREBITS.cast_unsigned())),
        ),
        ("dumpable", libc::SYS_prctl, Some(Only::Is(0, libc::PR_SET_DUMPABLE.cast_unsigned()))),
        (
            "parent death",
            libc::SYS_prctl,
            Some(Only::Is(0, libc::PR_SET_PDEATHSIG.cast_unsigned())),
        ),
        ("capset", libc::SYS_capset, None),
        ("setsid", libc::SYS_setsid, None),
        ("sethostname", libc::SYS_sethostname, None),
        ("close_range", libc::SYS_close_range, None),
        ("pidfd_open", libc::SYS_pidfd_open, None),
        ("prlimit", libc::SYS_prlimit64, None),
        ("loopback", libc::SYS_ioctl, Some(Only::Is(1, 0x8914))),
    ]
}

/// What a command on the host cannot do without.
const HOST_NEEDS: &[&str] = &["parent death", "setsid", "close_range", "pidfd_open", "prlimit"];

/// What is not needed behind Landlock and seccomp alone, because nothing is mounted there.
const REDUCED_LIVES_WITHOUT: &[&str] = &[
    "user namespace",
    "mount namespace",
    "network namespace",
    "ipc namespace",
    "uts namespace",
    "cgroup namespace",
    "process namespace",
    "mount",
    "pivot_root",
];

/// Without these there is nothing to hold a command with.
const REDUCED_NEEDS: &[&str] = &[
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
    "seccomp",
    "no_new_privs",
    "parent death",
    "setsid",
    "close_range",
    "pidfd_open",
    "prlimit",
];

/// Only needed to leave root.
fn rows_of_root() -> Vec<Row> {
    vec![
        ("setresuid", libc::SYS_setresuid, None),
        ("setresgid", libc::SYS_setresgid, None),
        ("setgroups", libc::SYS_setgroups, None),
    ]
}

/// Only needed by who finds folders again by their path.
fn rows_of_users() -> Vec<Row> {
    vec![("setns", libc::SYS_setns, None)]
}

pub(crate) fn trials() -> Vec<Trial> {
    // SAFETY: it cannot fail and takes nothing.
    let root = unsafe { libc::geteuid() } == 0;
    let extra = if root { rows_of_root() } else { rows_of_users() };
    let one = |(name, _, _): Row| {
        trial(&format!("refused without: {name}"), move || async move { refused(name) })
    };
    let mut trials: Vec<_> = rows().into_iter().chain(extra).map(one).collect();
    trials.extend(HOST_NEEDS.iter().map(|name| {
        trial(&format!("host_refused_without: {name}"), move || async move {
            let (outcome, ran) = outcome(name, "on host");
            assert!(!ran && outcome.starts_with("refused: "), "{outcome}");
        })
    }));
    trials.push(trial("host_needs_nothing_else", || async {
        let others = rows().into_iter().filter(|(name, _, _)| !HOST_NEEDS.contains(name));
        for (name, _, _) in others {
            assert_eq!(outcome(name, "on host"), ("ran".to_owned(), true), "{name}");
        }
    }));
    trials.extend(REDUCED_LIVES_WITHOUT.iter().map(|name| {
        trial(&format!("reduced_without: {name}"), move || async move {
            assert_eq!(outcome(name, "reduced"), ("ran".to_owned(), true));
        })
    }));
    trials.extend(REDUCED_NEEDS.iter().map(|name| {
        trial(&format!("reduced_refused_without: {name}"), move || async move {
            let (outcome, ran) = outcome(name, "reduced");
            assert!(!ran && outcome.starts_with("refused: "), "{outcome}");
        })
    }));
    trials.push(trial("not_refused_when_nothing_is_missing", || async {
        assert_eq!(outcome("nothing", "inside"), ("ran".to_owned(), true));
    }));
    trials
}

fn refused(name: &str) {
    let (outcome, ran) = outcome(name, "inside");
    assert!(!ran, "it ran without {name}");
    assert!(outcome.starts_with("refused: "), "{name}: {outcome}");
}

/// What a process says that lives without this, and whether its command left a mark.
fn outcome(name: &str, place: &str) -> (String, bool) {
    let folder = Folder::new();
    let own = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(own);
    let output = command.args(["masked", name, place]).arg(&folder.workspace).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    (text, folder.workspace.join("mark").exists())
}

/// Takes something away from this process and its children, then runs a command.
pub(crate) fn run(args: &[String]) -> ! {
    let all = rows().into_iter().chain(rows_of_root()).chain(rows_of_users());
    if let Some((_, call, only)) = all.into_iter().find(|(name, _, _)| *name == args[0]) {
        take_away(call, only);
    } else {
        assert_eq!(args[0], "nothing");
    }
    let workspace = Path::new(&args[2]).to_owned();
    let said = block_on(async {
        let sandbox = Sandbox::new(SandboxSettings::default());
        let source = sandbox::Source::Path(workspace.clone());
        let target = workspace.clone();
        let started = if args[1] == "on host" {
            let cwd = fs::File::open(&workspace).unwrap().into();
            sandbox.start_on_host(HostJob { cwd, ..host("echo x > mark") }).await
        } else {
            let job = Job {
                workspace: Some(sandbox::Workspace { source, target, mode: Changes::Direct }),
                cwd: workspace,
                minimum: if args[1] == "reduced" { Level::Reduced } else { Level::Full },
                ..shell("echo x > mark")
            };
            sandbox.start(job).await
        };
        let said = match started {
            Err(error) => format!("refused: {error}"),
            Ok(mut process) => match process.wait().await {
                Ok(exit) if exit.code == Some(0) => "ran".to_owned(),
                other => format!("{other:?}"),
            },
        };
        sandbox.shutdown().await;
        said
    });
    println!("{said}");
    exit(0)
}

/// From here on no user namespace can be made, as where a machine forbids it.
pub(crate) fn forbid_namespaces() {
    take_away(libc::SYS_unshare, NS(libc::CLONE_NEWUSER));
}

/// From here on this call fails with "not implemented".
fn take_away(call: c_long, only: Option<Only>) {
    let op = |code, k, jt, jf| sock_filter { code, jt, jf, k };
    let arg = |index: u32| op(0x20, 16 + 8 * index, 0, 0);
    let fail = op(0x06, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned(), 0, 0);
    let allow = op(0x06, libc::SECCOMP_RET_ALLOW, 0, 0);
    let mut program = vec![op(0x20, 0, 0, 0), op(0x15, u32::try_from(call).unwrap(), 1, 0), allow];
    match only {
        None => {}
        Some(Only::Bits(index, bits)) => program.extend([arg(index), op(0x45, bits, 1, 0), allow]),
        Some(Only::Is(index, value)) => program.extend([arg(index), op(0x15, value, 1, 0), allow]),
    }
    program.push(fail);
    let length = u16::try_from(program.len()).unwrap();
    let program = sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the program has as many instructions as it says, and outlives the calls.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
            0
        );
    }
    drop(fs::metadata("/"));
}
