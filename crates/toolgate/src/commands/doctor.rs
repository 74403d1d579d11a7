//! `toolgate doctor`.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result};
use clap::Args;
use config::{Config, ConfigError};
use rustix::{
    fs::{Access, access, statvfs},
    process::geteuid,
    system::uname,
};
use serde::Serialize;
use serde_json::json;
use store::{Db, Journal};
use tempfile::TempDir;
use tool::Capabilities as _;
use toolgate::{Caller, FilePath, Need};
use world::{SystemClock, World, WorldError, WorldSettings};

use super::audit;
use crate::{
    cli::Global,
    context,
    output::{self, Colour},
    terminal::visible,
};

/// A longer journal is not verified here, because that takes long.
const QUICK_RECORDS: u64 = 20_000;
/// Less free space than this is little.
const LITTLE_BYTES: u64 = 1_000_000_000;
/// Less than this, and calls begin to fail.
const FULL_BYTES: u64 = 20_000_000;

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
}

impl Doctor {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
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
        let workspace = self.workspace(&config);
        match context::data(global) {
            Ok(data) => {
                found.extend([folder(&data), space(&data)]);
                found.extend(journal(&data));
                found.push(database(&data).await);
                found.extend(files(&data, &workspace));
            }
            Err(error) => found.push(problem("data folder", output::in_full(&error))),
        }
        found.push(terminal());
        found
    }

    fn workspace(&self, config: &Config) -> PathBuf {
        let configured = config.agents.get(&self.agent).and_then(|agent| agent.workspace.as_ref());
        let configured = configured.map(|workspace| workspace.value.clone());
        self.workspace.clone().or(configured).unwrap_or_else(|| PathBuf::from("."))
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Ok,
    Warning,
    Problem,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct Finding {
    name: &'static str,
    #[serde(rename = "status")]
    level: Level,
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Finding {
    fn new(level: Level, name: &'static str, message: impl Into<String>) -> Self {
        Self { name, level, message: message.into(), fix: None }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    fn shown(&self) -> String {
        let Self { name, level, message, fix } = self;
        let (word, colour) = match level {
            Level::Ok => ("ok", Colour::Green),
            Level::Warning => ("warning", Colour::Yellow),
            Level::Problem => ("problem", Colour::Red),
        };
        let word = output::coloured(&format!("{word:<8}"), colour);
        let fix = fix.as_ref().map(|fix| format!("; {}", visible(fix))).unwrap_or_default();
        format!("{word} {name:<14} {}{fix}", visible(message))
    }
}

fn ok(name: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Ok, name, message)
}

fn warning(name: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Warning, name, message)
}

fn problem(name: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Problem, name, message)
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
    let default = || config::paths().config.filter(|path| path.exists());
    let Some(path) = global.config.clone().or_else(default) else {
        return (Config::default(), vec![ok(NAME, "no file; the defaults apply")]);
    };
    match config::load(&path) {
        Ok(config) => {
            let secrets = config::resolve_secrets(&config, config::environment).err();
            let mut found = vec![ok(NAME, path.display().to_string())];
            found.extend(secrets.iter().flat_map(|error| problems("secrets", error)));
            (config, found)
        }
        Err(error) => (Config::default(), problems(NAME, &error)),
    }
}

/// Every one of them, with file and line.
fn problems(name: &'static str, error: &ConfigError) -> Vec<Finding> {
    error.problems().iter().map(|one| problem(name, one.to_string())).collect()
}

fn folder(data: &Path) -> Finding {
    const NAME: &str = "data folder";
    let shown = data.display();
    match data.metadata() {
        Ok(folder) => folder_mode(data, &folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match access(existing(data), Access::WRITE_OK) {
                Ok(()) => ok(NAME, format!("{shown} is not there yet; the first call makes it")),
                Err(_) => problem(NAME, format!("{shown} is not there and cannot be made"))
                    .fix("name another with `--data DIR` or `TOOLGATE_DATA`"),
            }
        }
        Err(error) => problem(NAME, format!("{shown} cannot be used: {error}")),
    }
}

fn folder_mode(data: &Path, folder: &Metadata) -> Finding {
    const NAME: &str = "data folder";
    let (shown, mode) = (data.display(), folder.mode() & 0o777);
    if !folder.is_dir() {
        return problem(NAME, format!("{shown} is not a folder"));
    }
    if folder.uid() != geteuid().as_raw() {
        return problem(NAME, format!("{shown} belongs to user {}", folder.uid()))
            .fix("name one of your own with `--data DIR` or `TOOLGATE_DATA`");
    }
    if mode & 0o077 != 0 {
        return warning(NAME, format!("{shown} is open to others (mode {mode:o})"))
            .fix(format!("run `chmod 700 '{shown}'`"));
    }
    ok(NAME, format!("{shown}, for its owner only"))
}

/// The nearest folder above that is there.
fn existing(path: &Path) -> &Path {
    let above = path.ancestors().filter(|above| *above != Path::new(""));
    above.into_iter().find(|above| above.exists()).unwrap_or(Path::new("."))
}

fn space(data: &Path) -> Finding {
    const NAME: &str = "disk space";
    let free = match statvfs(existing(data)) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => return warning(NAME, format!("cannot be found out: {error}")),
    };
    let text = format!("{} free for the data folder", in_units(free));
    let fix = "free some, or name a folder on another disk with `--data DIR`";
    match free {
        0..FULL_BYTES => problem(NAME, text).fix(fix),
        FULL_BYTES..LITTLE_BYTES => warning(NAME, text).fix(fix),
        LITTLE_BYTES.. => ok(NAME, text),
    }
}

fn in_units(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        1_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
    }
}

fn journal(data: &Path) -> Vec<Finding> {
    const NAME: &str = "journal";
    if !data.join("journal.db").exists() {
        return vec![ok(NAME, "nothing is recorded yet")];
    }
    let found = Journal::open(data, Arc::new(SystemClock)).context("cannot be opened");
    match found.and_then(|journal| Ok(vec![records(&journal)?, abandoned(&journal)?])) {
        Ok(found) => found,
        Err(error) => vec![
            problem(NAME, output::in_full(&error))
                .fix("keep it for later and begin a new one: move `journal.db*` elsewhere"),
        ],
    }
}

fn records(journal: &Journal) -> Result<Finding> {
    const NAME: &str = "journal";
    let records = journal.checkpoint()?.seq;
    if records > QUICK_RECORDS {
        let text = format!("opens; {records} records, `toolgate audit verify` checks them all");
        return Ok(ok(NAME, text));
    }
    let found = journal.verify(None)?;
    let text = audit::in_words(&found);
    Ok(if found.ok { ok(NAME, text) } else { problem(NAME, text).fix("somebody changed it") })
}

fn abandoned(journal: &Journal) -> Result<Finding> {
    const NAME: &str = "dead processes";
    let calls: usize = journal.abandoned()?.iter().map(|writer| writer.calls.len()).sum();
    Ok(match calls {
        0 => ok(NAME, "none left a call open"),
        calls => {
            warning(NAME, format!("{calls} calls were interrupted and wait to be put in order"))
                .fix("any call does it, such as `toolgate call get_current_time`")
        }
    })
}

async fn database(data: &Path) -> Finding {
    const NAME: &str = "database";
    if !data.join("toolgate.db").exists() {
        return ok(NAME, "nobody has been asked yet");
    }
    let read = async { Db::open(data).await?.permissions(None).await };
    match read.await.context("cannot be used") {
        Ok(_) => ok(NAME, "opens"),
        Err(error) => problem(NAME, output::in_full(&error))
            .fix("move `toolgate.db*` elsewhere; remembered answers and permissions are then gone"),
    }
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
    if access(workspace, Access::WRITE_OK).is_ok() {
        return ok(NAME, shown.to_string());
    }
    warning(NAME, format!("{shown} can be read, not written"))
}

fn terminal() -> Finding {
    const NAME: &str = "terminal";
    if File::open("/dev/tty").is_ok() {
        return ok(NAME, "you can be asked here");
    }
    warning(NAME, "there is none: what needs a person's answer is refused at once")
        .fix("call with `--wait 5m` and answer with `toolgate approvals` elsewhere")
}
