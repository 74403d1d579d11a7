//! A launcher: our own binary executed again, waiting for commands to run, one at a time.
//!
//! Without a parent its socket has no other end; then it kills what it runs, cleans up, and ends. It
//! has one thread, no environment, and no descriptors but that socket. What takes long and is the same for
//! every command it does before there is one. One that stays on the host runs a single command.

mod command;
mod console;
mod etc;
mod first;
mod guard;
mod held;
mod host;
mod identity;
mod memory;
mod places;
mod probe;
mod room;
mod root;
mod rules;
mod run;
mod tree;
mod trees;
mod watch;

use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsFd, OwnedFd},
    thread,
    time::Duration,
};

use libc::sock_filter;
use rustix::{
    fs::{Mode, OFlags},
    io::fcntl_dupfd_cloexec,
    net::{AddressFamily, SocketType},
    process::umask,
};

pub(crate) use self::etc::{SHARED_ETC, names as etc_names};
use self::host::Host;
use crate::{
    channel,
    filter::{MemoryLimit, attribute_filter, filter},
    sys,
    wire::{Answer, Failure, Order, SetUp, Sockets, Step},
};

const BREATH: Duration = Duration::from_micros(200);

/// What a launcher has when it waits.
struct Launcher {
    control: OwnedFd,
    set_up: SetUp,
    /// The mounts of the host, and the ones every command starts from.
    host: OwnedFd,
    own: OwnedFd,
    filter: Vec<sock_filter>,
    attribute_filter: Vec<sock_filter>,
    abi: u32,
    /// What `/etc/passwd` says now.
    home: Option<Vec<u8>>,
}

/// Serves orders until there is nobody to give them.
pub(crate) fn run() -> ! {
    let code = match serve() {
        Ok(()) => 0,
        Err(_) => 1,
    };
    sys::exit_now(code)
}

fn serve() -> io::Result<()> {
    let (control, umask) = take_control()?;
    let Some((order, fds)) = channel::receive::<Order>(&control)? else { return Ok(()) };
    let set_up = match order {
        Order::SetUp(set_up) => set_up,
        Order::Probe(identity) => {
            let tried = probe::probe(identity);
            return channel::send(&control, &Answer::Probed(tried), &[]);
        }
        Order::Hold => {
            sys::unshare(libc::CLONE_NEWUSER)?;
            channel::send(&control, &Answer::Ready, &[])?;
            return channel::receive::<Order>(&control).map(drop);
        }
        Order::Stay => return Host { control, cgroups: fds, umask }.serve(),
        Order::Run(_) | Order::RunOnHost(_) | Order::Kill => {
            return Err(io::ErrorKind::InvalidData.into());
        }
    };
    let mut launcher = match Launcher::new(control.as_fd().try_clone_to_owned()?, set_up, fds) {
        Ok(launcher) => launcher,
        Err(failure) => return channel::send(&control, &Answer::SetUpFailed(failure), &[]),
    };
    loop {
        let first = match launcher.fresh_namespaces().and_then(|()| launcher.park()) {
            Ok(first) => first,
            Err(failure) => return channel::send(&control, &Answer::SetUpFailed(failure), &[]),
        };
        channel::send(&control, &Answer::Ready, &[])?;
        let Some((order, fds)) = channel::receive::<Order>(&control)? else { return Ok(()) };
        let Order::Run(spec) = order else { return Err(io::ErrorKind::InvalidData.into()) };
        let ended = match launcher.run(first, *spec, fds) {
            Ok(Some(ended)) => ended,
            Ok(None) => return Ok(()),
            // Nobody uses a launcher again after a failure: it may be what failed.
            Err(failure) => return channel::send(&control, &Answer::SetUpFailed(failure), &[]),
        };
        channel::send(&control, &Answer::Gone(ended.gone()), &[])?;
        // Who waits for this is woken on our processor, and only when we leave it.
        thread::sleep(BREATH);
        ended.clean_up()?;
    }
}

/// Takes the socket out of the way of a command's descriptors, and closes everything else. Gives our
/// parent's umask too.
fn take_control() -> io::Result<(OwnedFd, Mode)> {
    sys::close_range(3, u32::MAX)?;
    let control = fcntl_dupfd_cloexec(io::stdin(), 3)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    sys::leave_keys();
    sys::default_signals()?;
    Ok((control, umask(Mode::from_raw_mode(0o022))))
}

impl Launcher {
    fn new(control: OwnedFd, set_up: SetUp, cgroups: Vec<OwnedFd>) -> Result<Self, Failure> {
        // First, while we are still who may do it; and all that follows is counted.
        for cgroup in cgroups {
            File::from(cgroup).write_all(b"0").step("join the cgroup")?;
        }
        let abi = sys::landlock_abi().step("Landlock")?;
        identity::assume(set_up.identity)?;
        let host = root::mounts_of_this_process()?;
        root::build(&set_up)?;
        let own = root::mounts_of_this_process()?;
        let memory = if set_up.watched { MemoryLimit::Watched } else { MemoryLimit::Counted };
        let filter = filter(memory, Sockets::Namespaced);
        let attribute_filter = attribute_filter();
        Ok(Self { control, set_up, host, own, filter, attribute_filter, abi, home: None })
    }

    /// What cannot be used twice, made ahead of the next command.
    fn fresh_namespaces(&self) -> Result<(), Failure> {
        let others = libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;
        if self.set_up.host_network {
            return sys::unshare(others).step("new namespaces");
        }
        sys::unshare(others | libc::CLONE_NEWNET).step("new namespaces")?;
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None);
        let socket = socket.step("a socket")?;
        sys::bring_up_loopback(&socket).step("the loopback interface")
    }
}
