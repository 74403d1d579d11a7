//! A launcher, seen from its parent.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{io::Errno, process::Signal};

use crate::{
    Limits, SandboxError,
    cgroup::Group,
    channel,
    init::LAUNCHER,
    sys,
    wire::{Answer, Failure, Order},
};

/// A launcher that is starting, waiting or running a command.
#[derive(Debug)]
pub(crate) struct Parked {
    socket: OwnedFd,
    child: Child,
    pub(crate) group: Option<Group>,
    pub(crate) kind: Kind,
    pub(crate) born: Instant,
    pub(crate) calls: u32,
}

/// What a launcher is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commands in the sandbox.
    Isolated,
    /// Commands in the sandbox that have the network of the host.
    Networked,
    /// One command on the host.
    OnHost,
}

impl Parked {
    /// Starts our own binary again. It waits for an order.
    #[expect(clippy::disallowed_methods, reason = "this is the place that spawns")]
    pub(crate) fn spawn(group: Option<Group>, kind: Kind) -> io::Result<Self> {
        let (ours, theirs) = channel::pair()?;
        let child = Command::new("/proc/self/exe")
            .arg0(LAUNCHER)
            .env_clear()
            .current_dir("/")
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        Ok(Self { socket: ours, child, group, kind, born: Instant::now(), calls: 0 })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        channel::send(&self.socket, order, fds)
    }

    /// Waits for the next answer; none if the launcher is gone.
    pub(crate) async fn answer(&self) -> io::Result<Option<(Answer, Vec<OwnedFd>)>> {
        // Often it is there already, and then nobody has to watch the socket.
        match channel::receive(&self.socket) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => return other,
        }
        let socket = sys::watch_reading(self.socket.as_fd())?;
        loop {
            let mut ready = socket.readable().await?;
            if let Ok(answer) = ready.try_io(|socket| channel::receive(socket.get_ref())) {
                return answer;
            }
        }
    }

    /// The same, for a thread that may wait.
    pub(crate) fn answer_blocking(&self) -> io::Result<Option<(Answer, Vec<OwnedFd>)>> {
        rustix::io::ioctl_fionbio(&self.socket, false)?;
        channel::receive(&self.socket)
    }

    /// Waits until it can take an order.
    pub(crate) async fn ready(&self) -> Result<(), SandboxError> {
        match self.answer().await {
            Ok(Some((Answer::Ready, _))) => Ok(()),
            Ok(Some((Answer::SetUpFailed(failure), _))) => Err(failure.into()),
            Ok(_) => Err(SandboxError::LauncherDied),
            Err(error) => Err(SandboxError::Launcher(error)),
        }
    }

    pub(crate) fn limit(&mut self, limits: &Limits) -> Result<(), SandboxError> {
        let limited = match &mut self.group {
            Some(group) => group.limit(limits),
            None if limits.cpu_percent.is_none() => Ok(()),
            // Was refused before, with a better reason.
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        let step = "set the limits of the cgroup".to_owned();
        limited.map_err(|source| SandboxError::SetUp { step, source })
    }

    pub(crate) fn new_memory_kills(&mut self) -> u64 {
        self.group.as_mut().map_or(0, Group::new_kills)
    }

    /// Lets go of it: without its socket it kills what it runs, and ends.
    pub(crate) fn let_go(self) -> Leaving {
        let Self { socket, child, group, kind, born: _, calls: _ } = self;
        drop(socket);
        Leaving { child, group, kind, since: Instant::now() }
    }
}

// Waiting longer for what cannot be killed would keep everybody from leaving.
const GIVE_UP: Duration = Duration::from_secs(30);

/// A launcher that is about to end.
#[derive(Debug)]
pub(crate) struct Leaving {
    child: Child,
    group: Option<Group>,
    kind: Kind,
    since: Instant,
}

impl Leaving {
    /// Whether nothing is left of it.
    pub(crate) fn is_gone(&mut self) -> bool {
        let patience = match self.kind {
            Kind::Isolated | Kind::Networked => Duration::from_secs(2),
            // It has to kill one by one what the kernel would kill at once.
            Kind::OnHost => Duration::from_secs(10),
        };
        if matches!(self.child.try_wait(), Ok(None)) {
            if self.since.elapsed() > patience {
                drop(self.child.kill());
            }
            return false;
        }
        let Some(group) = &self.group else { return true };
        if group.remove().is_ok() {
            return true;
        }
        // Somebody has ended the launcher before it was done.
        group.kill();
        // Who became somebody else cannot be killed; the group is removed by whoever comes next.
        self.since.elapsed() > GIVE_UP
    }
}

impl From<Failure> for SandboxError {
    fn from(failure: Failure) -> Self {
        let Failure { step, errno } = failure;
        Self::SetUp { step, source: io::Error::from_raw_os_error(errno) }
    }
}

/// Sends a signal to a process that may have ended.
pub(crate) fn signal(process: impl AsFd, signal: Signal) -> io::Result<()> {
    match rustix::process::pidfd_send_signal(process, signal) {
        Err(Errno::SRCH) | Ok(()) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
