//! Published failures of systems like this one, tried against this one.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use libtest_mimic::Trial;
use serde_json::json;

use crate::{
    cli::Machine,
    helper::{AUTO, Setup, error, tree, trial},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("path_006_a_link_a_command_made_is_not_followed", a_link_is_not_followed),
        trial("path_011_every_call_checks_its_folder", every_call_checks_its_folder),
        trial("path_019_a_link_does_not_choose_what_is_mounted", a_link_does_not_choose),
        Trial::test("path_019_a_link_in_the_home_folder_opens_nothing", || {
            a_link_in_the_home_folder_opens_nothing();
            Ok(())
        }),
        trial("path_025_protected_files_do_not_come_into_being", protected_files_do_not_appear),
        trial("path_026_protected_files_are_protected_from_anywhere", protected_from_anywhere),
    ]
}

/// path-006: a command makes a link that leads out, and a file tool is to write through it.
async fn a_link_is_not_followed() {
    let setup = Setup::new().await;
    setup.file("inside/real.txt", "inside\n");
    fs::create_dir(setup.beside("outside")).unwrap();
    fs::write(setup.beside("outside/.bashrc"), "before\n").unwrap();
    let outside = setup.beside("outside");
    let links = format!(
        "ln -s {0}/.bashrc file; ln -s {0} folder; ln -s ../outside/.bashrc up; ln -s {0}/new new",
        outside.display()
    );
    assert_eq!(setup.sh(&links).await["result"]["exitCode"], 0);
    assert!(fs::symlink_metadata(setup.path("file")).unwrap().is_symlink());
    let before = (tree(&outside), tree(&setup.path("")));
    for path in ["file", "folder/.bashrc", "folder/new", "up", "new"] {
        let patch =
            format!("*** Begin Patch\n*** Update File: {path}\n@@\n-before\n+x\n*** End Patch\n");
        for (tool, args) in [
            ("write", json!({"path": path, "content": "x"})),
            ("write", json!({"path": path, "content": "x", "mode": "append"})),
            ("edit", json!({"path": path, "oldText": "before", "newText": "x"})),
            ("apply_patch", json!({"input": patch})),
            ("read", json!({"path": path})),
        ] {
            let outcome = setup.call(tool, args).await;
            assert_eq!(outcome["status"], "error", "{tool} {path}: {outcome}");
        }
        // Nor does the next command get out.
        setup.sh(&format!("echo x >> {path}")).await;
    }
    assert_eq!((tree(&outside), tree(&setup.path(""))), before);
}

/// path-011: a call is held to the workspace, whatever an earlier one was allowed.
async fn every_call_checks_its_folder() {
    let setup = Setup::new().await;
    setup.file("repo/here.txt", "");
    fs::create_dir(setup.beside("other")).unwrap();
    let other = setup.beside("other").display().to_string();
    let fine = setup.call("exec", json!({"command": "ls", "workdir": "repo"})).await;
    assert_eq!(fine["result"]["stdout"], "here.txt\n", "{fine}");
    for workdir in [other.as_str(), "../other", "repo/../../other", "/", "/etc"] {
        for more in [json!({}), json!({"background": true}), json!({"yieldMs": 10})] {
            let mut args = json!({"command": "ls", "workdir": workdir});
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let said = error(&setup.call("exec", args).await);
            assert!(said.starts_with("path_not_allowed: "), "{workdir}: {said}");
        }
    }
    // The same folder, replaced by a link meanwhile.
    fs::remove_dir_all(setup.path("repo")).unwrap();
    symlink(&other, setup.path("repo")).unwrap();
    let said = error(&setup.call("exec", json!({"command": "ls", "workdir": "repo"})).await);
    assert!(said.starts_with("path_not_allowed: "), "{said}");
}

/// path-019: of a folder that commands may read, a command replaces the part above by a link.
async fn a_link_does_not_choose() {
    let read = "[tools.sandbox]\nread = [\"BESIDE/ws/docs/leaf\", \"BESIDE/missing/leaf\", \"BESIDE/shown\"]\n";
    let setup = Setup::with(&format!("{AUTO}{read}")).await;
    for folder in ["secret/leaf", "shown"] {
        fs::create_dir_all(setup.beside(folder)).unwrap();
        fs::write(setup.beside(folder).join("key.txt"), folder).unwrap();
    }
    let secret = setup.beside("secret").display().to_string();
    assert_eq!(setup.sh(&format!("ln -s {secret} docs")).await["result"]["exitCode"], 0);
    for path in [format!("{secret}/leaf/key.txt"), "docs/leaf/key.txt".to_owned()] {
        let outcome = setup.sh(&format!("cat {path}")).await;
        assert_ne!(outcome["result"]["exitCode"], 0, "{path}: {outcome}");
        assert_eq!(outcome["result"]["stdout"], "", "{path}: {outcome}");
    }
    let shown = setup.beside("shown/key.txt").display().to_string();
    assert_eq!(setup.printed(&format!("cat {shown}")).await, "shown");
}

/// Files that decide what other programs run, and that are not there yet.
const PROTECTED: &[&str] = &[
    ".claude/settings.json",
    ".envrc",
    ".git/hooks/pre-commit",
    ".mcp.json",
    ".vscode/tasks.json",
    "deep/er/.claude/settings.json",
    ".BASHRC",
];

/// path-025: what was missing when the command started is protected too.
async fn protected_files_do_not_appear() {
    for path in PROTECTED {
        let setup = Setup::new().await;
        let command = format!("mkdir -p $(dirname {path}); echo evil > {path}; echo x > harmless");
        let outcome = setup.sh(&command).await;
        assert!(!setup.path(path).exists(), "{path}: {outcome}");
        let notes = outcome["result"]["notes"].to_string();
        let failed = outcome["result"]["stderr"].as_str().unwrap().contains(path);
        assert!(notes.contains("protected") || failed, "{path}: {outcome}");
        assert_eq!(setup.text("harmless").as_deref(), Some("x\n"), "the rest stays: {outcome}");
        let undone = setup.undo(&outcome).await;
        assert_eq!(undone["status"], "success", "{path}: {undone}");
    }
}

/// path-026: whatever the command calls the file, it is the same file.
async fn protected_from_anywhere() {
    for command in [
        "cd .claude && echo evil > settings.json",
        "cd .claude/../.claude && echo evil > ./settings.json",
        "echo evil > .claude/x && mv .claude/x .claude/settings.json",
        "mkdir n && echo evil > n/settings.json && rm -r .claude && mv n .claude",
        "echo evil > /tmp/e && ln -sf /tmp/e .claude/settings.json",
        "echo evil > e && ln -f e .claude/settings.json",
        "ln -s .claude c && echo evil > c/settings.json",
        "exec 3<> .claude/settings.json && echo evil >&3",
        "rm .claude/settings.json",
        "rm -rf .claude",
        "mv .claude other",
        "chmod 777 .claude/settings.json",
        "cp --remove-destination /etc/passwd .claude/settings.json",
        "python3 -c \"import os; os.chdir('.claude'); open('settings.json', 'w').write('evil')\"",
    ] {
        let setup = Setup::new().await;
        setup.file(".claude/settings.json", "{}\n");
        let file = setup.path(".claude/settings.json");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let outcome = setup.sh(command).await;
        assert_eq!(
            setup.text(".claude/settings.json").as_deref(),
            Some("{}\n"),
            "{command}: {outcome}"
        );
        let known = fs::symlink_metadata(&file).unwrap();
        assert!(known.is_file() && known.permissions().mode() & 0o777 == 0o640, "{command}");
        assert_eq!(setup.printed("cat .claude/settings.json").await, "{}\n", "{command}");
    }
}

/// path-019: the home folder is the workspace, and a command makes a link where a toolchain would be.
fn a_link_in_the_home_folder_opens_nothing() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
    fs::create_dir(machine.path("secret")).unwrap();
    fs::write(machine.path("secret/key.txt"), "secret").unwrap();
    let (home, secret) = (machine.path("home").display().to_string(), machine.path("secret"));
    let sh = |command: String| {
        let args = json!({"command": command}).to_string();
        machine
            .run(&["call", "exec", &args, "--workspace", &home, "--allow-broad-workspace"])
            .json()
    };
    let links = [".bun", ".cargo", ".deno", ".local/bin", "go"]
        .map(|name| format!("mkdir -p .local && ln -sn {} {name}", secret.display()));
    assert_eq!(sh(links.join(" && "))["result"]["exitCode"], 0);
    let outcome = sh(format!("cat {}/key.txt .bun/key.txt", secret.display()));
    assert_eq!(outcome["result"]["stdout"], "", "{outcome}");
    assert_ne!(outcome["result"]["exitCode"], 0, "{outcome}");
}
