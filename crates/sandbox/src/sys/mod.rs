//! System calls that have no safe wrapper elsewhere. All `unsafe` of the crate is in this folder.

mod clone;
mod confine;
mod limit;
mod loopback;
mod mount;
mod readiness;
mod signal;
mod wait;

pub use self::readiness::watch;
pub(crate) use self::{
    clone::{Child, Forked, exit_now, fork, run_and_wait},
    confine::{
        Landlock, add_path_rule, add_port_rule, close_range, drop_bounding_set, execute,
        landlock_abi, landlock_restrict, leave_keys, no_new_privs, set_filter, unshare,
    },
    limit::{Resource, hard_limit, set_limit},
    loopback::bring_up_loopback,
    mount::{Attr, set_attr},
    readiness::watch_reading,
    signal::{allow_signals, child_signals, default_signals, hold_child_signal, wait_child_signal},
    wait::{Reaped, Which, reap, written_by_children},
};

use std::io;

/// Turns the answer of a system call into a result.
fn checked(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
