//! What it costs to run a command, compared with a plain one: one interleaved run.

use std::{
    io,
    os::fd::AsFd,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use sandbox::{Changes, Job, Level, Sandbox, SandboxSettings, Source, Workspace};
use serde_json::json;
use store::{Db, Permission, PermissionState};
use tool::{CallIds, Live};
use toolgate::{Caller, Capability, Gate, builtin};
use world::SystemClock;

use super::{
    Row,
    measure::{Times, progress},
};
use crate::context;

const COMMAND: &str = "/bin/true";
const ROUNDS: usize = 200;
/// The first ones start what the others find waiting.
const WARM_UP: usize = 5;
/// As between two calls of an agent: whatever has to be made ready for the next one is.
const PAUSE: Duration = Duration::from_millis(2);

/// The ways to run a command, in the order in which they are tried each round.
pub(super) const NAMES: [&str; 5] =
    ["spawn.plain", "spawn.sandbox", "spawn.overlay", "spawn.bwrap", "spawn.exec"];

/// What bubblewrap is told, to make the same place as ours.
const BWRAP: &[&str] = &[
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/usr",
    "/usr",
    "--ro-bind",
    "/etc",
    "/etc",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/run",
];

/// A plain process, one in the sandbox with all limits, one on an overlay whose changes are looked
/// through, one in bubblewrap, and a whole call of `exec`.
pub(super) async fn all() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let data = folder.path().join("data");
    let builder = Gate::builder().data(&data).workspace(&workspace);
    let bench = Ways {
        sandbox: Sandbox::new(SandboxSettings::default()),
        gate: builder.tools(builtin()).build()?,
        ids: CallIds::new(Arc::new(SystemClock)),
        workspace: &workspace,
    };
    Db::open(&data).await?.set_permission(granted()).await?;
    let minimum = bench.sandbox.report().await?.level;
    let measured = bench.measure(minimum).await;
    bench.sandbox.shutdown().await;
    bench.gate.runner().shutdown().await;
    measured
}

/// Nobody is asked in a benchmark.
fn granted() -> Permission {
    Permission {
        user: "owner".to_owned(),
        agent: "bench".to_owned(),
        capability: Capability::Exec,
        state: PermissionState::Granted,
        by: "bench".to_owned(),
        at: context::now(),
    }
}

struct Ways<'a> {
    sandbox: Sandbox,
    gate: Gate,
    ids: CallIds,
    workspace: &'a Path,
}

impl Ways<'_> {
    async fn measure(&self, minimum: Level) -> Result<Vec<Row>> {
        let mut times = NAMES.map(|name| (name, Times::default()));
        let mut missing = None;
        let bar = progress("spawn.sandbox", (WARM_UP + ROUNDS) as u64);
        for round in 0..WARM_UP + ROUNDS {
            for (name, times) in &mut times {
                let start = Instant::now();
                match *name {
                    "spawn.plain" => plain()?,
                    "spawn.sandbox" => self.sandboxed(minimum).await?,
                    "spawn.overlay" => self.overlaid(minimum).await?,
                    "spawn.bwrap" => {
                        if let Err(error) = bubblewrap(self.workspace) {
                            missing = Some(format!("bwrap: {error}"));
                        }
                    }
                    _ => self.called().await?,
                }
                if round >= WARM_UP {
                    times.since(start);
                }
                tokio::time::sleep(PAUSE).await;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let mut rows: Vec<Row> = Vec::new();
        for (name, times) in times {
            let row = Row::new(name, times);
            rows.push(match rows.first() {
                None => row,
                Some(_) if name == "spawn.bwrap" && missing.is_some() => {
                    Row { note: missing.take(), ..row }
                }
                Some(plain) => row.against("spawn.plain", plain),
            });
        }
        Ok(rows)
    }

    async fn sandboxed(&self, minimum: Level) -> Result<()> {
        let source = Source::Path(self.workspace.to_owned());
        self.run(source, Changes::Direct, minimum).await
    }

    /// As `exec` does it: an overlay is made, used, looked through and removed.
    async fn overlaid(&self, minimum: Level) -> Result<()> {
        let overlay = self.gate.world().overlay(&Caller::owner("bench"), self.ids.next())?;
        let layers = Source::Fd(overlay.layers()?.try_clone()?);
        let source = Source::Fd(overlay.root_fd().as_fd().try_clone_to_owned()?);
        self.run(source, Changes::Overlay { layers }, minimum).await?;
        drop(overlay.collect(&Live::default())?);
        Ok(())
    }

    async fn run(&self, source: Source, mode: Changes, minimum: Level) -> Result<()> {
        let workspace = Workspace { source, target: self.workspace.to_owned(), mode };
        let job = Job { workspace: Some(workspace), minimum, ..Job::new([COMMAND]) };
        let exit = self.sandbox.start(job).await?.wait().await?;
        ensure!(exit.code == Some(0), "{exit:?}");
        Ok(())
    }

    /// Everything: the gate, the journal, a shell.
    async fn called(&self) -> Result<()> {
        let args = json!({"command": COMMAND});
        let outcome = self.gate.call(&Caller::owner("bench"), "exec", args).await;
        ensure!(outcome.status() == "success", "{outcome:?}");
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "what everything else is compared with")]
fn plain() -> io::Result<()> {
    Command::new(COMMAND).status().map(drop)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark runs the program it compares with")]
fn bubblewrap(workspace: &Path) -> io::Result<()> {
    let mut command = Command::new("bwrap");
    command.args(BWRAP).arg("--bind").args([workspace; 2]).arg(COMMAND);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}
