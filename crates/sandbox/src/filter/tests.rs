//! The filter is run here the way the kernel would run it.

use libc::{c_long, sock_filter};

use super::*;

const ARCH: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 };

/// What the filter answers: `Ok` for allowed, else the errno; -1 for the end of the process.
fn judge(filter: &[sock_filter], arch: u32, call: c_long, args: &[u64]) -> Result<(), i32> {
    let word = |at: u32| match at {
        0 => u32::try_from(call).unwrap(),
        4 => arch,
        _ => {
            let arg = args.get((at as usize - 16) / 8).copied().unwrap_or(0);
            (if at.is_multiple_of(8) { arg } else { arg >> 32 } & 0xFFFF_FFFF) as u32
        }
    };
    let (mut at, mut value) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = filter[at];
        at += 1;
        let jump = |yes: bool| usize::from(if yes { jt } else { jf });
        match code {
            0x20 => value = word(k),
            0x54 => value &= k,
            0x15 => at += jump(value == k),
            0x25 => at += jump(value > k),
            0x35 => at += jump(value >= k),
            0x05 => at += k as usize,
            0x45 => at += jump(value & k != 0),
            0x06 if k == libc::SECCOMP_RET_ALLOW => return Ok(()),
            0x06 if k == libc::SECCOMP_RET_KILL_PROCESS => return Err(-1),
            0x06 => return Err((k & 0xFFFF).cast_signed()),
            other => panic!("unknown operation {other:#x}"),
        }
    }
}

fn here(memory: Memory, call: c_long, args: &[u64]) -> Result<(), i32> {
    judge(&filter(memory, Sockets::Namespaced), ARCH, call, args)
}

#[test]
fn what_programs_do_every_day_is_allowed() {
    let at = i64::from(libc::AT_FDCWD).cast_unsigned();
    let create = (libc::O_CREAT | libc::O_WRONLY) as u64;
    for (call, args) in [
        (libc::SYS_read, vec![0]),
        (libc::SYS_execve, vec![]),
        (libc::SYS_openat, vec![at, 0, create, 0o755]),
        // Without creation the mode is whatever happened to be in the register.
        (libc::SYS_openat, vec![at, 0, libc::O_DIRECTORY as u64, 0o7777]),
        (libc::SYS_fchmodat, vec![at, 0, 0o1777]),
        (libc::SYS_clone, vec![0x3d_0f00]),
        (libc::SYS_clone, vec![libc::SIGCHLD as u64 | libc::CLONE_VFORK as u64]),
        (libc::SYS_unshare, vec![libc::CLONE_FILES as u64]),
        (libc::SYS_ioctl, vec![1, 0x5401]),
        (libc::SYS_socket, vec![1, 1]),
        (libc::SYS_socket, vec![2, 1 | libc::SOCK_CLOEXEC as u64]),
        (libc::SYS_socket, vec![10, 2]),
        (libc::SYS_socket, vec![16, 3 | libc::SOCK_CLOEXEC as u64, 0]),
        (libc::SYS_socketpair, vec![1, 1]),
        (libc::SYS_mknodat, vec![at, 0, 0o010_644]),
        (libc::SYS_mknodat, vec![at, 0, 0o100_644]),
        (libc::SYS_personality, vec![0xFFFF_FFFF]),
        (libc::SYS_memfd_create, vec![]),
        (libc::SYS_fallocate, vec![3, 0x3]),
        (libc::SYS_setxattr, vec![]),
        (462, vec![]),
    ] {
        assert_eq!(here(Memory::Counted, call, &args), Ok(()), "{call} {args:?}");
    }
}

#[test]
fn what_no_tool_needs_is_refused() {
    let at = i64::from(libc::AT_FDCWD).cast_unsigned();
    let create = (libc::O_CREAT | libc::O_WRONLY) as u64;
    let eperm = libc::EPERM;
    for (call, args, errno) in [
        (libc::SYS_ptrace, vec![], eperm),
        (libc::SYS_fallocate, vec![3, 0], libc::EOPNOTSUPP),
        (libc::SYS_fallocate, vec![3, 0x1], libc::EOPNOTSUPP),
        (libc::SYS_fallocate, vec![3, 0x11], libc::EOPNOTSUPP),
        (libc::SYS_mount, vec![], eperm),
        (libc::SYS_openat, vec![at, 0, create, 0o4755], eperm),
        (libc::SYS_openat, vec![at, 0, libc::O_TMPFILE as u64, 0o2755], eperm),
        (libc::SYS_fchmod, vec![3, 0o4755], eperm),
        (libc::SYS_fchmodat, vec![at, 0, 0o2755], eperm),
        (libc::SYS_mkdirat, vec![at, 0, 0o4755], eperm),
        (libc::SYS_mknodat, vec![at, 0, 0o020_666], eperm),
        (libc::SYS_mknodat, vec![at, 0, 0o060_666], eperm),
        (libc::SYS_mknodat, vec![at, 0, 0o104_755], eperm),
        (libc::SYS_clone, vec![libc::CLONE_NEWUSER as u64 | 0x11], eperm),
        (libc::SYS_unshare, vec![libc::CLONE_NEWNET as u64], eperm),
        (libc::SYS_unshare, vec![0x80], eperm),
        (libc::SYS_ioctl, vec![0, 0x5412], eperm),
        (libc::SYS_ioctl, vec![0, 0xFFFF_FFFF_0000_5412], eperm),
        (libc::SYS_socket, vec![libc::AF_PACKET as u64, 3], libc::EAFNOSUPPORT),
        (libc::SYS_socket, vec![libc::AF_INET as u64, 3], libc::EAFNOSUPPORT),
        (libc::SYS_socket, vec![libc::AF_INET6 as u64, 3], libc::EAFNOSUPPORT),
        (libc::SYS_socket, vec![libc::AF_VSOCK as u64, 1], libc::EAFNOSUPPORT),
        (libc::SYS_socket, vec![libc::AF_NETLINK as u64, 3, 9], libc::EAFNOSUPPORT),
        (libc::SYS_socketpair, vec![libc::AF_INET as u64, 1], libc::EAFNOSUPPORT),
        (libc::SYS_clone3, vec![], libc::ENOSYS),
        (libc::SYS_openat2, vec![], libc::ENOSYS),
        (463, vec![], libc::ENOSYS),
        (1000, vec![], libc::ENOSYS),
        (libc::SYS_personality, vec![0x40_0000], eperm),
    ] {
        assert_eq!(here(Memory::Counted, call, &args), Err(errno), "{call} {args:?}");
    }
}

#[test]
fn memory_outside_of_address_spaces_is_refused_where_it_is_not_counted() {
    for call in WITHOUT_CGROUP {
        assert_eq!(here(Memory::Counted, *call, &[]), Ok(()), "{call}");
        assert_eq!(here(Memory::Watched, *call, &[]), Err(libc::ENOSYS), "{call}");
    }
}

#[test]
fn another_machines_numbers_end_the_process() {
    let filter = filter(Memory::Counted, Sockets::Namespaced);
    assert_eq!(judge(&filter, 0x4000_0003, 0, &[]), Err(-1));
    assert_eq!(judge(&filter, ARCH, 0x4000_0000, &[]), Err(-1));
}

#[test]
fn without_a_network_namespace_sockets_lead_nowhere_but_to_what_was_agreed_to() {
    let (unix, inet, inet6, netlink) = (1, 2, 10, 16);
    let (stream, datagram, raw, sequence) = (1, 2, 3, 5);
    let refused = Err(libc::EAFNOSUPPORT);
    for (sockets, args, expected) in [
        (Sockets::Unconnected, [unix, stream, 0], Ok(())),
        (Sockets::Unconnected, [unix, sequence | libc::SOCK_CLOEXEC as u64, 0], Ok(())),
        (Sockets::Unconnected, [unix, datagram, 0], refused),
        (Sockets::Unconnected, [inet, stream, 0], refused),
        (Sockets::Unconnected, [inet6, datagram, 0], refused),
        (Sockets::Unconnected, [netlink, raw, 0], refused),
        (Sockets::Proxied, [inet, stream, 0], Ok(())),
        (Sockets::Proxied, [inet6, stream | libc::SOCK_CLOEXEC as u64, 6], Ok(())),
        (Sockets::Proxied, [inet, datagram, 0], refused),
        (Sockets::Proxied, [inet, datagram, 17], refused),
        // The multipath variant of TCP.
        (Sockets::Proxied, [inet, stream, 262], refused),
        (Sockets::Proxied, [unix, stream, 0], refused),
        (Sockets::Open, [inet, stream, 0], Ok(())),
        (Sockets::Open, [inet6, datagram, 17], Ok(())),
        (Sockets::Open, [inet, raw, 1], refused),
        (Sockets::Open, [unix, stream, 0], refused),
        (Sockets::Open, [netlink, raw, 0], refused),
    ] {
        let filter = filter(Memory::Counted, sockets);
        let found = judge(&filter, ARCH, libc::SYS_socket, &args);
        assert_eq!(found, expected, "{sockets:?} {args:?}");
        let connected = judge(&filter, ARCH, libc::SYS_connect, &[]);
        assert_eq!(connected.is_err(), sockets == Sockets::Unconnected);
        let fast = judge(&filter, ARCH, libc::SYS_sendto, &[0, 0, 0, 0x2000_0000]);
        assert_eq!(fast.is_err(), sockets == Sockets::Proxied);
    }
}

#[test]
fn attributes_are_refused_on_top() {
    let filter = attribute_filter();
    for call in SETS_ATTRIBUTES {
        assert_eq!(judge(&filter, ARCH, *call, &[]), Err(libc::EOPNOTSUPP), "{call}");
    }
    for call in [libc::SYS_read, libc::SYS_getxattr, libc::SYS_execve] {
        assert_eq!(judge(&filter, ARCH, call, &[]), Ok(()), "{call}");
    }
}
