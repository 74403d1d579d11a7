//! One command, from the order to the end.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Signal, pidfd_send_signal},
    system::sethostname,
};

use super::{Launcher, console, first, places::Places, root};
use crate::{
    channel,
    sys::{self, Child, Forked, Which},
    wire::{Begin, Failure, Gone, Spec, Step},
};

/// A first process that is waiting for its command.
pub(super) struct Parked {
    child: Child,
    begin: OwnedFd,
    /// As long as somebody has them open they are not taken apart, which takes longer than the end
    /// of a process, and which nobody needs to wait for.
    mounts: Option<OwnedFd>,
}

/// A command that has ended.
pub(super) struct Ended {
    gone: Gone,
    places: Places,
    _mounts: Option<OwnedFd>,
}

impl Ended {
    pub(super) fn gone(&self) -> Gone {
        self.gone
    }

    /// For when there is time.
    pub(super) fn clean_up(mut self) -> io::Result<()> {
        self.places.remove_points()
    }
}

impl Launcher {
    /// Makes a first process, ahead of the command: it has everything that is the same for all.
    pub(super) fn park(&self) -> Result<Parked, Failure> {
        let (begin, theirs) = channel::pair().step("a pair of sockets")?;
        let flags = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        match sys::fork(flags).step("the first process")? {
            Forked::Child => {
                drop(begin);
                first::run(self, &theirs)
            }
            Forked::Parent(child) => {
                drop(theirs);
                let mounts = root::mounts_of(child.pid).ok();
                match channel::receive::<Result<(), Failure>>(&begin).step("the first process")? {
                    Some((Ok(()), _)) => Ok(Parked { child, begin, mounts }),
                    Some((Err(failure), _)) => Err(failure),
                    None => {
                        Err(io::Error::from(io::ErrorKind::UnexpectedEof)).step("the first process")
                    }
                }
            }
        }
    }

    /// Runs a command to its end; gives nothing if our parent ended before. A failure means that
    /// nothing ran.
    pub(super) fn run(
        &mut self,
        first: Parked,
        mut spec: Spec,
        mut fds: Vec<OwnedFd>,
    ) -> Result<Option<Ended>, Failure> {
        let Parked { child, begin, mounts } = first;
        self.find_trees(&mut spec.mounts, &mut fds)?;
        if self.home.as_ref() != Some(&spec.home) {
            root::name_user(&self.set_up, &spec.home).step("write /etc/passwd")?;
            self.home = Some(spec.home.clone());
        }
        let mut places = Places::default();
        let held = places.make(&spec, &fds)?;
        sethostname(spec.hostname.as_bytes()).step("name the machine")?;
        let terminal = console::terminal(spec.stdio).step("open a terminal")?;
        let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = spec.proxy_port.map(listen).transpose().step("listen for the proxy")?;
        let order =
            Begin { spec, held, terminal: terminal.is_some(), listener: listener.is_some() };
        let ends = terminal.iter().flat_map(|terminal| [&terminal.master, &terminal.slave]);
        let all = fds.iter().chain(ends).map(AsFd::as_fd);
        let all: Vec<_> = all.chain(listener.iter().map(AsFd::as_fd)).collect();
        channel::send(&begin, &order, &all).step("tell the first process")?;
        // Or the command's pipes would not close when it ends.
        drop((fds, terminal, listener));

        let gone = self.attend(child).step("wait for the first process")?;
        places.remove_held().step("let go of what was held")?;
        Ok(gone.map(|gone| Ended { gone, places, _mounts: mounts }))
    }

    /// Waits for the end, the command's or our parent's.
    fn attend(&self, first: Child) -> io::Result<Option<Gone>> {
        let Child { pid, pidfd } = first;
        let mut waiting = [
            PollFd::new(&pidfd, PollFlags::IN),
            PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN),
        ];
        rustix::io::retry_on_intr(|| poll(&mut waiting, None))?;
        let [first, control] = waiting;
        if first.revents().is_empty() && !control.revents().is_empty() {
            // Our parent says nothing while a command runs, so it is gone; and then we are not needed.
            pidfd_send_signal(&pidfd, Signal::KILL)?;
            sys::reap(Which::This(pid))?;
            return Ok(None);
        }
        let reaped = sys::reap(Which::This(pid))?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Some(Gone { cpu: reaped.cpu, max_rss_bytes: reaped.max_rss_bytes }))
    }
}
