//! A run ends when it should.

use std::time::Duration;

use agent::{AgentError, Input, Sink};
use scripted::Reply;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::helper::{Setup, owner};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_used_up_ends_a_run_with_a_sentence() {
    for (limit, expected) in [
        ("calls = 2", "it has used up its 2 calls"),
        ("tokens = 1", "it has used up its 1 tokens"),
        ("time = \"1s\"", "it has used up its 1 seconds"),
    ] {
        let setup = Setup::answering(&format!("[agents.main.limits]\n{limit}\n"), |request| {
            let round = request.body.to_string().matches("hello.txt").count();
            let call = Reply::call("ls", json!({"path": ".", "depth": round % 5 + 1}));
            call.after(Duration::from_millis(30)).usage(3, 0, 3)
        })
        .await;
        let answer = setup.say("look at hello.txt").await;
        assert!(answer.text.contains(expected), "{}", answer.text);
        // The session is still good.
        assert!(setup.history("main").await.len() >= 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_may_wait_as_often_as_it_likes() {
    const LOOKS: usize = 15;
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let setup = Setup::answering("", move |_| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            LOOKS.. => Reply::text("enough"),
            _ => Reply::call("subagents", json!({"action": "list"})),
        }
    });
    let setup = setup.await;
    let answer = setup.say("wait").await;
    assert_eq!(answer.text, "enough");
    assert_eq!(answer.tool_calls.len(), LOOKS);
    assert!(setup.last_request().contains("Nothing has changed in 15 looks"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_told_before_its_budget_is_used_up() {
    let config = "[agents.main.limits]\ntokens = 1000\n";
    let setup = Setup::answering(config, |request| {
        let said = request.body.to_string();
        let round = said.matches("hello.txt").count();
        if said.contains("of its 1000 tokens") || round > 20 {
            return Reply::text("I finish here.");
        }
        Reply::call("ls", json!({"path": ".", "depth": round % 5 + 1})).usage(100, 0, 50)
    });
    let setup = setup.await;
    let answer = setup.say("look at hello.txt").await;
    assert_eq!(answer.text, "I finish here.");
    assert!(setup.last_request().contains("This run has used 90 % of its 1000 tokens"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_again_and_again_is_noticed() {
    let setup = Setup::answering("", |_| Reply::call("read", json!({"path": "hello.txt"}))).await;
    let answer = setup.say("go").await;
    assert!(answer.text.contains("`read` was called 10 times"), "{}", answer.text);
    assert_eq!(answer.tool_calls.len(), 10);
    assert!(setup.last_request().contains("has come to this same result 3 times"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_stopped_while_the_model_talks_or_a_tool_works() {
    let stalls = Reply::text("once upon a time").stall_after(120);
    let waits = Reply::call("nap", json!({}));
    for (reply, requests) in [(stalls, 1), (waits, 1)] {
        let setup = Setup::configured("", vec![reply, Reply::text("I am back.")]).await;
        let (caller, cancel) = (owner("main"), CancellationToken::new());
        let run = setup.gate.agents().run(&caller, Input::text("go"), Sink::default(), &cancel);
        let stop = async {
            setup.model.requested(requests).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        };
        let (answer, ()) = tokio::join!(run, stop);
        let error = answer.unwrap_err();
        assert!(matches!(error.facts(), ("cancelled", 499)), "{error}");
        // What was said once more is not a second message.
        let answer = setup.say("go").await;
        assert_eq!(answer.text, "I am back.");
        assert_eq!(setup.last_request().matches("\"go\"").count(), 1, "{}", setup.last_request());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_stops_the_run() {
    let setup = Setup::configured("", vec![Reply::text("long").stall_after(100)]).await;
    let (caller, cancel) = (owner("main"), CancellationToken::new());
    let agents = setup.gate.agents();
    let run = agents.run(&caller, Input::text("go"), Sink::default(), &cancel);
    let gone = tokio::time::timeout(Duration::from_millis(300), run).await;
    assert!(gone.is_err());
    // The provider sees that nobody wants the answer any more.
    setup.model.abandoned().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_provider_refuses_is_an_error_and_the_session_goes_on() {
    let replies =
        vec![Reply::error(400, "invalid_request_error", "no such model"), Reply::text("ok")];
    let setup = Setup::configured("", replies).await;
    let error = setup.run(&owner("main"), Input::text("hi")).await.unwrap_err();
    assert!(matches!(error, AgentError::Model(_)), "{error}");
    assert!(error.to_string().contains("no such model"), "{error}");
    // Whoever does not own this place learns nothing about its providers.
    let member = toolgate::Caller::member("bo", "main");
    assert!(!error.shown_to(&member).contains("script"), "{}", error.shown_to(&member));
    assert_eq!(setup.say("hi").await.text, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_call_is_answered_too() {
    let config = "[agents.main.limits]\ncalls = 1\n";
    let replies =
        vec![Reply::call("read", json!({"path": "hello.txt"})), Reply::text("It says hello.")];
    let setup = Setup::configured(config, replies).await;
    let answer = setup.say("what does it say?").await;
    assert_eq!(answer.text, "It says hello.");
    assert!(setup.last_request().contains("\"tool_choice\":\"none\""), "{}", setup.last_request());
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_again_after_each_change_is_no_circle() {
    let setup = Setup::answering("", |request| {
        let rounds = request.body.to_string().matches("tool_call_id").count() / 2;
        if rounds == 15 {
            return Reply::text("done");
        }
        let name = format!("file{rounds}.txt");
        Reply::calls([
            ("write", json!({"path": name, "content": "x"})),
            ("read", json!({"path": "hello.txt"})),
        ])
    })
    .await;
    let answer = setup.say("go").await;
    assert_eq!((&*answer.text, answer.tool_calls.len()), ("done", 30));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_changes_nothing() {
    let setup = Setup::configured("", vec![Reply::text("hello")]).await;
    setup.say("hi").await;
    let key = store::SessionKey::new("owner", "main", "main");
    for text in ["", "  \n"] {
        let refused = setup.run(&owner("main"), Input::text(text)).await.unwrap_err();
        assert!(refused.to_string().contains("empty"), "{refused}");
    }
    setup.run(&owner("main"), Input::default()).await.unwrap_err();
    let session = setup.gate.db().await.unwrap().session(&key).await.unwrap().unwrap();
    assert_eq!((session.state, session.messages), (store::SessionState::Idle, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn time_that_is_up_stops_what_a_tool_does() {
    let config = "[agents.main.limits]\ntime = \"1s\"\n";
    let setup = Setup::configured(config, vec![Reply::call("nap", json!({}))]).await;
    let answer = setup.say("sleep").await;
    assert!(answer.text.contains("its 1 seconds"), "{}", answer.text);
    assert_eq!(&*answer.tool_calls[0].status, "cancelled");
    assert!(answer.tool_calls[0].duration_ms < 30_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn money_is_limited_only_where_it_can_be_counted() {
    let config = "[agents.main.limits]\ncost = 1.5\n";
    let setup = Setup::configured(config, vec![]).await;
    let refused = setup.run(&owner("main"), Input::text("hi")).await.unwrap_err().to_string();
    assert!(refused.contains("providers.script.input_price"), "{refused}");
    assert!(setup.model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_before_a_provider_refused_is_not_asked_twice() {
    let long = || Reply::error(400, "invalid_request_error", "context_length_exceeded: too long");
    let setup = Setup::configured("", vec![long(), long(), Reply::text("ok")]).await;
    setup.run(&owner("main"), Input::text("how is the zebra")).await.unwrap_err();
    assert_eq!(setup.say("how is the zebra").await.text, "ok");
    assert_eq!(setup.last_request().matches("zebra").count(), 1, "{}", setup.last_request());
}
