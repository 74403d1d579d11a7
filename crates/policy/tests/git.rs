//! A repository whose every setting names a program: what is harmless runs none of them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use policy::shell::{Judgement, Known, harmless};

const LINES: &[&str] = &[
    "git status",
    "git status -sb --ignored",
    "git diff",
    "git diff --stat HEAD",
    "git diff --cached",
    "git diff HEAD~1 -- a.txt",
    "git diff HEAD~1..HEAD -p --word-diff",
    "git log -p",
    "git log --stat --all",
    "git log --format=%H",
    "git log -L 1,2:a.txt",
    "git log -S one",
    "git show",
    "git show HEAD:a.txt",
    "git show v1",
    "git blame a.txt",
    "git branch -avv",
    "git tag -n -l",
    "git describe --always --tags",
    "git cat-file -p HEAD",
    "git cat-file -p HEAD:a.txt",
    "git grep changed",
    "git grep -p changed -- a.txt",
    "git ls-files -m -o --exclude-standard",
    "git ls-files -s",
    "git ls-tree -r HEAD",
    "git reflog",
    "git stash list",
    "git stash show -p stash@{0}",
    "git shortlog -sn HEAD",
    "git rev-list --objects HEAD",
    "git rev-parse HEAD",
    "git for-each-ref",
    "git remote -v",
    "git merge-base HEAD HEAD~1",
    "git show-ref",
    "git worktree list",
    "git count-objects -v",
];

/// Settings that name a program.
const PROGRAMS: &[&str] = &[
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "filter.evil.clean",
    "filter.evil.process",
    "filter.evil.smudge",
    "gpg.program",
    "gpg.ssh.program",
    "interactive.diffFilter",
    "pager.diff",
    "pager.log",
    "pager.status",
];

fn git(folder: &Path, args: &[&str]) {
    #[expect(clippy::disallowed_methods, reason = "a real repository")]
    let mut git = Command::new("git");
    let who = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "protocol.file.allow=always",
    ];
    git.args(who)
        .args(args)
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(git.output().unwrap().status.success(), "{args:?}");
}

/// Whether this version of git can leave out what a repository says about its files.
fn takes_no_attributes() -> bool {
    #[expect(clippy::disallowed_methods, reason = "what is there is asked")]
    let mut git = Command::new("git");
    git.args(["--attr-source=HEAD", "--version"]).output().unwrap().status.success()
}

/// A repository with changes, a stash and a repository within it, all of them hostile.
fn hostile(folder: &Path, program: &str) {
    let sub = folder.join("sub");
    fs::create_dir_all(&sub).unwrap();
    for repository in [&sub, folder] {
        git(repository, &["init", "-q", "."]);
        fs::write(repository.join("a.txt"), "one\n").unwrap();
        fs::write(repository.join(".gitattributes"), "* filter=evil diff=evil\n").unwrap();
        git(repository, &["add", "a.txt", ".gitattributes"]);
        git(repository, &["commit", "-qm", "one"]);
    }
    git(folder, &["submodule", "--quiet", "add", "./sub", "sub"]);
    for text in ["one\ntwo\n", "one\ntwo\nthree\n"] {
        fs::write(folder.join("a.txt"), text).unwrap();
        git(folder, &["commit", "-qam", "more"]);
    }
    git(folder, &["tag", "-a", "v1", "-m", "v1"]);
    fs::write(folder.join("a.txt"), "one\n2\n").unwrap();
    git(folder, &["stash", "-q"]);
    for repository in [&sub, folder] {
        fs::write(repository.join("a.txt"), "changed\n").unwrap();
        // Older versions are asked for the names of filters before they run; that is tested where they
        // do.
        let named = |setting: &&&str| takes_no_attributes() || !setting.starts_with("filter.");
        for setting in PROGRAMS.iter().filter(named) {
            git(repository, &["config", setting, program]);
        }
        git(repository, &["config", "log.showSignature", "true"]);
        git(repository, &["config", "diff.submodule", "log"]);
        git(repository, &["config", "status.submoduleSummary", "true"]);
        git(
            repository,
            &["config", "core.hooksPath", Path::new(program).parent().unwrap().to_str().unwrap()],
        );
    }
}

#[test]
fn a_hostile_repository_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, marker) = (folder.path().join("repository"), folder.path().join("ran"));
    let program = folder.path().join("post-index-change");
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >>'{}'\ncat\n", marker.display()))
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(&repository).unwrap();
    hostile(&repository, program.to_str().unwrap());
    for line in LINES {
        let known = Known { entries: &[], find: &|_| None, trusted: &[] };
        let Judgement::Harmless(how) = harmless(line, known) else {
            panic!("{line} is not harmless")
        };
        let argv = &how.steps[0].programs()[0];
        #[expect(clippy::disallowed_methods, reason = "what is judged is tried")]
        let mut git = Command::new("git");
        git.args(&argv.words[1..]).envs(argv.env.iter().cloned()).current_dir(&repository);
        let output = git.env("HOME", folder.path()).output().unwrap();
        assert!(!marker.exists(), "{line} ran {}", fs::read_to_string(&marker).unwrap());
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // The same repository is dangerous without what makes it harmless.
    #[expect(clippy::disallowed_methods, reason = "to see that the test can fail")]
    let output = Command::new("git").arg("status").current_dir(&repository).output();
    output.unwrap();
    assert!(marker.exists());
}
