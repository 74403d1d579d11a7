//! A command that runs.

use std::{
    fs, io,
    net::TcpListener,
    os::fd::{AsRawFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use rustix::{
    process::Signal,
    termios::{Winsize, tcsetwinsize},
};

use crate::{
    EndedBy, Exit, Input, Output, SandboxError,
    parked::{Parked, signal},
    pool::{Pool, Slot},
    stdio::Streams,
    wire::{Answer, Exited, Gone, Order, Over},
};

/// A command that runs, with every process it has started. Dropping it kills all of them.
#[derive(Debug)]
pub struct Process {
    pool: Arc<Pool>,
    /// Given back when nothing of the command is left.
    parked: Option<Parked>,
    _slot: Slot,
    command: OwnedFd,
    /// Everything ends with it. On the host there is none; there the launcher is told.
    first: Option<OwnedFd>,
    streams: Streams,
    listener: Option<TcpListener>,
    asked: Instant,
    killed: AtomicBool,
    exited: Option<Exited>,
    exit: Option<Exit>,
}

/// What a process is made of.
pub(crate) struct Parts {
    pub(crate) pool: Arc<Pool>,
    pub(crate) parked: Parked,
    pub(crate) slot: Slot,
    pub(crate) command: OwnedFd,
    pub(crate) first: Option<OwnedFd>,
    pub(crate) streams: Streams,
    pub(crate) listener: Option<TcpListener>,
    pub(crate) asked: Instant,
}

impl Process {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { pool, parked, slot, command, first, streams, listener, asked } = parts;
        Self {
            pool,
            parked: Some(parked),
            _slot: slot,
            command,
            first,
            streams,
            listener,
            asked,
            killed: AtomicBool::new(false),
            exited: None,
            exit: None,
        }
    }

    /// The command's number on the host; 0 if it has ended.
    pub fn id(&self) -> u32 {
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", self.command.as_raw_fd()));
        let info = info.unwrap_or_default();
        let number = info.lines().find_map(|line| line.strip_prefix("Pid:"));
        number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    /// What the command reads. There is one, once, unless the caller gave its own.
    pub fn take_stdin(&mut self) -> Option<Input> {
        self.streams.stdin.take()
    }

    /// What the command writes; on a terminal, its errors too.
    pub fn take_stdout(&mut self) -> Option<Output> {
        self.streams.stdout.take()
    }

    /// What the command writes as errors.
    pub fn take_stderr(&mut self) -> Option<Output> {
        self.streams.stderr.take()
    }

    /// Where the command's connections to its proxy arrive, if it has one.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// Tells the command's terminal its new size; nothing happens if it has none.
    pub fn resize(&self, rows: u16, cols: u16) -> io::Result<()> {
        let Some(terminal) = &self.streams.terminal else { return Ok(()) };
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&**terminal, size)?)
    }

    /// Sends a signal to the command, not to its children.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        let number = Signal::from_named_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
        signal(&self.command, number)
    }

    /// Kills the command and everything it has started, at once.
    pub fn kill(&self) -> io::Result<()> {
        let before = self.killed.swap(true, Ordering::Relaxed);
        match (&self.first, &self.parked) {
            (Some(first), _) => signal(first, Signal::KILL),
            (None, Some(parked)) if !before => match parked.order(&Order::Kill, &[]) {
                // It has ended, and with it what it ran.
                Err(error) if is_gone(&error) => Ok(()),
                other => other,
            },
            (None, _) => Ok(()),
        }
    }

    /// Waits until the command has ended and nothing of it is left. What it wrote can still be read.
    ///
    /// Can be given up and called again. Fails only if the launcher dies, and everything with it.
    pub async fn wait(&mut self) -> Result<Exit, SandboxError> {
        if let Some(exit) = &self.exit {
            return Ok(exit.clone());
        }
        loop {
            let Some(parked) = &self.parked else { return Err(SandboxError::LauncherDied) };
            match parked.answer().await {
                Ok(Some((Answer::Exited(exited), _))) => self.exited = Some(exited),
                Ok(Some((Answer::Gone(gone), _))) => {
                    let exit = self.end(&gone);
                    self.exit = Some(exit.clone());
                    if let Some(parked) = self.parked.take() {
                        self.pool.give_back(parked);
                    }
                    return Ok(exit);
                }
                Ok(_) | Err(_) => {
                    self.discard();
                    return Err(SandboxError::LauncherDied);
                }
            }
        }
    }

    fn end(&mut self, gone: &Gone) -> Exit {
        let memory_kills = self.parked.as_mut().map_or(0, Parked::new_memory_kills);
        let killed = self.killed.load(Ordering::Relaxed);
        // Without a last word the first process was killed, and everybody with it.
        let (status, rss, over) = match &self.exited {
            Some(exited) => (exited.status, exited.max_rss_bytes, exited.over),
            None => (libc::SIGKILL, gone.max_rss_bytes, None),
        };
        let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        let ended_by = match over {
            Some(Over::Memory) => EndedBy::Memory,
            Some(Over::Processes) => EndedBy::Processes,
            Some(Over::Written) => EndedBy::Written,
            None if killed && self.exited.is_none() => EndedBy::Killed,
            None if signal == Some(libc::SIGKILL) && memory_kills > 0 => EndedBy::Memory,
            None => EndedBy::Itself,
        };
        Exit {
            code,
            signal,
            cpu: gone.cpu,
            max_rss_bytes: rss.max(if over.is_some() { gone.max_rss_bytes } else { 0 }),
            wall: self.asked.elapsed(),
            ended_by,
            memory_kills,
        }
    }

    fn discard(&mut self) {
        if let Some(parked) = self.parked.take() {
            self.pool.bury(parked);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.parked.is_some() {
            // At once, and not only when somebody gets to see off the launcher.
            drop(self.kill());
            self.discard();
        }
    }
}

/// Whether nobody is at the other end any more.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
