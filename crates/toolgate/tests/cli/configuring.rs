//! A configuration that names what does not exist.

use std::fs;

use crate::helper::Machine;

const MISSPELT: &str = "[tools]\ndeny = [\"exce\"]\napprovers = [\"gracee\"]\n[limits]\nrates.reed = \"60/min\"\n\
                        [users.adaa.limits]\nrate = \"3/min\"\n[agents.main]\nsessions = [\"nobody-here\"]\n";

#[test]
fn a_misspelt_name_stops_every_command_that_would_act_on_it() {
    let machine = Machine::configured(MISSPELT);
    for command in [
        &["call", "exec", r#"{"command":"touch x"}"#, "--yes"][..],
        &["policy", "explain", "exec"],
        &["check", "command", "ls"],
        &["tools"],
        &["chat", "-m", "hello"],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        let ran = machine.run(command);
        assert_eq!(ran.code, 2, "{command:?}: {ran:?}");
        for line in [
            "toolgate.toml:2: `tools.deny`: no tool is called `exce`; did you mean `exec`?",
            "toolgate.toml:3: `tools.approvers`: no user is called `gracee`; `toolgate users add gracee` adds a user",
            "toolgate.toml:5: `limits.rates.reed`: no tool is called `reed`; did you mean `read`?",
            "toolgate.toml:7: `users.adaa`: no user is called `adaa`; `toolgate users add adaa` adds a user",
            "toolgate.toml:9: `agents.main.sessions`: no agent is called `nobody-here`",
        ] {
            assert!(ran.stderr.contains(line), "{command:?} does not say {line}: {ran:?}");
        }
    }
    assert_eq!(machine.content("x"), None);
}

#[test]
fn doctor_and_config_check_show_it_with_its_line() {
    let machine = Machine::configured(MISSPELT);
    for command in [&["doctor"][..], &["config", "check"]] {
        let ran = machine.run(command);
        assert_eq!(ran.code, 1, "{ran:?}");
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        for line in
            ["toolgate.toml:2: ", "toolgate.toml:3: ", "toolgate.toml:5: ", "toolgate.toml:7: "]
        {
            assert!(shown.contains(line), "{command:?} does not show {line}: {ran:?}");
        }
        assert!(!shown.contains("ok       configuration"), "{ran:?}");
    }
}

/// A name that is not there yet is made by the command that the error names.
#[test]
fn users_and_agents_can_be_added_while_the_file_names_them_already() {
    let text = "[tools]\napprovers = [\"grace\"]\n[agents.main]\nsessions = [\"scout\"]\n";
    let machine = Machine::configured(text);
    assert_eq!(machine.run(&["call", "get_current_time"]).code, 2);
    assert_eq!(machine.run(&["users", "add", "grace"]).code, 0);
    assert_eq!(machine.run(&["agents", "add", "scout"]).code, 0);
    let ran = machine.run(&["call", "get_current_time"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Who was removed is known, and has no say.
    assert_eq!(machine.run(&["users", "remove", "grace"]).code, 0);
    assert_eq!(machine.run(&["call", "get_current_time"]).code, 0);
}

#[test]
fn tools_that_are_not_built_may_be_named_and_the_emergency_stop_needs_no_configuration() {
    let machine =
        Machine::configured("[tools]\ndeny = [\"browser\", \"group:media\", \"web_fetch\"]\n");
    let ran = machine.run(&["config", "check"]);
    assert_eq!(
        (ran.code, ran.stdout.trim_end().ends_with("toolgate.toml: ok")),
        (0, true),
        "{ran:?}"
    );
    fs::write(machine.path("config/toolgate/toolgate.toml"), MISSPELT).unwrap();
    for command in
        [&["emergency", "stop", "--reason", "test"][..], &["history"], &["users", "list"]]
    {
        let ran = machine.run(command);
        assert_eq!(ran.code, 0, "{command:?}: {ran:?}");
    }
}

#[test]
fn an_agent_with_a_misspelt_tool_is_not_made() {
    let machine = Machine::new();
    let ran = machine.run(&["agents", "add", "scout", "--deny", "exce"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let expected =
        "agent `scout`: `agents.scout.tools.deny`: no tool is called `exce`; did you mean `exec`?";
    assert!(ran.stderr.contains(expected), "{ran:?}");
    assert_eq!(machine.run(&["agents", "show", "scout"]).code, 2);
}
