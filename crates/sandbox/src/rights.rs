//! What Landlock can allow, as the kernel numbers it.

pub(crate) const EXECUTE: u64 = 1;
pub(crate) const WRITE_FILE: u64 = 1 << 1;
pub(crate) const READ_FILE: u64 = 1 << 2;
pub(crate) const READ_DIR: u64 = 1 << 3;
pub(crate) const MAKE_CHAR: u64 = 1 << 6;
pub(crate) const MAKE_BLOCK: u64 = 1 << 11;
pub(crate) const TRUNCATE: u64 = 1 << 14;
pub(crate) const IOCTL_DEV: u64 = 1 << 15;

pub(crate) const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
/// What can be allowed about something that is no folder.
pub(crate) const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

pub(crate) const BIND_TCP: u64 = 1;
pub(crate) const CONNECT_TCP: u64 = 1 << 1;

pub(crate) const ABSTRACT_SOCKETS: u64 = 1;
pub(crate) const SIGNALS: u64 = 1 << 1;

/// Every right to files that this version of the interface knows.
pub(crate) fn known(abi: u32) -> u64 {
    let rights = match abi {
        0 => 0,
        1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    (1 << rights) - 1
}
