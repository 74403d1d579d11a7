//! Files of a folder that have names outside it.

use std::{
    collections::BTreeMap,
    io,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat},
    path::Arg as _,
};
use tool::Live;

use super::{
    copy::{TreePlace, copy_file},
    hash::{Hashing, Visited},
    remove::remove,
    visit::visit,
};
use crate::{
    beneath::{Links, open_folder},
    commit::step,
};

/// The names of one file within a folder, and how many it has anywhere.
#[derive(Default)]
struct LinkedFile {
    paths: Vec<PathBuf>,
    links: usize,
}

/// Gives the folder at `place` a copy of its own of every file that also has a name outside it (a
/// hard link, as package managers make them): writing to that name would change the folder too.
///
/// A copy takes the place of its file by a rename from beside the folder, so the folder is the same
/// at every moment, whatever interrupts this.
pub(super) fn separate_links(place: TreePlace<'_>) -> io::Result<()> {
    let folder = open_folder(place.folder, place.name, Links::Refused)?;
    let mut files = BTreeMap::<_, LinkedFile>::new();
    let mut note = |visited: Visited<'_>| {
        let stat = visited.stat;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink > 1 {
            let file = files.entry((stat.st_dev, stat.st_ino)).or_default();
            file.paths.push(visited.inner.to_owned());
            file.links = usize::try_from(stat.st_nlink).unwrap_or(usize::MAX);
        }
        Ok(())
    };
    visit(&folder, &mut Hashing { live: &Live::default(), visit: &mut note })?;
    files.retain(|_, file| file.paths.len() < file.links);
    let name = [place.name, b".link"].concat();
    let copied = TreePlace { folder: place.folder, name: &name };
    for path in files.values().flat_map(|file| &file.paths) {
        remove(copied.folder, copied.name)?;
        separate(&folder, path, copied)?;
        step();
    }
    Ok(())
}

fn separate(folder: &OwnedFd, path: &Path, copied: TreePlace<'_>) -> io::Result<()> {
    let (above, name) = (path.parent().unwrap_or(Path::new("")), path.file_name());
    let (above, name) = (open_inner(folder, above)?, name.unwrap_or_default().to_owned());
    let name = name.into_c_str()?;
    let linked = TreePlace { folder: &above, name: name.to_bytes() };
    let stat = statat(&above, linked.name, AtFlags::SYMLINK_NOFOLLOW)?;
    // What the store keeps must be on the disk before the original can change.
    copy_file(linked, copied, &stat)?.sync_all()?;
    Ok(renameat(copied.folder, copied.name, &above, linked.name)?)
}

/// Opens a folder beneath `folder`, one name at a time: the whole path may be longer than the kernel
/// takes at once.
fn open_inner(folder: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut opened = folder.try_clone()?;
    for part in path.components() {
        if let Component::Normal(name) = part {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            opened = openat(&opened, name, flags, Mode::empty())?;
        }
    }
    Ok(opened)
}
