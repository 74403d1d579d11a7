//! Where programs are.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

/// Where a program is in the first of `folders` that has it. One that is named with its folder is
/// where it says, or nowhere.
pub fn find_program(name: &str, folders: &[String]) -> Option<String> {
    if name.contains('/') {
        return is_program(name).then(|| name.to_owned());
    }
    let mut paths = folders.iter().map(|folder| format!("{}/{name}", folder.trim_end_matches('/')));
    paths.find(|path| is_program(path))
}

fn is_program(path: &str) -> bool {
    let found = Path::new(path).metadata();
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_program_is_where_the_first_folder_has_it() {
        let temp = tempfile::tempdir().unwrap();
        let path = |name: &str| temp.path().join(name).display().to_string();
        for (name, mode) in [("a/one", 0o644), ("b/one", 0o755), ("c/one", 0o755)] {
            fs::create_dir_all(Path::new(&path(name)).parent().unwrap()).unwrap();
            fs::write(path(name), "").unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let folders = [path("a"), path("b/"), path("c")];
        for (name, expected) in [
            ("one".to_owned(), Some(path("b/one"))),
            ("two".to_owned(), None),
            (path("c/one"), Some(path("c/one"))),
            (path("a/one"), None),
            (String::new(), None),
        ] {
            assert_eq!(find_program(&name, &folders), expected, "{name}");
        }
    }
}
