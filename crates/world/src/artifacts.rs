//! Large things that calls left behind, each for one user.

use std::{
    io::{Read, Write},
    os::fd::OwnedFd,
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, unlinkat},
    io::Errno,
};
use tool::{ArtifactId, ArtifactRef, ArtifactStore, Caller, Clock, FilePath, Opened, ToolError};

use crate::{
    Artifact,
    beneath::{Links, open_file},
    data::{Data, encoded, private_file, private_folder},
    problem,
    stat::stat_at,
};

// Beside each artifact, a file of this name says what it is.
const MIME: &str = ".mime";

/// The store of artifacts.
#[derive(Debug)]
pub(crate) struct Artifacts {
    dir: OwnedFd,
    clock: Arc<dyn Clock>,
}

impl Artifacts {
    pub(crate) fn open(data: &Data, clock: Arc<dyn Clock>) -> Result<Self, Errno> {
        Ok(Self { dir: data.folder("artifacts")?, clock })
    }

    /// Opens an artifact of `user`. Somebody else's is not there.
    pub(crate) fn read(&self, user: &str, id: &str) -> Result<Opened, ToolError> {
        let path = FilePath::new(&format!("artifact:{id}"));
        if !is_valid(id) {
            return Err(ToolError::not_found(path));
        }
        let opened = self.shelf(user).and_then(|shelf| open_file(&shelf, id, Links::Refused));
        let (file, _) = opened.map_err(|errno| problem::reading(&path, errno))?;
        let stat = stat_at(&file, "").map_err(|errno| problem::reading(&path, errno))?;
        Ok(Opened { file, stat })
    }

    /// Opens an artifact of `user` and says what it is.
    pub(crate) fn get(&self, user: &str, id: &str) -> Result<Artifact, ToolError> {
        let Opened { file, stat } = self.read(user, id)?;
        let mut mime = String::new();
        let sidecar = self
            .shelf(user)
            .and_then(|shelf| open_file(&shelf, &*format!("{id}{MIME}"), Links::Refused));
        if let Ok((file, _)) = sidecar {
            file.take(256).read_to_string(&mut mime).map_err(ToolError::internal)?;
        }
        Ok(Artifact { file, mime, bytes: stat.bytes })
    }

    fn shelf(&self, user: &str) -> Result<OwnedFd, Errno> {
        private_folder(&self.dir, &encoded(user))
    }

    fn write(&self, shelf: &OwnedFd, name: &str, content: &[u8]) -> std::io::Result<()> {
        let mut file = private_file(shelf, name)?;
        let written = file.write_all(content).and_then(|()| file.set_modified(self.clock.now()));
        if written.is_err() {
            let _ = unlinkat(shelf, name, AtFlags::empty());
        }
        written
    }
}

impl ArtifactStore for Artifacts {
    fn put(
        &self,
        caller: &Caller,
        id: ArtifactId,
        mime: &str,
        content: &[u8],
    ) -> Result<ArtifactRef, ToolError> {
        let path = FilePath::new(&format!("artifact:{id}"));
        if !is_valid(id.as_str()) {
            return Err(ToolError::internal(format!("`{id}` is not an artifact id")));
        }
        let failed = |source| problem::writing(&path, source);
        let shelf = self.shelf(&caller.user).map_err(|errno| failed(errno.into()))?;
        // First what it is: an artifact that can be read can also be named.
        self.write(&shelf, &format!("{id}{MIME}"), mime.as_bytes()).map_err(failed)?;
        self.write(&shelf, id.as_str(), content).map_err(failed)?;
        Ok(ArtifactRef { id, mime: mime.to_owned(), bytes: content.len() as u64 })
    }
}

/// Ids are made of a call id and a number; nothing else can be one, least of all a path.
fn is_valid(id: &str) -> bool {
    (1..=80).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
