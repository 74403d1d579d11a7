//! Maps by which files of one user belong to another, seen through a mount.
//!
//! Needed only as root: commands never run as root, but are to change files that root owns.

use std::{
    collections::BTreeMap,
    fs, io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, PoisonError},
};

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::{
    parked::{Kind, Parked},
    wire::{Answer, Order},
};

/// A map for each owner that was met.
#[derive(Debug)]
pub(crate) struct IdMaps {
    /// Who files are to belong to.
    to: u32,
    known: Mutex<BTreeMap<(u32, u32), Arc<OwnedFd>>>,
}

impl IdMaps {
    pub(crate) fn new(to: u32) -> Self {
        Self { to, known: Mutex::default() }
    }

    /// The map for files of this user and group. The first time it takes milliseconds.
    pub(crate) fn get(&self, owner: (u32, u32)) -> io::Result<Arc<OwnedFd>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(map) = known.get(&owner) {
            return Ok(map.clone());
        }
        let map = Arc::new(self.make(owner)?);
        known.insert(owner, map.clone());
        Ok(map)
    }

    /// A map is a user namespace, and those are made by processes.
    fn make(&self, (uid, gid): (u32, u32)) -> io::Result<OwnedFd> {
        let holder = Parked::spawn(None, Kind::Networked)?;
        let made = (|| {
            holder.order(&Order::Hold, &[])?;
            let Some((Answer::Ready, _)) = holder.answer_blocking()? else {
                let reason = "no user namespace can be made for its owner";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
            };
            let proc = format!("/proc/{}", holder.pid());
            fs::write(format!("{proc}/uid_map"), format!("{uid} {} 1", self.to))?;
            fs::write(format!("{proc}/gid_map"), format!("{gid} {} 1", self.to))?;
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            Ok(openat(CWD, format!("{proc}/ns/user"), flags, Mode::empty())?)
        })();
        let mut leaving = holder.let_go();
        while !leaving.is_gone() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        made
    }
}
