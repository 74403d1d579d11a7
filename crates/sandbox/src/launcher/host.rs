//! A command on the host, from the order to the end of everything it has started.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::Mode,
    process::{PidfdFlags, getpid, pidfd_open, set_child_subreaper, setsid, umask},
};

use super::{
    command::{Command, Ground, NotStarted, Walls},
    console,
    room::Writable,
    tree::{self, Used},
    watch::Watch,
};
use crate::{
    channel,
    filter::{MemoryLimit, filter},
    sys::{self, Child},
    wire::{Answer, Ceiling, Exited, Failure, Gone, HostSpec, Order, Over, Started, Step},
};

/// A launcher that stays on the host.
pub(super) struct Host {
    pub(super) control: OwnedFd,
    /// What the command is to join. We stay outside, so that no limit of its hits us.
    pub(super) cgroups: Vec<OwnedFd>,
    /// Which rights new files do not have, as our parent had it.
    pub(super) umask: Mode,
}

impl Host {
    /// Runs one command.
    pub(super) fn serve(self) -> io::Result<()> {
        if let Err(failure) = self.prepare() {
            return channel::send(&self.control, &Answer::SetUpFailed(failure), &[]);
        }
        channel::send(&self.control, &Answer::Ready, &[])?;
        let Some((order, fds)) = channel::receive::<Order>(&self.control)? else { return Ok(()) };
        let Order::RunOnHost(spec) = order else { return Err(io::ErrorKind::InvalidData.into()) };
        let started = self.start(&spec, &fds);
        let writable = writable(&spec, &fds)?;
        // Or the command's pipes would not close when it ends.
        drop(fds);
        match started {
            Ok(command) => self.attend(&command, &spec.limits, writable),
            Err(why) => {
                Used::default().end_all();
                channel::send(&self.control, &Answer::from(why), &[])
            }
        }
    }

    fn prepare(&self) -> Result<(), Failure> {
        // What is typed at the terminal of our parent must not end us before we have cleaned up.
        setsid().step("a session")?;
        // Whoever loses its parent becomes our child.
        set_child_subreaper(Some(getpid())).step("adopt orphans")?;
        // Nobody is started who could not be ended.
        pidfd_open(getpid(), PidfdFlags::empty()).step("hold on to a process")?;
        umask(self.umask);
        sys::hold_child_signal();
        Ok(())
    }

    /// Starts the command and says so.
    fn start(&self, spec: &HostSpec, fds: &[OwnedFd]) -> Result<Child, NotStarted> {
        let terminal = console::terminal(spec.stdio).step("open a terminal");
        let terminal = terminal.map_err(NotStarted::SetUp)?;
        let stdio = console::stdio(spec.stdio, terminal.as_ref(), |place| fds.get(place));
        let cwd = fds.first().ok_or(io::ErrorKind::InvalidData).step("find the folder");
        // The kernel counts all processes of the user here.
        let processes = spec.limits.processes.map(|most| most + tree::tasks_of_user());
        let limits = Ceiling { processes, ..spec.limits.clone() };
        let memory =
            if self.cgroups.is_empty() { MemoryLimit::Watched } else { MemoryLimit::Counted };
        let confinement = spec.confinement.as_ref();
        let filter = confinement.map(|confined| filter(memory, confined.sockets));
        let rules = confinement.and_then(|confined| fds.get(confined.rules));
        let walls = match (confinement, &filter, rules) {
            (None, _, _) => Ok(None),
            (Some(_), Some(filter), Some(rules)) => Ok(Some(Walls { rules, filter })),
            (Some(_), _, _) => Err(io::Error::from(io::ErrorKind::InvalidData)),
        };
        let command = Command {
            program: &spec.program,
            limits: &limits,
            stdio: stdio.step("find standard input and output").map_err(NotStarted::SetUp)?,
            terminal: terminal.as_ref().map(|terminal| &terminal.slave),
            ground: Ground::Host {
                cwd: cwd.map_err(NotStarted::SetUp)?.as_fd(),
                cgroups: &self.cgroups,
                walls: walls.step("find the rules for Landlock").map_err(NotStarted::SetUp)?,
            },
        };
        let command = command.start()?;
        let started = Started { first: false, terminal: terminal.is_some(), listener: false };
        let master = terminal.as_ref().map(|terminal| terminal.master.as_fd());
        let beside: Vec<_> = [command.pidfd.as_fd()].into_iter().chain(master).collect();
        channel::send(&self.control, &Answer::Started(started), &beside)
            .step("say that it runs")
            .map_err(NotStarted::SetUp)?;
        Ok(command)
    }

    /// Waits for the end of the command, our parent's word, or a limit; then nobody is left alive.
    fn attend(&self, command: &Child, limits: &Ceiling, writable: Vec<Writable>) -> io::Result<()> {
        let mut used = Used::default();
        let group = self.cgroups.first().map(OwnedFd::try_clone).transpose()?;
        let who = move || group.as_ref().map_or_else(tree::descendants, tree::members);
        let watch = Watch::new(limits, writable, Box::new(who));
        let exited = self.wait(command, watch, &mut used);
        used.end_all();
        let Used { cpu, max_rss_bytes } = used;
        if let Some((status, over)) = exited? {
            let exited = Exited { status, max_rss_bytes, over };
            channel::send(&self.control, &Answer::Exited(exited), &[])?;
        }
        channel::send(&self.control, &Answer::Gone(Gone { cpu, max_rss_bytes }), &[])?;
        // Who closes a socket with something in it to read takes back what it has said.
        while channel::receive::<Order>(&self.control)?.is_some() {}
        Ok(())
    }

    /// How the command ended, and for which limit; nothing if our parent ended it, or is gone.
    fn wait(
        &self,
        command: &Child,
        mut watch: Watch,
        used: &mut Used,
    ) -> io::Result<Option<(i32, Option<Over>)>> {
        let news = sys::child_signals()?;
        loop {
            let longest = Timespec::try_from(watch.pause()).map_err(io::Error::other)?;
            let mut waiting = [&news, &self.control].map(|fd| PollFd::new(fd, PollFlags::IN));
            rustix::io::retry_on_intr(|| poll(&mut waiting, Some(&longest)))?;
            let [_, control] = &waiting;
            // Before they are taken: who ends from here on is news again.
            sys::wait_child_signal(Duration::ZERO);
            if let Some(status) = used.take_ended(command.pid) {
                return Ok(Some((status, None)));
            }
            // There is only one thing to be told, and no parent means the same.
            if !control.revents().is_empty() {
                return Ok(None);
            }
            if let Some(over) = watch.look() {
                return Ok(Some((libc::SIGKILL, Some(over))));
            }
        }
    }
}

/// The folders a confined command can write to; on the host there are too many.
fn writable(spec: &HostSpec, fds: &[OwnedFd]) -> io::Result<Vec<Writable>> {
    let places = spec.confinement.iter().flat_map(|confined| &confined.writable);
    let open = |place: &usize| -> io::Result<Writable> {
        let root = fds.get(*place).ok_or(io::ErrorKind::InvalidData)?.try_clone()?;
        let disk = Some(root.try_clone()?);
        Ok(Writable { root, is_folder: true, disk })
    };
    places.map(open).collect()
}
