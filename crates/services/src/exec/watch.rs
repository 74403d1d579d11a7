//! Watches a command until nothing of it is left.

use std::{future::Future, time::Duration};

use sandbox::{Exit, Process, SandboxError};
use tokio::time::{Instant, error::Elapsed, sleep_until, timeout};
use tool::Stream;

use super::{GONE, pump::Pump};

/// How long what a command wrote may still be on its way when nothing of it is left. Its pipes close
/// before; but on the host somebody else may have been given them.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Why a command was ended before it ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    No,
    TimedOut,
    Cancelled,
}

/// What happens to a command.
#[derive(Debug)]
pub(super) enum Event<'a> {
    /// It wrote something.
    Wrote(Stream, &'a [u8]),
    /// It is about to end.
    Ending,
    /// There is nothing more to read.
    Ended,
}

/// A command that is watched: one process, or those of a pipeline.
pub(super) struct Watch {
    processes: Vec<Process>,
    pump: Pump,
    stopped: Stopped,
    deadline: Instant,
    /// Nobody reads on after this.
    last: Option<Instant>,
    left: Left,
}

/// Whether anything of a command is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Something,
    Nothing,
}

impl Watch {
    pub(super) fn new(mut process: Process, most: Duration) -> Self {
        let pump = Pump::new(process.take_stdout(), process.take_stderr());
        Self::over(vec![process], pump, Instant::now() + most)
    }

    /// Several processes that write to the same pipes.
    pub(super) const fn over(processes: Vec<Process>, pump: Pump, deadline: Instant) -> Self {
        Self { processes, pump, stopped: Stopped::No, deadline, last: None, left: Left::Something }
    }

    /// Waits for what happens next, and ends the command when its time is up or `stop` says so.
    pub(super) async fn next(&mut self, stop: impl Future<Output = ()>) -> Event<'_> {
        let Self { processes, pump, stopped, deadline, last, left } = self;
        let runs = last.is_none();
        *stopped = tokio::select! {
            biased;
            () = stop, if runs => Stopped::Cancelled,
            () = sleep_until(*deadline), if runs => Stopped::TimedOut,
            // Somebody else writes to its pipes, and does not stop.
            () = sleep_until(last.unwrap_or(*deadline) + GONE), if !runs => return Event::Ended,
            next = pump.next() => {
                return next.map_or(Event::Ended, |(stream, bytes)| Event::Wrote(stream, bytes));
            }
            // After what there is to read, however long it took us to come here.
            () = sleep_until(last.unwrap_or(*deadline)), if !runs => return Event::Ended,
            // Its word comes with its end, whatever the result is.
            _ = wait(processes), if *left == Left::Something => {
                *left = Left::Nothing;
                *last = Some(Instant::now() + LAST_WORDS);
                return Event::Ending;
            }
        };
        // Its pipes close when all of it is gone.
        // The last one first: it would take the end of the others for the end of its input.
        for process in processes.iter().rev() {
            drop(process.kill());
        }
        *last = Some(Instant::now() + GONE);
        Event::Ending
    }

    /// How it ended, and why.
    pub(super) async fn end(self) -> (Result<Result<Exit, SandboxError>, Elapsed>, Stopped) {
        let (exits, stopped) = self.ends().await;
        let last = |mut exits: Vec<Exit>| exits.pop().ok_or(SandboxError::LauncherDied);
        (exits.map(|exits| exits.and_then(last)), stopped)
    }

    /// How each of its processes ended, and why.
    pub(super) async fn ends(
        mut self,
    ) -> (Result<Result<Vec<Exit>, SandboxError>, Elapsed>, Stopped) {
        (timeout(GONE, wait(&mut self.processes)).await, self.stopped)
    }
}

/// Waits for all of them. Can be given up and called again.
async fn wait(processes: &mut [Process]) -> Result<Vec<Exit>, SandboxError> {
    let mut exits = Vec::with_capacity(processes.len());
    for process in processes {
        exits.push(process.wait().await?);
    }
    Ok(exits)
}
