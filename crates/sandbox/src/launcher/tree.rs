//! All that a command has started, where no process namespace holds it together.
//!
//! Who loses its parent becomes our child, so as long as anybody is left we have a child; when we have
//! none, nobody is left.

use std::{
    collections::BTreeSet,
    ffi::CStr,
    fs,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    time::Duration,
};

use rustix::{
    fs::{CWD, Dir, Mode, OFlags, openat},
    process::{Pid, PidfdFlags, Signal, geteuid, getpid, pidfd_open, pidfd_send_signal},
};

use crate::sys::{self, Reaped, Which};

// Who forks all the time is caught in a few; after that, killing some helps too.
const MOST_PASSES: usize = 50;
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// What those have used who have ended.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub(super) cpu: Duration,
    pub(super) max_rss_bytes: u64,
}

/// Whether anybody is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Some,
    Nobody,
}

impl Used {
    /// Takes everybody who has ended; says how `command` did, if it is among them.
    pub(super) fn take_ended(&mut self, command: i32) -> Option<i32> {
        let mut status = None;
        while let Ok(Some(reaped)) = sys::reap(Which::AnyEnded) {
            self.add(&reaped);
            if reaped.pid == command {
                status = Some(reaped.status);
            }
        }
        status
    }

    /// Kills everybody; returns when nobody is left.
    pub(super) fn end_all(&mut self) {
        let mut pause = FIRST_PAUSE;
        while self.take_all_ended() == Left::Some {
            kill(&stop());
            sys::wait_child_signal(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn take_all_ended(&mut self) -> Left {
        loop {
            match sys::reap(Which::AnyEnded) {
                Ok(Some(reaped)) => self.add(&reaped),
                Ok(None) => return Left::Some,
                // We have no children.
                Err(_) => return Left::Nobody,
            }
        }
    }

    fn add(&mut self, reaped: &Reaped) {
        self.cpu += reaped.cpu;
        self.max_rss_bytes = self.max_rss_bytes.max(reaped.max_rss_bytes);
    }
}

/// Every process there is, in the order of their numbers; new ones, too, while it is used.
pub(super) fn everybody() -> impl Iterator<Item = i32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = openat(CWD, "/proc", flags, Mode::empty()).and_then(Dir::new);
    let number = |name: &CStr| name.to_str().ok()?.parse().ok();
    proc.into_iter().flatten().filter_map(move |entry| number(entry.ok()?.file_name()))
}

/// Everybody who descends from us.
pub(super) fn descendants() -> Vec<i32> {
    let own = own();
    let mut found = BTreeSet::from([own]);
    for pid in everybody() {
        if parent(pid).is_some_and(|parent| found.contains(&parent)) {
            found.insert(pid);
        }
    }
    found.remove(&own);
    found.into_iter().collect()
}

/// Everybody in a cgroup, by one of its files.
pub(super) fn members(door: &OwnedFd) -> Vec<i32> {
    // Opened again: what was read once by a descriptor may be what it gives again.
    let list = fs::read_to_string(format!("/proc/self/fd/{}", door.as_raw_fd()));
    list.unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect()
}

/// How many processes and threads the user has that we are.
pub(super) fn tasks_of_user() -> u64 {
    let own = geteuid().as_raw();
    let is_own = |pid: &i32| fs::metadata(format!("/proc/{pid}")).is_ok_and(|at| at.uid() == own);
    let threads = |pid| stat(pid)?.split(' ').nth(17)?.parse::<u64>().ok();
    everybody().filter(is_own).filter_map(threads).sum()
}

/// Stops everybody who descends from us, so that nobody starts anybody any more. Gives those, and us.
fn stop() -> BTreeSet<i32> {
    let mut stopped = BTreeSet::from([own()]);
    for _ in 0..MOST_PASSES {
        let before = stopped.len();
        for pid in everybody() {
            // At once: by the end of the list others would have started more.
            if !stopped.contains(&pid) && signal(pid, &stopped, Signal::STOP) {
                stopped.insert(pid);
            }
        }
        if stopped.len() == before {
            break;
        }
    }
    stopped
}

fn kill(tree: &BTreeSet<i32>) {
    let own = own();
    for pid in tree.iter().filter(|pid| **pid != own) {
        signal(*pid, tree, Signal::KILL);
    }
}

/// Sends a signal to a child of one of `parents`; says whether it was one.
fn signal(pid: i32, parents: &BTreeSet<i32>, signal: Signal) -> bool {
    let is_theirs = || parent(pid).is_some_and(|parent| parents.contains(&parent));
    let Some(number) = Pid::from_raw(pid).filter(|_| is_theirs()) else { return false };
    let Ok(process) = pidfd_open(number, PidfdFlags::empty()) else { return false };
    // The number may have become somebody else's before we held on to it.
    is_theirs() && pidfd_send_signal(&process, signal).is_ok()
}

fn parent(pid: i32) -> Option<i32> {
    stat(pid)?.split(' ').nth(1)?.parse().ok()
}

/// What the kernel tells about a process, from the third field on.
fn stat(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

fn own() -> i32 {
    getpid().as_raw_pid()
}
