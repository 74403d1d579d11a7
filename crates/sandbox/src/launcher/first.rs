//! The first process of a command's process namespace.
//!
//! It makes the room, starts the command, reaps, and watches what nobody else counts. When it ends,
//! the kernel kills every process that is left.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use libc::sock_filter;
use rustix::process::{
    DumpableBehavior, PidfdFlags, Signal, getpid, pidfd_open, set_dumpable_behavior,
    set_parent_process_death_signal,
};

use super::{
    Launcher,
    command::{Command, Ground, NotStarted},
    console::{self, Terminal},
    identity,
    room::{self, Writable},
    rules::Rules,
    tree,
    watch::Watch,
};
use crate::{
    Access, channel,
    sys::{self, Child, Which},
    wire::{Answer, Begin, Bytes, Exited, Failure, Mount, Spec, Started, Step, What},
};

/// Lives the life of a first process: prepares itself, waits to be told what to run, and runs it.
pub(super) fn run(launcher: &Launcher, begin: &OwnedFd) -> ! {
    let prepared = Prepared::new(launcher);
    let said = match &prepared {
        Ok(_) => channel::send(begin, &Ok::<(), Failure>(()), &[]),
        Err(failure) => channel::send(begin, &Err::<(), _>(failure), &[]),
    };
    if let (Ok(prepared), Ok(())) = (prepared, said)
        && let Ok(Some((order, fds))) = channel::receive(begin)
    {
        First::new(launcher, order, fds).run(prepared)
    }
    // Nobody needs us any more.
    sys::exit_now(0)
}

/// What is the same for every command.
struct Prepared {
    /// The one of the launcher: it knows us by the number we have outside, and can be written to.
    proc: OwnedFd,
    rules: Rules,
    own: OwnedFd,
}

impl Prepared {
    fn new(launcher: &Launcher) -> Result<Self, Failure> {
        set_parent_process_death_signal(Some(Signal::KILL)).step("die with the launcher")?;
        let proc = identity::open_proc().step("open /proc")?;
        // If memory is short, the launcher must not be who pays for it.
        identity::write(&proc, "self/oom_score_adj", "1000").step("be killed first")?;
        room::prepare()?;
        let rules = Rules::new(launcher.abi).step("rules for Landlock")?;
        let own = pidfd_open(getpid(), PidfdFlags::empty()).step("know oneself")?;
        sys::hold_child_signal();
        Ok(Self { proc, rules, own })
    }
}

/// A first process that knows its command.
struct First<'a> {
    launcher: &'a Launcher,
    spec: Spec,
    held: Vec<Bytes>,
    fds: Vec<Option<OwnedFd>>,
    terminal: Option<Terminal>,
    listener: Option<OwnedFd>,
}

impl<'a> First<'a> {
    fn new(launcher: &'a Launcher, order: Begin, mut fds: Vec<OwnedFd>) -> Self {
        let Begin { spec, held, terminal, listener } = order;
        let listener = listener.then(|| fds.pop()).flatten();
        let mut ends = || Some(Terminal { slave: fds.pop()?, master: fds.pop()? });
        let terminal = terminal.then(&mut ends).flatten();
        let fds = fds.into_iter().map(Some).collect();
        Self { launcher, spec, held, fds, terminal, listener }
    }

    fn run(mut self, prepared: Prepared) -> ! {
        let control = self.launcher.control.as_fd();
        let answer = match self.start(prepared) {
            Ok((command, own, writable)) => match self.report(&command, &own) {
                Ok(()) => self.watch_over(&command, writable),
                Err(_) => sys::exit_now(1),
            },
            Err(why) => why.into(),
        };
        last_word(control, &answer)
    }

    fn start(&mut self, prepared: Prepared) -> Result<(Child, OwnedFd, Vec<Writable>), NotStarted> {
        let Prepared { proc, rules, own } = prepared;
        let writable = self.enclose(&proc).map_err(NotStarted::SetUp)?;
        let rules = rules.with(&writable).step("rules for Landlock").map_err(NotStarted::SetUp)?;
        let find = |place: usize| self.fds.get(place).and_then(Option::as_ref);
        let stdio = console::stdio(self.spec.stdio, self.terminal.as_ref(), find);
        let stdio = stdio.step("find standard input and output");
        let command = Command {
            program: &self.spec.program,
            limits: &self.spec.limits,
            stdio: stdio.map_err(NotStarted::SetUp)?,
            terminal: self.terminal.as_ref().map(|terminal| &terminal.slave),
            ground: Ground::Sandbox { cwd: &self.spec.cwd, rules: &rules, filters: self.filters() },
        };
        Ok((command.start()?, own, writable))
    }

    /// The filters of the command, the innermost last.
    fn filters(&self) -> Vec<&'a [sock_filter]> {
        let mut filters = vec![self.launcher.filter.as_slice()];
        if self.spec.mounts.iter().any(|mount| self.is_direct(mount)) {
            filters.push(&self.launcher.attribute_filter);
        }
        filters
    }

    /// Whether what changes there has changed on the host, and is more than a folder for scratch.
    fn is_direct(&self, mount: &Mount) -> bool {
        let is_scratch = mount.target == b"/tmp" || mount.target == self.spec.home;
        matches!(mount.what, What::Tree { access: Access::ReadWrite, .. }) && !is_scratch
    }

    /// Makes the room, and locks it.
    fn enclose(&mut self, proc: &OwnedFd) -> Result<Vec<Writable>, Failure> {
        let writable = room::furnish(&self.spec, &self.held, &mut self.fds)?;
        // From here on nothing that we have made can be changed by us either: it belongs to the
        // namespace around this one.
        let who = self.launcher.set_up.identity;
        sys::unshare(libc::CLONE_NEWUSER).step("a user namespace of its own")?;
        identity::map(proc, (who.uid, who.uid), (who.gid, who.gid))
            .step("the map of the user namespace")?;
        // Nobody inside can look into this process.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).step("hide memory")?;
        Ok(writable)
    }

    /// Says that the command runs, and hands over what belongs to whoever asked for it.
    fn report(&self, command: &Child, own: &OwnedFd) -> io::Result<()> {
        let mut fds = vec![command.pidfd.as_fd(), own.as_fd()];
        fds.extend(self.terminal.as_ref().map(|terminal| terminal.master.as_fd()));
        fds.extend(self.listener.as_ref().map(AsFd::as_fd));
        let (terminal, listener) = (self.terminal.is_some(), self.listener.is_some());
        let started = Started { first: true, terminal, listener };
        channel::send(&self.launcher.control, &Answer::Started(started), &fds)
    }

    /// Reaps until the command has ended or has gone too far.
    ///
    /// Never returns: nothing may be dropped here, because its descriptor is closed already.
    fn watch_over(&self, command: &Child, writable: Vec<Writable>) -> ! {
        let control = self.launcher.control.as_fd();
        let mut watch = Watch::new(&self.spec.limits, writable, Box::new(inside));
        close_all_but(control, &watch.kept());
        loop {
            sys::wait_child_signal(watch.pause());
            while let Ok(Some(reaped)) = sys::reap(Which::AnyEnded) {
                if reaped.pid == command.pid {
                    let (status, max_rss_bytes) = (reaped.status, reaped.max_rss_bytes);
                    let exited = Exited { status, max_rss_bytes, over: None };
                    last_word(control, &Answer::Exited(exited))
                }
            }
            if let Some(over) = watch.look() {
                let exited = Exited { status: libc::SIGKILL, max_rss_bytes: 0, over: Some(over) };
                last_word(control, &Answer::Exited(exited))
            }
        }
    }
}

/// Everybody inside but us.
fn inside() -> Vec<i32> {
    tree::everybody().filter(|pid| *pid != 1).collect()
}

/// Nobody needs to hear it if nobody listens any more.
fn last_word(control: BorrowedFd<'_>, answer: &Answer) -> ! {
    drop(channel::send(control, answer, &[]));
    sys::exit_now(0)
}

/// The command's pipes, above all, must close when it and its children have closed them.
fn close_all_but(control: BorrowedFd<'_>, kept: &[i32]) {
    let mut kept: Vec<u32> = kept
        .iter()
        .copied()
        .chain([control.as_raw_fd()])
        .filter_map(|fd| fd.try_into().ok())
        .collect();
    kept.sort_unstable();
    let mut next = 3;
    for fd in kept {
        if fd > next {
            drop(sys::close_range(next, fd - 1));
        }
        next = fd + 1;
    }
    drop(sys::close_range(next, u32::MAX));
}
