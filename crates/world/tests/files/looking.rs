//! What a plan's paths mean, before anybody decides about them.

use std::os::unix::fs::symlink;

use tool::{FilePath, Need};

use crate::helper::{Setup, shown};

fn look(setup: &Setup, need: &Need) -> String {
    let root = setup.path("").display().to_string();
    match setup.disk().look(need) {
        Ok(fact) => {
            let resolved = format!("{}/", fact.resolved);
            let resolved = resolved.strip_prefix(&root).unwrap_or(&resolved);
            format!("{resolved} {} {}", fact.files, fact.bytes)
        }
        Err(error) => shown(&error),
    }
}

#[test]
fn a_path_is_resolved_whether_it_exists_or_not() {
    let setup = Setup::new();
    setup.put("src/a.txt", "12345");
    setup.put("src/deep/b.txt", "123");
    symlink("src", setup.path("link")).unwrap();
    symlink("/etc", setup.path("etc")).unwrap();
    let (read, write) =
        (|p: &str| Need::Read(FilePath::new(p)), |p: &str| Need::Write(FilePath::new(p)));
    for (need, expected) in [
        (read("src/a.txt"), "src/a.txt/ 1 5"),
        (read("link/a.txt"), "src/a.txt/ 1 5"),
        (read("link/no/such"), "src/no/such/ 0 0"),
        (read("src"), "src/ 0 0"),
        (read("."), " 0 0"),
        (read("etc/passwd"), "path_not_allowed: `etc/passwd` is outside the workspace"),
        (write("src/a.txt"), "src/a.txt/ 1 5"),
        (write("new/x.txt"), "new/x.txt/ 0 0"),
        (write("src"), "src/ 2 8"),
        (write("."), " 2 8"),
        (write("link"), "link/ 0 0"),
        (write("link/a.txt"), "path_not_allowed: `link/a.txt` goes through a link"),
        (write(".envrc"), "path_not_allowed: `.envrc` is protected by rule `.envrc`"),
        (write("../x"), "path_not_allowed: `../x` is outside the workspace"),
    ] {
        assert_eq!(look(&setup, &need), expected, "{need}");
    }
}
