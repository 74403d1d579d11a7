//! What a process can give up for good: files by Landlock, system calls by seccomp.
#![expect(unsafe_code, reason = "these calls have no safe wrapper")]

use std::{
    ffi::{CStr, c_char},
    io,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
    ptr,
};

use super::checked;

/// What a Landlock ruleset is about: `struct landlock_ruleset_attr`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Landlock {
    pub(crate) files: u64,
    /// TCP ports; in a network namespace of its own a command needs none of them closed.
    pub(crate) net: u64,
    pub(crate) scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

#[repr(C)]
struct NetPort {
    allowed: u64,
    port: u64,
}

const VERSION: u32 = 1;
const PATH_BENEATH: u32 = 1;
const NET_PORT: u32 = 2;

/// The newest Landlock interface the kernel has.
pub(crate) fn landlock_abi() -> io::Result<u32> {
    let nothing = ptr::null::<Landlock>();
    // SAFETY: asking for the version takes no structure.
    let answer =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    Ok(u32::try_from(checked(answer)?).unwrap_or(0))
}

impl Landlock {
    /// Makes a ruleset that allows nothing of what it is about.
    pub(crate) fn create(&self) -> io::Result<OwnedFd> {
        // Older kernels know a shorter structure, and accept a longer one if the rest is zero.
        let size = size_of::<Self>();
        // SAFETY: the structure is as long as we say and outlives the call.
        let answer =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const *self, size, 0) };
        let fd = i32::try_from(checked(answer)?).unwrap_or(-1);
        // SAFETY: the kernel has just given us this descriptor, and nobody else knows of it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// Allows `allowed` beneath `path`.
pub(crate) fn add_path_rule(rules: &OwnedFd, path: impl AsFd, allowed: u64) -> io::Result<()> {
    let rule = PathBeneath { allowed, parent: path.as_fd().as_raw_fd() };
    let rules = rules.as_raw_fd();
    // SAFETY: the rule has the layout this kind of rule has, and outlives the call.
    let answer = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, rules, PATH_BENEATH, &raw const rule, 0)
    };
    checked(answer).map(drop)
}

/// Allows `allowed` with a TCP port.
pub(crate) fn add_port_rule(rules: &OwnedFd, port: u16, allowed: u64) -> io::Result<()> {
    let rule = NetPort { allowed, port: port.into() };
    let rules = rules.as_raw_fd();
    // SAFETY: the rule has the layout this kind of rule has, and outlives the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_landlock_add_rule, rules, NET_PORT, &raw const rule, 0) };
    checked(answer).map(drop)
}

/// Restricts this thread to what `rules` allow.
pub(crate) fn landlock_restrict(rules: &OwnedFd) -> io::Result<()> {
    // SAFETY: the call takes no pointer.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) };
    checked(answer).map(drop)
}

/// From here on no program gives this process more rights than it has.
pub(crate) fn no_new_privs() -> io::Result<()> {
    // SAFETY: the call takes no pointer.
    let answer = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    checked(answer.into()).map(drop)
}

/// Removes every capability from what a program could ever give this process.
pub(crate) fn drop_bounding_set() -> io::Result<()> {
    for capability in 0.. {
        // SAFETY: the call takes no pointer.
        let answer = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        match checked(answer.into()) {
            Ok(_) => {}
            // There are no more.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && capability > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Lets `filter` judge every system call of this thread.
pub(crate) fn set_filter(filter: &[libc::sock_filter]) -> io::Result<()> {
    let len = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program points to `len` instructions and outlives the call, which only reads them.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    };
    checked(answer).map(drop)
}

/// Closes every descriptor from `first` to `last`.
pub(crate) fn close_range(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: the caller is a process of ours that uses none of them any more.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    checked(answer).map(drop)
}

/// Leaves the keys of whoever started us behind. A kernel without keys has none to leave.
pub(crate) fn leave_keys() {
    const JOIN_SESSION_KEYRING: libc::c_long = 1;
    let unnamed = ptr::null::<c_char>();
    // SAFETY: null is a valid name; it makes a new keyring.
    unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, unnamed) };
}

/// Leaves the namespaces `flags` name for new ones.
pub(crate) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: the call takes no pointer, and no thread shares anything with us.
    checked(unsafe { libc::unshare(flags) }.into()).map(drop)
}

/// Replaces the program of this process. Returns only if that fails.
pub(crate) fn execute(program: &CStr, argv: &[*const c_char], env: &[*const c_char]) -> io::Error {
    // A list without its end would be read on.
    if argv.last().is_none_or(|last| !last.is_null())
        || env.last().is_none_or(|last| !last.is_null())
    {
        return io::ErrorKind::InvalidInput.into();
    }
    // SAFETY: both lists end with null, as has been checked, and hold pointers to C strings that
    // the caller keeps.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}
