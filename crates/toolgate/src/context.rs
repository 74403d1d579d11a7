//! What commands work with.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use anyhow::{Context as _, Result};
use config::Config;
use store::{Db, Journal};
use toolgate::{Approver, Caller, Clock as _, Gate, GateBuilder, builtin};
use world::SystemClock;

use crate::cli::{Global, Identity};

/// The configuration: the file that was named, the user's own if there is one, else the defaults.
pub(crate) fn configuration(global: &Global) -> Result<Config> {
    match &global.config {
        Some(path) => Ok(config::load(path)?),
        None => match config::paths().config.filter(|path| path.exists()) {
            Some(path) => Ok(config::load(&path)?),
            None => Ok(Config::default()),
        },
    }
}

/// The data folder.
pub(crate) fn data(global: &Global) -> Result<PathBuf> {
    let data = global.data.clone().or_else(|| config::paths().data);
    data.context("no folder for data: use `--data DIR`, or set `TOOLGATE_DATA` or `HOME`")
}

/// The configuration, with the workspace a command was given.
pub(crate) fn configuration_for(global: &Global, identity: &Identity) -> Result<Config> {
    let mut config = configuration(global)?;
    let Identity { agent, workspace, .. } = identity;
    if let Some(workspace) = workspace {
        config.agents.entry(agent.clone()).or_default().workspace = Some(workspace.clone().into());
    }
    Ok(config)
}

/// A gate with the built-in tools.
pub(crate) fn gate(
    global: &Global,
    config: Config,
    approver: Option<Arc<dyn Approver>>,
) -> Result<Gate> {
    let builder = builder(global, config)?;
    let builder = approver.into_iter().fold(builder, GateBuilder::approver);
    Ok(builder.build()?)
}

/// A gate to look at: it records nothing, and leaves what dead processes left as it is.
pub(crate) fn idle_gate(global: &Global, config: Config) -> Result<Gate> {
    Ok(builder(global, config)?.journal(Journal::null()).build()?)
}

fn builder(global: &Global, config: Config) -> Result<GateBuilder> {
    Ok(Gate::builder().tools(builtin()).config(config).data(data(global)?))
}

/// Only the journal, for commands that look at the past.
pub(crate) fn journal(global: &Global) -> Result<Journal> {
    Ok(Journal::open(&data(global)?, Arc::new(SystemClock))?)
}

/// Only the database.
pub(crate) async fn db(global: &Global) -> Result<Db> {
    Ok(Db::open(&data(global)?).await?)
}

/// The time.
pub(crate) fn now() -> SystemTime {
    SystemClock.now()
}

/// On the command line whoever owns the data folder is the owner, and may act as others.
pub(crate) fn caller(identity: &Identity) -> Caller {
    let caller = match &identity.user {
        Some(user) => Caller::member(user, &identity.agent),
        None => Caller::owner(&identity.agent),
    };
    Caller { session: identity.session.as_str().into(), ..caller }
}
