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

/// Tells clones that share a target folder apart.
fn place() -> String {
    top().display().to_string()
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
    // A fixed place in the target folder, so that what it builds is built once.
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let folder = target.join("contributing-example").join(tool::Digest::of(place()).to_string());
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
        // With the features of the whole workspace, so that nothing else is built again.
        .args(["test", "--offline", "--locked", "--workspace", "--test", "count_words"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .unwrap();
    assert!(status.success());
}
