//! What the kernel tells about a process.

use std::{fs, str::FromStr};

/// A number from `/proc/PID/stat`, counted from the one after the program's name.
pub(crate) fn number<T: FromStr>(pid: u32, place: usize) -> Option<T> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(place)?.parse().ok()
}
