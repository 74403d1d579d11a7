//! Files that a harmless line must not read: they are hidden by mounts, whatever its programs do.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use sandbox::{Access, Job};
use tool::ToolError;
use world::World;

/// Hides what may hold credentials in the workspace and in the folders that configuration adds. May
/// block. `program` is the one that runs.
pub(super) fn hide(
    world: &World,
    workspace: &Path,
    program: &Path,
    job: &mut Job,
) -> Result<(), ToolError> {
    let added = job.binds.iter().filter(|bind| bind.access == Access::ReadOnlyWithoutSockets);
    let mut folders: Vec<_> = added.map(|bind| bind.target.clone()).collect();
    folders.push(workspace.to_owned());
    let mut repositories = Repositories::default();
    for folder in folders {
        let mut found = world.credentials(&folder)?;
        if program.file_name().is_some_and(|name| name == "git") {
            // To git, an empty file in the place of one that it knows is a change. It has the
            // content of those in its own store, and its lines leave them out by name.
            found.retain(|path| !repositories.know(path, &folder));
        }
        job.masked.extend(found);
    }
    Ok(())
}

/// The files that repositories track.
#[derive(Default)]
struct Repositories(HashMap<PathBuf, Option<HashSet<Vec<u8>>>>);

impl Repositories {
    /// Whether the repository that `path` is in tracks it. Unknown formats track everything.
    fn know(&mut self, path: &Path, top: &Path) -> bool {
        let within = |folder: &&Path| folder.starts_with(top);
        let mut above = path.ancestors().skip(1).take_while(within);
        let Some(root) = above.find(|folder| folder.join(".git").exists()) else { return false };
        let Ok(inner) = path.strip_prefix(root) else { return false };
        let tracked = self.0.entry(root.to_owned()).or_insert_with(|| {
            match std::fs::read(root.join(".git/index")) {
                Ok(index) => tracked(&index),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(HashSet::new()),
                Err(_) => None,
            }
        });
        let Some(tracked) = tracked else { return true };
        let inner = inner.as_os_str().as_encoded_bytes();
        // A folder that is hidden as a whole is known if something in it is.
        tracked.contains(inner)
            || tracked.iter().any(|path| {
                path.strip_prefix(inner).is_some_and(|rest| rest.first() == Some(&b'/'))
            })
    }
}

/// The paths in an index of git, versions 2 and 3, with names of 20 bytes; `None` for others.
fn tracked(index: &[u8]) -> Option<HashSet<Vec<u8>>> {
    const FIXED: usize = 62;
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?))
    };
    let version = number(4)?;
    if index.get(..4)? != b"DIRC" || !matches!(version, 2 | 3) {
        return None;
    }
    let mut paths = HashSet::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let flags = index.get(at + FIXED - 2..at + FIXED)?;
        let extended = usize::from(flags.first()? & 0x40 != 0) * 2;
        let start = at + FIXED + extended;
        let rest = index.get(start..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        let path = rest.get(..length)?;
        if path.is_empty() {
            return None;
        }
        paths.insert(path.to_vec());
        let entry = FIXED + extended + length;
        at += (entry + 8) / 8 * 8;
    }
    Some(paths)
}
