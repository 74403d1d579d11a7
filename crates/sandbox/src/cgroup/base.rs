//! Where groups can be made.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use super::name;

/// The folders beneath which groups can be made, one for each kind of limit.
#[derive(Debug, Clone)]
pub(crate) struct Bases {
    pub(super) memory: Base,
    pub(super) pids: Base,
    pub(super) cpu: Option<Base>,
}

/// A folder, and which of the two interfaces it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) folder: PathBuf,
    pub(super) version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

impl Bases {
    /// Finds them, or says why there are none. Tries whether they can be used.
    pub(crate) fn find() -> Result<Self, String> {
        let read = |path: &str| fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
        let groups = read("/proc/self/cgroup")?;
        let mounts = read("/proc/self/mountinfo")?;
        let found = |controller| {
            let candidates = candidates(&groups, &mounts, controller);
            let mut reason = "no hierarchy has it".to_owned();
            for base in candidates {
                match base.try_out(controller) {
                    Ok(()) => return Ok(base),
                    Err(error) => reason = format!("`{}`: {error}", base.folder.display()),
                }
            }
            Err(format!("the {controller} controller cannot be used: {reason}"))
        };
        let bases = Self { memory: found("memory")?, pids: found("pids")?, cpu: found("cpu").ok() };
        bases.remove_stale();
        Ok(bases)
    }

    /// What there is, for people.
    pub(crate) fn describe(&self) -> String {
        let version = match self.memory.version {
            Version::One => "version 1",
            Version::Two => "version 2",
        };
        format!("{version}, in `{}`", self.memory.folder.display())
    }

    /// Removes what processes have left behind that were killed.
    fn remove_stale(&self) {
        let Self { memory, pids, cpu } = self;
        for base in [Some(memory), Some(pids), cpu.as_ref()].into_iter().flatten() {
            let Ok(entries) = fs::read_dir(&base.folder) else { continue };
            for entry in entries.filter_map(Result::ok) {
                if entry.file_name().to_str().is_some_and(name::is_stale) {
                    // It fails if somebody is still in there, and that is right.
                    drop(fs::remove_dir(entry.path()));
                }
            }
        }
    }
}

impl Base {
    /// Makes a group and removes it.
    fn try_out(&self, controller: &str) -> io::Result<()> {
        // Who leaves a group for another one must own what is above both.
        access(self.folder.join("cgroup.procs"), Access::WRITE_OK)?;
        if self.version == Version::Two {
            self.enable(controller)?;
        }
        let folder = self.folder.join(name::fresh());
        fs::create_dir(&folder)?;
        let file = match (self.version, controller) {
            (Version::One, "memory") => "memory.limit_in_bytes",
            (Version::One, "cpu") => "cpu.cfs_quota_us",
            (Version::Two, "memory") => "memory.max",
            (Version::Two, "cpu") => "cpu.max",
            _ => "pids.max",
        };
        let usable = access(folder.join(file), Access::WRITE_OK);
        fs::remove_dir(&folder)?;
        Ok(usable?)
    }

    fn enable(&self, controller: &str) -> io::Result<()> {
        let file = self.folder.join("cgroup.subtree_control");
        let has = |text: String| text.split_whitespace().any(|word| word == controller);
        if fs::read_to_string(&file).is_ok_and(has) {
            return Ok(());
        }
        fs::write(file, format!("+{controller}"))
    }
}

/// Where groups with this controller could be, best first.
fn candidates(groups: &str, mounts: &str, controller: &str) -> Vec<Base> {
    let mut bases = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        if controllers.split(',').any(|name| name == controller) {
            let folder = folder(mounts, "cgroup", Some(controller), path);
            bases.extend(folder.map(|folder| Base { folder, version: Version::One }));
        } else if controllers.is_empty() {
            let Some(own) = folder(mounts, "cgroup2", None, path) else { continue };
            let has = fs::read_to_string(own.join("cgroup.controllers")).unwrap_or_default();
            if !has.split_whitespace().any(|name| name == controller) {
                continue;
            }
            // A group that has processes, as ours has, usually cannot have groups with limits; the
            // one above can, if it was given to us as a session manager does.
            let above = own.parent().filter(|_| path != "/").map(Path::to_owned);
            for folder in [Some(own), above].into_iter().flatten() {
                bases.push(Base { folder, version: Version::Two });
            }
        }
    }
    bases
}

/// The folder of group `path` in the hierarchy of this kind.
fn folder(mounts: &str, kind: &str, controller: Option<&str>, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let found = right.next()?;
        let options = right.nth(1)?;
        let fits = controller.is_none_or(|name| options.split(',').any(|option| option == name));
        if found != kind || !fits {
            return None;
        }
        let beneath = Path::new(path).strip_prefix(root).ok()?;
        Some(Path::new(point).join(beneath))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 20 0:22 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
26 20 0:23 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
27 20 0:24 /docker/x /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids
28 20 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn folders_of_version_one_are_found_by_controller() {
        let groups = "4:memory:/a/b\n2:cpu,cpuacct:/\n3:pids:/docker/x/y\n0::/";
        for (controller, expected) in [
            ("memory", Some("/sys/fs/cgroup/memory/a/b")),
            ("cpu", Some("/sys/fs/cgroup/cpu,cpuacct/")),
            // Only a part of the hierarchy is mounted, as in a container.
            ("pids", Some("/sys/fs/cgroup/pids/y")),
            ("blkio", None),
        ] {
            let found = candidates(groups, MOUNTS, controller);
            let found = found.first().map(|base| base.folder.clone());
            assert_eq!(found, expected.map(PathBuf::from), "{controller}");
        }
    }

    #[test]
    fn with_version_two_the_group_above_comes_second() {
        let temp = tempfile::tempdir().unwrap();
        let own = temp.path().join("session/own");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        let mounts = format!("28 20 0:25 / {} rw - cgroup2 cgroup2 rw", temp.path().display());
        let folders = |controller| -> Vec<_> {
            let found = candidates("0::/session/own", &mounts, controller).into_iter();
            found.map(|base| (base.folder, base.version)).collect()
        };
        let above = own.parent().unwrap().to_owned();
        assert_eq!(folders("memory"), [(own, Version::Two), (above, Version::Two)]);
        assert_eq!(folders("io"), []);
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_is_not_found() {
        assert!(candidates("3:pids:/elsewhere", MOUNTS, "pids").is_empty());
    }
}
