//! Answers about commands on the host are for the files that were there when they were given.

use std::{fmt::Write as _, fs, time::SystemTime};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use store::{Answer, Decision, EXACT};

use crate::{
    approving::question,
    helper::{PATIENCE, Setup, error, trial},
};

/// Commands run on the host, and people are asked about those that are not harmless.
const ON_HOST: &str = "[tools]\nexec.host = \"host\"\n";

/// So many workspaces are tried at once.
const GROUPS: usize = 8;

/// How many generated lines are tried, unless `HOST_ANSWER_LINES` says otherwise.
const DEFAULT_LINES: usize = 60;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_rewritten_script_never_runs_unasked_on_the_host", rewritten_scripts_are_asked),
        trial("generated_lines_never_run_rewritten_scripts_unasked", generated_lines_are_asked),
        trial("an_answer_for_always_holds_on_the_host", an_answer_holds),
        trial("program_scopes_are_not_offered_on_the_host", no_program_scopes),
    ]
}

/// Files that leave a mark with the text `mark`, whichever interpreter runs them.
fn write_scripts(setup: &Setup, mark: &str) {
    let marks = setup.beside("marks").display().to_string();
    let shell = format!("#!/bin/sh\necho {mark} >> {marks}\n");
    let python = format!("open('{marks}', 'a').write('{mark}\\n')\n");
    for folder in ["", "sub/", "sub/deep/", "bin/"] {
        for name in ["s.sh", "s", ".sh", "new.sh"] {
            executable(setup, &format!("{folder}{name}"), &shell);
        }
        executable(setup, &format!("{folder}s.py"), &format!("#!/usr/bin/env python3\n{python}"));
        setup.file(&format!("{folder}m.py"), &python);
        setup.file(&format!("{folder}imports.py"), "import m\n");
        setup.file(
            &format!("{folder}s.awk"),
            &format!("BEGIN {{ system(\"echo {mark} >> {marks}\") }}\n"),
        );
        setup.file(&format!("{folder}s.sed"), &format!("1e echo {mark} >> {marks}\n"));
        setup.file(&format!("{folder}Makefile"), &format!("all:\n\techo {mark} >> {marks}\n"));
        setup.file(&format!("{folder}input"), "x\n");
    }
}

fn executable(setup: &Setup, name: &str, text: &str) {
    setup.file(name, text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(setup.path(name), mode).unwrap();
}

/// Answers the next question as far as it lets itself be remembered.
async fn answer_always(setup: &Setup) {
    let question = question(setup).await;
    let exact = question.request.scopes.iter().any(|scope| scope == EXACT);
    let decision = if exact {
        Decision::AllowAlways { scope: EXACT.to_owned(), expires: None }
    } else {
        Decision::AllowOnce
    };
    answer(setup, decision).await;
}

async fn answer(setup: &Setup, decision: Decision) {
    let id = question(setup).await.id;
    let answer = Answer { decision, by: "ada".into(), message: None };
    let db = setup.gate.db().await.unwrap();
    db.answer_approval(&id, answer, SystemTime::now()).await.unwrap();
}

/// Calls in a session of its own, and answers with `answered` if asked. Says whether it was.
async fn call(setup: &Setup, line: &str, answered: impl Future<Output = ()>) -> (Value, bool) {
    static SESSIONS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = SESSIONS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let mut caller = setup.caller.clone();
    caller.session = format!("s{number}").into();
    let call = setup.call_as(&caller, "exec", json!({"command": line}));
    tokio::pin!(call, answered);
    let both = async {
        tokio::select! {
            outcome = &mut call => (outcome, false),
            () = &mut answered => (call.await, true),
        }
    };
    tokio::time::timeout(PATIENCE, both).await.unwrap()
}

/// Allows `line` for always, rewrites every script, and looks whether anything of it runs unasked.
async fn rewrite_after_answer(setup: &Setup, line: &str) {
    write_scripts(setup, "first");
    call(setup, line, answer_always(setup)).await;
    write_scripts(setup, "second");
    let _ = fs::remove_file(setup.beside("marks"));
    let (outcome, asked) = call(setup, line, answer(setup, Decision::Deny)).await;
    let marks = fs::read_to_string(setup.beside("marks")).unwrap_or_default();
    assert!(!marks.contains("second"), "`{line}` ran what changed (asked: {asked}): {outcome}");
}

/// Tries lines in several workspaces at once: most of the time is spent waiting for answers.
async fn rewrite_after_answers(lines: Vec<String>) {
    let group = |lines: Vec<String>| async move {
        let setup = Setup::asking(ON_HOST).await;
        for line in &lines {
            rewrite_after_answer(&setup, line).await;
        }
    };
    let size = lines.len().div_ceil(GROUPS);
    let groups = lines.chunks(size).map(|lines| group(lines.to_vec()));
    futures_util::future::join_all(groups).await;
}

async fn rewritten_scripts_are_asked() {
    let lines = [
        "./s.sh",
        "bash s.sh",
        "cd sub && bash s.sh",
        "cd sub && ./s.sh",
        "cd sub && bash ../s.sh",
        "cd sub; ./s.sh",
        "cd sub/deep && cd .. && ./s.sh",
        "pushd sub && ./s.sh",
        "(cd sub && ./s.sh)",
        "bash \"s.\"sh",
        "bash $'s\\x2esh'",
        "bash {s,}.sh",
        "bash s.s?",
        "bash s.*h",
        "bash ~+/s.sh",
        "bash $PWD/s.sh",
        "X=s.sh; bash $X",
        "X=./s.sh; $X",
        "source ./s.sh",
        "source s.sh",
        ". s.sh",
        "bash < s.sh",
        "cat s.sh | bash",
        "bash -c ./s.sh",
        "bash -c '. ./s.sh'",
        "eval ./s.sh",
        "command ./s.sh",
        "env ./s.sh",
        "nohup ./s.sh",
        "timeout 5 ./s.sh",
        "echo x | xargs ./s.sh",
        "find input -exec ./s.sh \\;",
        "echo $(./s.sh)",
        "cat <(./s.sh)",
        "if true; then ./s.sh; fi",
        "f() { ./s.sh; }; f",
        "PATH=$PWD/bin:$PATH s",
        "PATH=.:$PATH; s",
        "cp new.sh s.sh && ./s.sh",
        "cat new.sh > s.sh; ./s.sh",
        "sed -nf s.sed input",
        "sed -n -f s.sed input",
        "awk -f s.awk",
        "awk -fs.awk",
        "python3 -m s",
        "python3 s.py",
        "./s.py",
        "cd sub && ./s.py",
        "python3 imports.py",
        "python3 -c 'import m'",
        "make all",
        "make -C sub",
        "git -c alias.x='!./s.sh' x",
        "sort --compress-program=./s.sh -S 1k input",
        "tar cf /dev/null -I ./s.sh input",
        "perl -e 'system \"./s.sh\"'",
    ];
    rewrite_after_answers(lines.map(str::to_owned).to_vec()).await;
}

/// Combines ways to go somewhere, to spell a name and to run a file.
async fn generated_lines_are_asked() {
    let lines = std::env::var("HOST_ANSWER_LINES").ok().and_then(|text| text.parse().ok());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let lines = (0..lines.unwrap_or(DEFAULT_LINES)).map(|_| generated(&mut random)).collect();
    rewrite_after_answers(lines).await;
}

/// A generator with a fixed seed, so that a failure happens again.
struct Random(u64);

impl Random {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        from[usize::try_from(self.0 % from.len() as u64).unwrap()]
    }
}

fn generated(random: &mut Random) -> String {
    let go = random.pick(&[
        "",
        "",
        "cd sub && ",
        "cd ./sub; ",
        "cd sub/deep && cd .. && ",
        "cd \"s\"ub && ",
    ]);
    let folder = random.pick(&["./", "", "../sub/", "./././", "$PWD/", "sub/../"]);
    let name =
        random.pick(&["s.sh", "s\".\"sh", "'s.sh'", "s\\.sh", "s.s?", "s.[s]h", "{s,s}.sh", "s"]);
    let run = random.pick(&[
        "bash ",
        "sh -e ",
        "bash -x -- ",
        "",
        ". ",
        "source ",
        "exec ",
        "time ",
        "\\bash ",
    ]);
    let after =
        random.pick(&["", " > log", " 2>&1 | cat", " && true", " | tee copy", " &", " a b"]);
    let mut line = String::new();
    write!(line, "{go}{run}{folder}{name}{after}").unwrap();
    line
}

/// As long as nothing changes, nobody is asked again, also not in a session that has run commands.
async fn an_answer_holds() {
    let setup = Setup::asking(ON_HOST).await;
    write_scripts(&setup, "first");
    for line in ["./s.sh", "cd sub && bash s.sh", "touch made", "./s.sh 2>&1 | tail -n 1"] {
        let (first, asked) = call(&setup, line, answer_always(&setup)).await;
        assert!(asked && first["status"] == "success", "{line}: {first}");
        let (second, asked) = call(&setup, line, answer(&setup, Decision::Deny)).await;
        assert!(!asked && second["status"] == "success", "{line}: {second}");
    }
    for line in ["./s.sh", "cd sub && bash s.sh", "touch made"] {
        let outcome = setup.sh(line).await;
        assert_eq!(outcome["status"], "success", "{line}: {outcome}");
    }
}

async fn no_program_scopes() {
    let setup = Setup::asking(ON_HOST).await;
    setup.file("in.txt", "x\n");
    for line in ["tee copy.txt", "cp in.txt out.txt", "mkdir x"] {
        let look = async {
            assert_eq!(question(&setup).await.request.scopes, [EXACT], "{line}");
            answer(&setup, Decision::AllowAlways { scope: EXACT.to_owned(), expires: None }).await;
        };
        call(&setup, line, look).await;
    }
    for line in ["tee .envrc", "cp in.txt ../outside", "make all"] {
        let (outcome, asked) = call(&setup, line, answer(&setup, Decision::Deny)).await;
        assert!(asked && error(&outcome).contains("denied by ada"), "{line}: {outcome}");
    }
}
