//! Work that people do with commands.

use libtest_mimic::Trial;
use serde_json::Value;

use crate::helper::{Setup, has, tree, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("cargo_builds_and_tests_a_crate", cargo_builds_and_tests_a_crate),
        trial("git_makes_commits", git_makes_commits),
        trial("python_makes_an_environment_and_uses_it", python_makes_an_environment),
        trial("npm_installs_from_a_folder", npm_installs_from_a_folder),
        trial("programs_find_what_they_expect", programs_find_what_they_expect),
    ]
}

/// Runs commands one after the other, each of which must succeed, and then takes all of it back.
async fn done_and_undone(setup: &Setup, commands: &[(&str, &str)]) {
    let before = tree(&setup.path(""));
    let mut outcomes: Vec<Value> = Vec::new();
    for (command, expected) in commands {
        let outcome = setup.sh(command).await;
        let written = outcome["result"]["aggregated"].as_str().unwrap_or_default();
        assert_eq!(outcome["result"]["exitCode"], 0, "`{command}`: {outcome}");
        assert!(written.contains(expected), "`{command}`: no {expected:?} in {written}");
        outcomes.push(outcome);
    }
    assert_ne!(tree(&setup.path("")), before);
    for (outcome, (command, _)) in outcomes.iter().zip(commands).rev() {
        if outcome["meta"]["changed"] != serde_json::json!([]) {
            let undone = setup.undo(outcome).await;
            assert_eq!(undone["status"], "success", "`{command}`: {undone}");
        }
    }
    assert_eq!(tree(&setup.path("")), before);
}

async fn cargo_builds_and_tests_a_crate() {
    if !has("cargo") {
        return;
    }
    let setup = Setup::new().await;
    setup.file(
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    setup.file(
        "src/main.rs",
        "fn main() { println!(\"built and run\"); }\n#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n",
    );
    done_and_undone(
        &setup,
        &[
            ("cargo build --offline", "Finished"),
            ("cargo build --offline", "Finished"),
            ("./target/debug/small", "built and run"),
            ("cargo test --offline", "1 passed"),
            ("sed -i 's/built/changed/' src/main.rs && cargo run --offline -q", "changed and run"),
        ],
    )
    .await;
}

async fn git_makes_commits() {
    if !has("git") {
        return;
    }
    let setup = Setup::new().await;
    setup.file("a.txt", "one\n");
    let identity = "-c user.name=Ada -c user.email=ada@example.org";
    done_and_undone(
        &setup,
        &[
            ("git init -q -b main . && git status --short", "?? a.txt"),
            (
                &format!("git add . && git {identity} commit -qm first && git log --oneline"),
                "first",
            ),
            ("git checkout -qb other && echo two >> a.txt && git diff", "+two"),
            (
                &format!("git {identity} commit -qam second && git checkout -q main && cat a.txt"),
                "one",
            ),
            (
                &format!("git {identity} merge -q other && git log --oneline | wc -l && git fsck"),
                "2",
            ),
            ("git stash list; git gc -q && git status", "nothing to commit"),
        ],
    )
    .await;
}

async fn python_makes_an_environment() {
    if !has("python3") {
        return;
    }
    let setup = Setup::new().await;
    setup.file("main.py", "import sys\nprint('in', sys.prefix.rsplit('/', 1)[1])\n");
    done_and_undone(
        &setup,
        &[
            ("python3 -m venv --without-pip env", ""),
            ("./env/bin/python main.py", "in env"),
            (
                ". env/bin/activate && python main.py && python -c 'import json, ssl, sqlite3'",
                "in env",
            ),
            (
                "python3 -m compileall -q . && python3 -m unittest discover 2>&1; true",
                "Ran 0 tests",
            ),
        ],
    )
    .await;
}

async fn npm_installs_from_a_folder() {
    if !has("npm") {
        return;
    }
    let setup = Setup::new().await;
    setup.file("lib/package.json", r#"{"name":"lib","version":"1.0.0","main":"index.js"}"#);
    setup.file("lib/index.js", "module.exports = 'from the library';\n");
    setup.file("index.js", "console.log(require('lib'));\n");
    setup.file(
        "package.json",
        r#"{"name":"app","version":"1.0.0","dependencies":{"lib":"file:lib"},"scripts":{"test":"node index.js"}}"#,
    );
    done_and_undone(
        &setup,
        &[
            ("npm install --offline --no-audit --no-fund", "added 1 package"),
            ("node index.js", "from the library"),
            ("npm test", "from the library"),
            ("npm ls", "lib@1.0.0"),
            ("npm ci --offline --no-audit --no-fund && node index.js", "from the library"),
        ],
    )
    .await;
}

async fn programs_find_what_they_expect() {
    let setup = Setup::new().await;
    for (command, expected) in [
        ("touch ~/here && ls ~", "here\n"),
        ("ls ~", "here\n"),
        ("mktemp | cut -c1-5", "/tmp/\n"),
        ("echo kept > /tmp/kept; cat /tmp/kept", "kept\n"),
        ("cat /tmp/kept", "kept\n"),
        ("whoami", "agent\n"),
        ("test -w . && test -r /etc/passwd && test ! -w /etc && test ! -w /usr && echo so", "so\n"),
        ("echo a > f && ln f g && mv g h && cp -p h i && cmp f i && rm f h i && ls", ""),
        ("head -c 4 /dev/urandom | wc -c && : > /dev/null && ls /dev/fd/ > /dev/null", "4\n"),
        ("(echo a; echo b) | sort -r | tr '\\n' ' '; diff <(echo x) <(echo x)", "b a "),
        ("mkfifo /tmp/pipe && (echo through > /tmp/pipe &) && cat /tmp/pipe", "through\n"),
        ("exec 9> lock; flock 9 && echo locked; rm lock", "locked\n"),
        ("date -d @0 +%Y", "1970\n"),
        ("sleep 0.01 & wait $! && echo waited", "waited\n"),
        ("ulimit -n", "1024\n"),
    ] {
        assert_eq!(setup.printed(command).await, expected, "{command}");
    }
    assert_eq!(tree(&setup.path("")).len(), 1, "{:?}", tree(&setup.path("")));
}
