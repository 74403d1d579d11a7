//! The groups of one launcher.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io,
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::PathBuf,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{
    base::{Bases, Version},
    name,
};
use crate::Limits;

// The launcher and the first process are in the groups too, unless the command is on the host.
const OURS: u32 = 2;
const PERIOD_MICROS: u64 = 100_000;

/// The groups one launcher and its commands are in.
#[derive(Debug)]
pub(crate) struct Group {
    memory: PathBuf,
    version: Version,
    pids: PathBuf,
    cpu: Option<(PathBuf, Version)>,
    limits: Option<Limits>,
    /// Where the kernel counts whom it has killed, and what it had counted when we last looked.
    events: Option<File>,
    kills: u64,
}

impl Group {
    /// Makes them.
    pub(crate) fn new(bases: &Bases) -> io::Result<Self> {
        let name = name::fresh();
        let Bases { memory, pids, cpu } = bases;
        let cpu = cpu.as_ref().map(|cpu| (cpu.folder.join(&name), cpu.version));
        let version = memory.version;
        let mut group = Self {
            memory: memory.folder.join(&name),
            version,
            pids: pids.folder.join(&name),
            cpu,
            limits: None,
            events: None,
            kills: 0,
        };
        if let Err(error) = group.folders().into_iter().try_for_each(fs::create_dir) {
            drop(group.remove());
            return Err(error);
        }
        let events = match version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        group.events = Some(File::open(group.memory.join(events))?);
        Ok(group)
    }

    /// The files to join them by.
    pub(crate) fn doors(&self) -> io::Result<Vec<OwnedFd>> {
        let open = |folder: &PathBuf| -> io::Result<OwnedFd> {
            let file = folder.join("cgroup.procs");
            Ok(OpenOptions::new().write(true).open(file)?.into())
        };
        self.folders().into_iter().map(open).collect()
    }

    /// Sets the limits; what is the same as before costs nothing.
    pub(crate) fn limit(&mut self, limits: &Limits) -> io::Result<()> {
        if self.limits.as_ref() == Some(limits) {
            return Ok(());
        }
        let before = self.limits.take().map(|limits| limits.memory_bytes);
        self.limit_memory(limits.memory_bytes, before)?;
        let processes = limits.processes.saturating_add(OURS);
        set(self.pids.join("pids.max"), &processes.to_string())?;
        self.limit_cpu(limits.cpu_percent)?;
        self.limits = Some(limits.clone());
        Ok(())
    }

    /// How many processes the kernel has killed here because memory was short, since we last asked.
    pub(crate) fn new_kills(&mut self) -> u64 {
        let mut text = [0; 1024];
        let read = self.events.as_ref().and_then(|events| events.read_at(&mut text, 0).ok());
        let text = str::from_utf8(text.get(..read.unwrap_or(0)).unwrap_or_default());
        let mut lines = text.unwrap_or_default().lines();
        let count = lines.find_map(|line| line.strip_prefix("oom_kill "));
        let count = count.and_then(|count| count.parse().ok()).unwrap_or(self.kills);
        let before = std::mem::replace(&mut self.kills, count);
        count.saturating_sub(before)
    }

    /// Kills whoever is in there now.
    pub(crate) fn kill(&self) {
        if self.version == Version::Two && set(self.memory.join("cgroup.kill"), "1").is_ok() {
            return;
        }
        let members = fs::read_to_string(self.memory.join("cgroup.procs")).unwrap_or_default();
        for pid in members.lines().filter_map(|line| line.parse().ok().and_then(Pid::from_raw)) {
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // The number may have become somebody else's before we held on to it.
            if self.has(pid) {
                let _gone_already = pidfd_send_signal(&process, Signal::KILL);
            }
        }
    }

    fn has(&self, pid: Pid) -> bool {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let Some(name) = self.memory.file_name().and_then(OsStr::to_str) else { return false };
        groups.lines().any(|line| line.rsplit('/').next() == Some(name))
    }

    /// Removes them; fails while somebody is in there.
    pub(crate) fn remove(&self) -> io::Result<()> {
        for folder in self.folders() {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Err(_) | Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Each folder once: with version 2 one group has every limit.
    fn folders(&self) -> Vec<&PathBuf> {
        let mut folders = vec![&self.memory, &self.pids];
        folders.extend(self.cpu.as_ref().map(|(folder, _)| folder));
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    fn limit_memory(&self, bytes: u64, before: Option<u64>) -> io::Result<()> {
        let bytes_text = bytes.to_string();
        let swap = match self.version {
            Version::Two => {
                set(self.memory.join("memory.max"), &bytes_text)?;
                let swap = self.memory.join("memory.swap.max");
                return if swap.exists() { set(swap, "0") } else { Ok(()) };
            }
            Version::One => self.memory.join("memory.memsw.limit_in_bytes"),
        };
        let memory = self.memory.join("memory.limit_in_bytes");
        // Memory with swap must never be less than without.
        let (first, second) = match before {
            Some(before) if bytes > before => (swap, memory),
            Some(_) | None => (memory, swap),
        };
        for file in [first, second] {
            // A machine without swap may not have that file.
            if file.exists() {
                set(file, &bytes_text)?;
            }
        }
        Ok(())
    }

    fn limit_cpu(&self, percent: Option<u32>) -> io::Result<()> {
        let Some((folder, version)) = &self.cpu else {
            // Asked for and not possible is not the same as not asked for.
            return if percent.is_none() { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) };
        };
        let quota = percent.map(|percent| u64::from(percent.max(1)) * PERIOD_MICROS / 100);
        match version {
            Version::One => {
                let quota = quota.map_or_else(|| "-1".to_owned(), |quota| quota.to_string());
                set(folder.join("cpu.cfs_quota_us"), &quota)
            }
            Version::Two => {
                let quota = quota.map_or_else(|| "max".to_owned(), |quota| quota.to_string());
                set(folder.join("cpu.max"), &format!("{quota} {PERIOD_MICROS}"))
            }
        }
    }
}

fn set(file: PathBuf, value: &str) -> io::Result<()> {
    io::Write::write_all(&mut File::options().write(true).open(file)?, value.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cgroup::base::Base;

    /// A group in an ordinary folder, with the files the kernel would make.
    fn group(folder: &Path, version: Version, files: &[&str]) -> Group {
        let base = Base { folder: folder.to_owned(), version };
        let (memory, pids) = (base.clone(), base.clone());
        let bases = Bases { memory, pids, cpu: Some(base) };
        // The kernel makes the files with the folder; here they have to be there before.
        let name = format!("toolgate-{}", std::process::id());
        let group = Group {
            memory: bases.memory.folder.join(&name),
            version,
            pids: bases.pids.folder.join(&name),
            cpu: bases.cpu.map(|cpu| (cpu.folder.join(&name), version)),
            limits: None,
            events: None,
            kills: 0,
        };
        assert_eq!(group.folders().len(), 1);
        fs::create_dir(&group.memory).unwrap();
        for file in files {
            fs::write(group.memory.join(file), "").unwrap();
        }
        group
    }

    #[test]
    fn limits_are_written_as_each_version_wants_them() {
        let limits = Limits {
            memory_bytes: 1000,
            processes: 10,
            cpu_percent: Some(150),
            ..Limits::default()
        };
        for (version, expected) in [
            (
                Version::One,
                vec![
                    ("memory.limit_in_bytes", "1000"),
                    ("memory.memsw.limit_in_bytes", "1000"),
                    ("pids.max", "12"),
                    ("cpu.cfs_quota_us", "150000"),
                ],
            ),
            (
                Version::Two,
                vec![
                    ("memory.max", "1000"),
                    ("memory.swap.max", "0"),
                    ("pids.max", "12"),
                    ("cpu.max", "150000 100000"),
                ],
            ),
        ] {
            let temp = tempfile::tempdir().unwrap();
            let files: Vec<_> = expected.iter().map(|(file, _)| *file).collect();
            let mut group = group(temp.path(), version, &files);
            group.limit(&limits).unwrap();
            for (file, value) in expected {
                let written = fs::read_to_string(group.memory.join(file)).unwrap();
                assert_eq!(written, value, "{file}");
            }
        }
    }

    #[test]
    fn kills_are_counted_from_when_they_were_last_asked_for() {
        let temp = tempfile::tempdir().unwrap();
        let mut group = group(temp.path(), Version::Two, &[]);
        let events = group.memory.join("memory.events");
        for (count, expected) in [(0, 0), (2, 2), (2, 0), (5, 3)] {
            fs::write(&events, format!("oom 9\noom_kill {count}\n")).unwrap();
            group.events = Some(File::open(&events).unwrap());
            assert_eq!(group.new_kills(), expected);
        }
    }
}
