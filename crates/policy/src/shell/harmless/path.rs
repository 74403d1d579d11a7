//! Paths that a harmless command may name.

use crate::is_credential;

/// Whether `path` stays within the workspace as it is written, and holds no secrets by its name.
pub(super) fn check(path: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("`{path}` {why}"));
    if path.is_empty() {
        return refuse("is no path");
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
    if is_credential(path) {
        return refuse("may hold credentials");
    }
    Ok(())
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
