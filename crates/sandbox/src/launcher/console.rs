//! What a command reads and writes.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::wire::Console;

/// A terminal: our end, and the command's.
#[derive(Debug)]
pub(super) struct Terminal {
    pub(super) master: OwnedFd,
    pub(super) slave: OwnedFd,
}

/// Opens a terminal if one is asked for.
pub(super) fn terminal(console: Console) -> io::Result<Option<Terminal>> {
    let Console::Pty { rows, cols } = console else { return Ok(None) };
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size)?;
    Ok(Some(Terminal { master, slave }))
}

/// The descriptors 0, 1 and 2 of a command: its terminal, or what `find` finds.
pub(super) fn stdio<'a>(
    console: Console,
    terminal: Option<&'a Terminal>,
    find: impl Fn(usize) -> Option<&'a OwnedFd>,
) -> io::Result<[BorrowedFd<'a>; 3]> {
    let found = match (console, terminal) {
        (Console::Pty { .. }, terminal) => [terminal.map(|terminal| &terminal.slave); 3],
        (Console::Given(places), _) => places.map(find),
    };
    let [Some(stdin), Some(stdout), Some(stderr)] = found else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    Ok([stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])
}
