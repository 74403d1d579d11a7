//! Other names by which a file of the workspace can be reached: through links that stand where
//! something protected would.
//!
//! If `.claude` is a link to `shared`, then `shared/settings.json` is `.claude/settings.json` too,
//! and is judged by both names. Links are looked for in the folders above a file; one in a folder
//! beside them is not found.

use std::{
    collections::HashSet,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

use policy::Protected;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, readlinkat, statat};

use crate::{
    beneath::{self, Links, open_folder},
    root::Root,
};

/// More links than these are no longer looked at; nobody has so many above one file.
const MAX_ALIASES: usize = 1_000;

/// What the links found so far lead to.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    /// Where a link leads, and where it stands, both within the root.
    found: Vec<(PathBuf, PathBuf)>,
    seen: HashSet<PathBuf>,
}

impl Aliases {
    /// The other names of `inner`.
    pub(crate) fn above(root: &Root, protected: &Protected, inner: &Path) -> Self {
        let mut aliases = Self::default();
        for folder in inner.ancestors().skip(1) {
            let path = if folder == Path::new("") { Path::new(".") } else { folder };
            if let Ok(open) = open_folder(root, path, Links::Refused) {
                aliases.look(root, protected, (&open, folder));
            }
        }
        aliases
    }

    /// Takes in the links of one folder.
    pub(crate) fn look(
        &mut self,
        root: &Root,
        protected: &Protected,
        (folder, inner): (&OwnedFd, &Path),
    ) {
        if !self.seen.insert(inner.to_owned()) {
            return;
        }
        let Ok(entries) = Dir::read_from(folder) else { return };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") || !protected.may_begin_with(name) {
                continue;
            }
            let mut places = vec![name.to_owned()];
            if entry.file_type() != FileType::Symlink {
                places.extend(protected.places_below(name).iter().map(|it| format!("{name}/{it}")));
            }
            for place in places {
                let stat = statat(folder, place.as_str(), AtFlags::SYMLINK_NOFOLLOW);
                let is_link = stat
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
                if is_link {
                    self.add(root, &inner.join(place));
                }
            }
        }
    }

    /// The names by which `path` can be reached through one of the links.
    pub(crate) fn names<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        self.found.iter().filter_map(|(target, alias)| {
            let rest = path.strip_prefix(target).ok()?;
            Some(if rest == Path::new("") { alias.clone() } else { alias.join(rest) })
        })
    }

    fn add(&mut self, root: &Root, alias: &Path) {
        if self.found.len() >= MAX_ALIASES {
            return;
        }
        // What is there now, through all links; and what the words mean, if nothing is there yet.
        let real = beneath::open(root, alias, OFlags::PATH, Links::Followed);
        let real = real.and_then(|fd| root.inner(&fd)).ok();
        let target = readlinkat(root, alias, Vec::new()).ok();
        let target = target.and_then(|target| target.into_string().ok());
        let meant = target.and_then(|target| meant(root, alias, Path::new(&target)));
        let mut targets: Vec<_> = real.into_iter().chain(meant).collect();
        targets.dedup();
        self.found.extend(targets.into_iter().map(|target| (target, alias.to_owned())));
    }
}

/// Where `target` leads from `alias`, within the root, as it is written.
fn meant(root: &Root, alias: &Path, target: &Path) -> Option<PathBuf> {
    let whole = match target.strip_prefix(root.path()) {
        Ok(inner) => inner.to_owned(),
        Err(_) if target.is_absolute() => return None,
        Err(_) => alias.parent()?.join(target),
    };
    let mut inner = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::Normal(name) => inner.push(name),
            Component::ParentDir if !inner.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inner)
}
