//! What a command may do with files, said to Landlock: a second wall behind the mounts.

use std::{io, os::fd::OwnedFd};

use rustix::fs::{Mode, OFlags, open};

use super::room::Writable;
use crate::{
    rights::{
        ABSTRACT_SOCKETS, EXECUTE, IOCTL_DEV, MAKE_BLOCK, MAKE_CHAR, READ, READ_FILE, SIGNALS,
        TRUNCATE, WRITE_FILE, known,
    },
    sys::{Landlock, add_path_rule},
};

/// What a command may do, in the making.
#[derive(Debug)]
pub(super) struct Rules {
    rules: OwnedFd,
    files: u64,
}

impl Rules {
    /// Rules that let every file be read, and nothing be written but devices.
    pub(super) fn new(abi: u32) -> io::Result<Self> {
        let files = known(abi);
        // Neither a signal nor a message to a name without a file reaches anyone outside.
        let scoped = if abi >= 6 { ABSTRACT_SOCKETS | SIGNALS } else { 0 };
        let rules = Landlock { files, net: 0, scoped }.create()?;
        add_path_rule(&rules, open_path("/")?, READ)?;
        // Terminals and /dev/null; the folder itself is on a mount that cannot be changed.
        let devices = files & (WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV);
        add_path_rule(&rules, open_path("/dev")?, devices)?;
        Ok(Self { rules, files })
    }

    /// The same, with these places to write to.
    pub(super) fn with(self, writable: &[Writable]) -> io::Result<OwnedFd> {
        for place in writable {
            let allowed = if place.is_folder {
                self.files & !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
            } else {
                self.files & (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE)
            };
            add_path_rule(&self.rules, &place.root, allowed)?;
        }
        Ok(self.rules)
    }
}

fn open_path(path: &str) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}
