//! Commands that end with their call.

use sandbox::{Changes, EndedBy, Exit, Job, Process, Source};
use tool::{Captured, Ended, Place, Ran, Start, ToolError};
use world::{Committed, Copied, Overlay};

use super::{
    Runner, blocking, egress,
    heard::Heard,
    job::{Asked, Guards, Opened, job},
    keep::keep,
    pin,
    problem::not_started,
    refusals::Refusals,
    watch::Watch,
};

pub(super) use super::watch::Stopped;

/// Runs a command on an overlay, to its end, and commits what it changed.
pub(super) async fn run(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let output_bytes = runner.settings.load().output_bytes;
    let Ready { job, overlay, copies } = prepare(runner, start, OverlayLifetime::Call).await?;
    let refusals = Refusals { root: overlay.root().to_owned(), guarded: job.read_only.clone() };
    let max_file_bytes = job.limits.file_bytes;
    let mut process = runner.sandbox.start(job).await.map_err(not_started)?;
    drop(copies);
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let (mut ended, output) = attend(process, start, output_bytes).await?;
    let emptied = runner.session_temp(start.caller).settle(&ended).await;
    let kept = keep(overlay, start, &mut ended, max_file_bytes).await?;
    let Committed { changed, mut notes } = kept;
    notes.extend(egress::note(proxy.as_ref()));
    notes.extend(refusals.notes(&output));
    notes.extend(emptied);
    Ok(Ran { ended, output, place: Place::Sandbox, changed, notes })
}

/// A command that works on an overlay, about to start.
pub(super) struct Ready {
    pub(super) job: Job,
    pub(super) overlay: Overlay,
    /// Needed until it has started.
    pub(super) copies: Vec<Copied>,
}

/// How long the changes of a command stay apart from the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverlayLifetime {
    /// Until its call has ended, however it ends.
    Call,
    /// Until a person has decided about them.
    Review,
}

/// Makes a command ready to start.
pub(super) async fn prepare(
    runner: &Runner,
    start: Start<'_>,
    lifetime: OverlayLifetime,
) -> Result<Ready, ToolError> {
    let (settings, world) = (runner.settings.load_full(), runner.world.clone());
    let (call, asked) = (start.call, Asked::from(start));
    let prepare = move || {
        let overlay = match lifetime {
            OverlayLifetime::Call => world.overlay(&asked.caller, call)?,
            OverlayLifetime::Review => {
                world.overlay_to_review(&asked.caller, call, &asked.run.command)?
            }
        };
        let layers = overlay.layers()?.try_clone().map_err(ToolError::internal)?;
        let workspace = Opened {
            root: overlay.root_fd().try_clone_to_owned().map_err(ToolError::internal)?,
            path: overlay.root().to_owned(),
            changes: Changes::Overlay { layers: Source::Fd(layers) },
            // What is protected elsewhere in it is left out when the changes are kept.
            guards: Guards { read_only: world.protected(&asked.caller), ..Guards::default() },
        };
        let mut job = job(&world, &settings, &asked, workspace)?;
        let copies = pin::mount(&world, &settings, &asked, &mut job)?;
        Ok(Ready { job, overlay, copies })
    };
    blocking(prepare).await
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
        (Stopped::No, EndedBy::Processes) => Some("processes"),
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
