//! What the kernel does not count for us: bytes written, and memory where there is no cgroup.

use std::{
    fs,
    os::fd::{AsRawFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstatvfs, openat, statat};

use super::{
    memory::{MemoryWatch, count_tasks},
    room::Writable,
};
use crate::{
    sys,
    wire::{Ceiling, Over},
};

// Short at first, because a program that fills the disk does so at once.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(200);

/// Looks at the tree from time to time.
pub(super) struct Watch {
    /// Whom to look at.
    who: Box<dyn Fn() -> Vec<i32>>,
    pause: Duration,
    most_written: u64,
    memory: Option<MemoryWatch>,
    most_tasks: Option<u64>,
    /// When the disks and the processes are looked at next.
    next: Instant,
    written: Written,
    disks: Vec<Disk>,
}

/// A writable folder on a disk.
#[derive(Debug)]
struct Disk {
    root: OwnedFd,
    free_at_start: u64,
    /// How much less must be free before the folder itself is measured.
    measure_at: u64,
    /// What changed before was not this command.
    since: i64,
}

impl Watch {
    pub(super) fn new(
        ceiling: &Ceiling,
        writable: Vec<Writable>,
        who: Box<dyn Fn() -> Vec<i32>>,
    ) -> Self {
        let most_written = ceiling.written_bytes;
        let (mut disks, mut folders) = (Vec::new(), Vec::new());
        for place in writable {
            match place.disk {
                Some(disk) => disks.extend(Disk::new(disk, most_written)),
                None => folders.push(place.root),
            }
        }
        let memory = ceiling.memory.map(|most| MemoryWatch::new(most, folders));
        Self {
            who,
            pause: FIRST,
            most_written,
            memory,
            // A few more may be there for a moment while the kernel refuses others.
            most_tasks: ceiling.processes.map(|most| most.saturating_add(most / 4 + 8)),
            next: Instant::now() + FIRST,
            written: Written::new(),
            disks,
        }
    }

    /// The descriptors it needs.
    pub(super) fn kept(&self) -> Vec<i32> {
        let folders = self.memory.iter().flat_map(MemoryWatch::kept);
        self.disks.iter().map(|disk| disk.root.as_raw_fd()).chain(folders).collect()
    }

    /// How long until the next look.
    pub(super) fn pause(&self) -> Duration {
        let pause = self.next.saturating_duration_since(Instant::now());
        self.memory.as_ref().map_or(pause, |memory| memory.pause().min(pause))
    }

    /// Says which limit was exceeded, if one was.
    pub(super) fn look(&mut self) -> Option<Over> {
        if self.memory.as_mut().is_some_and(|memory| memory.is_over(&self.who)) {
            return Some(Over::Memory);
        }
        let start = Instant::now();
        if start < self.next {
            return None;
        }
        let over = self.look_now();
        // Looking is to take little of the time, however many processes there are.
        self.pause = (self.pause * 2).min(LONGEST).max(start.elapsed() * 20);
        self.next = Instant::now() + self.pause;
        over
    }

    fn look_now(&mut self) -> Option<Over> {
        let processes = (self.who)();
        if self.most_tasks.is_some_and(|most| count_tasks(&processes) > most) {
            return Some(Over::Processes);
        }
        let most = self.most_written;
        let living = processes.iter().map(|pid| written(*pid)).sum();
        // Processes that live shorter than a pause are not seen, but what they leave is.
        let written = self.written.count(living) > most;
        (written || self.disks.iter_mut().any(|disk| disk.holds_more_than(most)))
            .then_some(Over::Written)
    }
}

/// Bytes written, each counted once.
///
/// The kernel adds what a process has written to its parent when that waits for it; so what all
/// living processes and our own children that are gone have written is all there is. What nobody
/// waits for is lost there, and counted when it is missed twice in a row: between two looks at
/// processes, one may have moved from a child to its parent.
#[derive(Debug)]
struct Written {
    /// What our children had written before this command.
    before: u64,
    /// The most that was seen since something was last found to be lost.
    most: u64,
    lost: u64,
    was_missed: bool,
}

impl Written {
    fn new() -> Self {
        Self { before: sys::written_by_children(), most: 0, lost: 0, was_missed: false }
    }

    /// All that was written, if living processes have written `living`.
    fn count(&mut self, living: u64) -> u64 {
        self.add(living + sys::written_by_children().saturating_sub(self.before))
    }

    fn add(&mut self, now: u64) -> u64 {
        let missed = self.most.saturating_sub(now);
        if missed > 0 && self.was_missed {
            self.lost += missed;
            self.most = now;
        }
        self.was_missed = missed > 0 && !self.was_missed;
        self.most = self.most.max(now);
        self.most + self.lost
    }
}

impl Disk {
    fn new(root: OwnedFd, most: u64) -> Option<Self> {
        let free_at_start = free(&root)?;
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        Some(Self { root, free_at_start, measure_at: most, since: now.tv_sec })
    }

    /// Others use the disk too, so the folder is measured before anybody is blamed; and because that
    /// takes long, only when the disk has lost as much as would be too much.
    fn holds_more_than(&mut self, most: u64) -> bool {
        let Some(free) = free(&self.root) else { return false };
        let lost = self.free_at_start.saturating_sub(free);
        if lost <= self.measure_at {
            return false;
        }
        self.measure_at = lost.saturating_add(most / 4);
        let mut left = most;
        !measure(&self.root, self.since, &mut left, 0)
    }
}

fn free(folder: &OwnedFd) -> Option<u64> {
    let stat = fstatvfs(folder).ok()?;
    Some(stat.f_bfree.saturating_mul(stat.f_frsize))
}

/// Takes from `left` what files changed since then hold; says whether it was enough.
fn measure(folder: &OwnedFd, since: i64, left: &mut u64, depth: usize) -> bool {
    const DEEPEST: usize = 128;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(open) = openat(folder, ".", flags, Mode::empty()) else { return true };
    let Ok(entries) = Dir::read_from(&open) else { return true };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let Ok(stat) = statat(&open, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind == FileType::Directory {
            if depth >= DEEPEST {
                // Nobody nests folders so deep but to hide what is in them.
                return false;
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let beneath = openat(&open, name, flags, Mode::empty());
            if beneath.is_ok_and(|folder| !measure(&folder, since, left, depth + 1)) {
                return false;
            }
        } else if stat.st_ctime >= since {
            match left.checked_sub(blocks) {
                Some(rest) => *left = rest,
                None => return false,
            }
        }
    }
    true
}

fn written(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_counted_once() {
        let new = || Written { before: 0, most: 0, lost: 0, was_missed: false };
        // A child's bytes move to its parent, and are missed for one look.
        let mut moved = new();
        assert_eq!([0, 100, 0, 100, 150].map(|now| moved.add(now)), [0, 100, 100, 100, 150]);
        // Nobody waits for the child, so its bytes stay lost.
        let mut lost = new();
        assert_eq!([100, 0, 0, 0, 50].map(|now| lost.add(now)), [100, 100, 100, 100, 150]);
    }
}
