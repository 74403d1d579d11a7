//! A place in a folder where something is to be changed.

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use policy::Protected;
use rustix::io::Errno;
use tool::{FilePath, FileStat, ToolError};

use crate::{
    alias::Aliases,
    beneath::{Links, open_folder},
    problem,
    root::Root,
    stat::stat_at,
    workspace::Located,
};

/// A file that is to be changed, reached from a folder that is open.
#[derive(Debug)]
pub(crate) struct Target {
    /// As calls name it.
    pub(crate) path: FilePath,
    pub(crate) root: Arc<Root>,
    /// The nearest folder above it that exists.
    pub(crate) folder: Arc<OwnedFd>,
    /// Where that is within the root.
    pub(crate) above: PathBuf,
    /// The folders between that do not exist yet.
    pub(crate) missing: Vec<String>,
    /// The last part of the path.
    pub(crate) name: String,
}

impl Target {
    /// Opens what is above a file, unless the file is protected.
    pub(crate) fn open(located: Located, protected: &Protected) -> Result<Self, ToolError> {
        Self::guarded(located, protected, |inner| protected.rule(inner))
    }

    /// Opens what is above a folder, unless the folder is protected.
    pub(super) fn open_folder(located: Located, protected: &Protected) -> Result<Self, ToolError> {
        Self::guarded(located, protected, |inner| protected.folder_rule(inner))
    }

    fn guarded<'p>(
        located: Located,
        protected: &'p Protected,
        rule: impl Fn(&str) -> Option<&'p str>,
    ) -> Result<Self, ToolError> {
        let target = Self::open_any(located)?;
        match target.names(protected).iter().find_map(|name| rule(name)) {
            None => Ok(target),
            Some(rule) => Err(protected_by(&target.path, rule)),
        }
    }

    /// The paths within the root by which it can be reached, its own first.
    pub(crate) fn names(&self, protected: &Protected) -> Vec<String> {
        let inner = self.inner();
        let aliases = Aliases::above(&self.root, protected, Path::new(&inner));
        let others = aliases.names(Path::new(&inner));
        let others: Vec<_> = others.map(|name| name.to_string_lossy().into_owned()).collect();
        std::iter::once(inner).chain(others).collect()
    }

    /// Opens what is above a file that a record names, which was checked when it was recorded.
    pub(super) fn open_any(located: Located) -> Result<Self, ToolError> {
        let Located { path, root, inner } = located;
        let mut parts: Vec<_> = inner.split('/').filter(|part| *part != ".").collect();
        let Some(name) = parts.pop().map(str::to_owned) else {
            return Err(ToolError::path(&path, "is a folder"));
        };
        if name == ".." {
            return Err(problem::outside(&path));
        }
        let mut missing = Vec::new();
        let folder = loop {
            let above = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
            match open_folder(&root, &*above, Links::Refused) {
                Err(Errno::NOENT) => missing.extend(parts.pop().map(str::to_owned)),
                opened => break opened,
            }
            if above == "." {
                break Err(Errno::NOENT);
            }
        };
        missing.reverse();
        let folder = folder.map_err(|errno| match root.discreet(&inner, errno) {
            Errno::NOENT => ToolError::not_found(&path),
            errno => problem::writing(&path, errno),
        })?;
        let above = root.inner(&folder).map_err(|errno| problem::reading(&path, errno))?;
        let target = Self { path, root, folder: Arc::new(folder), above, missing, name };
        target.refuse_hidden()?;
        Ok(target)
    }

    /// The path within the root.
    pub(crate) fn inner(&self) -> String {
        let mut inner = self.above.clone();
        inner.extend(&self.missing);
        inner.join(&self.name).to_string_lossy().into_owned()
    }

    /// What is there, if anything.
    pub(crate) fn stat(&self) -> Result<Option<FileStat>, Errno> {
        if !self.missing.is_empty() {
            return Ok(None);
        }
        match stat_at(&self.folder, &*self.name) {
            Err(Errno::NOENT) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Refuses if the folder is no longer where it was when the rules were looked at.
    pub(super) fn refuse_moved(&self) -> Result<(), ToolError> {
        match self.root.inner(&self.folder) {
            Ok(above) if above == self.above => Ok(()),
            _ => Err(ToolError::failed(format!("a folder above `{}` was moved", self.path))),
        }
    }

    fn refuse_hidden(&self) -> Result<(), ToolError> {
        let hidden = self.root.hides_inner(Path::new(&self.inner()));
        if hidden.map_err(|errno| problem::writing(&self.path, errno))? {
            return Err(ToolError::not_found(&self.path));
        }
        Ok(())
    }
}

fn protected_by(path: &FilePath, rule: &str) -> ToolError {
    ToolError::path(path, format!("is protected by rule `{rule}`"))
}
