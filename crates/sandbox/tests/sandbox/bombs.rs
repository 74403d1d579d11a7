//! Commands that take all the memory or all the processes they can get, and those that only look so.
//!
//! They run in every mode: as root with cgroups, as an ordinary user with and without, and behind
//! Landlock alone. Where nobody counts memory it is watched, and may be exceeded for a moment.

use std::time::Duration;

use libtest_mimic::Trial;
use sandbox::{EndedBy, IsolationWalls, Job, LimitKeeper, Limits};

use crate::helper::{Ran, finish, inside, is_counted, run, start, the_mode, trial};

const MIB: u64 = 1 << 20;
const LIMIT_MIB: u64 = 512;
/// How far beyond its limit a command may get before it is ended, where memory is watched.
const OVERSHOOT_MIB: u64 = 256;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = MEMORY
        .iter()
        .map(|kind| trial(&format!("bomb: {kind}"), move || memory_bomb(kind)))
        .collect();
    trials.extend([
        trial("bomb: processes", || processes_bomb("processes")),
        trial("bomb: threads", || processes_bomb("threads")),
        trial("bomb: a fork bomb", a_fork_bomb),
        trial("bomb: processes that end at once", processes_that_end_at_once),
        trial("no bomb: memory that forks share", memory_that_forks_share),
        trial("no bomb: address space", address_space),
    ]);
    trials
}

const MEMORY: &[&str] = &[
    "one process",
    "many processes",
    "copied pages",
    "memfd",
    "system v",
    "hidden shared mappings",
    "a folder in memory",
    "page tables",
];

fn limited(job: Job) -> Job {
    let limits = Limits { memory_bytes: LIMIT_MIB * MIB, processes: 64, ..Limits::default() };
    Job { limits, ..job }
}

/// Every bomb says `+` for each MiB it got, and would take eight times what it may.
async fn memory_bomb(kind: &str) {
    let most = (LIMIT_MIB * 8).to_string();
    let ran = run(limited(inside(&["fill", "bomb", kind, &most]))).await;
    let got = ran.stdout.matches('+').count() as u64;
    let Ran { exit, stderr, .. } = &ran;
    println!("{kind}: {got} of {LIMIT_MIB} MiB, {:?} after {:?}", exit.ended_by, exit.wall);
    // With a cgroup the kernel ends one process after the other, and the rest goes on.
    assert!(
        is_counted() || got <= LIMIT_MIB + OVERSHOOT_MIB,
        "{kind}: {got} MiB, {exit:?} {stderr}"
    );
    // Refused is as good as ended; the kernel may end a process of it and not the first one.
    let ended = exit.ended_by == EndedBy::Memory || exit.memory_kills > 0 || exit.code == Some(3);
    assert!(ended, "{kind}: {got} MiB, {exit:?} {stderr}");
}

async fn processes_bomb(kind: &str) {
    let ran = run(limited(inside(&["fill", kind]))).await;
    let mode = the_mode();
    if mode.walls == IsolationWalls::Landlock && mode.limits == LimitKeeper::Watching {
        // The kernel counts the user's others too, and root's not at all.
        let ended = matches!(ran.exit.ended_by, EndedBy::Processes | EndedBy::Itself);
        assert!(ended, "{kind}: {ran:?}");
        return;
    }
    let count: u64 = ran.stdout.trim().parse().unwrap_or_else(|_| panic!("{ran:?}"));
    // Two processes of the sandbox's own are not always in the cgroup.
    assert!((1..=66).contains(&count), "{kind}: {count}");
}

async fn a_fork_bomb() {
    let mut job = limited(inside(&[]));
    let bomb = "bomb() { bomb | bomb & }; bomb; sleep 60";
    job.argv = ["/bin/sh", "-c", bomb].map(Into::into).to_vec();
    let mut process = start(job).await.unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    process.kill().unwrap();
    let exit = process.wait().await.unwrap();
    // It may have given up, or have been ended, before it was killed.
    let ended = [EndedBy::Killed, EndedBy::Itself, EndedBy::Memory, EndedBy::Processes];
    assert!(ended.contains(&exit.ended_by), "{exit:?}");
}

/// Each lives too short to be seen, but what all have at one moment is seen.
async fn processes_that_end_at_once() {
    let ran = run(limited(inside(&["fill", "bomb", "churn", "1500"]))).await;
    assert_eq!((ran.exit.code, ran.exit.ended_by), (Some(0), EndedBy::Itself), "{ran:?}");
}

/// Eight processes show all of it as theirs, and it is there once.
async fn memory_that_forks_share() {
    let mut process = start(limited(inside(&["fill", "bomb", "forks", "300"]))).await.unwrap();
    let ran = finish(&mut process).await;
    assert_eq!((ran.exit.code, ran.exit.ended_by), (Some(0), EndedBy::Itself), "{ran:?}");
}

/// A terabyte is reserved by engines that use little of it.
async fn address_space() {
    let ran = run(limited(inside(&["fill", "bomb", "reserve", "1048576"]))).await;
    assert_eq!((ran.exit.code, ran.exit.ended_by), (Some(0), EndedBy::Itself), "{ran:?}");
}
