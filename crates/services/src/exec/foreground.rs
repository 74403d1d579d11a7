//! Commands that end with their call.

use std::time::Duration;

use sandbox::{Changes, EndedBy, Exit, Job, Process, Source};
use tokio::time::Instant;
use tool::{Captured, Ended, Place, Ran, Start, ToolError};
use world::{Committed, Copied, Overlay};

use super::{
    Runner,
    capture::Capture,
    egress,
    job::{Asked, Guards, Opened, job},
    keep::keep,
    pin,
    problem::not_started,
    watch::{Event, Watch},
};

pub(super) use super::watch::Stopped;

/// Partial results are sent at most this often.
const PACE: Duration = Duration::from_millis(100);
/// And at most so much of them at once, the newest.
const PIECE: usize = 8 * 1024;

/// Runs a command on an overlay, to its end, and commits what it changed.
pub(super) async fn run(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let output_bytes = runner.settings.load().output_bytes;
    let Ready { job, overlay, copies } = prepare(runner, start).await?;
    let mut process = runner.sandbox.start(job).await.map_err(not_started)?;
    drop(copies);
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let (ended, output) = attend(process, start, output_bytes).await?;
    let Committed { changed, mut notes } = keep(overlay, start, &ended).await?;
    notes.extend(egress::note(proxy.as_ref()));
    Ok(Ran { ended, output, place: Place::Sandbox, changed, notes })
}

/// A command that works on an overlay, about to start.
pub(super) struct Ready {
    pub(super) job: Job,
    pub(super) overlay: Overlay,
    /// Needed until it has started.
    pub(super) copies: Vec<Copied>,
}

/// Makes a command ready to start.
pub(super) async fn prepare(runner: &Runner, start: Start<'_>) -> Result<Ready, ToolError> {
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
        let mut job = job(&world, &settings, &asked, workspace)?;
        let copies = pin::mount(&world, &settings, &asked, &mut job)?;
        Ok(Ready { job, overlay, copies })
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
    let mut capture = Capture::new(output_bytes);
    let mut news = News::default();
    let mut watch = Watch::new(process, start.how.timeout);
    let cancelled = start.live.cancellation();
    loop {
        // What waits to be told is told also if nothing more is written. Nothing is lost by giving up
        // on `next`.
        let event = tokio::select! {
            biased;
            () = news.due() => {
                news.tell(start).await;
                continue;
            }
            event = watch.next(cancelled.cancelled()) => event,
        };
        match event {
            Event::Wrote(stream, bytes) => {
                capture.push(stream, bytes);
                news.add(bytes, start);
            }
            Event::Ending => {}
            Event::Ended => break,
        }
    }
    let (exit, stopped) = watch.end().await;
    let exit = exit.map_err(|_| ToolError::failed("the command could not be ended"))?;
    let exit = exit.map_err(not_started)?;
    start.live.check()?;
    Ok((ended(&exit, stopped), capture.done()))
}

/// What was written since somebody was told.
#[derive(Default)]
struct News {
    text: Vec<u8>,
    told: Option<Instant>,
}

impl News {
    fn add(&mut self, bytes: &[u8], start: Start<'_>) {
        if !start.updates.is_heard() {
            return;
        }
        self.text.extend_from_slice(bytes);
        if self.text.len() > PIECE {
            let excess = self.text.len() - PIECE;
            self.text.drain(..excess);
        }
    }

    /// Returns when something is to be told; never, if there is nothing.
    async fn due(&self) {
        if self.text.is_empty() {
            return std::future::pending().await;
        }
        if let Some(told) = self.told {
            tokio::time::sleep_until(told + PACE).await;
        }
    }

    async fn tell(&mut self, start: Start<'_>) {
        self.told = Some(Instant::now());
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.text)).into_owned();
        start.updates.send(&text).await;
    }
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
