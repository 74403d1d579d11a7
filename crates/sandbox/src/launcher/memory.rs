//! Counts the memory of a command where no cgroup does.
//!
//! Address space is no measure: a JavaScript engine reserves terabytes and uses little. Memory is
//! counted by what holds it: pages that processes have for themselves, page tables and swap from
//! `/proc/PID/status`; folders in memory from their file systems; shared mappings without a file from
//! `/proc/PID/maps`, because their pages stay when nobody has them mapped at the moment. Other memory
//! outside of processes (`memfd`, System V shared memory) is refused by the filter in this mode.

use std::{
    collections::BTreeMap,
    fs,
    os::fd::{AsRawFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::fs::fstatvfs;

/// More than one core can fill with zeroes in a second, in bytes. The next look comes before all
/// cores together could have filled what is left.
const FILL_PER_CORE: u64 = 4 << 30;
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
/// A look may take a quarter of one core's time.
const PAUSE_PER_LOOK: u32 = 3;
/// How often a count that is too high is repeated while processes are forked.
const MAX_COUNTS: usize = 3;
/// Growth of the machine's shared memory below this is not looked into.
const SHARED_SLACK: u64 = 16 << 20;

/// Looks at the memory of a tree of processes.
#[derive(Debug)]
pub(super) struct MemoryWatch {
    most: u64,
    /// Folders in memory that the command can write to.
    folders: Vec<OwnedFd>,
    cores: u64,
    /// The least shared memory the machine had since the command started.
    least_shared: u64,
    /// The most memory that was available since the command started.
    most_available: u64,
    /// The last exact count, and when the next one may be made.
    exact: Option<(u64, Instant)>,
    next: Instant,
}

/// What the machine has, in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Machine {
    total: u64,
    available: u64,
    shared: u64,
}

impl MemoryWatch {
    pub(super) fn new(most: u64, folders: Vec<OwnedFd>) -> Self {
        let Machine { available, shared, .. } = Machine::now();
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        Self {
            most,
            folders,
            cores,
            least_shared: shared,
            most_available: available,
            exact: None,
            next: Instant::now(),
        }
    }

    /// The descriptors it needs.
    pub(super) fn kept(&self) -> impl Iterator<Item = i32> {
        self.folders.iter().map(AsRawFd::as_raw_fd)
    }

    /// How long until the next look.
    pub(super) fn pause(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Whether these processes hold more than they may; false if it is too early for another look.
    pub(super) fn is_over(&mut self, processes: impl Fn() -> Vec<i32>) -> bool {
        let start = Instant::now();
        if start < self.next {
            return false;
        }
        let used = self.used(&processes);
        let left = self.most.saturating_sub(used);
        // Nanoseconds until all cores could have filled what is left.
        let pause = left.saturating_mul(1_000) / (self.cores * FILL_PER_CORE / 1_000_000);
        let pause = Duration::from_nanos(pause).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        self.next = Instant::now() + pause.max(start.elapsed() * PAUSE_PER_LOOK);
        used > self.most
    }

    fn used(&mut self, processes: &dyn Fn() -> Vec<i32>) -> u64 {
        let list = processes();
        let machine = Machine::now();
        self.least_shared = self.least_shared.min(machine.shared);
        self.most_available = self.most_available.max(machine.available);
        if self.starves(machine) {
            return u64::MAX;
        }
        let in_folders: u64 = self.folders.iter().map(in_folder).sum();
        let grown = machine.shared.saturating_sub(self.least_shared).saturating_sub(in_folders);
        let shared = if grown > SHARED_SLACK { grown.min(shared_mappings(&list)) } else { 0 };
        let around = in_folders + shared;
        let held: Vec<_> = list.iter().map(|pid| own_memory(*pid)).collect();
        let most = held.iter().sum::<u64>() + around;
        let least = held.iter().max().unwrap_or(&0) + around;
        // Pages of one process are all different. Between the two numbers, how much forks share
        // decides, and finding that out takes long.
        if most <= self.most || least > self.most {
            self.exact = None;
            return if most <= self.most { most } else { least };
        }
        match self.exact {
            Some((used, next)) if Instant::now() < next => used.max(least),
            _ => self.count_exactly(list, around, processes),
        }
    }

    fn count_exactly(
        &mut self,
        mut list: Vec<i32>,
        around: u64,
        processes: &dyn Fn() -> Vec<i32>,
    ) -> u64 {
        let start = Instant::now();
        let mut used = 0;
        for _ in 0..MAX_COUNTS {
            let held = |pid: &i32| proportional(*pid).unwrap_or_else(|| own_memory(*pid));
            used = list.iter().map(held).sum::<u64>() + around;
            // A process that was forked meanwhile shares pages that had counted in full before.
            let now = processes();
            if used <= self.most || now.iter().all(|pid| list.contains(pid)) {
                break;
            }
            list = now;
        }
        // Half of the time at most.
        self.exact = Some((used, Instant::now() + start.elapsed()));
        used
    }

    /// Whether the machine is about to run out of memory, and has lost most of it since the command
    /// started. This bounds what is not counted: buffers of pipes and sockets.
    fn starves(&self, machine: Machine) -> bool {
        let lost = self.most_available.saturating_sub(machine.available);
        machine.available < machine.total / 50 && lost > self.most / 2
    }
}

impl Machine {
    fn now() -> Self {
        let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            total: field(&text, "MemTotal:"),
            available: field(&text, "MemAvailable:"),
            shared: field(&text, "Shmem:"),
        }
    }
}

/// What a process has for itself, the tables for it and its swap, in bytes. Pages that it shares with
/// a fork count in full.
fn own_memory(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    ["RssAnon:", "VmPTE:", "VmSwap:"].iter().map(|name| field(&status, name)).sum()
}

/// The processes and threads of a tree.
pub(super) fn count_tasks(processes: &[i32]) -> u64 {
    let threads = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        field(&status, "Threads:") >> 10
    };
    processes.iter().map(threads).sum()
}

/// A number that stands after `name`, taken as kilobytes, in bytes.
fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let number = line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    number.unwrap_or(0) << 10
}

/// What a process holds if pages that several have count in parts; `None` if it cannot be read.
fn proportional(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    if !rollup.contains("Pss_Anon:") {
        return None;
    }
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    Some(field(&rollup, "Pss_Anon:") + field(&rollup, "SwapPss:") + field(&status, "VmPTE:"))
}

fn in_folder(folder: &OwnedFd) -> u64 {
    let Ok(stat) = fstatvfs(folder) else { return 0 };
    stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(stat.f_frsize)
}

/// The size of all shared mappings without a file, each part of one counted once.
fn shared_mappings(processes: &[i32]) -> u64 {
    let mut ranges: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for pid in processes {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        for (inode, from, to) in maps.lines().filter_map(shared_mapping) {
            ranges.entry(inode).or_default().push((from, to));
        }
    }
    ranges.into_values().map(covered).sum()
}

/// The inode and the range of a shared mapping without a file, from a line of `maps`.
fn shared_mapping(line: &str) -> Option<(u64, u64, u64)> {
    let mut words = line.split_ascii_whitespace();
    let (range, rights, offset) = (words.next()?, words.next()?, words.next()?);
    let (inode, path) = (words.nth(1)?, words.next()?);
    let nameless = path == "/dev/zero" || path.starts_with("[anon_shmem:");
    if !rights.ends_with('s') || !nameless {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (length, offset) = (number(to)?.checked_sub(number(from)?)?, number(offset)?);
    Some((inode.parse().ok()?, offset, offset.saturating_add(length)))
}

/// How much ranges cover together.
fn covered(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut sum, mut end) = (0, 0);
    for (from, to) in ranges {
        sum += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_mapping_without_a_file_is_told_from_others() {
        for (line, expected) in [
            (
                "7f0000000000-7f0000100000 rw-s 00000000 00:01 2052 /dev/zero (deleted)",
                Some((2052, 0, 0x10_0000)),
            ),
            (
                "7f0000000000-7f0000001000 r--s 00002000 00:01 7 [anon_shmem:name]",
                Some((7, 0x2000, 0x3000)),
            ),
            ("7f0000000000-7f0000100000 rw-p 00000000 00:00 0 ", None),
            ("7f0000000000-7f0000100000 rw-s 00000000 00:1b 9 /dev/shm/x", None),
            ("nonsense", None),
        ] {
            assert_eq!(shared_mapping(line), expected, "{line}");
        }
    }

    #[test]
    fn parts_that_several_processes_map_count_once() {
        assert_eq!(covered(vec![(0, 10), (5, 20), (30, 40), (0, 10)]), 30);
        assert_eq!(covered(vec![]), 0);
    }

    #[test]
    fn what_this_process_holds_is_seen() {
        let own = i32::try_from(std::process::id()).unwrap();
        let before = own_memory(own);
        let block = vec![1_u8; 64 << 20];
        let after = own_memory(own);
        assert!(after >= before + (48 << 20), "{before} {after}");
        assert!(count_tasks(&[own]) >= 1);
        drop(block);
    }
}
