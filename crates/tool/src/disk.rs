//! A disk that takes no more.

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    io::Errno,
    process::geteuid,
};

/// Less than this is no room for anything: file systems keep a few blocks for themselves.
const NO_ROOM_BYTES: u64 = 64 * 1024;

/// Why a disk takes nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskCondition {
    /// No space is left.
    Full,
    /// There may be space, but no file can be made: all inodes are used.
    NoInodes,
    /// The user's share of it is used up.
    OverQuota,
    /// It cannot be written at all.
    ReadOnly,
}

/// A disk that takes nothing more, and a folder that lies on it.
///
/// It is nobody's mistake, and the person who runs Toolgate can do something about it: so callers are told, and
/// not only that there was an internal error. [`crate::ToolError::internal`] finds it in any chain of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskProblem {
    /// What is wrong.
    pub condition: DiskCondition,
    /// A file or folder on the disk, if it is known.
    pub path: Option<PathBuf>,
}

impl DiskProblem {
    /// What an error of the system says about the disk with `path`; nothing for errors of another kind.
    pub fn of(error: &io::Error, path: Option<&Path>) -> Option<Self> {
        Self::of_errno(Errno::from_io_error(error)?, path)
    }

    /// Looks at the disk with `path` itself.
    pub fn look(path: &Path) -> Option<Self> {
        let disk = statvfs(path).ok()?;
        let blocks = if geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
        let condition = if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
            DiskCondition::ReadOnly
        } else if blocks.saturating_mul(disk.f_frsize) < NO_ROOM_BYTES {
            DiskCondition::Full
        } else if disk.f_files > 0 && disk.f_favail == 0 {
            DiskCondition::NoInodes
        } else {
            return None;
        };
        Some(Self { condition, path: Some(path.to_owned()) })
    }

    /// What an error or one of its causes says.
    pub fn in_chain(error: &(dyn Error + 'static)) -> Option<Self> {
        let causes = std::iter::successors(Some(error), |error| (*error).source());
        causes.into_iter().find_map(|error| {
            let known = error.downcast_ref::<Self>().cloned();
            let io = || Self::of(error.downcast_ref::<io::Error>()?, None);
            let errno = || Self::of_errno(*error.downcast_ref::<Errno>()?, None);
            known.or_else(io).or_else(errno)
        })
    }

    fn of_errno(errno: Errno, path: Option<&Path>) -> Option<Self> {
        let condition = match errno {
            Errno::NOSPC => match path.and_then(Self::look) {
                Some(found) => found.condition,
                None => DiskCondition::Full,
            },
            Errno::DQUOT => DiskCondition::OverQuota,
            Errno::ROFS => DiskCondition::ReadOnly,
            _ => return None,
        };
        Some(Self { condition, path: path.map(Path::to_owned) })
    }
}

impl fmt::Display for DiskProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "the disk with `{}` ", path.display())?,
            None => f.write_str("a disk ")?,
        }
        f.write_str(match self.condition {
            DiskCondition::Full => "is full; free some space on it and try again",
            DiskCondition::NoInodes => {
                "has no inodes left; remove some files from it and try again"
            }
            DiskCondition::OverQuota => {
                "has a quota, which is used up; free some of your space on it and try again"
            }
            DiskCondition::ReadOnly => "is read-only; make it writable and try again",
        })
    }
}

impl Error for DiskProblem {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolError;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] io::Error);

    #[test]
    fn a_disk_that_is_full_is_not_an_internal_error() {
        let full = || io::Error::from_raw_os_error(28);
        for error in [
            ToolError::internal(full()),
            ToolError::internal(Outer(full())),
            ToolError::internal(Errno::NOSPC),
            ToolError::internal(Errno::ROFS),
        ] {
            assert_eq!(error.kind(), "execution_error", "{error:?}");
            assert!(error.to_string().starts_with("a disk "), "{error}");
            assert!(error.operator_detail().is_some());
        }
        let other = ToolError::internal(Outer(io::Error::from_raw_os_error(5)));
        assert_eq!(other.kind(), "internal_error");
    }
}
