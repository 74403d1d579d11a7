//! The configuration as tools see and change it, and what a restart is here.

mod file;
mod kept;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use agent::{MAIN, has_agent};
use config::{Config, ConfigError};
use tool::{ConfigChange, ConfigChanged, ConfigKey, ConfigValue, KeyPath, ToolError};

use self::{
    file::{ConfigFile, Replaced},
    kept::limits_kept,
};
use crate::{reload::Reload, stored::StoredAgents, watch::Stamp};

/// Somebody who changes the file by hand at the same time is not overwritten; after so many tries they
/// win.
const TRIES: usize = 5;

/// What happens when somebody wants a restart.
pub(crate) type Restart = Arc<dyn Fn() + Send + Sync>;

/// The configuration file of a gate.
#[derive(Debug, Clone)]
pub(crate) struct Gateway(Arc<Inner>);

/// The same, kept by somebody else: the gate has it, and it has the gate.
#[derive(Debug, Clone)]
pub(crate) struct WeakGateway(Weak<Inner>);

impl WeakGateway {
    pub(crate) fn upgrade(&self) -> Option<Gateway> {
        self.0.upgrade().map(Gateway)
    }
}

struct Inner {
    reload: Reload,
    /// Where the configuration is, or would be; `None` if nobody said.
    path: Option<PathBuf>,
    restart: Mutex<Option<Restart>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Gateway {
    pub(crate) fn new(reload: Reload, path: Option<PathBuf>) -> Self {
        Self(Arc::new(Inner { reload, path, restart: Mutex::default() }))
    }

    pub(crate) fn downgrade(&self) -> WeakGateway {
        WeakGateway(Arc::downgrade(&self.0))
    }

    /// Where this Toolgate keeps its own things.
    pub(crate) fn data(&self) -> &Path {
        &self.0.reload.data
    }

    /// Takes over a configuration.
    pub(crate) fn take(&self, config: Config) -> Result<(), crate::BuildError> {
        self.0.reload.take(config)
    }

    /// Takes over the agents made here.
    pub(crate) fn take_agents(&self) -> Result<(), crate::BuildError> {
        self.0.reload.take_agents()
    }

    /// Whether these are the agents made here that hold now; `None` while that changes.
    pub(crate) fn has_stored(&self, found: &StoredAgents) -> Option<bool> {
        self.0.reload.has_stored(found)
    }

    /// Says what a restart is.
    pub(crate) fn on_restart(&self, restart: Restart) {
        *self.0.restart.lock().unwrap_or_else(PoisonError::into_inner) = Some(restart);
    }
}

impl tool::Gateway for Gateway {
    fn get(&self, path: &KeyPath) -> Result<ConfigValue, ToolError> {
        self.0.get(path)
    }

    fn schema(&self, path: &KeyPath) -> Result<Vec<ConfigKey>, ToolError> {
        config::schema(path).map_err(|problem| ToolError::invalid("gateway", "path", problem))
    }

    fn patch(&self, change: &ConfigChange) -> Result<ConfigChanged, ToolError> {
        self.0.patch(change)
    }

    fn reload(&self) -> Result<String, ToolError> {
        let file = self.0.file()?;
        self.0.take_over(&file)?;
        Ok(file.shown().to_owned())
    }

    fn restart(&self) -> Result<(), ToolError> {
        let restart = self.0.restart.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let nothing = "there is nothing to restart here: no server runs in this process";
        restart.ok_or_else(|| ToolError::failed(nothing)).map(|restart| restart())
    }
}

impl Inner {
    fn file(&self) -> Result<ConfigFile, ToolError> {
        let nowhere = "this gate was given no configuration file, and the environment names no \
                       place for one; set `HOME`, or start it with `--config FILE`";
        let path = self.path.as_ref().ok_or_else(|| ToolError::failed(nowhere))?;
        ConfigFile::at(path)
    }

    fn get(&self, path: &KeyPath) -> Result<ConfigValue, ToolError> {
        let file = self.file()?;
        let found = file.read()?;
        let text = found.as_ref().map_or("", |found| &found.text);
        let value = config::value_at(text, file.shown(), path);
        let value = value.map_err(|error| refused(&error))?;
        let (exists, path) = (found.is_some(), path.to_string());
        Ok(ConfigValue { file: file.shown().to_owned(), exists, path, value })
    }

    fn patch(&self, change: &ConfigChange) -> Result<ConfigChanged, ToolError> {
        let file = self.file()?;
        let _lock = file.lock()?;
        let path = change.path();
        for _ in 0..TRIES {
            let found = file.read()?;
            if found.is_none() {
                self.nothing_lost(file.shown())?;
            }
            let text = found.as_ref().map_or("", |found| &found.text);
            let edited = self.edit(change, text, file.shown())?;
            if file.replace(found.as_ref(), &edited)? == Replaced::No {
                continue;
            }
            self.take_over(&file)?;
            let said = |text: &str| config::value_at(text, file.shown(), &path);
            let was = said(text).map_err(|error| refused(&error))?;
            let now = said(&edited).map_err(|error| refused(&error))?;
            let (created, path) = (found.is_none(), path.to_string());
            return Ok(ConfigChanged { file: file.shown().to_owned(), created, path, was, now });
        }
        Err(ToolError::failed(format!(
            "`{}` is being changed by somebody else; try again later",
            file.shown()
        )))
    }

    /// Refuses to begin a file where there is none, if all that holds now would not be in it.
    fn nothing_lost(&self, file: &str) -> Result<(), ToolError> {
        if self.reload.base() == Config::default() {
            return Ok(());
        }
        Err(ToolError::failed(format!(
            "the old configuration stays: there is no file at `{file}`, and a new one would not say \
             what holds now; a person has to put it back"
        )))
    }

    /// The text of `file` with the change, if that can hold and changes nothing else.
    fn edit(&self, change: &ConfigChange, text: &str, file: &str) -> Result<String, ToolError> {
        let before = config::parse(text, file).map_err(|error| refused(&error))?;
        known(change.agent(), &before, file)?;
        let edited = config::edit(text, file, &change.path(), change.value());
        let wrong = |error: ConfigError| ToolError::invalid("gateway", "", error.to_string());
        let edited = edited.map_err(wrong)?;
        let after = config::parse(&edited, file).map_err(wrong)?;
        if !limits_kept(&before, &after, change.agent()) {
            let reason = format!("`{}` would change more than itself", change.path());
            return Err(ToolError::denied("gateway", "limits", reason));
        }
        self.reload.check_file(&after).map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(edited)
    }

    /// Lets hold what the file says; once more if it changed meanwhile, because whoever watches it may
    /// have been faster.
    fn take_over(&self, file: &ConfigFile) -> Result<(), ToolError> {
        for _ in 0..TRIES {
            let seen = Stamp::of(file.path());
            let stays = |problem: String| {
                ToolError::failed(format!("the old configuration stays: {problem}"))
            };
            let text = file.read()?.map(|found| found.text);
            let missing = || stays(format!("there is no file at `{}`", file.shown()));
            let text = text.ok_or_else(missing)?;
            let loaded = config::parse_with_warnings(&text, file.shown());
            let loaded = loaded.map_err(|error| stays(error.to_string()))?;
            for warning in loaded.warnings {
                tracing::warn!("{warning}");
            }
            self.reload.take(loaded.config).map_err(|error| stays(error.to_string()))?;
            if Stamp::of(file.path()) == seen {
                break;
            }
        }
        Ok(())
    }
}

/// Refuses an agent that is not there: one agent cannot make another.
fn known(agent: &str, config: &Config, file: &str) -> Result<(), ToolError> {
    if has_agent(config, agent) {
        return Ok(());
    }
    let near = tool::nearest(agent, config.agents.keys().map(String::as_str).chain([MAIN]));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let problem = format!("`{file}` has no agent {agent:?}, and only a person may add one{hint}");
    Err(ToolError::invalid("gateway", "path", problem))
}

fn refused(error: &ConfigError) -> ToolError {
    ToolError::failed(error.to_string())
}
