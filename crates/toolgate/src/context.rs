//! What commands work with.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use agent::{MAIN, has_agent};
use anyhow::{Context as _, Error, Result, anyhow, bail};
use config::{Agent, Config, Loaded};
use store::{Db, Journal, OWNER, SteadyClock, User, UserError};
use toolgate::{Approver, Caller, Clock, Format, Gate, GateBuilder, builtin};
use world::SystemClock;

use crate::{
    cli::{Global, Identity},
    output,
    visible::visible,
};

/// The configuration: the file that was named, the user's own if there is one, else the defaults.
pub(crate) fn configuration(global: &Global) -> Result<Config> {
    let Some(path) = configuration_file(global) else { return Ok(Config::default()) };
    let Loaded { config, warnings } = config::load_with_warnings(&path)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(config)
}

/// The same, refused if it names a tool, user, agent or provider that does not exist. For commands that decide by
/// it without a gate, which does that by itself.
pub(crate) fn checked_configuration(global: &Global) -> Result<Config> {
    let config = configuration(global)?;
    toolgate::check_configuration(&config, &data(global)?)?;
    Ok(config)
}

/// The file that was named, or the user's own: TOML, or JSON5 if there is no TOML.
pub(crate) fn configuration_file(global: &Global) -> Option<PathBuf> {
    global.config.clone().or_else(|| {
        let toml = config::paths().config?;
        let json5 = toml.with_extension("json5");
        [toml, json5].into_iter().find(|path| path.exists())
    })
}

/// The same, or where the user's own would be.
pub(crate) fn configuration_place(global: &Global) -> Option<PathBuf> {
    configuration_file(global).or_else(|| config::paths().config)
}

/// Refuses inside a command of an agent: nobody answers their own questions.
pub(crate) fn person() -> Result<()> {
    if sandbox::descends_from_command() {
        bail!(
            "this runs inside a command of an agent, which can answer and grant nothing; use a \
             terminal of your own"
        );
    }
    Ok(())
}

/// The format that `name` means: that of a provider in the configuration, or one of ours.
pub(crate) fn format(config: &Config, name: &str) -> Result<Format> {
    let custom = config.providers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    match custom.map(|(_, provider)| &provider.format) {
        Some(Some(format)) => Ok(format.value),
        Some(None) => name
            .parse()
            .map_err(|_: String| anyhow!("provider `{name}` has no `format` in the configuration")),
        None => name.parse().map_err(|problem: String| anyhow!(problem)),
    }
}

/// The data folder.
pub(crate) fn data(global: &Global) -> Result<PathBuf> {
    let data = global.data.clone().or_else(|| config::paths().data);
    data.context("no folder for data: use `--data DIR`, or set `TOOLGATE_DATA` or `HOME`")
}

/// The configuration, with the workspace a command was given.
pub(crate) fn configuration_for(global: &Global, identity: &Identity) -> Result<Config> {
    Ok(within(configuration(global)?, identity))
}

/// With the workspace a command was given.
fn within(mut config: Config, identity: &Identity) -> Config {
    let Identity { agent, workspace, .. } = identity;
    if let Some(workspace) = workspace {
        config.workspaces.insert(agent.clone(), workspace.clone());
    }
    config
}

/// With what else a command that may wait for a person was given: how long a question is left open.
pub(crate) fn adapted(config: Config, identity: &Identity, wait: Option<Duration>) -> Config {
    let mut config = within(config, identity);
    if let Some(wait) = wait {
        config.limits.approval_timeout = wait.into();
    }
    config
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

/// The same for one agent, who must be there.
pub(crate) fn gate_as(
    global: &Global,
    config: Config,
    agent: &str,
    approver: Option<Arc<dyn Approver>>,
) -> Result<Gate> {
    check_agent(global, &config, agent)?;
    with_agent(gate(global, config, approver)?, agent)
}

/// The gate, if it has the agent.
fn with_agent(gate: Gate, agent: &str) -> Result<Gate> {
    if !has_agent(&gate.config(), agent) {
        let agent = visible(agent);
        bail!("agent `{agent}` is left out, as the warning says, so nobody can act as it");
    }
    Ok(gate)
}

/// A gate to look at: it records nothing, and leaves what dead processes left as it is.
pub(crate) fn idle_gate(global: &Global, config: Config) -> Result<Gate> {
    Ok(builder(global, config)?.journal(Journal::null()).build()?)
}

/// The same for one agent, who must be there.
pub(crate) fn idle_gate_as(global: &Global, config: Config, agent: &str) -> Result<Gate> {
    check_agent(global, &config, agent)?;
    with_agent(idle_gate(global, config)?, agent)
}

/// What every gate of a command is put together from.
pub(crate) fn builder(global: &Global, config: Config) -> Result<GateBuilder> {
    let builder = Gate::builder().tools(builtin()).config(config).data(data(global)?);
    Ok(configuration_place(global).into_iter().fold(builder, GateBuilder::configuration_file))
}

/// Only the journal, for commands that look at the past.
pub(crate) fn journal(global: &Global) -> Result<Journal> {
    Ok(Journal::inspect(&data(global)?, clock())?)
}

/// Only the database.
pub(crate) async fn db(global: &Global) -> Result<Db> {
    Ok(Db::open(&data(global)?).await?)
}

/// The clock of this process: the one of the data folder that [`use_clock_of`] named.
pub(crate) fn clock() -> Arc<dyn Clock> {
    CLOCK.get().map_or_else(|| Arc::new(SystemClock) as _, |clock| clock.clone() as _)
}

/// The same, to look how it stands to the machine's.
pub(crate) fn steady_clock() -> Option<&'static Arc<SteadyClock>> {
    CLOCK.get()
}

/// Takes the time from the clock of the data folder, which never goes back. A process has one data folder.
pub(crate) fn use_clock_of(global: &Global) {
    // A folder that is not there yet has seen no time, and must not come into being by a look.
    if let Ok(data) = data(global)
        && data.is_dir()
    {
        let _ = CLOCK.set(Arc::new(SteadyClock::open(&data, Arc::new(SystemClock))));
    }
}

static CLOCK: OnceLock<Arc<SteadyClock>> = OnceLock::new();

/// The time.
pub(crate) fn now() -> SystemTime {
    clock().now()
}

/// The user with this id, also one who was removed.
pub(crate) async fn user(db: &Db, id: &str) -> Result<User> {
    if let Some(user) = db.user(id).await? {
        return Ok(user);
    }
    let known = db.users().await?;
    let near = tool::nearest(id, known.iter().map(|user| user.id.as_str())).map(str::to_owned);
    Err(UserError::Unknown { id: visible(id), near }.into())
}

/// Refuses to act for somebody who is not there: what was done would be nobody's, or of somebody else whose id
/// differs by a letter.
pub(crate) async fn check_user(global: &Global, identity: &Identity) -> Result<()> {
    let Some(id) = identity.user.as_deref() else { return Ok(()) };
    let user = user(&db(global).await?, id).await?;
    if !user.is_there() {
        return Err(UserError::Removed(visible(&user.id)).into());
    }
    Ok(())
}

/// Refuses an agent that nobody knows: it would have the rules of no agent, so a slip of the pen would loosen
/// them.
pub(crate) fn check_agent(global: &Global, config: &Config, id: &str) -> Result<()> {
    if has_agent(config, id) {
        return Ok(());
    }
    let made = store::stored_agents(&data(global)?)?;
    if made.iter().any(|(known, _)| known == id) {
        return Ok(());
    }
    let known = config.agents.keys().chain(made.iter().map(|(known, _)| known));
    Err(no_agent(id, known.map(String::as_str).chain([MAIN])))
}

/// The folder of an agent, if it has one of its own.
pub(crate) fn folder_of(global: &Global, config: &Config, id: &str) -> Result<Option<PathBuf>> {
    check_agent(global, config, id)?;
    let folder = |agent: &Agent| agent.workspace.as_ref().map(|folder| folder.value.clone());
    if let Some(agent) = config.agents.get(id) {
        return Ok(folder(agent));
    }
    let made = store::stored_agents(&data(global)?)?;
    let made = made.iter().find(|(known, _)| known == id);
    let made = made.and_then(|(id, settings)| config::stored_agent(id, settings).ok());
    Ok(made.as_ref().and_then(folder))
}

/// The folder that an agent works in: the one that was named, its own, or the current one. The current one, and one that
/// was named, must not be a whole disk or a whole home unless `--allow-broad-workspace` says so: programs are started in
/// all sorts of places, and no agent should get everything because of that.
pub(crate) fn workspace(global: &Global, config: &Config, identity: &Identity) -> Result<PathBuf> {
    let named = identity.workspace.clone();
    let own = match &named {
        Some(_) => None,
        None => folder_of(global, config, &identity.agent)?,
    };
    if let Some(own) = own {
        return Ok(own);
    }
    let folder = named.unwrap_or_else(|| PathBuf::from("."));
    let folder = folder.canonicalize().unwrap_or(folder);
    if !identity.allow_broad_workspace && is_broad(&folder) {
        bail!(
            "`{}` is too much for an agent to work in; start in a folder of a project, or name one with \
             `--workspace DIR` or in `agents.{}.workspace` (`--allow-broad-workspace` works here all the same)",
            folder.display(),
            identity.agent,
        );
    }
    Ok(folder)
}

/// Whether a folder is a whole disk, a whole home, or what holds one.
pub(crate) fn is_broad(folder: &Path) -> bool {
    let home = config::environment("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    folder == Path::new("/") || home.is_some_and(|home| home.starts_with(folder))
}

/// That there is no such agent, and which one may be meant.
pub(crate) fn no_agent<'a>(id: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let near = tool::nearest(id, known).map(|near| format!("did you mean `{near}`?"));
    let hint = near.unwrap_or_else(|| "`toolgate agents list` shows them".to_owned());
    anyhow!("there is no agent `{}`; {hint}", visible(id))
}

/// On the command line whoever owns the data folder is the owner, and may act as others.
pub(crate) fn caller(identity: &Identity) -> Caller {
    let caller = match identity.user.as_deref() {
        None | Some(OWNER) => Caller::owner(&identity.agent),
        Some(user) => Caller::member(user, &identity.agent),
    };
    Caller {
        session: identity.session.as_str().into(),
        sender: identity.sender.as_deref().map(Into::into),
        channel: identity.channel.as_deref().map(Into::into),
        ..caller
    }
}

/// Says on stderr, once, that commands are not fully isolated here, and what helps.
pub(crate) fn announce_isolation(runner: &services::Runner) {
    if let Some(announcement) = runner.announcement() {
        output::note(format_args!("toolgate: {}", visible(&announcement)));
    }
}
