//! The example in CONTRIBUTING.md, built exactly as it stands there.

use std::{fs, path::Path, process::Command};

use crate::top;

/// The fenced block after `<!-- example: NAME -->`.
fn block(page: &str, name: &str) -> String {
    let marker = format!("<!-- example: {name} -->");
    let (_, after) = page.split_once(&marker).unwrap_or_else(|| panic!("no `{marker}`"));
    let (_, block) = after.split_once("```rust\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

/// Copies a folder, without what is built in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// One file and two lines: the tool is there, described, planned and callable.
#[test]
fn the_example_tool_is_one_file_and_two_lines() {
    let page = fs::read_to_string(top().join("CONTRIBUTING.md")).unwrap();
    // A fixed place, so that what it is built from is built once; and a target folder of its own,
    // because cargo would take its crates for those of this workspace.
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let (folder, target) = (target.join("example/source"), target.join("example/target"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for name in ["Cargo.toml", "Cargo.lock", "clippy.toml", "rust-toolchain.toml"] {
        fs::copy(top().join(name), folder.join(name)).unwrap();
    }
    copy(&top().join("crates"), &folder.join("crates"));
    let fs_folder = folder.join("crates/tools/src/fs");
    fs::write(fs_folder.join("count_words.rs"), block(&page, "crates/tools/src/fs/count_words.rs"))
        .unwrap();
    let section = fs::read_to_string(fs_folder.join("mod.rs")).unwrap();
    let (module, list) = (block(&page, "mod line"), block(&page, "list line"));
    assert_eq!((module.trim().lines().count(), list.trim().lines().count()), (1, 1));
    let section = section.replacen("mod edit;\n", &format!("{module}mod edit;\n"), 1);
    let after = "        Typed::<edit::Edit>::erased(),\n";
    let section = section.replacen(after, &format!("        {}\n{after}", list.trim()), 1);
    fs::write(fs_folder.join("mod.rs"), section).unwrap();
    fs::write(folder.join("crates/tools/tests/count_words.rs"), block(&page, "test")).unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--locked", "-p", "tools", "--test", "count_words"])
        // It is built once and runs for a moment.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .args(["--config", "profile.dev.package.'*'.opt-level = 0"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .unwrap();
    assert!(status.success());
}
