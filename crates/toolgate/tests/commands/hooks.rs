//! Programs that see calls before they run.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::{
    cli::Machine,
    helper::{AUTO, Setup, error, trial},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_hook_lets_through_changes_blocks_and_answers", a_hook_does_what_it_may),
        trial("a_hook_that_fails_refuses_the_call", a_hook_that_fails_refuses_the_call),
        trial("a_hook_sees_the_call_it_is_for", a_hook_sees_the_call_it_is_for),
        trial("a_hook_says_what_a_session_keeps", a_hook_says_what_a_session_keeps),
        trial("a_hook_after_a_call_gets_json", a_hook_after_a_call_gets_json),
        Trial::test("a_hook_holds_on_the_command_line_too", || {
            a_hook_holds_on_the_command_line_too();
            Ok(())
        }),
    ]
}

const HOOK: &str =
    "[limits]\nhook_timeout = \"2s\"\n[[hooks]]\ncommand = [\"BESIDE/hooks/hook\"]\n";

/// A gate whose hook is this shell script.
async fn hooked(script: &str) -> Setup {
    let setup = Setup::with(&format!("{AUTO}{HOOK}")).await;
    program(&setup.beside("hooks/hook"), script);
    setup.file("hello.txt", "hello\n");
    setup.file("other.txt", "other\n");
    setup
}

fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

async fn read_hello(setup: &Setup) -> Value {
    setup.call("read", json!({"path": "hello.txt"})).await
}

async fn a_hook_does_what_it_may() {
    for (script, expected) in [
        ("true", json!("hello\n")),
        (r#"cat > /dev/null; echo '{"action":"continue"}'"#, json!("hello\n")),
        (r#"echo '{"action":"rewrite","arguments":{"path":"other.txt"}}'"#, json!("other\n")),
        (r#"echo '{"action":"answer","result":"from the hook"}'"#, json!("from the hook")),
        (r#"echo '{"action":"answer","result":{"a":[1]}}'"#, json!({"a": [1]})),
    ] {
        let outcome = read_hello(&hooked(script).await).await;
        assert_eq!(outcome["result"], expected, "{script}: {outcome}");
    }
    let setup = hooked(r#"echo '{"action":"block","reason":"not on a Sunday"}'"#).await;
    let outcome = read_hello(&setup).await;
    assert_eq!(outcome["error_type"], "permission_denied", "{outcome}");
    assert!(error(&outcome).contains("not on a Sunday"), "{outcome}");
    // What it makes of a call is checked as if the model had said it.
    for (arguments, expected) in
        [(r#"{"path":"../out"}"#, "path_not_allowed"), (r#"{"file":"x"}"#, "validation_error")]
    {
        let script = format!(r#"echo '{{"action":"rewrite","arguments":{arguments}}}'"#);
        let outcome = read_hello(&hooked(&script).await).await;
        assert_eq!(outcome["error_type"], expected, "{outcome}");
    }
}

async fn a_hook_that_fails_refuses_the_call() {
    for script in [
        "exit 1",
        "echo '{\"action\":\"continue\"}'; exit 3",
        "kill -KILL $$",
        "echo garbage",
        "echo '{\"action\":\"allow\"}'",
        "echo '{\"action\":\"rewrite\"}'",
        "echo '{\"action\":\"continue\",\"more\":1}'",
        "echo '{\"action\":\"continue\"}{\"action\":\"continue\"}'",
        "yes",
        "sleep 1000",
        "setsid sleep 1000 & echo '{\"action\":\"continue\"}'; sleep 1000",
    ] {
        let setup = hooked(script).await;
        let outcome = read_hello(&setup).await;
        assert_eq!(outcome["error_type"], "permission_denied", "{script}: {outcome}");
        assert_eq!(outcome["details"]["stage"], "hooks", "{script}: {outcome}");
    }
    let setup = hooked("true").await;
    fs::remove_file(setup.beside("hooks/hook")).unwrap();
    let outcome = read_hello(&setup).await;
    assert_eq!(outcome["error_type"], "permission_denied", "missing: {outcome}");
    program(&setup.beside("hooks/hook"), "true");
    fs::set_permissions(setup.beside("hooks/hook"), fs::Permissions::from_mode(0o644)).unwrap();
    let outcome = read_hello(&setup).await;
    assert_eq!(outcome["error_type"], "permission_denied", "not a program: {outcome}");
}

async fn a_hook_sees_the_call_it_is_for() {
    // It blocks with what it was told, because it can write nowhere.
    let script = r#"said=$(cat | tr -d '\\"'); printf '{"action":"block","reason":"%s"}' "$said""#;
    let config = format!("{AUTO}{HOOK}tools = [\"read\", \"e*\"]\n");
    let setup = Setup::with(&config).await;
    setup.file("hello.txt", "hello\n");
    program(&setup.beside("hooks/hook"), script);
    let said = error(&read_hello(&setup).await);
    for expected in [
        "event:before_tool_call",
        "tool:read",
        "arguments:{path:hello.txt}",
        "user:owner",
        "agent:main",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(setup.sh("true").await["error_type"], "permission_denied");
    assert_eq!(setup.call("ls", json!({})).await["status"], "success");
    // It sees neither the workspace nor our files, and reaches nobody.
    let script = format!(
        "if [ -e '{}' ] || [ -e '{}' ] || (exec 3<> /dev/tcp/127.0.0.1/80) 2> /dev/null; then exit 1; fi",
        setup.path("hello.txt").display(),
        setup.beside("data").display()
    );
    program(&setup.beside("hooks/hook"), &script);
    assert_eq!(read_hello(&setup).await["result"], "hello\n");
}

async fn a_hook_says_what_a_session_keeps() {
    let config = format!("{AUTO}{HOOK}on = \"tool_result_persist\"\n");
    let setup = Setup::with(&config).await;
    setup.file("hello.txt", "hello\n");
    let hook = setup.beside("hooks/hook");
    for (script, expected) in [
        ("true", json!(null)),
        (r#"cat > /dev/null; echo '{"action":"continue"}'"#, json!(null)),
        (r#"echo '{"action":"replace","text":"kept elsewhere"}'"#, json!("kept elsewhere")),
        ("exit 1", json!("[the result is not kept: a hook of the operator's failed]")),
    ] {
        program(&hook, script);
        let outcome = setup.gate.call(&setup.caller, "read", json!({"path": "hello.txt"})).await;
        let toolgate::Outcome::Success { result, transcript, .. } = outcome else {
            panic!("{script}: {outcome:?}")
        };
        assert_eq!(result, json!("hello\n"), "the caller gets it whole");
        let kept = transcript.map(|blocks| match blocks.as_slice() {
            [toolgate::Block::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(json!(kept), expected, "{script}");
    }
}

/// It can write nowhere, so that what it was told shows in what it answers before the next call.
async fn a_hook_after_a_call_gets_json() {
    let config = format!("{AUTO}{HOOK}on = \"tool_result_persist\"\n");
    let setup = Setup::with(&config).await;
    let script = r#"said=$(cat | tr -d '\\"'); printf '{"action":"replace","text":"%s"}' "$said""#;
    program(&setup.beside("hooks/hook"), script);
    let outcome = setup.gate.call(&setup.caller, "list_tasks", json!({})).await;
    let toolgate::Outcome::Success { transcript: Some(blocks), .. } = outcome else {
        panic!("{outcome:?}")
    };
    let said = format!("{blocks:?}");
    for expected in ["event:tool_result_persist", "result:{tasks:[]}", "text:{tasks:[]}"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

fn a_hook_holds_on_the_command_line_too() {
    let machine = Machine::new();
    let hook = machine.path("hooks/hook");
    program(&hook, r#"echo '{"action":"block","reason":"closed"}'"#);
    let config =
        format!("[[hooks]]\ncommand = [{:?}]\ntools = [\"write\"]\n", hook.display().to_string());
    fs::write(machine.path("config/toolgate/toolgate.toml"), config).unwrap();
    let outcome = machine.call("write", &json!({"path": "x", "content": "x"}));
    assert!(error(&outcome).contains("closed"), "{outcome}");
    assert_eq!(machine.content("x"), None);
    assert_eq!(machine.call("ls", &json!({}))["status"], "success");
}
