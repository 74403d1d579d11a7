//! What a command sees and may use.

use std::{
    collections::BTreeSet,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use sandbox::{Access, Bind, Changes, Home, Job, Network, Scratch, Source, Stdio, Workspace};
use tool::{Caller, How, Pinned, Reach, Run, Start, Terminal, ToolError};
use world::World;

use super::{
    environment::{HOME, Ingredients, PROXY_PORT, environment},
    identity::author,
    reachable::reachable,
    settings::RunSettings,
    toolchains::{self, Found},
    workdir::workdir,
};

/// The size of a terminal nobody looks at.
const SIZE: (u16, u16) = (40, 120);

/// The folder a command works on, opened.
pub(super) struct Opened {
    pub(super) root: OwnedFd,
    pub(super) path: PathBuf,
    pub(super) changes: Changes,
    /// What is to be kept from the command although it lies in there.
    pub(super) guards: Guards,
}

/// Paths in a workspace that must not change, come into being, or be seen.
#[derive(Default)]
pub(super) struct Guards {
    pub(super) read_only: Vec<PathBuf>,
    pub(super) absent: Vec<PathBuf>,
    pub(super) masked: Vec<PathBuf>,
}

/// What of a [`Start`] a job depends on.
pub(super) struct Asked {
    pub(super) run: Run,
    pub(super) how: How,
    pub(super) caller: Caller,
    /// What it depended on when a person agreed to it.
    pub(super) pinned: Option<Arc<Pinned>>,
}

impl From<Start<'_>> for Asked {
    fn from(Start { run, how, caller, pinned, .. }: Start<'_>) -> Self {
        Self { run: run.clone(), how, caller: caller.clone(), pinned: pinned.cloned() }
    }
}

/// Puts the job of a command together. May block.
pub(super) fn job(
    world: &World,
    settings: &RunSettings,
    asked: &Asked,
    workspace: Opened,
) -> Result<Job, ToolError> {
    let Asked { run, how, caller, pinned: _ } = asked;
    let home = config::environment("HOME").map(PathBuf::from).unwrap_or_default();
    let toolchains = toolchains::find(&home, &workspace.path);
    let shell = shell();
    let env = environment(&Ingredients {
        run,
        terminal: how.terminal,
        toolchains: &toolchains,
        author: &author(&home),
        passed: &settings.env,
        shell,
    });
    let temp = world.temp_folder(caller)?;
    let own_home = temp.join(".home");
    std::fs::create_dir_all(&own_home).map_err(ToolError::internal)?;
    let Guards { read_only, absent, mut masked } = workspace.guards;
    masked.push(world.hidden()?);
    let mut readable = world.roots();
    readable.extend(settings.read.iter().cloned());
    masked.extend(toolchains.secret.iter().cloned());
    Ok(Job {
        cwd: workdir(world, caller, run)?,
        env,
        binds: binds(&toolchains, &readable, &workspace.path),
        workspace: Some(Workspace {
            source: Source::Fd(workspace.root),
            target: workspace.path,
            mode: workspace.changes,
        }),
        read_only,
        masked,
        absent,
        temp: Scratch::Folder(Source::Path(temp)),
        home: Some(Home { target: HOME.into(), scratch: Scratch::Folder(Source::Path(own_home)) }),
        network: network(run),
        limits: settings.limits.clone(),
        stdio: stdio(*how),
        minimum: settings.minimum,
        ..Job::new([shell, "-c", &run.command])
    })
}

/// The shell that people expect, or the one that is always there.
pub(super) fn shell() -> &'static str {
    if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" }
}

const fn network(run: &Run) -> Network {
    match run.reach {
        Reach::Nobody => Network::None,
        Reach::Hosts(_) => Network::Proxied { port: PROXY_PORT },
        Reach::Everybody => Network::Host,
    }
}

pub(super) const fn stdio(how: How) -> Stdio {
    match how.terminal {
        Terminal::Yes => Stdio::Pty { rows: SIZE.0, cols: SIZE.1 },
        Terminal::No => Stdio::Piped,
    }
}

/// Folders of the host that commands can read.
fn binds(toolchains: &Found, configured: &[PathBuf], workspace: &Path) -> Vec<Bind> {
    let bind =
        |path: PathBuf, access| Bind { source: Source::Path(path.clone()), target: path, access };
    let known = toolchains.folders.iter();
    let toolchains = known.clone().map(|path| bind(path.clone(), Access::ReadOnly));
    // The workspace is not to be seen twice.
    let apart = |path: &PathBuf| {
        let is_known = known.clone().any(|known| path.starts_with(known));
        !is_known && !workspace.starts_with(path)
    };
    let configured: BTreeSet<_> =
        configured.iter().filter_map(|path| reachable(path, workspace)).filter(apart).collect();
    // Anybody may listen on a socket there.
    let configured = configured.into_iter().map(|path| bind(path, Access::ReadOnlyWithoutSockets));
    toolchains.chain(configured).collect()
}
