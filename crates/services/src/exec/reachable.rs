//! Folders of the host that commands can be shown.

use std::path::{Path, PathBuf};

/// Where `path` leads, if that is not for commands to decide: in the workspace they can make links,
/// and the next one would be shown whatever they lead to.
pub(super) fn reachable(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let inside = |above: &Path| above.canonicalize().is_ok_and(|real| real.starts_with(workspace));
    if path.ancestors().any(inside) {
        return None;
    }
    path.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::reachable;

    #[test]
    fn nothing_is_reached_through_the_workspace() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for folder in ["ws/docs", "secret/leaf", "shown"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        symlink(top.join("secret"), top.join("ws/link")).unwrap();
        symlink(top.join("shown"), top.join("other-name")).unwrap();
        for (path, expected) in [
            ("shown", Some("shown")),
            ("other-name", Some("shown")),
            ("secret/leaf", Some("secret/leaf")),
            ("ws/docs", None),
            ("ws/link", None),
            ("ws/link/leaf", None),
            ("ws/link/missing", None),
            ("missing/leaf", None),
        ] {
            let found = reachable(&top.join(path), &top.join("ws"));
            assert_eq!(found, expected.map(|path| top.join(path)), "{path}");
        }
    }
}
