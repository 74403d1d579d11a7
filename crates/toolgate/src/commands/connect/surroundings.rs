//! Where clients keep their files, as this process and nobody's workspace says.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

/// What the environment of this process says.
pub(super) struct Surroundings<'a> {
    /// The environment. No `.env` is ever read into it.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether this is a Mac, where programs have folders of their own.
    pub(super) system: System,
}

/// What decides where programs keep their settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Mac,
}

impl System {
    pub(super) const fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Mac } else { Self::Linux }
    }
}

impl Surroundings<'_> {
    /// The folder or file that a variable names, if it is set.
    pub(super) fn named(&self, name: &str) -> Result<Option<PathBuf>> {
        let Some(value) = (self.variable)(name).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let path = PathBuf::from(value);
        // Beneath whatever folder this runs in is where a project could have put it.
        if !path.is_absolute() {
            bail!("`{name}` must be an absolute path, and is `{}`", path.display());
        }
        Ok(Some(path))
    }

    pub(super) fn home(&self) -> Result<PathBuf> {
        self.named("HOME")?.context("`HOME` is not set, so there is no place to look")
    }

    /// The folder for settings that XDG says.
    pub(super) fn config(&self) -> Result<PathBuf> {
        // The specification says that a relative path is to be ignored.
        let named = (self.variable)("XDG_CONFIG_HOME").map(PathBuf::from);
        match named.filter(|path| path.is_absolute()) {
            Some(path) => Ok(path),
            None => Ok(self.home()?.join(".config")),
        }
    }

    /// The folder where programs with windows keep their settings.
    pub(super) fn applications(&self) -> Result<PathBuf> {
        match self.system {
            System::Linux => self.config(),
            System::Mac => Ok(self.home()?.join("Library/Application Support")),
        }
    }
}
