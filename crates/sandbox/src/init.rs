//! The first thing a program does.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::net::{SocketType, sockopt::socket_type};

use crate::launcher;

/// What a launcher is called, in lists of processes too.
pub(crate) const LAUNCHER: &str = "toolgate-launcher";

static CALLED: AtomicBool = AtomicBool::new(false);

/// Must be called first in `main`, before anything else happens and while there is one thread.
///
/// If this process was started as a launcher it becomes one and never returns. Otherwise this only
/// remembers that it was called: a program that does not call it cannot be its own launcher.
pub fn init() {
    let name = std::env::args_os().next();
    if name.is_some_and(|name| name == LAUNCHER) && is_message_socket() {
        launcher::run();
    }
    CALLED.store(true, Ordering::Relaxed);
}

/// Whether [`init`] was called, so that commands can be started.
pub(crate) fn was_called() -> bool {
    CALLED.load(Ordering::Relaxed)
}

/// A launcher is given its socket as standard input, which nobody gets by accident.
fn is_message_socket() -> bool {
    matches!(socket_type(io::stdin()), Ok(SocketType::SEQPACKET))
}
