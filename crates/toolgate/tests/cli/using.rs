//! What people type: arguments, commands and folders.

use std::{fs, process::Stdio};

use crate::helper::{Machine, finish};

#[test]
fn arguments_are_pairs_or_one_object() {
    let machine = Machine::new();
    machine.file("notes.txt", "one\ntwo\nthree\n");
    for (args, expected) in [
        (&["path=notes.txt"][..], "one\ntwo\nthree\n"),
        (&["path=notes.txt", "limit:=1"], "one\n"),
        (&["path=notes.txt", "limit=1"], "one\n"),
        (&[r#"{"path":"notes.txt","limit":1}"#], "one\n"),
    ] {
        let all: Vec<_> = ["call", "read"].into_iter().chain(args.iter().copied()).collect();
        let ran = machine.run(&all);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        let shown = ran.json();
        assert!(
            shown["result"].as_str().unwrap().starts_with(expected.trim_end()),
            "{args:?}: {shown}"
        );
    }
    for (args, expected) in [
        (&["call", "read", "path=a", "path=b"][..], "`path` is given twice"),
        (&["call", "read", "path=a", "b"], "`b` is not `key=value`"),
        (&["call", "read", "limit:=x", "path=a"], "has no JSON after `:=`"),
        (&["call", "get_current_time", "--yess"], "unexpected argument '--yess'"),
        (&["call", "read", "-x"], "unexpected argument '-x'"),
    ] {
        let ran = machine.run(args);
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_misspelt_tool_is_guessed() {
    let machine = Machine::new();
    let ran = machine.run(&["call", "exce", "{}"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("did you mean `exec`?"), "{ran:?}");
    assert_eq!(ran.json()["error_type"], "tool_not_available");
}

#[test]
fn a_whole_home_or_disk_is_no_workspace_unless_a_flag_says_so() {
    let machine = Machine::new();
    let home = machine.path("home");
    fs::write(home.join("diary.txt"), "secret").unwrap();
    for folder in [home.to_str().unwrap(), "/"] {
        for args in [
            &["call", "ls", "--workspace", folder][..],
            &["chat", "-m", "list files", "--workspace", folder],
            &["serve", "--listen", "127.0.0.1:0", "--workspace", folder],
        ] {
            let ran = machine.run(args);
            assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
            assert!(ran.stderr.contains("is too much for"), "{args:?}: {ran:?}");
            assert!(ran.stderr.contains("--allow-broad-workspace"), "{args:?}: {ran:?}");
        }
    }
    // The folder the program is started in counts too.
    let mut command = machine.command(&[], &["call", "ls"]);
    let child = command.current_dir(&home).stdin(Stdio::null()).stdout(Stdio::piped());
    let ran = finish(child.stderr(Stdio::piped()).spawn().unwrap());
    assert!(ran.code == 2 && ran.stderr.contains("is too much for"), "{ran:?}");
    let home = home.to_str().unwrap();
    let ran = machine.run(&["call", "ls", "--workspace", home, "--allow-broad-workspace"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn an_agent_with_a_folder_of_its_own_can_be_called_from_anywhere() {
    let machine = Machine::new();
    let folder = machine.path("workspace");
    let config = format!("[agents.main]\nworkspace = {:?}\n", folder.display().to_string());
    fs::write(machine.path("config/toolgate/toolgate.toml"), config).unwrap();
    let mut command = machine.command(&[], &["call", "ls"]);
    let child = command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped());
    let ran = finish(child.stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn an_unknown_command_of_chat_is_told_and_not_said_to_the_model() {
    let machine = Machine::new();
    let ran = machine.run_with(&["chat"], "/statsu\n/nonsense\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("There is no command `/statsu`; did you mean `/status`?"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("There is no command `/nonsense`"), "{ran:?}");
    assert_eq!(ran.stdout.trim(), "", "no model answered: {ran:?}");
}

#[test]
fn chat_takes_back_the_last_change() {
    let machine = Machine::new();
    let ran = machine.run_with(&["chat"], "/write {\"path\":\"a.txt\",\"content\":\"x\"}\n");
    assert_eq!(machine.content("a.txt").as_deref(), Some("x"), "{ran:?}");
    let ran = machine.run_with(&["chat"], "/undo\n/undo\n/undo what\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(machine.content("a.txt"), None, "{ran:?}");
    assert!(ran.stderr.contains("No call of this session has changed anything."), "{ran:?}");
    assert!(ran.stderr.contains("`what`"), "{ran:?}");
}

#[test]
fn the_help_has_groups_and_every_command() {
    let machine = Machine::new();
    let help = machine.run(&["--help"]).stdout;
    for word in
        ["Start:", "Use with your agent:", "Decide:", "Look back:", "Administer:", "tour", "man "]
    {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(machine.run(&["call", "--help"]).stdout.contains("toolgate call read path=notes.txt"));
}

#[test]
fn a_sender_on_the_command_line_has_the_rules_of_the_sender() {
    let machine = Machine::configured(
        "[tools.by_sender.eve]\ndeny = ['ls']\n[tools.by_sender.'*']\ndeny = ['grep']\n",
    );
    assert_eq!(machine.run(&["call", "ls", "--sender", "ann"]).code, 0);
    assert_eq!(machine.run(&["call", "ls", "--sender", "eve"]).code, 1);
    assert_eq!(machine.run(&["call", "grep", "pattern=x", "--sender", "ann"]).code, 1);
    let explained = machine.run(&["policy", "explain", "ls", "--sender", "eve"]).stdout;
    assert!(explained.starts_with("deny ls"), "{explained}");
}

#[test]
fn doctor_says_which_model_answers_and_whether_a_server_runs() {
    let machine = Machine::new();
    let shown = machine.run(&["doctor"]).stdout;
    assert!(shown.contains("none runs; `toolgate serve` starts one"), "{shown}");
    assert!(shown.contains("the built-in demo"), "{shown}");
}
