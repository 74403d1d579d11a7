//! The system calls a command cannot make.
//!
//! A list of what is refused, not of what is allowed: a tool may be any program. What is on it no
//! tool needs, and most kernel holes of the last years needed. Calls newer than the list answer
//! "not implemented", so that programs fall back to what the list has judged.

mod bpf;
mod list;

use libc::{c_long, sock_filter};

use self::{
    bpf::Program,
    list::{
        CONDITIONAL, Memory, NO_FAST_OPEN, REFUSED, Rule, SETS_ATTRIBUTES, UNKNOWN_TO_PROGRAMS,
        WITHOUT_CGROUP,
    },
};
use crate::wire::Sockets;

pub(crate) use self::list::Memory as MemoryLimit;

/// The filter, ready for the kernel.
pub(crate) fn filter(memory: Memory, sockets: Sockets) -> Vec<sock_filter> {
    let all = |calls: &'static [c_long], errno| {
        calls.iter().map(move |call| (*call, Rule::Refused(errno)))
    };
    let mut judged = CONDITIONAL.to_vec();
    judged.extend(all(UNKNOWN_TO_PROGRAMS, libc::ENOSYS));
    judged.extend(all(REFUSED, libc::EPERM));
    match memory {
        Memory::Counted => {}
        Memory::Watched => judged.extend(all(WITHOUT_CGROUP, libc::ENOSYS)),
    }
    judged.push((libc::SYS_socket, Rule::Socket(sockets)));
    match sockets {
        Sockets::Namespaced | Sockets::Open => {}
        // The host's sockets are there: a message bus, a container service, agents with keys.
        Sockets::Unconnected => judged.push((libc::SYS_connect, Rule::Refused(libc::EACCES))),
        // Would connect past Landlock's rules about `connect`.
        Sockets::Proxied => judged.extend_from_slice(NO_FAST_OPEN),
    }
    Program::only_this_machine().judge(judged)
}

/// A filter on top, for commands that change a workspace itself: they set no attributes.
pub(crate) fn attribute_filter() -> Vec<sock_filter> {
    let judged = SETS_ATTRIBUTES.iter().map(|call| (*call, Rule::Refused(libc::EOPNOTSUPP)));
    Program::only_this_machine().judge(judged.collect())
}

#[cfg(test)]
mod tests;
