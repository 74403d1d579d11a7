//! `toolgate check` and `toolgate tools`: what would happen, and why.

use serde_json::{Value, json};

use crate::helper::Machine;

fn verdicts(answers: &[Value]) -> Vec<(&Value, &str)> {
    answers.iter().map(|answer| (&answer["input"], answer["verdict"].as_str().unwrap())).collect()
}

#[test]
fn checks_paths_line_by_line_in_order() {
    let machine = Machine::new();
    machine.file(".env", "");
    let lines = "a.txt\n\"b\\nc.txt\"\n../x\n.env\n\"broken\n\n/etc/passwd";
    let ran = machine.run_with(&["check", "path", "--stdin"], lines);
    assert_eq!(ran.code, 0);
    assert_eq!(
        verdicts(&ran.json_lines()),
        [
            (&json!("a.txt"), "allow"),
            (&json!("b\nc.txt"), "allow"),
            (&json!("../x"), "deny"),
            (&json!(".env"), "ask"),
            (&json!("\"broken"), "deny"),
            (&json!(""), "allow"),
            (&json!("/etc/passwd"), "deny"),
        ]
    );
}

#[test]
fn says_verdict_rule_and_reason() {
    let machine = Machine::new();
    for (args, verdict, rule, reason) in [
        (&["path", "a.txt"][..], "allow", "smart", "read runs without asking"),
        (&["path", "a.txt", "--write"], "allow", "smart", "write runs without asking"),
        (&["path", ".envrc", "--write"], "deny", "path", "`.envrc`"),
        (&["path", "-a"], "allow", "smart", "read"),
        (&["call", r#"{"tool":"read","arguments":{"path":"../x"}}"#], "deny", "path", "outside"),
        (&["call", r#"{"tool":"read","arguments":{}}"#], "deny", "validation_error", "`path`"),
        (&["call", r#"{"tool":"get_current_time"}"#], "allow", "smart", "pure"),
        (&["call", r#"{"tool":"raed"}"#], "deny", "unknown", "no such tool"),
        (&["call", "{"], "deny", "input", "expected"),
    ] {
        let ran = machine.run(&[&["check"], args, &["--json"]].concat());
        let answer = ran.json();
        assert_eq!(ran.code, 0, "{args:?}");
        assert_eq!(
            (&answer["verdict"], &answer["rule"]),
            (&json!(verdict), &json!(rule)),
            "{answer}"
        );
        assert!(answer["reason"].as_str().unwrap().contains(reason), "{args:?}: {answer}");
        let shown = machine.run(&[&["check"], args].concat()).stdout;
        assert!(shown.starts_with(&format!("{verdict}: ")), "{shown}");
    }
}

#[test]
fn runs_nothing_and_records_nothing() {
    let machine = Machine::new();
    let call = r#"{"tool":"write","arguments":{"path":"a.txt","content":"x"}}"#;
    assert_eq!(machine.run(&["check", "call", call, "--json"]).json()["verdict"], "allow");
    assert_eq!(machine.content("a.txt"), None);
    assert_eq!(machine.run(&["history", "--json"]).json(), json!([]));
}

#[test]
fn follows_the_configured_mode() {
    let machine = Machine::configured("[tools]\nask = \"always\"\n");
    let ran = machine.run(&["check", "path", "a.txt", "--write", "--json"]).json();
    assert_eq!((&ran["verdict"], &ran["rule"]), (&json!("ask"), &json!("ask.always")));
}

#[test]
fn the_owner_sees_which_rule_took_a_tool_away() {
    let machine = Machine::configured("[tools]\ndeny = [\n  \"write\",\n]\n");
    let config = machine.path("config/toolgate/toolgate.toml");
    let rule = format!("deny `write` ({}:3)", config.display());
    let tools = machine.run(&["tools", "--json"]).json();
    let edit = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "edit").unwrap();
    assert_eq!(edit["status"], "withheld");
    assert_eq!(edit["rule"]["at"], format!("{}:3", config.display()));
    for args in [&["tools"][..], &["tools", "edit"], &["check", "call", r#"{"tool":"edit"}"#]] {
        let shown = machine.run(args).stdout;
        assert!(shown.contains(&rule), "{args:?}: {shown}");
    }
}

#[test]
fn a_tool_is_shown_with_all_there_is_to_know() {
    let machine = Machine::new();
    let shown = machine.run(&["tools", "read_file"]).stdout;
    for part in ["read", "path (string, required)", "aliases    read_file", "timeout    10 s"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let read = machine.run(&["tools", "read", "--json"]).json();
    assert_eq!(read["parameters"]["properties"]["path"]["type"], "string");
    assert_eq!((&read["effects"], &read["chain"]), (&json!(["read"]), &json!([])));
}

#[test]
fn policy_explain_names_the_line_that_took_a_tool_away() {
    let machine = Machine::configured("[agents.x.tools]\ndeny = [\n  \"exec\",\n]\n");
    let config = machine.path("config/toolgate/toolgate.toml");
    let explained = machine.run(&["policy", "explain", "exec", "--agent", "x", "--json"]).json();
    let layer = explained["layers"].as_array().unwrap().iter().find(|l| l["verdict"] == "deny");
    let layer = layer.unwrap();
    assert_eq!((&layer["layer"], &layer["line"]), (&json!("agent"), &json!(3)));
    assert_eq!(layer["file"], config.display().to_string());
    let other = machine.run(&["policy", "explain", "exec", "--json"]).json();
    assert_eq!(other["verdict"], "allow");
    let typo = machine.run(&["policy", "explain", "exek"]);
    assert!(typo.code == 2 && typo.stderr.contains("did you mean `exec`?"), "{typo:?}");
}

/// The table of modes: security, ask, and what becomes of a harmless and of any other command.
#[test]
fn checks_commands_by_the_table_of_modes() {
    let [smart, auto] =
        ["smart", "auto"].map(|ask| Machine::configured(&format!("[tools]\nask = \"{ask}\"\n")));
    for (machine, security, ask, harmless, other) in [
        (&auto, "full", "auto", "allow exec.harmless", "allow ask.auto"),
        (&auto, "full", "smart", "allow exec.harmless", "allow smart"),
        (&auto, "full", "always", "ask ask.always", "ask ask.always"),
        (&auto, "safe-bin", "auto", "allow exec.harmless", "deny exec.safe_bin"),
        (&auto, "safe-bin", "smart", "allow exec.harmless", "ask exec.safe_bin"),
        (&auto, "safe-bin", "always", "ask ask.always", "ask exec.safe_bin"),
        (&auto, "paranoid", "auto", "allow exec.harmless", "deny exec.paranoid"),
        (&auto, "paranoid", "smart", "allow exec.harmless", "deny exec.paranoid"),
        (&auto, "paranoid", "always", "ask ask.always", "deny exec.paranoid"),
        // The configuration says `smart`, which is stricter.
        (&smart, "safe-bin", "auto", "allow exec.harmless", "ask exec.safe_bin"),
    ] {
        let args = ["check", "command", "--stdin", "--security", security, "--ask", ask];
        let ran = machine.run_with(&args, "ls -la | wc -l\nmake; ls $x\n");
        assert_eq!(ran.code, 0);
        let answers = ran.json_lines();
        let found: Vec<_> = answers
            .iter()
            .map(|answer| {
                let text = |key: &str| answer[key].as_str().unwrap().to_owned();
                format!("{} {}", text("verdict"), text("rule"))
            })
            .collect();
        assert_eq!(found, [harmless, other], "{security} {ask}");
    }
    let args = ["check", "command", "sort -o x a", "--security", "safe-bin", "--json"];
    let reason = smart.run(&args).json()["reason"].as_str().unwrap().to_owned();
    let expected = "`sort -o x a` is not known to be harmless: `-o` of `sort` is not known";
    assert!(reason.starts_with(expected), "{reason}");
}

const CASES: &str = include_str!("../../../policy/tests/cases/commands.json");

/// As an operator finds out what a mode does, with what is installed here or not.
#[test]
fn no_dangerous_command_is_allowed_and_nearly_every_benign_one_is() {
    let machine = Machine::new();
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let allowed = |kind: &str| {
        let rows = cases[kind].as_array().unwrap();
        let lines: Vec<_> = rows.iter().map(|row| row["command"].to_string()).collect();
        let args = ["check", "command", "--stdin", "--security", "safe-bin", "--ask", "smart"];
        let answers = machine.run_with(&args, &lines.join("\n")).json_lines();
        assert_eq!(answers.len(), rows.len());
        let allowed = answers.into_iter().filter(|answer| answer["verdict"] == "allow");
        (allowed.collect::<Vec<_>>(), rows.len())
    };
    let (dangerous, _) = allowed("dangerous");
    assert!(dangerous.is_empty(), "{dangerous:#?}");
    let (benign, all) = allowed("benign");
    assert!(benign.len() * 100 >= all * 95, "{} of {all}", benign.len());
}

#[test]
fn shows_people_what_a_command_would_run() {
    let machine = Machine::new();
    let shown = machine.run(&["check", "command", "timeout 5 sh -c 'make && rm x'"]).stdout;
    for expected in ["allow: ", "`timeout 5 sh", "`make`, in the arguments of `timeout`", "`rm x`"]
    {
        assert!(shown.contains(expected), "{shown}");
    }
    let shown = machine.run(&["check", "command", "eval \"$x\""]).stdout;
    assert!(shown.contains("cannot be told: `eval` runs something that is not known"), "{shown}");
    let shown = machine.run(&["check", "command", "cd src && cat < a | /usr/bin/sort -r"]).stdout;
    for expected in
        ["allow: ", "go into `src`", "run `/usr/bin/cat` on `a` and", "`/usr/bin/sort -r` without"]
    {
        assert!(shown.contains(expected), "{shown}");
    }
    let folders = "[tools.exec]\nsafe_bins = [{program = \"no-such-program\", matches = \
                   [\"no-such-program\"], refuses = [\"no-such-program x\"]}]\n";
    let other = Machine::configured(folders);
    let shown = other.run(&["check", "command", "no-such-program"]).stdout;
    assert!(shown.contains("allow: ") && shown.contains("not installed here"), "{shown}");
    let wrong = machine.run(&["check", "command", "ls", "--security", "none"]);
    assert_eq!(wrong.code, 2);
}
