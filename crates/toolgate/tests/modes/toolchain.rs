//! The Rust toolchain that built this test, where an ordinary user can read it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Links what `cargo build` needs into `folder`, and gives where it is.
pub(crate) fn make_readable(folder: &Path) -> PathBuf {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).unwrap().trim());
    let target = folder.join("toolchain");
    for program in ["cargo", "rustc"] {
        link(&sysroot.join("bin").join(program), &target.join("bin").join(program));
    }
    let mut folders = vec![PathBuf::from("lib")];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(sysroot.join(&inner)).unwrap().map(Result::unwrap) {
            let path = inner.join(entry.file_name());
            // The sources of the standard library are not needed.
            if path.ends_with("rustlib/src") {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                link(&entry.path(), &target.join(&path));
            }
        }
    }
    target
}

fn link(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let real = from.canonicalize().unwrap();
    if fs::hard_link(&real, to).is_err() {
        fs::copy(real, to).unwrap();
    }
}
