//! While the model speaks, while a tool runs, between rounds.

use provider::Format;
use scripted::Reply;
use serde_json::json;

use crate::helper::{ASKED, INTERRUPTED, Talk, calls};

/// Commands run at once and directly, so that what they do stays when they die.
const DIRECTLY: &str = "[tools]\nask = \"auto\"\n[tools.exec]\nhost = \"host\"\n";

/// Long enough to be found by, and to outlive the test.
const SLEEP: &str = "sleep 86413";

fn sleepers() -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
    let wanted = format!("{}\0", SLEEP.replace(' ', "\0"));
    lines.filter(|line| *line == wanted.as_bytes()).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_model_speaks() {
    let half = Reply::text("I will now begin to").stall_after(400);
    let mut talk = Talk::new("", vec![half, Reply::text("All done.")]).await;
    let asked = talk.ask();
    talk.requested(1).await;
    talk.server.again();
    assert!(asked.join().unwrap().is_none_or(|answer| answer.status != 200));
    assert_eq!(talk.answer(), "All done.");
    // What was half said is not kept, and what was asked is not asked twice.
    assert_eq!(talk.told(), [("user".to_owned(), ASKED.to_owned())]);
    assert_eq!(talk.calls(), []);
    talk.is_in_order();
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_tool_runs() {
    let command = format!("echo ran >> ran.txt; {SLEEP}");
    let both = Reply::calls([
        ("write", json!({"path": "note.txt", "content": "once\n"})),
        ("exec", json!({"command": command})),
    ]);
    let mut talk = Talk::new(DIRECTLY, vec![both, Reply::text("I see.")]).await;
    talk.run(&["permissions", "grant", "exec"]);
    let asked = talk.ask();
    talk.until("the command runs", || talk.file("ran.txt") == "ran\n" && sleepers() == 1);
    // What is at work is not forgotten behind its back.
    let (code, _, said) = talk.run(&["sessions", "remove", "talk"]);
    assert!(code == Some(2) && said.contains("is at work in another process"), "{said}");
    talk.server.kill();
    assert!(asked.join().unwrap().is_none_or(|answer| answer.status != 200));
    talk.until("the command died with its server", || sleepers() == 0);
    // If it ran again, this would be overwritten.
    std::fs::write(talk.server.workspace().join("note.txt"), "mine\n").unwrap();
    talk.server.again();
    assert_eq!(talk.answer(), "I see.");
    let told = talk.told();
    let [(_, asked), _, (_, written), (_, ran)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(asked, ASKED);
    assert!(written.contains("note.txt") && !written.contains("interrupted"), "{written}");
    assert!(ran.starts_with(INTERRUPTED), "{ran}");
    assert_eq!((talk.file("note.txt"), talk.file("ran.txt")), ("mine\n".into(), "ran\n".into()));
    let expected = [("write", "success", "call_1"), ("exec", "interrupted", "call_2")];
    assert_eq!(talk.calls(), calls(&expected));
    talk.is_in_order();
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_tool_runs_whose_changes_are_held_back() {
    // On an overlay: nothing is changed before the command has ended, so nothing is changed at all.
    let command = format!("echo ran >> ran.txt; {SLEEP}0");
    let replies = vec![Reply::call("exec", json!({"command": command})), Reply::text("I see.")];
    let mut talk = Talk::new("", replies).await;
    talk.run(&["permissions", "grant", "exec"]);
    let asked = talk.ask();
    talk.until("the command runs", || {
        let metrics = talk.send(("GET", "/metrics"), "").body;
        metrics.contains("\ntoolgate_sandbox_running 1\n")
    });
    talk.server.again();
    drop(asked);
    assert_eq!(talk.answer(), "I see.");
    let told = talk.told();
    assert!(told.last().unwrap().1.starts_with(INTERRUPTED), "{told:?}");
    assert_eq!(talk.file("ran.txt"), "");
    assert_eq!(talk.calls(), calls(&[("exec", "interrupted", "call_1")]));
    talk.is_in_order();
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_tool_runs_that_the_model_gave_no_id() {
    let command = json!({"command": format!("echo ran >> ran.txt; {SLEEP}1")});
    let replies = vec![Reply::call("exec", command).without_ids(), Reply::text("I see.")];
    let mut talk = Talk::speaking(Format::Gemini, DIRECTLY, replies).await;
    talk.run(&["permissions", "grant", "exec"]);
    let asked = talk.ask();
    talk.until("the command runs", || talk.file("ran.txt") == "ran\n");
    talk.server.again();
    drop(asked);
    assert_eq!(talk.answer(), "I see.");
    let told = talk.model.requests().last().unwrap().body.to_string();
    assert!(told.contains("interrupted: the process that ran it died"), "{told}");
    assert_eq!(talk.file("ran.txt"), "ran\n");
    assert_eq!(talk.calls(), calls(&[("exec", "interrupted", "#exec.0")]));
    talk.is_in_order();
}

#[tokio::test(flavor = "multi_thread")]
async fn between_rounds() {
    let write = Reply::call("write", json!({"path": "note.txt", "content": "once\n"}));
    let replies = vec![write, Reply::text("unheard").stall_after(0), Reply::text("All done.")];
    let mut talk = Talk::new("", replies).await;
    let asked = talk.ask();
    // The tool has run, and the model is asked what comes next.
    talk.requested(2).await;
    talk.server.kill();
    assert!(asked.join().unwrap().is_none_or(|answer| answer.status != 200));
    std::fs::write(talk.server.workspace().join("note.txt"), "mine\n").unwrap();
    talk.server.again();
    assert_eq!(talk.answer(), "All done.");
    let told = talk.told();
    let roles: Vec<_> = told.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert!(!told[2].1.contains("interrupted"), "{told:?}");
    assert_eq!(talk.file("note.txt"), "mine\n");
    assert_eq!(talk.calls(), calls(&[("write", "success", "call_1")]));
    talk.is_in_order();
}
