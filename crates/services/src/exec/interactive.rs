//! Commands at the terminal of the person who started us.

use std::{
    io::{self, IsTerminal},
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags},
    termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr},
};
use sandbox::{Exit, Input, Output, Process, Stdio};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, unix::AsyncFd},
    signal::unix::{SignalKind, signal},
};
use tool::{CallId, Captured, Ended, IsolationLevel, Live, Place, Ran, Start, ToolError};
use world::Committed;

use super::{
    Runner, blocking,
    direct::{self, DirectReady},
    egress,
    foreground::{OverlayLifetime, Ready, Stopped, ended, prepare},
    keep::keep,
    problem::not_started,
};

/// Runs a command that changes the workspace itself, with the person's terminal.
pub(super) async fn direct(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let DirectReady { mut job, fence, copies } = direct::prepare(runner, start).await?;
    job.stdio = stdio().map_err(ToolError::internal)?;
    let mut process = runner.sandbox.start(job).await.map_err(not_started)?;
    drop(copies);
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let exit = attend(&mut process, start.live).await?;
    let ended = ended(&exit, Stopped::No);
    let mut notes = direct::notes(runner, fence).await;
    notes.extend(egress::note(proxy.as_ref()));
    let (output, changed) = (Captured::default(), Vec::new());
    Ok(Ran { ended, output, place: Place::Sandbox, changed, notes })
}

/// Runs a command on an overlay with the person's terminal.
pub(super) async fn interact(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let isolation = runner.isolation();
    if let Some(isolation) = isolation.filter(|it| it.level == IsolationLevel::Reduced) {
        let reason = format!(
            "this machine has no overlay ({}), so the program would change the workspace itself, and \
             nothing could be dropped or undone; with `--no-overlay` it does. `toolgate doctor` says \
             how to get one",
            isolation.mode
        );
        return Err(ToolError::denied("exec", "sandbox", reason));
    }
    let Ready { mut job, overlay, copies } =
        prepare(runner, start, OverlayLifetime::Review).await?;
    job.stdio = stdio().map_err(ToolError::internal)?;
    let max_file_bytes = job.limits.file_bytes;
    let mut process = match runner.sandbox.start(job).await {
        Ok(process) => process,
        Err(error) => {
            blocking(move || overlay.discard()).await?;
            return Err(not_started(error));
        }
    };
    drop(copies);
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let exit = attend(&mut process, start.live).await?;
    let mut ended = ended(&exit, Stopped::No);
    let kept = keep(overlay, start, &mut ended, max_file_bytes).await?;
    let Committed { changed, mut notes } = kept;
    notes.extend(egress::note(proxy.as_ref()));
    notes.extend(runner.session_temp(start.caller).settle(&ended).await);
    Ok(Ran { ended, output: Captured::default(), place: Place::Sandbox, changed, notes })
}

/// Lets the person decide about what an earlier command changed.
pub(super) async fn resume(
    runner: &Runner,
    held: CallId,
    start: Start<'_>,
) -> Result<Ran, ToolError> {
    let (world, caller) = (runner.world.clone(), start.caller.clone());
    let overlay = blocking(move || world.held_overlay(&caller, held)).await?;
    let mut ended = Ended {
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        killed_for: None,
        took: Duration::ZERO,
        cpu: Duration::ZERO,
        max_rss_bytes: 0,
    };
    let Committed { changed, notes } = keep(overlay, start, &mut ended, u64::MAX).await?;
    Ok(Ran { ended, output: Captured::default(), place: Place::Sandbox, changed, notes })
}

/// A terminal of its own where the person has one, else what we were given.
fn stdio() -> io::Result<Stdio> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        let (rows, cols) = size();
        return Ok(Stdio::Pty { rows, cols });
    }
    let own = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned();
    Ok(Stdio::Given {
        stdin: own(&io::stdin())?,
        stdout: own(&io::stdout())?,
        stderr: own(&io::stderr())?,
    })
}

fn size() -> (u16, u16) {
    tcgetwinsize(io::stdout()).map_or((24, 80), |size| (size.ws_row, size.ws_col))
}

/// Passes on what is typed and what is shown, until the command has ended.
async fn attend(process: &mut Process, live: &Arc<Live>) -> Result<Exit, ToolError> {
    let (Some(input), Some(output)) = (process.take_stdin(), process.take_stdout()) else {
        return wait(process, live).await;
    };
    let _raw = Raw::new().map_err(ToolError::internal)?;
    let keys = keys().map_err(ToolError::internal)?;
    let typing = tokio::spawn(typed(keys, input));
    let showing = tokio::spawn(shown(output));
    let mut resized = signal(SignalKind::window_change()).map_err(ToolError::internal)?;
    let exit = loop {
        tokio::select! {
            exit = process.wait() => break exit.map_err(not_started),
            () = live.cancellation().cancelled() => {
                drop(process.kill());
                break wait(process, live).await;
            }
            _ = resized.recv() => {
                let (rows, cols) = size();
                drop(process.resize(rows, cols));
            }
        }
    };
    // What it wrote last is still on its way; its terminal ends with it.
    drop(showing.await);
    typing.abort();
    drop(typing.await);
    exit
}

async fn wait(process: &mut Process, live: &Arc<Live>) -> Result<Exit, ToolError> {
    tokio::select! {
        exit = process.wait() => return exit.map_err(not_started),
        () = live.cancellation().cancelled() => {}
    }
    drop(process.kill());
    process.wait().await.map_err(not_started)
}

/// Reads the terminal by a descriptor of its own: a read that waits can then be given up, and the next
/// key is there for whoever asks next.
async fn typed(keys: AsyncFd<OwnedFd>, mut to: Input) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let mut ready = keys.readable().await?;
        let read = ready.try_io(|keys| Ok(rustix::io::read(keys, &mut buffer)?));
        let Ok(count) = read else { continue };
        let count = count?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        to.write_all(bytes).await?;
        to.flush().await?;
    }
}

async fn shown(mut from: Output) -> io::Result<()> {
    let mut screen = tokio::io::stdout();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        screen.write_all(bytes).await?;
        screen.flush().await?;
    }
}

fn keys() -> io::Result<AsyncFd<OwnedFd>> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    sandbox::watch(rustix::fs::open("/dev/tty", flags, Mode::empty())?)
}

/// The person's terminal, handing on every key, until this is dropped.
struct Raw {
    terminal: OwnedFd,
    before: Termios,
}

impl Raw {
    fn new() -> io::Result<Self> {
        let terminal = io::stdin().as_fd().try_clone_to_owned()?;
        let before = tcgetattr(&terminal)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &raw)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}
