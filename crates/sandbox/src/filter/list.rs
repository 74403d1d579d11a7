//! What is refused, as data.

use libc::c_long;

use crate::wire::Sockets;

/// How memory is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// By the kernel, whatever it is used for.
    Counted,
    /// By us, looking at processes and folders; memory that lies outside of both must not exist.
    Watched,
}

/// When a call is refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    /// Always.
    Refused(i32),
    /// If one of these bits is set.
    NoBits { arg: u32, bits: u32 },
    /// If one of `among` is set in `flags`, and one of `bits` in `arg`.
    NoBitsIf { flags: u32, among: u32, arg: u32, bits: u32 },
    /// If the argument is none of these.
    Only { arg: u32, values: &'static [u32], errno: i32 },
    /// If the argument is one of these.
    AllBut { arg: u32, values: &'static [u32] },
    /// If it is not one of these sockets.
    Socket(Sockets),
}

const SETUID_BITS: u32 = 0o6000;
// `O_TMPFILE` without the bit for "directory" that it contains.
const CREATES: u32 = libc::O_CREAT.cast_unsigned() | 0o20_000_000;
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();
// Shares its bit with the exit signal of `clone`, so it counts for `unshare` only.
const NEW_TIME: u32 = 0x80;

const fn mode(arg: u32) -> Rule {
    Rule::NoBits { arg, bits: SETUID_BITS }
}

const fn opens(flags: u32) -> Rule {
    Rule::NoBitsIf { flags, among: CREATES, arg: flags + 1, bits: SETUID_BITS }
}

// The same number everywhere, but not known for every machine.
const FCHMODAT2: c_long = 452;

/// Calls whose arguments decide.
pub(super) const CONDITIONAL: &[(c_long, Rule)] = &[
    (libc::SYS_openat, opens(2)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, opens(1)),
    (libc::SYS_ioctl, Rule::AllBut { arg: 1, values: TERMINAL_TRICKS }),
    (libc::SYS_clone, Rule::NoBits { arg: 0, bits: NAMESPACES }),
    (
        libc::SYS_socketpair,
        Rule::Only { arg: 0, values: &[libc::AF_UNIX.cast_unsigned()], errno: libc::EAFNOSUPPORT },
    ),
    (libc::SYS_unshare, Rule::NoBits { arg: 0, bits: NAMESPACES | NEW_TIME }),
    (libc::SYS_fchmod, mode(1)),
    (libc::SYS_fchmodat, mode(2)),
    (FCHMODAT2, mode(2)),
    (libc::SYS_mkdirat, mode(2)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, mode(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, mode(1)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, mode(1)),
    (libc::SYS_mknodat, Rule::NoBits { arg: 2, bits: SETUID_BITS | DEVICES }),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, Rule::NoBits { arg: 1, bits: SETUID_BITS | DEVICES }),
    (libc::SYS_fallocate, Rule::Only { arg: 1, values: FREES_BLOCKS, errno: libc::EOPNOTSUPP }),
    (libc::SYS_personality, Rule::Only { arg: 0, values: PERSONALITIES, errno: libc::EPERM }),
];

// The kinds of nodes are numbers, not bits; but this bit is set in both kinds of devices (0o060000
// and 0o020000), and not in regular files (0o100000), FIFOs (0o010000) and sockets (0o140000).
const DEVICES: u32 = 0o20_000;

// Punching a hole, and removing a range. All other modes allocate any number of blocks at once, past
// `RLIMIT_FSIZE` if the size is kept, so that no limit on what is written could be held. Programs
// know file systems that cannot do it, and write zeros instead.
const FREES_BLOCKS: &[u32] = &[0x3, 0x8];

// Put characters into somebody's terminal; drive the console; load a line discipline.
const TERMINAL_TRICKS: &[u32] = &[0x5412, 0x541C, 0x5423];

// Linux, also with the kernel's name of version 2.6, of 32 bits, or without a random layout; asking.
const PERSONALITIES: &[u32] = &[0, 0x8, 0x2_0000, 0x2_0008, 0x4_0000, 0xFFFF_FFFF];

/// Calls that programs know how to live without, and whose arguments lie in memory, where a filter
/// cannot look.
pub(super) const UNKNOWN_TO_PROGRAMS: &[c_long] =
    &[libc::SYS_clone3, libc::SYS_openat2, libc::SYS_memfd_secret];

/// Calls that set attributes, which a filter cannot tell by their name. `user.overlay.*` on a file
/// of a workspace would change what later overlays show of it.
pub(super) const SETS_ATTRIBUTES: &[c_long] =
    &[libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr];

/// Memory that belongs to no process.
pub(super) const WITHOUT_CGROUP: &[c_long] =
    &[libc::SYS_memfd_create, libc::SYS_shmget, libc::SYS_msgget, libc::SYS_vmsplice];

const FAST_OPEN: u32 = 0x2000_0000;

/// Sending that would open a TCP connection as well.
pub(super) const NO_FAST_OPEN: &[(c_long, Rule)] = &[
    (libc::SYS_sendto, Rule::NoBits { arg: 3, bits: FAST_OPEN }),
    (libc::SYS_sendmsg, Rule::NoBits { arg: 2, bits: FAST_OPEN }),
    (libc::SYS_sendmmsg, Rule::NoBits { arg: 3, bits: FAST_OPEN }),
];

/// Calls no tool needs.
pub(super) const REFUSED: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Programs and memory handed to the kernel.
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // `statmount` and `listmount`.
    457,
    458,
    // Files past their path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    // The machine.
    libc::SYS_kexec_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "aarch64")]
    294,
    libc::SYS_reboot,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];
