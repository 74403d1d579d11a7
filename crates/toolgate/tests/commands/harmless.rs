//! Commands known to be harmless: they run as lists of arguments, and can change nothing.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
    sync::{Arc, OnceLock},
};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgate::{Answer, AnswerDecision, Approver, BoxFuture, Gate, Question, Reply};

use crate::helper::{Setup, error, has, tree, trial, until};

/// Only harmless commands run, and nobody is asked.
const PARANOID: &str = "[tools]\nask = \"auto\"\nexec.security = \"paranoid\"\n";
/// The same on the host itself.
const ON_HOST: &str = "[tools]\nexec.security = \"safe-bin\"\nexec.host = \"host\"\n";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_harmless_line_prints_what_a_shell_prints", prints_what_a_shell_prints),
        trial("a_harmless_line_only_reads", only_reads),
        trial("only_harmless_lines_run_where_nothing_else_may", nothing_else_runs),
        trial("harmless_lines_have_no_network_and_no_variables_of_ours", has_nothing_else),
        trial("exec_027_programs_come_from_trusted_folders", programs_come_from_trusted_folders),
        trial("exec_040_a_hostile_repository_runs_nothing", a_hostile_repository_runs_nothing),
        trial("a_pipeline_ends_when_nobody_reads_it", ends_when_nobody_reads),
        trial("a_harmless_line_ends_in_time_with_all_its_programs", ends_in_time),
        trial("a_cancelled_line_leaves_nothing_behind", cancelled),
        trial("what_harmless_lines_write_comes_in_order", comes_in_order),
        trial("harmless_lines_run_on_the_host_too", on_the_host),
        trial("no_link_leads_a_harmless_line_out_on_the_host", no_link_leads_out_on_the_host),
        trial(
            "no_repository_leads_a_harmless_line_out_on_the_host",
            no_repository_leads_out_on_the_host,
        ),
        trial("a_program_of_the_operator_runs_from_its_folder", runs_from_its_folder),
        trial("what_is_no_longer_harmless_does_not_run", no_longer_harmless),
        trial("a_call_can_ask_for_more_questions_only", stricter_only),
    ]
}

/// A workspace with something in it.
fn furnish(setup: &Setup) {
    for (name, text) in [
        ("a.txt", "one x\ntwo y\none x\n"),
        ("b.txt", "one x\nthree\n"),
        ("data.csv", "a,3\nb,1\n"),
        ("data.json", r#"{"name":"x","b":[1]}"#),
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", ""),
        ("with space.txt", "space\n"),
    ] {
        setup.file(name, text);
    }
}

/// Lines, some of them wrong, as agents write them.
const LINES: &[&str] = &[
    "ls",
    "ls -1 src | sort -r",
    "cat a.txt b.txt",
    "cat 'with space.txt'",
    "cat missing",
    "/usr/bin/cat missing",
    "cat missing a.txt 2>/dev/null",
    "cat missing 2>&1 | wc -l",
    "cat missing >/dev/null 2>&1 || echo absent",
    "ls absent 2>&1 >/dev/null | wc -c",
    "cat a.txt >&2",
    "head -2 a.txt",
    "tail -n +2 a.txt | head -1",
    "wc -l < a.txt",
    "sort < b.txt | uniq -c",
    "cat < missing",
    "cat < missing | wc -l",
    "echo a | cat < missing || echo failed",
    "grep -n one a.txt b.txt",
    "grep absent a.txt",
    "grep -q one a.txt && echo yes || echo no",
    "grep -q absent a.txt && echo yes || echo no",
    "grep -rn main . | sort",
    "grep '[' a.txt",
    "find . -name '*.rs' | sort",
    "sed -n 1,2p a.txt",
    "awk -F, '{s+=$2} END {print s}' data.csv",
    "diff a.txt b.txt",
    "cut -d, -f1 data.csv | tr a-z A-Z",
    "cd src && ls",
    "cd src && cat main.rs; pwd",
    "cd absent && ls",
    "cd absent; ls src",
    "cd absent || echo none",
    "true && false || echo fallen; false",
    "false; true",
    "false && echo a; echo b || echo c",
    "echo one; echo two",
    "printf '%s-%s\\n' a b",
    "test -f a.txt && echo there; [ -d absent ] || echo none",
    "seq 3 | tac | paste -sd,",
    "basename src/main.rs .rs",
    "stat -c %s a.txt",
    "sha256sum a.txt | cut -c1-8",
    "command -v ls cd",
    "command -v no-such-program",
    "type -t cd",
    "type no-such-program",
    "which ls",
    "echo",
    "ls -d .",
    // These need a shell, and get one that runs what was judged.
    "ls *.txt",
    "cat *.txt | sort | uniq -c",
    "wc -l src/*.rs",
    "echo $HOME ${PATH:+set}",
    "echo *.absent",
    "for f in *.txt; do echo \"== $f\"; head -1 \"$f\"; done",
    "for d in */; do echo \"$d\"; done",
    "ls | xargs -n1 echo",
    "find . -name '*.rs' | sort | xargs wc -l",
    "find src -name '*.rs' -exec wc -l {} \\; | sort",
    "[[ -f a.txt && ! -d a.txt ]] && echo yes",
    "if [ -f missing ]; then cat missing; else echo none; fi",
    "n=$(wc -l < a.txt); echo \"lines: $n\"",
    "diff <(sort a.txt) <(sort b.txt)",
    "while read -r a b; do echo \"$b-$a\"; done < a.txt",
    "(cd src && ls); ls | head -1",
    "ls {a,b}.txt missing 2>/dev/null | tac",
    "! grep -q absent a.txt && echo none",
    "cat <<< 'a b'",
    "echo $((2 + 3)) $?",
    "cat 'with space.txt' with\\ space.txt",
    "false; echo $?; exit 3",
];

async fn prints_what_a_shell_prints() {
    let (with, without) = (Setup::with(PARANOID).await, Setup::new().await);
    furnish(&with);
    furnish(&without);
    let roots = [&with, &without].map(|setup| setup.path("").canonicalize().unwrap());
    let shown = |outcome: &Value, root: &Path| {
        let result = &outcome["result"];
        let parts =
            ["exitCode", "stdout", "stderr", "signal", "timedOut", "cwd", "changed", "notes"];
        let all: Vec<_> = parts.iter().map(|part| result[part].to_string()).collect();
        all.join("\n").replace(root.to_str().unwrap(), "ROOT/").replace("ROOT//", "ROOT/")
    };
    for line in LINES {
        let harmless = with.sh(line).await;
        assert_eq!(harmless["meta"]["effects"], json!(["read"]), "{line}: {harmless}");
        // A variable more, and a shell runs it.
        let args = json!({"command": line, "env": {"MORE": "1"}});
        let shell = without.call("exec", args).await;
        assert_eq!(shell["meta"]["effects"], json!(["write"]), "{line}: {shell}");
        assert_eq!(shown(&harmless, &roots[0]), shown(&shell, &roots[1]), "{line}");
    }
}

async fn only_reads() {
    let setup = Setup::new().await;
    furnish(&setup);
    let before = tree(&setup.path(""));
    let outcome = setup.sh("cat a.txt && ls src").await;
    for (field, expected) in [
        ("status", json!("completed")),
        ("exitCode", json!(0)),
        ("stdout", json!("one x\ntwo y\none x\nlib.rs\nmain.rs\n")),
        ("stderr", json!("")),
        ("place", json!("sandbox")),
        ("changed", json!([])),
        ("notes", json!([])),
    ] {
        assert_eq!(outcome["result"][field], expected, "{field}: {outcome}");
    }
    let meta = &outcome["meta"];
    assert_eq!((&meta["place"], &meta["effects"]), (&json!("sandbox"), &json!(["read"])));
    assert!(meta["usage"]["maxRssBytes"].as_u64().unwrap() > 100_000, "{outcome}");
    // It is known how it ran.
    let entry = setup.gate.journal().entry(crate::helper::id(&outcome)).unwrap().unwrap();
    let entry = serde_json::to_value(entry).unwrap().to_string();
    assert!(entry.contains("exec.harmless"), "{entry}");
    assert_eq!(tree(&setup.path("")), before);
    // What the workspace is to such a command, and what it keeps in its own folders.
    let writable = setup.sh("find . src -maxdepth 0 -writable").await;
    assert_eq!(writable["result"]["stdout"], "", "{writable}");
    assert_eq!(setup.printed("echo x > /tmp/x; cat /tmp/x").await, "x\n");
    symlink("/tmp", setup.path("temp")).unwrap();
    assert_eq!(setup.printed("ls temp/").await, "", "the session's own folder is not there");
}

async fn nothing_else_runs() {
    let setup = Setup::with(PARANOID).await;
    furnish(&setup);
    for (args, why) in [
        (json!({"command": "touch x"}), "`touch` is not on the list"),
        (json!({"command": "ls > x"}), "redirections"),
        (json!({"command": "cat *.txt > x"}), "redirections"),
        (json!({"command": "for f in *; do rm $f; done"}), "`rm` is not on the list"),
        (json!({"command": "ls | xargs touch"}), "`touch` is not on the list"),
        (json!({"command": "sort -o x a.txt"}), "`-o` of `sort`"),
        (json!({"command": "cat .env"}), "may hold credentials"),
        (json!({"command": "ls", "env": {"LS_COLORS": "x"}}), "sets variables"),
        (json!({"command": "ls", "pty": true}), "terminal"),
        (json!({"command": "ls", "background": true}), "background"),
        (json!({"command": "ls", "workdir": "/tmp"}), "it runs in `/tmp`"),
        (json!({"command": "eval ls"}), "harmless"),
        (
            json!({"command": "awk 'BEGIN{x = /\"/; system(\"touch x\"); y = /\"/}'"}),
            "a program of `awk`",
        ),
    ] {
        let said = error(&setup.call("exec", args.clone()).await);
        assert!(said.starts_with("permission_denied: "), "{args}: {said}");
        assert!(said.contains("not known to be harmless") && said.contains(why), "{args}: {said}");
    }
    assert_eq!(setup.text("x"), None);
    let inner = setup.call("exec", json!({"command": "ls", "workdir": "src"})).await;
    assert_eq!(inner["result"]["stdout"], "lib.rs\nmain.rs\n", "{inner}");
    let gone = setup.call("exec", json!({"command": "ls", "workdir": "absent"})).await;
    assert!(error(&gone).starts_with("file_not_found: "), "{gone}");
}

async fn has_nothing_else() {
    let config =
        format!("{PARANOID}exec.env = [\"CARGO_MANIFEST_DIR\"]\nexec.network.access = \"full\"\n");
    let setup = Setup::with(&config).await;
    let outcome = setup.sh("env").await;
    let text = outcome["result"]["stdout"].as_str().unwrap();
    assert!(text.contains("HOME=/home/agent\n"), "{text}");
    assert!(!text.contains("CARGO_MANIFEST_DIR"), "{text}");
    assert_eq!(outcome["meta"]["effects"], json!(["read"]), "{outcome}");
    symlink("/proc/self/net/dev", setup.path("devices")).unwrap();
    let devices = setup.printed("cat devices").await;
    assert!(devices.lines().skip(2).all(|line| line.trim_start().starts_with("lo:")), "{devices}");
}

/// exec-027: a program of that name in the workspace, in the home folder or in `/tmp` is not it.
async fn programs_come_from_trusted_folders() {
    let setup = Setup::with("[tools]\nexec.security = \"safe-bin\"\n").await;
    let evil = "#!/bin/sh\necho evil\n";
    for name in ["ls", "bin/ls", "gzip", "grep", "sh"] {
        setup.file(name, evil);
        fs::set_permissions(setup.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for line in ["ls bin", "cd bin && ls", "/usr/bin/ls bin", "egrep ls ls bin/ls; cat absent"] {
        let outcome = setup.sh(line).await;
        assert_eq!(outcome["meta"]["effects"], json!(["read"]), "{line}: {outcome}");
        assert!(!outcome["result"]["stdout"].to_string().contains("evil"), "{line}: {outcome}");
    }
    for line in ["./ls", "bin/ls", "PATH=. ls", "env PATH=. ls", "cd bin && ./ls"] {
        let outcome = setup.sh(line).await;
        assert_eq!(outcome["error_type"], "permission_denied", "{line}: {outcome}");
    }
}

/// Settings of a repository that name a program.
const PROGRAMS: &[&str] = &[
    "alias.status",
    "core.editor",
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "filter.evil.clean",
    "filter.evil.process",
    "filter.evil.smudge",
    "gpg.program",
    "pager.diff",
    "pager.log",
];

/// exec-040, exec-039: what a repository brings along is not run by looking at it, and not written.
async fn a_hostile_repository_runs_nothing() {
    if !has("git") {
        return;
    }
    let setup = Setup::with(PARANOID).await;
    let repository = setup.path("");
    git(&repository, &["init", "-q", "."]);
    setup.file("a.txt", "one\n");
    setup.file(".gitattributes", "* filter=evil diff=evil\n");
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "first"]);
    setup.file("a.txt", "one\ntwo\n");
    // In the sandbox it cannot write; what it prints would be seen.
    let evil = "echo EVIL >&2; echo EVIL; exit 1";
    setup.file("evil.sh", &format!("#!/bin/sh\n{evil}\n"));
    fs::set_permissions(setup.path("evil.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let program = setup.path("evil.sh").display().to_string();
    for setting in PROGRAMS {
        git(&repository, &["config", setting, &program]);
    }
    git(&repository, &["config", "alias.evil", &format!("!{program}")]);
    let before = tree(&repository);
    for (line, expected) in [
        ("git status --short", " M a.txt"),
        ("git log --oneline", "first"),
        ("git log -p", "+one"),
        ("git diff", "+two"),
        ("git show", "+one"),
        ("git blame a.txt", "one"),
        ("git --no-pager diff --stat | tail -1", "1 file changed"),
        ("git diff HEAD && git branch", "+two"),
        ("git ls-files -m", "a.txt"),
        ("git grep two", "a.txt:two"),
        ("/usr/bin/git status", "modified"),
    ] {
        let outcome = setup.sh(line).await;
        let result = &outcome["result"];
        let text = format!("{}{}", result["stdout"], result["stderr"]);
        assert!(!text.contains("EVIL"), "{line}: {outcome}");
        assert!(text.contains(expected), "{line}: {outcome}");
        assert_eq!(result["exitCode"], 0, "{line}: {outcome}");
        assert_eq!(outcome["meta"]["effects"], json!(["read"]), "{line}: {outcome}");
    }
    assert_eq!(tree(&repository), before);
    for line in ["git evil", "git config user.email '$(touch x)'", "git diff --ext-diff"] {
        assert_eq!(setup.sh(line).await["error_type"], "permission_denied", "{line}");
    }
}

fn git(folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    let output = Command::new("git").args(who).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}

async fn ends_when_nobody_reads() {
    let setup = Setup::with(PARANOID).await;
    setup.file("big", &"line\n".repeat(1_000_000));
    for (line, expected) in [
        ("cat big | head -1", "line\n"),
        ("seq 1 1000000000000 | head -2", "1\n2\n"),
        ("seq 1 1000000000000 | grep 7 | head -1 && echo done", "7\ndone\n"),
        ("seq 1 1000000000000 | true; echo next", "next\n"),
    ] {
        let outcome = setup.sh(line).await;
        assert_eq!(outcome["result"]["stdout"], expected, "{line}: {outcome}");
        assert_eq!(outcome["result"]["exitCode"], 0, "{line}: {outcome}");
    }
    // All of it, through pipes that hold little.
    assert_eq!(setup.printed("cat big | cat | cat | wc -l").await, "1000000\n");
    let much = setup.sh("cat big").await;
    assert!(much["result"]["stdout"].as_str().unwrap().len() > 1_000_000, "all that is kept");
}

/// The processes of this user that have this among their arguments.
fn running(mark: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter(|entry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).split('\0').any(|word| word == mark)
    })
    .count()
}

async fn ends_in_time() {
    let setup = Setup::with(PARANOID).await;
    let line = "echo before; seq 1 987654321098 | cat - | tail -1; echo after";
    let outcome = setup.call("exec", json!({"command": line, "timeout": 1})).await;
    let result = &outcome["details"];
    assert_eq!(outcome["error_type"], "timeout", "{outcome}");
    assert_eq!(result["timedOut"], true, "{outcome}");
    assert_eq!(result["killedFor"], "timeout", "{outcome}");
    // On a busy machine not even the first step may have come to its end; and one whose input ends
    // because it is killed may still say what it has.
    let stdout = result["stdout"].as_str().unwrap();
    let begins = stdout.is_empty() || stdout.starts_with("before\n");
    assert!(begins && !stdout.contains("after"), "{outcome}");
    until("nothing of it is left", || running("987654321098") == 0).await;
}

async fn cancelled() {
    let setup = Setup::with(PARANOID).await;
    let line = "echo started it has; seq 1 987654321097 | tail -1";
    let begun = setup.begin(&setup.caller, json!({"command": line})).await;
    until("it runs", || running("987654321097") > 0).await;
    begun.drop_it();
    until("nothing of it is left", || running("987654321097") == 0).await;
    // The next one runs as usual.
    assert_eq!(setup.printed("echo next").await, "next\n");
}

async fn comes_in_order() {
    let setup = Setup::with(PARANOID).await;
    let line = "echo 1; echo 2 >&2; echo 3; cat missing; echo 5 2>&1; echo 6 >&2";
    let outcome = setup.sh(line).await;
    let expected = "1\n2\n3\ncat: missing: No such file or directory\n5\n6\n";
    assert_eq!(outcome["result"]["aggregated"], expected, "{outcome}");
    assert_eq!(outcome["result"]["stdout"], "1\n3\n5\n", "{outcome}");
}

async fn on_the_host() {
    let setup = Setup::with(ON_HOST).await;
    furnish(&setup);
    symlink("a.txt", setup.path("in")).unwrap();
    for (line, code, expected) in [
        ("cat a.txt | wc -l", 0, "3\n"),
        ("cd src && ls; cat missing 2>/dev/null", 1, "lib.rs\nmain.rs\n"),
        ("head -1 in", 0, "one x\n"),
        ("seq 1 1000000000000 | head -1", 0, "1\n"),
        ("wc -l < b.txt", 0, "2\n"),
    ] {
        let outcome = setup.sh(line).await;
        let result = &outcome["result"];
        assert_eq!(result["stdout"], expected, "{line}: {outcome}");
        assert_eq!(result["exitCode"], code, "{line}: {outcome}");
        assert_eq!(result["place"], "host", "{line}: {outcome}");
        assert_eq!(outcome["meta"]["effects"], json!(["act"]), "{line}: {outcome}");
    }
    // None of these would be held by anything outside the sandbox.
    for line in [
        "make",
        "awk '{print $1}' a.txt",
        "awk 'BEGIN{x = /\"/; system(\"touch made\"); y = /\"/}'",
        "sed -n 1p a.txt",
        "find . -name a.txt",
        "jq . data.json",
        "diff a.txt b.txt",
        "ps -e -o args",
        "df",
        "env",
        "ls -LR",
    ] {
        assert_eq!(setup.sh(line).await["error_type"], "permission_denied", "{line}");
    }
    assert_eq!(setup.text("made"), None);
}

/// There a link leads to everything the person has.
async fn no_link_leads_out_on_the_host() {
    let setup = Setup::with(ON_HOST).await;
    setup.file("a.txt", "a\n");
    symlink("/etc/hostname", setup.path("out")).unwrap();
    symlink("/usr/bin", setup.path("bin")).unwrap();
    setup.file("share/a", "");
    for line in [
        "cat out",
        "cat -- ./out",
        "grep -e x out",
        "cat a.txt | cmp - out",
        "ls bin",
        "ls bin/absent",
        "ls bin/../share",
        "sort -t, -k1 out",
        "tar -tfout",
        "tar --list --file=out",
    ] {
        let said = error(&setup.sh(line).await);
        assert!(said.contains("leads out of the workspace"), "{line}: {said}");
    }
    let input = setup.sh("cat < out").await;
    assert_eq!(input["result"]["stdout"], "", "{input}");
    assert_ne!(input["result"]["exitCode"], 0, "{input}");
}

/// A repository of the workspace may name files and a history that lie outside of it.
async fn no_repository_leads_out_on_the_host() {
    if !has("git") {
        return;
    }
    let setup = Setup::with(ON_HOST).await;
    let git = |folder: &Path, args: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the test makes repositories")]
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(args);
        assert!(git.current_dir(folder).output().unwrap().status.success(), "{args:?}");
    };
    let outside = setup.beside("private");
    fs::create_dir(&outside).unwrap();
    git(&outside, &["init", "-q", "."]);
    fs::write(outside.join("a.txt"), "planted-secret\n").unwrap();
    git(&outside, &["add", "."]);
    git(&outside, &["commit", "-qm", "planted-secret"]);
    setup.file("own/a.txt", "own\n");
    git(&setup.path("own"), &["init", "-q", "."]);
    git(&setup.path("own"), &["add", "."]);
    git(&setup.path("own"), &["commit", "-qm", "own"]);
    let own = setup.sh("cd own && git log --oneline && git blame a.txt").await;
    assert_eq!(own["result"]["exitCode"], 0, "{own}");
    // By a `.git` that names another folder, by `core.worktree`, and by a bare one's settings.
    setup.file("link/.git", &format!("gitdir: {}\n", outside.join(".git").display()));
    let worktree = outside.to_str().unwrap();
    setup.file("tree/a.txt", "own\n");
    git(&setup.path("tree"), &["init", "-q", "."]);
    git(&setup.path("tree"), &["add", "."]);
    git(&setup.path("tree"), &["config", "core.worktree", worktree]);
    git(&setup.path(""), &["clone", "-q", "--bare", "own", "bare"]);
    let named = outside.join("a.txt");
    git(&setup.path("bare"), &["config", "blame.ignoreRevsFile", named.to_str().unwrap()]);
    let borrowed = setup.path("own/.git/objects/info/alternates");
    for line in [
        "cd link && git log -p",
        "cd link && git show",
        "cd link && git status",
        "cd tree && git diff",
        "cd tree && git status",
        "cd bare && git blame HEAD -- a.txt",
    ] {
        let outcome = setup.sh(line).await;
        assert!(!outcome.to_string().contains("planted-secret"), "{line}: {outcome}");
    }
    fs::write(&borrowed, outside.join(".git/objects").to_str().unwrap()).unwrap();
    let said = error(&setup.sh("cd own && git log").await);
    assert!(said.contains("outside the workspace"), "{said}");
}

/// A program of the operator's, in a folder of its own.
const GREETING: &str = r#"[tools]
ask = "always"
exec.trusted_folders = ["BESIDE/bin"]
[[tools.exec.safe_bins]]
program = "greet"
operands = "text"
matches = ["greet ada"]
refuses = ["greet --loud"]
"#;

fn greeting(setup: &Setup) {
    fs::create_dir(setup.beside("bin")).unwrap();
    fs::write(setup.beside("bin/greet"), "#!/bin/sh\necho \"hello $1\"\n: > mark\n").unwrap();
    fs::set_permissions(setup.beside("bin/greet"), fs::Permissions::from_mode(0o755)).unwrap();
}

async fn runs_from_its_folder() {
    for place in ["sandbox", "host"] {
        let mode = format!("\"auto\"\nexec.security = \"paranoid\"\nexec.host = \"{place}\"");
        let setup = Setup::with(&GREETING.replace("\"always\"", &mode)).await;
        let before = setup.sh("greet ada").await;
        assert!(error(&before).contains("`greet` is in no trusted folder"), "{before}");
        greeting(&setup);
        assert_eq!(setup.printed("greet ada | cat").await, "hello ada\n");
        // The operator was wrong about it; in the sandbox that changes nothing.
        assert_eq!(setup.path("mark").exists(), place == "host");
        let whole = format!("{}/bin/greet bob", setup.beside("").display()).replace("//", "/");
        assert_eq!(setup.sh(&whole).await["result"]["stdout"], "hello bob\n");
        assert_eq!(setup.sh("greet --loud").await["error_type"], "permission_denied");
    }
}

/// Agrees, but before that the configuration becomes another.
#[derive(Debug, Default)]
struct Slow(OnceLock<(Gate, String)>);

impl Approver for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Reply> {
        let (gate, config) = self.0.get().unwrap();
        gate.reload(config::parse(config, "toolgate.toml").unwrap()).unwrap();
        let decision = AnswerDecision::AllowOnce;
        let answer = Answer { decision, by: "ada".into(), message: None };
        Box::pin(std::future::ready(Reply::Answered(answer)))
    }
}

/// What a person agreed to runs as it was then, or not at all.
async fn no_longer_harmless() {
    for (becomes, runs) in [(GREETING, true), ("[tools]\nask = \"always\"\n", false)] {
        let slow = Arc::new(Slow::default());
        let setup = Setup::built(GREETING, |builder| builder.approver(slow.clone())).await;
        greeting(&setup);
        let config = becomes.replace("BESIDE/", &setup.beside("").display().to_string());
        slow.0.set((setup.gate.clone(), config)).unwrap();
        let outcome = setup.sh("greet ada").await;
        assert_eq!(outcome["status"] == "success", runs, "{outcome}");
        assert!(runs || error(&outcome).contains("policy changed while"), "{outcome}");
    }
}

async fn stricter_only() {
    let setup = Setup::new().await;
    for (ask, runs) in [("auto", true), ("smart", true), ("always", false)] {
        for line in ["ls", "touch x"] {
            let outcome = setup.call("exec", json!({"command": line, "ask": ask})).await;
            assert_eq!(outcome["status"] == "success", runs, "{ask} {line}: {outcome}");
        }
    }
    let strict = Setup::with("[tools]\nask = \"always\"\n").await;
    let outcome = strict.call("exec", json!({"command": "ls", "ask": "auto"})).await;
    assert!(error(&outcome).starts_with("permission_denied: "), "{outcome}");
    let wrong = setup.call("exec", json!({"command": "ls", "ask": "never"})).await;
    assert!(error(&wrong).starts_with("validation_error: "), "{wrong}");
}
