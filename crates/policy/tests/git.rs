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
    "git log -p --full-history -- a.txt",
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
    "git stash show stash@{0}",
    "git show stash@{0}",
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

/// A secret is planted under names that hold credentials: in the index, in `HEAD`, in an older commit,
/// in a stash, under another name later, and in the working tree.
fn with_secrets(folder: &Path) {
    fs::create_dir_all(folder.join("deploy/.aws")).unwrap();
    git(folder, &["init", "-q", "."]);
    let secret = |name: &str, text: &str| {
        fs::write(folder.join(name), format!("{SECRET} {text} and more, so that it is alike\n"))
            .unwrap();
    };
    for (name, text) in [("a.txt", "one\n"), ("b.txt", "S\n")] {
        fs::write(folder.join(name), text).unwrap();
    }
    for name in [".env", "deploy/.ENV.prod", "deploy/server.key", "deploy/.aws/config", "id_rsa"] {
        secret(name, "first");
    }
    git(folder, &["add", "-f", "."]);
    git(folder, &["commit", "-qm", "first"]);
    git(folder, &["mv", "deploy/server.key", "deploy/old.pem"]);
    secret(".env", "second");
    fs::write(folder.join("a.txt"), "one\ntwo\n").unwrap();
    git(folder, &["commit", "-qam", "second"]);
    git(folder, &["checkout", "-qb", "side", "HEAD~1"]);
    secret(".env", "side");
    git(folder, &["commit", "-qam", "side"]);
    git(folder, &["checkout", "-q", "-"]);
    git(folder, &["merge", "-q", "-s", "ours", "-m", "merged", "side"]);
    secret(".env", "stashed");
    git(folder, &["stash", "-q"]);
    secret(".env", "staged");
    git(folder, &["add", "-f", ".env"]);
    secret(".env", "in the working tree");
    fs::write(folder.join("a.txt"), "one\ntwo\nthree\n").unwrap();
}

const SECRET: &str = "planted-secret-value";

/// What prints contents, from every place that has them.
#[test]
fn no_harmless_line_prints_a_secret_of_the_history() {
    let folder = tempfile::tempdir().unwrap();
    with_secrets(folder.path());
    let read = |args: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "to name objects by their numbers")]
        let output = Command::new("git").args(args).current_dir(folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let blob = read(&["rev-parse", "HEAD:.env"]);
    let short = blob.get(..7).unwrap();
    let tree = read(&["rev-parse", "HEAD^{tree}"]);
    let commit = read(&["rev-parse", "HEAD~1"]);
    let paths = [
        ".env",
        "'.e?v'",
        "'*.env'",
        "':(icase).ENV'",
        "':(glob)**/.env'",
        "':!a.txt'",
        "':^a.txt'",
        "'*'",
        ".",
        "deploy",
        "'deploy/*'",
        "':/'",
        "':(top)deploy'",
        "a.txt",
        "''",
        "id_rsa",
        "':(exclude,icase)a.txt'",
        "deploy/.ENV.prod",
        "'./.env'",
        "':(literal).env'",
        "':(attr:x)'",
    ];
    let revisions = [
        "HEAD",
        "HEAD~1",
        "HEAD~1..HEAD",
        "HEAD~2...side",
        "stash@{0}",
        "stash@{0}^2",
        "stash",
        "side",
        "--all",
        ":.env",
        ":0:.env",
        "HEAD:.env",
        "HEAD:./.env",
        "HEAD:deploy",
        "HEAD^{tree}",
        &blob,
        short,
        &tree,
        &commit,
        "HEAD^{/second}:.env",
        ":/second",
        "HEAD@{0}:.env",
        "HEAD^!",
        "HEAD^@",
        "side:.env",
        "deploy/.ENV.prod",
        "@:.env",
        "HEAD:deploy/.aws/config",
    ];
    let blob_forms =
        [format!("{blob}^{{}}"), format!("{short}^{{blob}}"), format!("{short}^{{object}}")];
    let commands = [
        "show",
        "show -p",
        "show -m",
        "show --stat",
        "show --stat -p",
        "show --raw",
        "show -c",
        "show --cc",
        "show --word-diff",
        "show -U0",
        "show --binary",
        "show --format=%H",
        "show -s",
        "log",
        "log -p",
        "log -p --all",
        "log -p -m",
        "log -c",
        "log --cc",
        "log -S planted",
        "log -G planted -p",
        "log --stat",
        "log -p --full-history",
        "log -p --follow",
        "log -p -g",
        "log -1 -p --reverse",
        "log -L1,1:.env",
        "log -L1,1:a.txt",
        "log -p -M -C",
        "log --check",
        "log --color-words",
        "log -W",
        "diff",
        "diff --cached",
        "diff --stat",
        "diff --stat -p",
        "diff -R",
        "diff --word-diff",
        "diff --check",
        "diff --raw",
        "diff -M -C",
        "diff --merge-base",
        "diff --name-only",
        "cat-file -p",
        "cat-file -t",
        "cat-file -s",
        "blame",
        "blame -L1,1",
        "blame -C -C",
        "blame -p",
        "grep planted",
        "grep -n planted",
        "grep --cached planted",
        "grep -e planted",
        "grep -c planted",
        "grep -C9 one",
        "stash show",
        "stash show -p",
        "stash show --stat -p",
        "stash list",
        "ls-tree -r",
        "ls-files -s",
        "rev-list --objects",
        "reflog",
        "for-each-ref --format='%(contents)'",
        "for-each-ref --format='%(raw)'",
        "shortlog",
        "describe --always",
        "rev-parse",
        "show-ref",
    ];
    let (mut run, mut judged) = (0, 0);
    let mut leaks = Vec::new();
    for command in commands {
        let mut operands: Vec<String> = vec![String::new()];
        operands.extend(revisions.iter().map(|&one| one.to_owned()));
        operands.extend(blob_forms.iter().cloned());
        operands.extend(paths.iter().map(|&one| one.to_owned()));
        operands.extend(paths.iter().map(|path| format!("-- {path}")));
        operands.extend(paths.iter().map(|path| format!("HEAD -- {path}")));
        operands.extend(paths.iter().map(|path| format!("HEAD~1 {path}")));
        operands.push(format!("{short} {tree}"));
        for operand in operands {
            let line = format!("git {command} {operand}");
            judged += 1;
            let known = Known { entries: &[], find: &|_| None, trusted: &[] };
            let Judgement::Harmless(how) = harmless(&line, known) else { continue };
            let argv = &how.steps[0].programs()[0];
            #[expect(clippy::disallowed_methods, reason = "what is judged is tried")]
            let mut git = Command::new("git");
            git.args(&argv.words[1..]).envs(argv.env.iter().cloned()).current_dir(folder.path());
            let output = git.env("HOME", folder.path()).output().unwrap();
            let text = [output.stdout, output.stderr].concat();
            if String::from_utf8_lossy(&text).contains(SECRET) {
                leaks.push(line);
            }
            run += 1;
        }
    }
    assert!(leaks.is_empty(), "{leaks:#?}");
    assert!(run > 2_000, "of {judged} lines only {run} are harmless");
}

/// Nothing is left out that is no secret.
#[test]
fn a_history_without_secrets_is_shown_whole() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path();
    git(repository, &["init", "-q", "."]);
    for (name, text) in [("a.txt", "one\n"), ("src/b.txt", "two\n"), ("a.txt", "three\n")] {
        fs::create_dir_all(repository.join(name).parent().unwrap()).unwrap();
        fs::write(repository.join(name), text).unwrap();
        git(repository, &["add", "."]);
        git(repository, &["commit", "-qm", text]);
    }
    git(repository, &["checkout", "-qb", "side", "HEAD~1"]);
    git(repository, &["commit", "-q", "--allow-empty", "-m", "empty"]);
    git(repository, &["checkout", "-q", "-"]);
    git(repository, &["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    fs::write(repository.join("a.txt"), "four\n").unwrap();
    for line in [
        "git log -p",
        "git log -p -1",
        "git log -p -- src",
        "git log -S two",
        "git log -p --stat --oneline --graph",
        "git show",
        "git show HEAD~1",
        "git show side",
        "git show HEAD:a.txt",
        "git show HEAD:src",
        "git show HEAD -- a.txt",
        "git diff",
        "git diff a.txt",
        "git diff HEAD~1",
        "git diff HEAD~1 src",
        "git diff HEAD~2..side -- src",
        "git grep t",
        "git grep t HEAD",
        "git grep t HEAD -- src",
        "git grep t src",
        "git blame a.txt",
        "git blame HEAD -- src/b.txt",
        "git stash list",
    ] {
        let known = Known { entries: &[], find: &|_| None, trusted: &[] };
        let Judgement::Harmless(how) = harmless(line, known) else {
            panic!("{line} is not harmless")
        };
        let argv = &how.steps[0].programs()[0];
        for inner in [".", "src"] {
            let run = |words: &[String]| {
                #[expect(clippy::disallowed_methods, reason = "what is judged is tried")]
                let mut git = Command::new("git");
                git.args(words).env("HOME", repository).current_dir(repository.join(inner));
                String::from_utf8(git.output().unwrap().stdout).unwrap()
            };
            let plain: Vec<_> = line.split(' ').skip(1).map(str::to_owned).collect();
            assert_eq!(run(&argv.words[1..]), run(&plain), "{line} in {inner}");
        }
    }
}

/// A setting of the repository names a file whose first line would be printed.
#[test]
fn no_setting_has_a_file_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (repository, outside) = (folder.path().join("r"), folder.path().join("outside"));
    fs::create_dir(&repository).unwrap();
    fs::write(&outside, format!("{SECRET}\n*.txt {SECRET}\n{SECRET} <{SECRET}> <a@b>\n")).unwrap();
    git(&repository, &["init", "-q", "."]);
    fs::write(repository.join("a.txt"), "one\n").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    for setting in [
        "blame.ignoreRevsFile",
        "core.attributesFile",
        "core.excludesFile",
        "diff.orderFile",
        "mailmap.file",
        "commit.template",
        "gpg.ssh.allowedSignersFile",
        "fsck.skipList",
        "core.notesRef",
        "mailmap.blob",
    ] {
        git(&repository, &["config", setting, outside.to_str().unwrap()]);
        for line in LINES.iter().filter(|line| !line.contains("stash") && !line.contains("v1")) {
            let known = Known { entries: &[], find: &|_| None, trusted: &[] };
            let Judgement::Harmless(how) = harmless(line, known) else { panic!("{line}") };
            let argv = &how.steps[0].programs()[0];
            #[expect(clippy::disallowed_methods, reason = "what is judged is tried")]
            let mut git = Command::new("git");
            git.args(&argv.words[1..]).envs(argv.env.iter().cloned()).current_dir(&repository);
            let output = git.env("HOME", folder.path()).output().unwrap();
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains(SECRET), "{setting}: {line}: {text}");
        }
        git(&repository, &["config", "--unset", setting]);
    }
}
