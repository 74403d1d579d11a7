//! `exec`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tool::{
    Captured, ChangeKind, Changed, Ended, FilePath, Place, Plan, Ran, Stream, Terminal, ToolOutput,
};

use crate::{
    helper::Setup,
    machine::{Fake, Machine, ended, ran},
};

async fn exec(machine: &Arc<Machine>, args: Value) -> ToolOutput {
    Setup::with(&[]).with_exec(machine.clone()).call("exec", args).await.unwrap()
}

#[test]
fn a_command_is_planned_as_it_will_run() {
    for (args, effects, expected) in [
        (json!({"command": " ls "}), "write", "run ` ls ` in `.`"),
        (
            json!({"command": "x", "workdir": "a/../b", "env": {"A": "1"}}),
            "write",
            "run `x` in `b`, with A=`1`",
        ),
        (json!({"command": "x", "host": "sandbox"}), "write", "run `x` in `.`"),
        (json!({"command": "x", "host": "gateway"}), "act", "run `x` in `.`, on container"),
        (json!({"command": "x", "host": "host"}), "act", "run `x` in `.`, on host"),
        (json!({"command": "x", "node": "mini"}), "act", "run `x` in `.`, on node"),
        (json!({"command": "x", "node": "mini", "host": "node"}), "act", "run `x` in `.`, on node"),
        (json!({"command": "x", "elevated": true}), "act", "run `x` in `.`, on host, elevated"),
        (
            json!({"command": "x", "background": true}),
            "act",
            "run `x` in `.`, in the background, where its changes cannot be undone",
        ),
        (
            json!({"command": "x", "yieldMs": 10}),
            "act",
            "run `x` in `.`, in the background, where its changes cannot be undone",
        ),
    ] {
        let plan = Setup::plan("exec", args.clone());
        let needs: Vec<_> = plan.needs().iter().map(ToString::to_string).collect();
        assert_eq!(needs, [expected], "{args}");
        assert_eq!(plan.effects().to_string(), effects, "{args}");
    }
}

/// Nobody is asked about a call that cannot run, so its plan is empty, and nothing runs.
async fn refuses(case: &str, args: Value, expected: &str) {
    assert_eq!(Setup::plan("exec", args.clone()), Plan::default(), "{case}: {args}");
    let machine = Machine::that_ran(ran(b""));
    let text = Setup::with(&[]).with_exec(machine.clone()).text("exec", args.clone()).await;
    let expected = format!("validation_error: invalid arguments for `exec`: {expected}");
    assert!(text.starts_with(&expected), "{case}: {text}");
    assert_eq!(machine.asked(), [], "{case}: {args}");
}

#[tokio::test]
async fn a_command_that_cannot_run_is_refused_before_anybody_is_asked() {
    for (args, expected) in [
        (json!({"command": ""}), "`command`: is empty; say what to run"),
        (json!({"command": " \n"}), "`command`: is empty"),
        (json!({"command": "a\u{0}b"}), "`command`: contains a NUL character"),
        (json!({"command": "x", "yieldMs": 9}), "`yieldMs`: is not between 10 and 600000"),
        (json!({"command": "x", "yieldMs": 600_001}), "`yieldMs`: is not between"),
        (json!({"command": "x", "timeout": 0}), "`timeout`: is not between 1 and 1800 seconds"),
        (json!({"command": "x", "timeout": 60_000}), "`timeout`: is not between"),
        (json!({"command": "x", "node": " "}), "`node`: is empty"),
        (
            json!({"command": "x", "node": "mini", "host": "sandbox"}),
            "`node`: does not go with this `host`",
        ),
        (
            json!({"command": "x", "elevated": true, "host": "sandbox"}),
            "`elevated`: runs on the host itself",
        ),
        (json!({"command": "x", "env": {"A B": ""}}), "`env`: `A B` is not a name"),
        (json!({"command": "x", "env": {"A": "\u{0}"}}), "`env`: the value of `A` contains"),
        (
            json!({"command": "", "timeout": 0}),
            "`command`: is empty; say what to run; `timeout`: is not between",
        ),
    ] {
        refuses("arguments", args, expected).await;
    }
}

#[tokio::test]
async fn a_variable_that_changes_what_runs_or_whom_it_trusts_is_refused() {
    for (advisory, variables) in [
        ("env-001", &["LD_PRELOAD", "ld_preload", "DYLD_INSERT_LIBRARIES"][..]),
        ("env-002", &["LD_LIBRARY_PATH", "LD_AUDIT"]),
        ("env-004", &["BASH_ENV"]),
        ("env-005", &["ENV"]),
        ("env-006", &["BASH_FUNC_ls%%", "BASH_FUNC_ls"]),
        ("env-007", &["PS4", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "IFS", "CDPATH"]),
        ("env-013", &["NODE_OPTIONS", "NODE_PATH"]),
        ("env-014", &["PYTHONSTARTUP", "PYTHONPATH", "PYTHONBREAKPOINT", "PYTHONHOME"]),
        ("env-015", &["PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB"]),
        ("env-017", &["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"]),
        ("env-019", &["GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_DIR"]),
        ("env-020", &["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"]),
        ("env-024", &["RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_BUILD_RUSTC", "MAKEFLAGS", "GOFLAGS"]),
        ("env-024", &["npm_config_registry", "PIP_INDEX_URL", "CC"]),
        ("env-025", &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "no_proxy"]),
        ("env-026", &["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"]),
        ("env-026", &["NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED"]),
        ("env-027", &["GLIBC_TUNABLES"]),
        ("env-028", &["DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS"]),
        ("env-030", &["GCONV_PATH"]),
        ("env-031", &["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"]),
        ("paths", &["PATH", "HOME", "SHELL", "TMPDIR", "XDG_CONFIG_HOME"]),
        ("programs", &["EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "SSH_ASKPASS"]),
        ("our own", &["TOOLGATE_DATA", "TOOLGATE_CONFIG"]),
    ] {
        for variable in variables {
            let args = json!({"command": "x", "env": {"FINE": "1", *variable: "x"}});
            refuses(advisory, args, &format!("`env`: `{variable}` ")).await;
        }
    }
}

#[tokio::test]
async fn a_command_runs_as_it_was_asked_for() {
    let seconds = Duration::from_secs;
    for (args, timeout, terminal) in [
        (json!({"command": "x", "timeout": 2}), seconds(2)..=seconds(2), Terminal::No),
        // The call itself has ten seconds here: what was written until then must get out.
        (json!({"command": "x"}), seconds(5)..=Duration::from_millis(9_500), Terminal::No),
        (
            json!({"command": "x", "timeout": 1, "pty": true}),
            seconds(1)..=seconds(1),
            Terminal::Yes,
        ),
    ] {
        let machine = Machine::that_ran(ran(b""));
        exec(&machine, args.clone()).await;
        let asked = machine.asked();
        let [(run, how)] = asked.as_slice() else { panic!("{args}: {asked:?}") };
        assert_eq!(run.command, "x");
        assert!(timeout.contains(&how.timeout), "{args}: {how:?}");
        assert_eq!(how.terminal, terminal, "{args}");
    }
}

#[tokio::test]
async fn the_result_says_everything() {
    let machine = Machine::that_ran(Ran {
        ended: ended(3),
        output: Captured {
            head: vec![
                (Stream::Stdout, b"one\n".to_vec()),
                (Stream::Stderr, b"\x1b[31mtwo\x1b[0m\n".to_vec()),
                (Stream::Stdout, b"three\n".to_vec()),
            ],
            ..Captured::default()
        },
        changed: vec![Changed { path: FilePath::new("a.txt"), change: ChangeKind::Created }],
        notes: vec!["a socket was left out".into()],
        ..ran(b"")
    });
    let output = exec(&machine, json!({"command": "x", "workdir": "src"})).await;
    assert_eq!(
        output.value.clone().unwrap(),
        json!({
            "status": "completed", "exitCode": 3, "timedOut": false, "durationMs": 1500,
            "stdout": "one\nthree\n", "stderr": "\u{1b}[31mtwo\u{1b}[0m\n",
            "aggregated": "one\n\u{1b}[31mtwo\u{1b}[0m\nthree\n",
            "cwd": "src", "place": "sandbox",
            "changed": [{"path": "a.txt", "change": "created"}],
            "notes": ["a socket was left out"],
        })
    );
    assert_eq!(Value::from(output.usage.clone()), json!({"cpuMs": 700, "maxRssBytes": 4096}));
    assert_eq!(
        output.joined_text(),
        "[exit code 3]\n[created `a.txt`]\n[a socket was left out]\none\ntwo\nthree\n"
    );
}

#[tokio::test]
async fn the_text_begins_with_what_the_output_does_not_say() {
    let by = |signal| Ended { exit_code: None, signal: Some(signal), ..ended(0) };
    let changed = |count| {
        let path = |number| FilePath::new(&format!("f{number}"));
        let change = |number| Changed { path: path(number), change: ChangeKind::Modified };
        (0..count).map(change).collect::<Vec<_>>()
    };
    let many = (0..20).fold(String::new(), |all, number| all + &format!("modified `f{number}`, "));
    for (ran, expected) in [
        (ran(b"out\n"), "out\n".to_owned()),
        (ran(b""), "(no output)".to_owned()),
        (ran(b"\x1b[2J"), "(no output)".to_owned()),
        (Ran { ended: ended(1), ..ran(b"") }, "[exit code 1]\n(no output)".to_owned()),
        (Ran { ended: by(11), ..ran(b"x") }, "[ended by signal 11 (SIGSEGV)]\nx".to_owned()),
        (Ran { ended: by(40), ..ran(b"x") }, "[ended by signal 40]\nx".to_owned()),
        (Ran { changed: changed(2), ..ran(b"x") }, "[modified `f0`, modified `f1`]\nx".to_owned()),
        (Ran { changed: changed(25), ..ran(b"x") }, format!("[{many}and 5 more]\nx")),
    ] {
        let shown = exec(&Machine::that_ran(ran), json!({"command": "x"})).await;
        assert_eq!(shown.joined_text(), expected);
    }
}

#[tokio::test]
async fn a_command_that_was_ended_is_an_error_with_its_output() {
    let killed = |why: &str| Ended {
        exit_code: None,
        signal: Some(9),
        killed_for: Some(why.into()),
        ..ended(0)
    };
    let late = Ended { timed_out: true, ..killed("timeout") };
    for (ended, kind, message) in [
        (late, "timeout", "the command was ended after 1500 ms because its time was up"),
        (
            killed("memory"),
            "execution_error",
            "the command was ended because it used more memory than it may",
        ),
        (
            killed("written"),
            "execution_error",
            "the command was ended because it wrote more to the disk than it may",
        ),
    ] {
        let killed_for = ended.killed_for.clone();
        let machine = Machine::that_ran(Ran { ended, ..ran(b"so far\n") });
        let setup = Setup::with(&[]).with_exec(machine);
        let error = setup.call("exec", json!({"command": "x"})).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
        let details = error.details();
        assert_eq!(details["stdout"], "so far\n");
        assert_eq!(
            (&details["status"], &details["killedFor"]),
            (&json!("ended"), &json!(killed_for))
        );
        let tool::ToolError::Unfinished(unfinished) = error else { panic!("{error}") };
        assert!(unfinished.output.joined_text().ends_with("so far\n"));
    }
}

#[tokio::test]
async fn what_one_stream_wrote_is_not_there_twice_if_it_is_much() {
    for (output, expected) in [("x".repeat(900_000), true), ("x".repeat(1_100_000), false)] {
        let machine = Machine::that_ran(ran(output.as_bytes()));
        let value = exec(&machine, json!({"command": "x"})).await.value.unwrap();
        assert_eq!(value["stdout"].as_str().unwrap().len(), output.len());
        assert_eq!(value.get("aggregated").is_some(), expected);
    }
}

#[tokio::test]
async fn what_is_missing_of_the_output_is_marked() {
    let output = Captured {
        head: vec![(Stream::Stdout, b"head".to_vec())],
        left_out: 1_000_000,
        tail: vec![(Stream::Stdout, b"tail\n".to_vec())],
    };
    let shown = exec(&Machine::that_ran(Ran { output, ..ran(b"") }), json!({"command": "x"})).await;
    assert_eq!(shown.joined_text(), "head\n[… 1000000 bytes left out …]\ntail\n");
    assert_eq!(shown.value.unwrap()["leftOut"], 1_000_000);
}

/// The gate cuts after 50 KB; the end must be before that.
#[tokio::test]
async fn of_a_long_output_the_end_comes_first() {
    let secret = "hunter2hunter2";
    let lines = (0..10_000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    let (before, after) = lines.split_at(lines.len() - 15_000 + secret.len() / 2);
    let long = format!("{before}{secret}{after}");
    let machine = Machine::that_ran(Ran { ended: ended(1), ..ran(long.as_bytes()) });
    let setup = Setup::with(&[]).with_exec(machine).with_secret(secret);
    let text = setup.text("exec", json!({"command": "x"})).await;
    let start = format!("[exit code 1]\n[the end of {} bytes of output]\n⟦secret⟧", long.len());
    assert!(text.starts_with(&start), "{}", text.len());
    let (end, all) = text.split_once("\n[all of it]\n").unwrap();
    assert!(end.len() < 16_000 && end.ends_with("line 9999"));
    assert_eq!(all, long);
}

#[tokio::test]
async fn a_command_in_the_background_goes_on() {
    let process = Fake::running("p1", b"\x1b[1mstarting\x1b[0m\n");
    let machine = Machine::that_starts(&process);
    let output = exec(&machine, json!({"command": "x", "background": true, "yieldMs": 500})).await;
    let note = "it runs in the background, where its changes cannot be undone";
    assert_eq!(
        output.value.clone().unwrap(),
        json!({
            "status": "running", "processId": "p1", "pid": 42, "nextOffset": 17, "cwd": "web",
            "tail": "\u{1b}[1mstarting\u{1b}[0m\n", "place": "sandbox", "notes": [note],
        })
    );
    assert_eq!(
        output.joined_text(),
        format!(
            "[running as process `p1` with pid 42; {note}; to see what it does, use `process` with \
             action `poll`, processId `p1` and offset 17]\nstarting"
        )
    );
    let [(_, how)] = machine.asked().try_into().unwrap();
    assert_eq!(how.timeout, Duration::from_mins(30));
}

#[tokio::test]
async fn a_command_that_yields_is_waited_for() {
    let process = Fake::running("p1", b"a\n");
    let later = process.clone();
    tokio::spawn(async move {
        later.say(b"b\n");
        tokio::time::sleep(Duration::from_millis(20)).await;
        later.say(b"c\n");
        later.exit(ended(2));
    });
    let output =
        exec(&Machine::that_starts(&process), json!({"command": "x", "yieldMs": 5_000})).await;
    let note = "it runs in the background, where its changes cannot be undone";
    assert_eq!(output.joined_text(), format!("[exit code 2]\n[{note}]\na\nb\nc\n"));
    assert_eq!(output.usage["cpuMs"], 700);
    let value = output.value.unwrap();
    assert_eq!((&value["status"], &value["exitCode"]), (&json!("completed"), &json!(2)));
    assert_eq!(value["aggregated"], "a\nb\nc\n");
    assert_eq!(value.get("stdout"), None, "the outputs of a process are not kept apart");

    let started = Instant::now();
    let machine = Machine::that_starts(&Fake::running("p2", b""));
    let output = exec(&machine, json!({"command": "x", "yieldMs": 30})).await;
    assert!(started.elapsed() >= Duration::from_millis(30));
    assert_eq!(output.value.unwrap()["status"], "running");
}

#[tokio::test]
async fn the_beginning_of_a_long_background_output_is_left_out() {
    let process = Fake::exited("p1", &b"0123456789".repeat(150_000), 0);
    let output =
        exec(&Machine::that_starts(&process), json!({"command": "x", "yieldMs": 10})).await;
    let value = output.value.unwrap();
    assert_eq!(value["leftOut"], 500_000);
    let text = value["aggregated"].as_str().unwrap();
    assert!(text.starts_with("[… 500000 bytes left out …]\n0123"), "{}", text.len());
    assert!(text.ends_with("6789") && value["place"] == Place::Sandbox.name());
}
