//! What a group is called, so that one whose owner is dead can be told.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::stat;

static NEXT: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = "toolgate-";

/// A name nobody else uses: our process, when it was started, and a number.
pub(super) fn fresh() -> String {
    let pid = std::process::id();
    let start = started(pid).unwrap_or(0);
    format!("{PREFIX}{pid}-{start}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether `name` is one of ours, of a process that is not there any more.
pub(super) fn is_stale(name: &str) -> bool {
    let parse = || {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        let pid: u32 = parts.next()?.parse().ok()?;
        let start: u64 = parts.next()?.parse().ok()?;
        Some(started(pid) != Some(start))
    };
    parse().unwrap_or(false)
}

/// When a process was started, in ticks since the machine was.
fn started(pid: u32) -> Option<u64> {
    stat::number(pid, 19)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stale_when_its_process_is_gone_or_another_one() {
        let ours = fresh();
        assert!(!is_stale(&ours));
        let pid = std::process::id();
        for (name, expected) in [
            (format!("toolgate-{pid}-1-0"), true),
            ("toolgate-4194305-1-0".to_owned(), true),
            ("toolgate-x-1-0".to_owned(), false),
            ("toolgate-".to_owned(), false),
            ("somebody-else".to_owned(), false),
        ] {
            assert_eq!(is_stale(&name), expected, "{name}");
        }
    }
}
