//! Who started us.

use std::{fs, io};

use crate::{init::LAUNCHER, stat};

/// More than anybody nests.
const MOST: usize = 1_000;

/// Whether this process was started, directly or not, by a command that was run by this crate on
/// the host. A command that let itself be adopted is adopted by its launcher.
///
/// Inside the native sandbox nobody's ancestors can be seen; there is nothing to answer either.
pub fn descends_from_command() -> bool {
    let mut pid = std::process::id();
    for _ in 0..MOST {
        if name(pid).is_ok_and(|name| name == LAUNCHER.as_bytes()) {
            return true;
        }
        match parent(pid) {
            Some(parent) if parent != 0 => pid = parent,
            _ => return false,
        }
    }
    true
}

/// What a process was started as.
fn name(pid: u32) -> io::Result<Vec<u8>> {
    let line = fs::read(format!("/proc/{pid}/cmdline"))?;
    Ok(line.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
}

fn parent(pid: u32) -> Option<u32> {
    stat::number(pid, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_parent() {
        let own = std::process::id();
        assert_eq!(parent(own), Some(std::os::unix::process::parent_id()));
        assert!(!name(own).unwrap().is_empty());
        assert!(!descends_from_command());
    }
}
