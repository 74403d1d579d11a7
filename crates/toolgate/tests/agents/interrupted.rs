//! A process dies in the middle of a conversation, and another one goes on.

use agent::Input;
use provider::{Format, Message, ModelMessage, WireCall};
use scripted::Reply;
use serde_json::json;
use store::{
    MessageRole, NewMessage, NewSession, SessionChange, SessionKey, SessionKind, SessionState,
};

use tool::Sessions as _;

use crate::helper::{Setup, in_session, owner};

fn call(id: &str, name: &str, args: serde_json::Value) -> WireCall {
    WireCall { id: Some(id.into()), name: name.into(), args: Ok(args) }
}

/// A session as a process leaves it that dies while calls run.
async fn left(setup: &Setup, calls: Vec<WireCall>) {
    let (db, now) = (setup.gate.db().await.unwrap(), std::time::SystemTime::UNIX_EPOCH);
    let key = SessionKey::new("owner", "main", "main");
    db.open_session(NewSession::new(key.clone(), SessionKind::Chat), now).await.unwrap();
    let said = ModelMessage { text: String::new(), calls, raw: None };
    let messages = [
        NewMessage { role: MessageRole::User, content: json!(Message::user("do both")) },
        NewMessage { role: MessageRole::Model, content: json!(Message::Model(said)) },
    ];
    db.add_messages(&key, &messages, now).await.unwrap();
    let state = Some(SessionState::Running);
    db.change_session(&key, SessionChange { state, ..SessionChange::default() }, now)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ran_is_told_from_the_journal_and_what_did_not_is_told_too() {
    let setup = Setup::configured("", vec![Reply::text("I see.")]).await;
    // One call ran to its end before the process died, the other never began.
    let request = gate::Request {
        provider_call_id: Some("c1".into()),
        ..gate::Request::new("write", json!({"path": "a.txt", "content": "once"}))
    };
    setup.gate.run(&owner("main"), request).await;
    let calls = vec![
        call("c1", "write", json!({"path": "a.txt", "content": "once"})),
        call("c2", "write", json!({"path": "b.txt", "content": "never"})),
    ];
    left(&setup, calls).await;
    std::fs::remove_file(setup.workspace().join("a.txt")).unwrap();
    let setup = setup.again();
    setup.gate.agents().resume().await.unwrap();
    // The client sends its message once more, as SDKs do.
    let answer = setup.say("do both").await;
    assert_eq!(answer.text, "I see.");
    let said = setup.last_request();
    assert!(said.contains("did not run") && said.contains("a.txt"), "{said}");
    assert!(!said.contains('⟦'), "{said}");
    assert_eq!(said.matches("do both").count(), 1, "{said}");
    // Nothing ran again.
    assert!(!setup.workspace().join("a.txt").exists() && !setup.workspace().join("b.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_from_the_journal_is_fenced_if_the_session_has_read_untrusted_content() {
    let setup = Setup::configured("", vec![Reply::text("I see.")]).await;
    let (db, id) = (setup.gate.db().await.unwrap(), setup.gate.next_id());
    let now = std::time::SystemTime::UNIX_EPOCH;
    db.remember_source(&owner("main"), "a.example", id, now).await.unwrap();
    let write = json!({"path": "a.txt", "content": "do this"});
    setup.gate.call(&owner("main"), "write", write).await;
    // The journal has the value of one, which is not fenced, and the text of the other, which is.
    let (mut calls, mut marks) = (Vec::new(), Vec::new());
    for (id, name, args) in
        [("c1", "list_tasks", json!({})), ("c2", "read", json!({"path": "a.txt"}))]
    {
        let request = gate::Request {
            provider_call_id: Some(id.into()),
            ..gate::Request::new(name, args.clone())
        };
        let outcome = setup.gate.run(&owner("main"), request).await;
        let made = outcome.meta().call_id.to_string();
        marks.push(made.rsplit_once('-').unwrap().1.to_owned());
        calls.push(call(id, name, args));
    }
    left(&setup, calls).await;
    let setup = setup.again();
    setup.gate.agents().resume().await.unwrap();
    setup.say("do both").await;
    let said = setup.last_request();
    for id in marks {
        for mark in ["⟦untrusted content", "⟦end of untrusted content"] {
            assert_eq!(said.matches(&format!("{mark} {id}")).count(), 1, "{mark}: {said}");
        }
    }
    assert_eq!(said.matches('⟦').count(), 4, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_not_taken_for_an_earlier_one_with_the_same_id() {
    // Some servers number the calls of each answer anew, and some give them no id at all.
    for (format, id) in [(Format::OpenAi, Some("call_1".to_owned())), (Format::Gemini, None)] {
        let write = json!({"path": "a.txt", "content": "once"});
        let first = Reply::call("write", write.clone());
        let first = if id.is_none() { first.without_ids() } else { first };
        let replies = vec![first, Reply::text("Done."), Reply::text("I see.")];
        let setup = Setup::new(format, replies).await;
        setup.say("write it").await;
        // The next answer of the model is stored, and the process dies before its call begins.
        left(&setup, vec![WireCall { id, name: "write".into(), args: Ok(write) }]).await;
        let setup = setup.again();
        setup.gate.agents().resume().await.unwrap();
        setup.say("do both").await;
        let said = setup.last_request();
        assert_eq!(said.matches("it did not run").count(), 1, "{format}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_for_another_agent_waits_on() {
    let setup = Setup::answering("", |request| {
        let said = request.body.to_string();
        let child = said.contains("Sleep, please.");
        match said.matches("tool_call_id").count() {
            0 if child && !said.contains("[Message from") => Reply::call("nap", json!({})),
            _ if child && !said.contains("[Message from") => Reply::text("I slept badly."),
            _ if !said.contains("[Message from") => Reply::text("hello"),
            0 => Reply::call("sessions_spawn", json!({"task": "Sleep, please."})),
            _ if said.contains("I slept badly.") => Reply::text("My helper slept badly."),
            _ => Reply::text("I wait."),
        }
    })
    .await;
    // Another session sets it to work and waits for nothing.
    let (agents, caller) = (setup.gate.agents(), owner("main"));
    setup.run(&in_session("far"), Input::text("hello")).await.unwrap();
    let far = "agent:main:far";
    let message = tool::SendMessage {
        to: tool::Addressee::Key(far.into()),
        text: "go".into(),
        wait: std::time::Duration::ZERO,
    };
    agents.send(&caller, message).await.unwrap();
    setup.model.requested(4).await;
    let filter = store::Filter { tool: Some("nap".into()), ..store::Filter::default() };
    while setup.gate.journal().entries(&filter).unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // The process ends, in order; nothing is told as if somebody had wanted that.
    agents.end();
    let over = |state: &str| state.to_owned();
    let state = async |setup: &Setup| {
        let key = SessionKey::new("owner", "main", "far");
        over(setup.gate.db().await.unwrap().session(&key).await.unwrap().unwrap().state.name())
    };
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(state(&setup).await, "running");
    let setup = setup.again();
    assert_eq!(setup.gate.agents().resume().await.unwrap(), 2);
    for _ in 0..600 {
        if setup.last_request().contains("I slept badly.") && state(&setup).await == "idle" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let said = setup.last_request();
    assert!(said.contains("I slept badly.") && !said.contains("cancelled"), "{said}");
    assert_eq!(state(&setup).await, "idle");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_in_one_process_at_a_time() {
    let setup = Setup::configured("", vec![Reply::text("slow").stall_after(100)]).await;
    let agents = setup.gate.agents().clone();
    let running = tokio::spawn(async move {
        let cancel = tokio_util::sync::CancellationToken::new();
        agents.run(&owner("main"), Input::text("one"), agent::Sink::default(), &cancel).await
    });
    setup.model.requested(1).await;
    let other = setup.again();
    let refused = other.run(&owner("main"), Input::text("two")).await.unwrap_err();
    assert!(refused.to_string().contains("used by another process"), "{refused}");
    running.abort();
}
