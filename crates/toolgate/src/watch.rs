//! Picks up changes of the configuration file while calls run.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Arc,
    time::Duration,
};

use config::{ConfigError, Loaded};
use tokio::task::JoinHandle;
use tool::ToolError;

use crate::Gate;

/// How often the file is looked at. A look is one system call, and costs less than being told by the
/// kernel would in code: editors, mounts and links replace files in ways that notifications miss.
const EVERY: Duration = Duration::from_millis(250);

/// Watches until it is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends the watching"]
pub struct Watch(JoinHandle<()>);

impl Watch {
    pub(crate) fn new(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: (u64, u64),
    bytes: u64,
    /// Every write and every rename moves it on.
    changed: (i64, i64),
}

impl Stamp {
    /// `None` if there is no file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self::from(&found))
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            file: (found.dev(), found.ino()),
            bytes: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl Gate {
    /// Takes over what the file at `path` says whenever it changes, read by `load`. A file that is
    /// broken, half written or gone changes nothing, and is said to be so once, with file and line.
    pub fn watch(
        &self,
        path: &Path,
        load: impl Fn(&Path) -> Result<Loaded, ConfigError> + Send + Sync + 'static,
    ) -> Watch {
        let (gate, path) = (self.clone(), path.to_owned());
        let mut seen = Stamp::of(&path);
        let load = Arc::new(load);
        Watch::new(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                let (looking, file, load) = (gate.clone(), path.clone(), load.clone());
                let look = move || looking.look(&file, seen, &*load);
                let Ok((found, taken)) = tokio::task::spawn_blocking(look).await else { continue };
                seen = found;
                if let Some(taken) = taken {
                    gate.record_reload(&path.display().to_string(), taken).await;
                }
            }
        })
    }

    /// Takes over agents that another process, such as `toolgate agents add`, made, changed or removed.
    /// What is in the way of that is said once.
    pub fn watch_agents(&self) -> Watch {
        let gate = self.clone();
        Watch::new(async move {
            let (mut seen, mut said) = (None, None);
            loop {
                tokio::time::sleep(EVERY).await;
                let Ok((found, holds)) = gate.look_for_agents(seen).await else { continue };
                match holds {
                    // Somebody takes agents over right now; whether all of them is seen next time.
                    None => continue,
                    Some(true) => {}
                    Some(false) => {
                        let taking = gate.clone();
                        let taken = tokio::task::spawn_blocking(move || taking.reload_agents());
                        let Ok(taken) = taken.await else { continue };
                        let problem = taken.err().map(|error| error.to_string());
                        if let Some(problem) = problem.as_ref().filter(|_| problem != said) {
                            tracing::error!("the agents made here are not taken over: {problem}");
                        }
                        said = problem;
                    }
                }
                seen = Some(found);
            }
        })
    }

    /// The version of the database, and whether the agents in it are those that hold now.
    async fn look_for_agents(&self, seen: Option<i64>) -> Result<(i64, Option<bool>), ToolError> {
        let db = self.db().await?;
        let version = db.version()?;
        if seen == Some(version) {
            return Ok((version, Some(true)));
        }
        let found = db.agents(None).await?;
        let found = found.into_iter().map(|agent| (agent.id, agent.settings)).collect();
        Ok((version, self.gateway.has_stored(&found)))
    }

    /// Reads the file again if it is not as it was `seen`; gives how it was found, and what came of
    /// it.
    fn look(
        &self,
        path: &Path,
        seen: Option<Stamp>,
        load: &dyn Fn(&Path) -> Result<Loaded, ConfigError>,
    ) -> (Option<Stamp>, Option<Result<(), String>>) {
        let found = Stamp::of(path);
        if found == seen {
            return (seen, None);
        }
        let taken = self.take_over(path, load);
        if let Err(problem) = &taken {
            tracing::error!("the old configuration stays: {problem}");
        }
        (found, Some(taken))
    }

    fn take_over(
        &self,
        path: &Path,
        load: &dyn Fn(&Path) -> Result<Loaded, ConfigError>,
    ) -> Result<(), String> {
        let Loaded { config, warnings } = load(path).map_err(|error| error.to_string())?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        self.reload(config).map_err(|error| error.to_string())
    }
}
