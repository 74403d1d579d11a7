//! Paths that a harmless command may name.

use super::unknown;
use crate::{credential, is_credential};

/// Files and folders outside the workspace that every machine has and everybody may read.
const WELL_KNOWN: &[&str] = &[
    "/dev/null",
    "/etc/debian_version",
    "/etc/fedora-release",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/issue",
    "/etc/lsb-release",
    "/etc/os-release",
    "/etc/redhat-release",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
    "/proc/vmstat",
    "/usr/lib/os-release",
];

/// Folders of the system that programs come in.
const SYSTEM: &[&str] =
    &["/usr/bin", "/usr/lib", "/usr/include", "/usr/share", "/usr/local", "/bin"];

/// Whether `path` stays within the workspace as it is written, and holds no secrets by its name.
pub(super) fn check(path: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("`{path}` {why}"));
    if path.is_empty() {
        return refuse("is no path");
    }
    if is_public(path) {
        return Ok(());
    }
    if !unknown::is_known(path) {
        if unknown::may_leave(path) {
            return refuse("may lead out of the workspace");
        }
        if unknown::starts_unknown(path) && !unknown::is_pattern(path) {
            // In the sandbox it finds nothing that is hidden, whatever it names.
            return Ok(());
        }
    }
    if path.starts_with('/') || path.starts_with('~') {
        return refuse("is outside the workspace");
    }
    // Not every program knows `--`.
    if path.starts_with('-') {
        return refuse("looks like an option");
    }
    let mut depth = 0_usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return refuse("is outside the workspace"),
            },
            _ => depth += 1,
        }
    }
    if is_credential(path) || may_match_credential(path) {
        return refuse("may hold credentials");
    }
    Ok(())
}

/// Whether it is a file of the system that holds no secrets.
pub(super) fn is_public(path: &str) -> bool {
    let beneath = |folder: &&str| {
        path.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let plain = !path.split('/').any(|part| part == "..") && unknown::is_known(path);
    plain && (WELL_KNOWN.contains(&path) || (SYSTEM.iter().any(beneath) && !is_credential(path)))
}

/// Whether a pattern names a file with credentials by its first letters.
fn may_match_credential(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let start: String = name.chars().take_while(|&c| unknown::index_of(c).is_none()).collect();
    let end: String = name.chars().rev().take_while(|&c| unknown::index_of(c).is_none()).collect();
    let end: String = end.chars().rev().collect();
    !unknown::is_known(&name)
        && unknown::is_pattern(&name)
        && start.len() > 1
        && credential::patterns()
            .iter()
            .any(|known| known.starts_with(&start) && known.ends_with(&end))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_path_stays_within_the_workspace() {
        for (path, expected) in [
            ("a.txt", true),
            ("./src/../a.txt", true),
            ("src/", true),
            (".", true),
            ("..", false),
            ("a/../../b", false),
            ("/etc/passwd", false),
            ("~/x", false),
            ("~ada", false),
            ("", false),
            ("-o", false),
            (".env", false),
            ("certs/a.pem", false),
        ] {
            assert_eq!(check(path).is_ok(), expected, "{path}");
        }
    }
}
