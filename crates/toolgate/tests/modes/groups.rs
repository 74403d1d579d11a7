//! A cgroup that belongs to an ordinary user.

use std::{fs, os::unix::fs::chown, path::PathBuf, thread, time::Duration};

/// Groups beneath our own: one for each controller with version 1, one for all with version 2.
pub(crate) struct Groups(pub(crate) Vec<PathBuf>);

impl Groups {
    /// Makes them; `None` where that cannot be done.
    pub(crate) fn new(name: &str, user: u32) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mut groups = Self(Vec::new());
        for line in own.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let base = match controllers {
                "memory" | "pids" | "cpu" => PathBuf::from("/sys/fs/cgroup").join(controllers),
                "" if groups.0.is_empty() && own.lines().count() == 1 => "/sys/fs/cgroup".into(),
                _ => continue,
            };
            let group = base.join(path.trim_start_matches('/')).join(name);
            fs::create_dir(&group).ok()?;
            groups.0.push(group.clone());
            for file in ["", "cgroup.procs", "cgroup.subtree_control"] {
                let file = group.join(file);
                if file.exists() {
                    chown(file, Some(user), Some(user)).ok()?;
                }
            }
            if controllers.is_empty() {
                // Who lives in a group cannot divide it, so the user lives one deeper.
                fs::write(group.join("cgroup.subtree_control"), "+memory +pids").ok()?;
                let inner = group.join("user");
                fs::create_dir(&inner).ok()?;
                chown(&inner, Some(user), Some(user)).ok()?;
                chown(inner.join("cgroup.procs"), Some(user), Some(user)).ok()?;
                groups.0.push(inner);
            }
        }
        Some(groups).filter(|groups| !groups.0.is_empty())
    }

    /// The files to join them by: the innermost with version 2.
    pub(crate) fn doors(&self) -> Vec<PathBuf> {
        let inner = |group: &&PathBuf| !self.0.iter().any(|other| other.parent() == Some(*group));
        self.0.iter().filter(inner).map(|group| group.join("cgroup.procs")).collect()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for group in self.0.iter().rev() {
            for _ in 0..200 {
                // Those of a process that was killed are only removed when the next one starts.
                for inner in fs::read_dir(group).into_iter().flatten().flatten() {
                    drop(fs::remove_dir(inner.path()));
                }
                if fs::remove_dir(group).is_ok() {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
}
