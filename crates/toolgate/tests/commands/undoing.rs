//! What a command changed is taken back as one.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use libtest_mimic::Trial;

use crate::helper::{Setup, error, tree, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("everything_a_command_changed_is_taken_back", everything_is_taken_back),
        trial("a_later_change_is_not_lost_by_undo", a_later_change_is_not_lost_by_undo),
        trial("equal_folders_are_all_brought_back", equal_folders_are_all_brought_back),
    ]
}

/// A project with modes, links and folders in folders.
fn project(setup: &Setup) {
    for (name, content, mode) in [
        ("README", "hello world\n", 0o644),
        ("run.sh", "#!/bin/sh\n", 0o755),
        ("secret.txt", "s\n", 0o600),
        ("src/a/b/deep.rs", "fn main() {}\n", 0o644),
        ("src/a/one.rs", "1\n", 0o640),
        ("src/two.rs", "2\n", 0o444),
        ("old/x/y/z", "z\n", 0o644),
        ("old/x/tool", "t\n", 0o711),
    ] {
        setup.file(name, content);
        fs::set_permissions(setup.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::create_dir(setup.path("old/empty")).unwrap();
    for (name, mode) in [("old/x", 0o750), ("old", 0o700), ("src", 0o775)] {
        fs::set_permissions(setup.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (target, name) in [("README", "link"), ("nowhere/at/all", "broken"), ("../src", "old/up")] {
        symlink(target, setup.path(name)).unwrap();
    }
}

async fn everything_is_taken_back() {
    for command in [
        "sed -i s/hello/bye/ README && rm -r old && mkdir -p new/deep && chmod 700 src",
        "chmod 600 run.sh && chmod -R go-rwx src && chmod 555 old/x",
        "rm link broken && ln -s run.sh link && mkdir broken && touch broken/not",
        "rm README && mkdir README && echo in > README/file",
        "rm -r src && echo now a file > src",
        "mv src moved && mv moved/a old/ && ln -sfn /etc/passwd old/up",
        "rm -rf ./* && mkdir -p src/a && echo other > src/a/one.rs",
        "rm -r old && mkdir old && echo 1 > old/x && echo 2 > secret.txt && chmod 666 secret.txt",
        "echo x > 'a name with spaces and ümläuts' && : > empty && rm -r old/empty",
        "cp -a src copy && truncate -s 100000 README && ln README hard",
    ] {
        let setup = Setup::new().await;
        project(&setup);
        let before = tree(&setup.path(""));
        let outcome = setup.sh(command).await;
        assert_eq!(outcome["result"]["exitCode"], 0, "{command}: {outcome}");
        let after = tree(&setup.path(""));
        assert_ne!(before, after, "{command}");
        assert_ne!(outcome["meta"]["changed"].as_array().unwrap().len(), 0, "{command}");
        let undone = setup.undo(&outcome).await;
        assert_eq!(undone["status"], "success", "{command}: {undone}");
        assert_eq!(tree(&setup.path("")), before, "{command}");
        let redone = setup.undo(&undone).await;
        assert_eq!(redone["status"], "success", "{command}: {redone}");
        assert_eq!(tree(&setup.path("")), after, "{command}");
        assert!(setup.gate.journal().verify(None).unwrap().ok);
    }
}

async fn a_later_change_is_not_lost_by_undo() {
    let setup = Setup::new().await;
    project(&setup);
    let outcome = setup.sh("echo 1 > one && echo 2 > README").await;
    setup.file("README", "by hand\n");
    let before = tree(&setup.path(""));
    let said = error(&setup.undo(&outcome).await);
    assert!(
        said.starts_with("execution_error: ") && said.contains("/README` changed since"),
        "{said}"
    );
    assert_eq!(tree(&setup.path("")), before);
}

async fn equal_folders_are_all_brought_back() {
    let setup = Setup::new().await;
    for name in ["one", "two", "three", "four/inner", "five"] {
        setup.file(&format!("{name}/a"), "a\n");
        setup.file(&format!("{name}/b/c"), "c\n");
    }
    let before = tree(&setup.path(""));
    let both = setup.sh("rm -rf one two").await;
    let replaced = setup.sh("rm -rf three && echo file > three").await;
    let nested = setup.sh("rm -rf four").await;
    let last = setup.sh("rm -rf five").await;
    let after = tree(&setup.path(""));
    let mut undone = Vec::new();
    for outcome in [&both, &nested, &replaced, &last] {
        let done = setup.undo(outcome).await;
        assert_eq!(done["status"], "success", "{done}");
        undone.push(done);
    }
    assert_eq!(tree(&setup.path("")), before);
    for outcome in &undone {
        let redone = setup.undo(outcome).await;
        assert_eq!(redone["status"], "success", "{redone}");
    }
    assert_eq!(tree(&setup.path("")), after);
}
