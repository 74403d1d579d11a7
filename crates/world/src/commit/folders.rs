//! The folders a commit works in.

use std::{collections::BTreeMap, os::fd::OwnedFd, sync::Arc};

use rustix::{
    fs::{AtFlags, Mode, fstat, fsync, mkdirat, unlinkat},
    io::Errno,
};
use tool::ToolError;

use super::{step::step, target::Target};
use crate::{
    beneath::{Links, open_folder},
    problem,
    root::Id,
};

/// Every folder a commit touches, open once however many files in it change.
#[derive(Debug, Default)]
pub(super) struct Folders {
    open: BTreeMap<Id, Arc<OwnedFd>>,
    /// Those that were made on the way, and where.
    made: Vec<(Arc<OwnedFd>, String)>,
}

impl Folders {
    /// Lets `target` use the handle of another target in the same folder.
    pub(super) fn share(&mut self, target: &mut Target) -> Result<(), ToolError> {
        let shared = self.keep(target.folder.clone());
        target.folder = shared.map_err(|errno| problem::writing(&target.path, errno))?;
        Ok(())
    }

    /// Opens the folder `target` is in, after making it if need be.
    pub(super) fn parent(&mut self, target: &Target) -> Result<Arc<OwnedFd>, Errno> {
        let mut folder = target.folder.clone();
        for name in &target.missing {
            match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => self.made.push((folder.clone(), name.clone())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            step();
            let inner = open_folder(&folder, &**name, Links::Refused)?;
            folder = self.keep(Arc::new(inner))?;
        }
        Ok(folder)
    }

    /// Returns once the names in all of them are on the disk.
    pub(super) fn sync(&self) -> Result<(), Errno> {
        self.open.values().try_for_each(fsync)
    }

    /// Removes the folders that were made, unless somebody put something in them.
    pub(super) fn remove_made(&self) {
        for (folder, name) in self.made.iter().rev() {
            let _ = unlinkat(folder, name, AtFlags::REMOVEDIR);
        }
    }

    fn keep(&mut self, folder: Arc<OwnedFd>) -> Result<Arc<OwnedFd>, Errno> {
        let id = Id::of(&fstat(&folder)?);
        Ok(self.open.entry(id).or_insert(folder).clone())
    }
}
