//! `toolgate doctor`.

mod finding;
mod isolation;
mod stored;

use std::{
    fs::File,
    io,
    net::TcpStream,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use agent::Models;
use anyhow::Result;
use clap::Args;
use config::{Agent, Config, ConfigError, Loaded};
use rustix::{
    fs::{Access, access},
    system::uname,
};
use serde_json::json;
use tempfile::TempDir;
use tool::Capabilities as _;
use toolgate::{BuildError, Caller, FilePath, Need};
use world::{SystemClock, World, WorldError, WorldSettings};

use self::{
    finding::{Finding, Level, ok, problem, warning},
    isolation::isolation,
    stored::{clock, database, folder, journal, space},
};
use super::serve::{listening, reachable};
use crate::{cli::Global, context, output};

/// A server on this machine answers at once, if it does.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// Check whether everything Toolgate needs is there, and say how to fix what is not.
///
/// Exit code 1 if something is broken.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Check for this agent.
    #[arg(long, value_name = "A", default_value = "main")]
    agent: String,
    /// Check this workspace instead of the agent's own.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print the checks as JSON.
    #[arg(long)]
    json: bool,
    /// Take the machine's clock for right first: after it was set back, or was years ahead.
    ///
    /// Deadlines go by the latest time that the data folder has seen. This makes the time of the machine that
    /// latest time, in every process. Tokens and grants that have expired since are valid again.
    #[arg(long)]
    accept_clock: bool,
}

impl Doctor {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        if self.accept_clock {
            context::person()?;
            if let Some(clock) = context::steady_clock() {
                clock.accept()?;
            }
        }
        let found = self.findings(global).await;
        let broken = found.iter().any(|finding| finding.level == Level::Problem);
        if self.json {
            output::json(&json!({"ok": !broken, "checks": found}))?;
        } else {
            for finding in &found {
                output::line(finding.shown());
            }
        }
        Ok(ExitCode::from(u8::from(broken)))
    }

    async fn findings(&self, global: &Global) -> Vec<Finding> {
        let (config, configuration) = configuration(global);
        let mut found = vec![version(), platform()];
        found.extend(configuration);
        match context::data(global) {
            Ok(data) => {
                let workspace = self.workspace(&config, &data);
                found.extend([folder(&data), space(&data), clock()]);
                found.extend(journal(&data));
                found.push(database(&data).await);
                found.extend(files(&data, &workspace));
            }
            Err(error) => found.push(problem("data folder", output::in_full(&error))),
        }
        found.push(server(global));
        found.push(model(&config, &self.agent));
        found.extend(isolation(&config).await);
        found.push(terminal());
        found
    }

    fn workspace(&self, config: &Config, data: &Path) -> PathBuf {
        let agent = config.agents.get(&self.agent).cloned().or_else(|| made(data, &self.agent));
        let configured = agent.and_then(|agent| agent.workspace).map(|folder| folder.value);
        self.workspace.clone().or(configured).unwrap_or_else(|| PathBuf::from("."))
    }
}

/// The agent, if it was made here. What is wrong with the database is found elsewhere.
fn made(data: &Path, id: &str) -> Option<Agent> {
    let made = store::stored_agents(data).ok()?;
    let (_, settings) = made.iter().find(|(known, _)| known == id)?;
    config::stored_agent(id, settings).ok()
}

fn version() -> Finding {
    ok("version", concat!("toolgate ", env!("CARGO_PKG_VERSION")))
}

fn platform() -> Finding {
    let system = uname();
    let parts = [system.sysname(), system.release(), system.machine()];
    let text = parts.map(|part| part.to_string_lossy().into_owned()).join(" ");
    if cfg!(target_os = "linux") {
        return ok("platform", text);
    }
    problem("platform", format!("{text}: file tools work on Linux only as yet"))
}

/// The configuration, as far as it can be read.
fn configuration(global: &Global) -> (Config, Vec<Finding>) {
    const NAME: &str = "configuration";
    let Some(path) = context::configuration_file(global) else {
        return (Config::default(), vec![ok(NAME, "no file; the defaults apply")]);
    };
    match config::load_with_warnings(&path) {
        Ok(Loaded { config, warnings }) => {
            let secrets = config::resolve_secrets(&config, config::environment).err();
            let mut found = unknown_names(&config, global);
            if found.is_empty() {
                found.push(ok(NAME, path.display().to_string()));
            }
            found.extend(warnings.iter().map(|one| warning(NAME, one.to_string())));
            found.extend(secrets.iter().flat_map(|error| problems("secrets", error)));
            (config, found)
        }
        Err(error) => (Config::default(), problems(NAME, &error)),
    }
}

/// Names in the configuration that do not exist, and other reasons for which no gate would start with it.
fn unknown_names(config: &Config, global: &Global) -> Vec<Finding> {
    const NAME: &str = "configuration";
    let Ok(data) = context::data(global) else { return Vec::new() };
    match toolgate::check_configuration(config, &data) {
        Ok(()) => Vec::new(),
        Err(BuildError::Config(error)) => problems(NAME, &error),
        Err(error) => vec![problem(NAME, error.to_string())],
    }
}

/// Every one of them, with file and line.
fn problems(name: &'static str, error: &ConfigError) -> Vec<Finding> {
    error.problems().iter().map(|one| problem(name, one.to_string())).collect()
}

/// Whether the kernel keeps paths beneath the workspace, and whether there is one.
fn files(data: &Path, workspace: &Path) -> Vec<Finding> {
    match look_around(data, workspace) {
        Ok(()) => {
            vec![ok("kernel", "openat2 keeps file tools in the workspace"), writable(workspace)]
        }
        Err(error) => {
            let found = error.downcast_ref::<WorldError>();
            let name = match found {
                Some(WorldError::Root { .. } | WorldError::RootInData { .. }) => "workspace",
                Some(WorldError::Data { source, .. })
                    if source.kind() != io::ErrorKind::Unsupported =>
                {
                    "data folder"
                }
                _ => "kernel",
            };
            let fix = match name {
                "workspace" => "name another with `--workspace DIR` or `agents.<id>.workspace`",
                "data folder" => "name another with `--data DIR` or `TOOLGATE_DATA`",
                _ => {
                    "file tools need openat2: Linux 5.6 or newer, and a sandbox that lets it through"
                }
            };
            vec![problem(name, output::in_full(&error)).fix(fix)]
        }
    }
}

fn look_around(data: &Path, workspace: &Path) -> Result<()> {
    // Looking must not make a data folder where there is none.
    let elsewhere = if data.exists() { None } else { Some(TempDir::new()?) };
    let data = elsewhere.as_ref().map_or(data, TempDir::path);
    let world = World::open(WorldSettings::new(data, workspace), Arc::new(SystemClock))?;
    world.disk(&Caller::owner("main"))?.look(&Need::Read(FilePath::root()))?;
    Ok(())
}

fn writable(workspace: &Path) -> Finding {
    const NAME: &str = "workspace";
    let shown = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let shown = shown.display();
    let folder = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    if context::is_broad(&folder) {
        let message =
            format!("{shown} is too much for an agent to work in, so calls are refused here");
        return warning(NAME, message)
            .fix("start in a folder of a project, or name one with `--workspace DIR`");
    }
    if access(workspace, Access::WRITE_OK).is_ok() {
        return ok(NAME, shown.to_string());
    }
    warning(NAME, format!("{shown} can be read, not written"))
}

/// Whether a server runs on this data folder.
fn server(global: &Global) -> Finding {
    const NAME: &str = "server";
    match listening(global).ok().flatten() {
        Some(address) if TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok() => {
            ok(NAME, format!("listens on {}", reachable(address)))
        }
        Some(address) => warning(NAME, format!("noted at {address}, and nothing answers there"))
            .fix("it may have been killed; `toolgate serve` starts it again"),
        None => ok(NAME, "none runs; `toolgate serve` starts one"),
    }
}

/// Which model answers.
fn model(config: &Config, agent: &str) -> Finding {
    const NAME: &str = "model";
    let Ok(secrets) = config::resolve_secrets(config, config::environment) else {
        return warning(NAME, "cannot be found out before the secrets are there");
    };
    let models = Models::new(config, config::environment, &secrets);
    match models.pick(config.agents.get(agent), None) {
        Ok(choice) if choice.is_demo() => warning(
            NAME,
            "the built-in demo, which only knows a few phrases",
        )
        .fix(
            "set a key such as `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, or name a provider in the \
                 configuration",
        ),
        Ok(choice) => ok(NAME, format!("{}/{}", choice.provider, choice.model)),
        Err(error) => problem(NAME, error.to_string()),
    }
}

fn terminal() -> Finding {
    const NAME: &str = "terminal";
    if File::open("/dev/tty").is_ok() {
        return ok(NAME, "you can be asked here");
    }
    warning(NAME, "there is none: what needs a person's answer is refused at once")
        .fix("call with `--wait 5m` and answer with `toolgate approvals` elsewhere")
}
