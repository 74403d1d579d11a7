//! Commands that end with their call.

use std::sync::Arc;

use sandbox::{Changes, EndedBy, Exit, Job, Process, Source};
use tool::{Captured, Commit, Ended, Place, Ran, Start, ToolError};
use world::{Committed, Overlay};

use super::{
    Runner, egress,
    heard::Heard,
    job::{Asked, Guards, Opened, job},
    problem::not_started,
    watch::Watch,
};

pub(super) use super::watch::Stopped;

/// Runs a command on an overlay, to its end, and commits what it changed.
pub(super) async fn run(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let output_bytes = runner.settings.load().output_bytes;
    let (job, overlay) = prepare(runner, start).await?;
    let mut process = runner.sandbox.start(job).await.map_err(not_started)?;
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let (ended, output) = attend(process, start, output_bytes).await?;
    let committed = finish(overlay, start, &ended).await?;
    let Committed { changed, mut notes } = committed;
    notes.extend(egress::note(proxy.as_ref()));
    Ok(Ran { ended, output, place: Place::Sandbox, changed, notes })
}

/// The job of a command that works on an overlay.
pub(super) async fn prepare(
    runner: &Runner,
    start: Start<'_>,
) -> Result<(Job, Overlay), ToolError> {
    let (settings, world) = (runner.settings.load_full(), runner.world.clone());
    let (call, asked) = (start.call, Asked::from(start));
    let prepare = move || {
        let overlay = world.overlay(&asked.caller, call)?;
        let layers = overlay.layers()?.try_clone().map_err(ToolError::internal)?;
        let workspace = Opened {
            root: overlay.root_fd().try_clone_to_owned().map_err(ToolError::internal)?,
            path: overlay.root().to_owned(),
            changes: Changes::Overlay { layers: Source::Fd(layers) },
            // What is protected elsewhere in it is left out when the changes are kept.
            guards: Guards { read_only: world.protected(&asked.caller), ..Guards::default() },
        };
        let job = job(&world, &settings, &asked, workspace)?;
        Ok((job, overlay))
    };
    tokio::task::spawn_blocking(prepare).await.map_err(ToolError::internal)?
}

/// Reads what the command writes until it has ended, or ends it.
pub(super) async fn attend(
    mut process: Process,
    start: Start<'_>,
    output_bytes: usize,
) -> Result<(Ended, Captured), ToolError> {
    drop(process.take_stdin());
    let mut heard = Heard::new(output_bytes);
    let mut watch = Watch::new(process, start.how.timeout);
    heard.listen(&mut watch, start).await;
    let (exit, stopped) = watch.end().await;
    let exit = exit.map_err(|_| ToolError::failed("the command could not be ended"))?;
    let exit = exit.map_err(not_started)?;
    start.live.check()?;
    Ok((ended(&exit, stopped), heard.done()))
}

/// How a command ended, in the words of an outcome.
pub(super) fn ended(exit: &Exit, stopped: Stopped) -> Ended {
    let killed_for = match (stopped, exit.ended_by) {
        (Stopped::TimedOut, _) => Some("timeout"),
        (Stopped::Cancelled, _) => Some("cancelled"),
        (Stopped::No, EndedBy::Memory) => Some("memory"),
        (Stopped::No, EndedBy::Written) => Some("written"),
        (Stopped::No, EndedBy::Killed) => Some("killed"),
        (Stopped::No, EndedBy::Itself) => None,
    };
    Ended {
        exit_code: exit.code,
        signal: exit.signal,
        timed_out: stopped == Stopped::TimedOut,
        killed_for: killed_for.map(str::to_owned),
        took: exit.wall,
        cpu: exit.cpu,
        max_rss_bytes: exit.max_rss_bytes,
    }
}

/// Commits what the command changed, unless it did not end by itself.
async fn finish(overlay: Overlay, start: Start<'_>, ended: &Ended) -> Result<Committed, ToolError> {
    if let Some(why) = &ended.killed_for {
        let note = format!("the command was ended ({why}), so its changes were dropped");
        return Ok(Committed { changed: Vec::new(), notes: vec![note] });
    }
    let (call, live, log) = (start.call, start.live.clone(), Arc::clone(start.log));
    let commit = move || overlay.commit(Commit { call, live: &live, log: log.as_ref() });
    tokio::task::spawn_blocking(commit).await.map_err(ToolError::internal)?
}
