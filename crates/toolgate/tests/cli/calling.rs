//! `toolgate call`.

use serde_json::json;

use crate::helper::Machine;

#[test]
fn prints_the_outcome_and_nothing_else() {
    let ran = Machine::new().run(&["call", "get_current_time", r#"{"timezone":"Asia/Tokyo"}"#]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout.lines().count(), 1);
    let outcome = ran.json();
    assert_eq!(outcome["status"], "success");
    assert!(outcome["result"].as_str().unwrap().ends_with("+09:00"), "{outcome}");
    assert_eq!(outcome["meta"]["effects"], json!([]));
    assert_eq!(outcome["meta"]["call_id"].as_str().unwrap().len(), 36);
}

#[test]
fn every_kind_of_error_is_named_and_exits_with_1() {
    let machine =
        Machine::configured("[limits]\nfile_bytes = \"1KB\"\n[tools]\ndeny = [\"glob\"]\n");
    machine.file("a.txt", "hello\n");
    machine.file(".env", "KEY=1\n");
    machine.file("big.txt", &"x".repeat(5_000));
    for (tool, args, error_type, message) in [
        ("nothing", "{}", "tool_not_available", "Tool `nothing` is not available"),
        ("glob", "{}", "tool_not_available", "Tool `glob` is not available"),
        ("undo", "{}", "tool_not_available", "Tool `undo` is not available"),
        ("read", "{", "validation_error", "cannot be read as JSON"),
        ("read", "[]", "validation_error", "object"),
        ("read", "{}", "validation_error", "`path`"),
        ("read", r#"{"path":"a.txt","limit":"many"}"#, "validation_error", "`limit`"),
        ("read", r#"{"pth":"a.txt"}"#, "validation_error", "did you mean `path`"),
        ("read", r#"{"path":"a.txt","path":"b"}"#, "validation_error", "path"),
        (
            "edit",
            r#"{"path":"a.txt","oldText":"a","old_text":"b","newText":"c"}"#,
            "validation_error",
            "oldText",
        ),
        ("read", r#"{"path":"../a.txt"}"#, "path_not_allowed", "outside the workspace"),
        ("write", r#"{"path":".git/hooks/x","content":""}"#, "path_not_allowed", "`.git/hooks`"),
        ("read", r#"{"path":"b.txt"}"#, "file_not_found", "`b.txt` does not exist"),
        ("read", r#"{"path":".env"}"#, "permission_denied", "nobody can be asked"),
        (
            "edit",
            r#"{"path":"a.txt","oldText":"bye","newText":"x"}"#,
            "execution_error",
            "cannot edit `a.txt`",
        ),
        (
            "edit",
            r#"{"path":"big.txt","oldText":"xxxxx","newText":"y","replaceAll":true}"#,
            "file_too_large",
            "5000 bytes",
        ),
    ] {
        let ran = machine.run(&["call", tool, args]);
        let outcome = ran.json();
        assert_eq!((ran.code, &outcome["status"]), (1, &json!("error")), "{tool} {args}");
        assert_eq!(outcome["error_type"], error_type, "{tool} {args}: {outcome}");
        let said = outcome["message"].as_str().unwrap();
        assert!(said.contains(message), "{tool} {args}: {said}");
    }
    assert_eq!(machine.content("a.txt").as_deref(), Some("hello\n"));
}

#[test]
fn names_every_problem_of_the_arguments() {
    let outcome = Machine::new().call("read", &json!({"limit": "many", "ofset": 1}));
    let problems = outcome["details"]["problems"].as_array().unwrap();
    let paths: Vec<_> = problems.iter().map(|problem| &problem["path"]).collect();
    assert_eq!(problems.len(), 3, "{paths:?}");
}

#[test]
fn wrong_usage_exits_with_2_and_says_so_on_stderr() {
    let machine = Machine::new();
    for (args, said) in [
        (&["call"][..], "NAME"),
        (&["call", "read", "{}", "--yes", "--wait", "5m"], "--wait"),
        (&["call", "read", "{}", "--wait", "soon"], "soon"),
        (&["call", "read", "{}", "--workspace", "/nowhere"], "/nowhere"),
        (&["nonsense"], "nonsense"),
        (&["undo", "x"], "not a call id"),
        (&["history", "--status", "good"], "no status `good`"),
        (&["tools", "raed"], "did you mean `read`"),
        (&["check", "path"], "VALUE"),
        (&["approvals", "allow", "x"], "not an approval id"),
        (&["permissions", "grant", "fils"], "did you mean `files`"),
        (&["audit", "verify", "--checkpoint", "/nowhere"], "/nowhere"),
    ] {
        let ran = machine.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn takes_arguments_from_standard_input() {
    let machine = Machine::new();
    let ran = machine.run_with(&["call", "write", "-"], r#"{"path":"a.txt","content":"hi"}"#);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(machine.content("a.txt").as_deref(), Some("hi"));
}

#[test]
fn works_in_the_workspace_it_is_given() {
    let machine = Machine::new();
    let other = machine.path("other");
    std::fs::create_dir(&other).unwrap();
    let args = r#"{"path":"a.txt","content":"hi"}"#;
    let ran = machine.run(&["call", "write", args, "--workspace", other.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(machine.content("a.txt"), None);
    assert!(other.join("a.txt").exists());
}

#[test]
fn alone_it_prints_help() {
    let ran = Machine::new().run(&[]);
    // Without a terminal it may be a hook whose arguments were dropped: 2 blocks.
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("Usage: toolgate"), "{ran:?}");
}

#[test]
fn a_note_outlives_its_process_and_can_be_taken_back() {
    let machine = Machine::new();
    let saved = machine.call("save_note", &json!({"title": "Oslo", "content": "by boat"}));
    assert_eq!(saved["result"]["saved"], true, "{saved}");
    let found = machine.call("search_notes", &json!({"query": "boat"}));
    assert_eq!(found["result"]["notes"][0]["title"], "Oslo", "{found}");
    let undone = machine.run(&["undo", saved["meta"]["call_id"].as_str().unwrap()]);
    assert_eq!((undone.code, &undone.json()["status"]), (0, &json!("success")), "{undone:?}");
    let found = machine.call("search_notes", &json!({"query": "boat"}));
    assert_eq!(found["result"]["notes"], json!([]), "{found}");
}
