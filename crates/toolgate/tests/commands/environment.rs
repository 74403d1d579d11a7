//! What of our own environment a command sees: nothing.

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use serde_json::json;
use toolgate::{Caller, Gate, builtin};

use crate::{
    alone::{ALONE, WITHOUT_INIT, alone},
    helper::{AUTO, Setup, error, trial},
};

/// Variables that a server has and a command must not get.
const OURS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "leak-1"),
    ("AWS_SECRET_ACCESS_KEY", "leak-2"),
    ("SSH_AUTH_SOCK", "/tmp/leak-3"),
    ("COMMANDS_TEST_MARKER", "leak-4"),
    ("LD_LIBRARY_PATH", "/nowhere/leak-5"),
    ("HTTPS_PROXY", "http://leak-6.invalid"),
    ("GIT_DIR", "leak-7"),
    ("PYTHONPATH", "leak-8"),
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("no_variable_of_ours_reaches_a_command", || {
            alone(ALONE, "environment", OURS);
            Ok(())
        }),
        trial("a_variable_of_the_call_reaches_its_command_only", a_variable_of_the_call),
        Trial::test("without_init_exec_is_unavailable_and_says_what_to_do", || {
            alone(WITHOUT_INIT, "uninitialised", &[]);
            Ok(())
        }),
    ]
}

/// env-031: the process that has those variables; one of them is passed on by name.
pub(crate) async fn environment() {
    for (passed, expected) in [("", None), ("COMMANDS_TEST_MARKER", Some("leak-4"))] {
        let config = format!("{AUTO}[tools.exec]\nenv = [\"{passed}\"]\n").replace("[\"\"]", "[]");
        let setup = Setup::with(&config).await;
        let everywhere = "env -0; cat /proc/*/environ 2> /dev/null; true";
        let printed = setup.printed(everywhere).await;
        let seen: BTreeMap<_, _> =
            printed.split('\0').filter_map(|variable| variable.split_once('=')).collect();
        for (name, value) in OURS {
            let expected = expected.filter(|_| *name == passed);
            assert_eq!(seen.get(name).copied(), expected, "{name}");
            assert_eq!(printed.contains(value), expected.is_some(), "{name}: {printed}");
        }
        assert_eq!(seen["HOME"], "/home/agent");
        assert_eq!(seen["USER"], "agent");
        assert!(seen.len() < 30, "{seen:?}");
    }
}

async fn a_variable_of_the_call() {
    let setup = Setup::new().await;
    let args = json!({"command": "echo \"$GREETING\"", "env": {"GREETING": "hello $HOME; `id`"}});
    let outcome = setup.call("exec", args).await;
    assert_eq!(outcome["result"]["stdout"], "hello $HOME; `id`\n", "{outcome}");
    assert_eq!(setup.printed("echo \"[$GREETING]\"").await, "[]\n");
}

/// The process that has not called `toolgate::init`.
pub(crate) async fn uninitialised() {
    let folder = tempfile::TempDir::new().unwrap();
    let gate = Gate::builder().data(folder.path().join("data")).workspace(folder.path());
    let gate = gate.policy(config::parse(AUTO, "toolgate.toml").unwrap().tools);
    let gate = gate.tools(builtin()).build().unwrap();
    let caller = Caller::owner("main");
    let outcome = gate.call(&caller, "exec", json!({"command": "true"})).await;
    let said = error(&serde_json::to_value(outcome).unwrap());
    assert!(said.starts_with("tool_not_available: "), "{said}");
    // What an operator is told.
    let view = gate.view(&caller);
    let gate::Found::Unavailable(_, reason) = view.find("exec") else { panic!("it is there") };
    assert!(reason.contains("init()"), "{reason}");
    let outcome = gate.call(&caller, "ls", json!({})).await;
    assert_eq!(outcome.status(), "success", "the other tools work: {outcome:?}");
}
