//! The model and its tools take turns.

use agent::{Event, Input};
use provider::Format;
use scripted::Reply;
use serde_json::json;

use crate::helper::{Setup, in_session, owner};

const FORMATS: [Format; 4] =
    [Format::OpenAi, Format::OpenAiResponses, Format::Anthropic, Format::Gemini];

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_parallel_and_in_a_chain_come_back_in_every_format() {
    for format in FORMATS {
        let setup = Setup::new(
            format,
            vec![
                Reply::text("Let me look.").and_calls([
                    ("read", json!({"path": "hello.txt"})),
                    ("get_current_time", json!({"timezone": "UTC"})),
                ]),
                Reply::call("read", json!({"path": "missing.txt"})),
                Reply::call("write", json!({"path": "new.txt", "content": "made"})),
                Reply::text("All done."),
            ],
        )
        .await;
        let answer = setup.say("do it").await;
        assert_eq!(answer.text, "Let me look.\n\nAll done.", "{format}");
        let statuses: Vec<_> =
            answer.tool_calls.iter().map(|note| (&*note.tool, &*note.status)).collect();
        let expected = [
            ("read", "success"),
            ("get_current_time", "success"),
            ("read", "file_not_found"),
            ("write", "success"),
        ];
        assert_eq!(statuses, expected, "{format}");
        let said = setup.last_request();
        for part in ["hello", "file_not_found", "do it", "Let me look."] {
            assert!(said.contains(part), "{format}: {part} in {said}");
        }
        assert_eq!(std::fs::read(setup.workspace().join("new.txt")).unwrap(), b"made");
        assert!(answer.usage.input > 0 && answer.usage.output > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_with_the_same_id_or_without_a_name_have_results_and_the_run_goes_on() {
    for format in FORMATS {
        let setup = Setup::new(
            format,
            vec![
                Reply::calls([
                    ("read", json!({"path": "hello.txt"})),
                    ("write", json!({"path": "new.txt", "content": "made"})),
                    ("", json!({"path": "hello.txt"})),
                ])
                .with_one_id("call_7"),
                Reply::text("All done."),
            ],
        )
        .await;
        let answer = setup.say("do it").await;
        assert_eq!(answer.text, "All done.", "{format}");
        let statuses: Vec<_> =
            answer.tool_calls.iter().map(|note| (&*note.tool, &*note.status)).collect();
        let expected = [
            ("read", "success"),
            ("write", "success"),
            ("tool_without_a_name", "tool_not_available"),
        ];
        assert_eq!(statuses, expected, "{format}");
        // The provider gets its own message back, with each id once as a call and once as a result.
        let said = setup.last_request();
        for id in ["\"call_7\"", "\"call_7_2\"", "\"call_7_3\""] {
            assert_eq!(said.matches(id).count(), 2, "{format}: {id} in {said}");
        }
        // What is stored is as good for the next run.
        assert_eq!(setup.history("main").await.len(), 4, "{format}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_remembers_and_another_one_does_not() {
    let setup =
        Setup::configured("", (1..=3).map(|n| Reply::text(&format!("answer {n}"))).collect());
    let setup = setup.await;
    setup.say("first question").await;
    setup.say("second question").await;
    let said = setup.last_request();
    assert!(said.contains("first question") && said.contains("answer 1"), "{said}");
    setup.run(&in_session("other"), Input::text("third question")).await.unwrap();
    assert!(!setup.last_request().contains("first question"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_hears_of_text_and_calls_as_they_come() {
    let replies = vec![
        Reply::text("One moment.").and_calls([("read", json!({"path": "hello.txt"}))]),
        Reply::text("It says hello."),
    ];
    let setup = Setup::configured("", replies).await;
    let (answer, events) = setup.watch(Input::text("what does it say?")).await;
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            Event::Text { text } => Some(text.as_str()),
            Event::Started { .. }
            | Event::Call { .. }
            | Event::Update { .. }
            | Event::Called { .. }
            | Event::Message { .. }
            | Event::Ended { .. } => None,
        })
        .collect();
    assert_eq!(text, answer.unwrap().text);
    let kinds: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Started { .. } => Some("started"),
            Event::Call { tool, .. } => Some(&**tool),
            Event::Called { .. } => Some("called"),
            Event::Ended { how, .. } => Some(how),
            Event::Text { .. } | Event::Update { .. } | Event::Message { .. } => None,
        })
        .collect();
    assert_eq!(kinds, ["started", "read", "called", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_messages_at_once_take_turns() {
    let setup = Setup::answering("", |request| {
        let asked = request.body.to_string();
        Reply::text(if asked.contains("two") { "2" } else { "1" })
    })
    .await;
    let caller = owner("main");
    let (one, two) = tokio::join!(
        setup.run(&caller, Input::text("one")),
        setup.run(&caller, Input::text("two")),
    );
    let mut said = [one.unwrap().text, two.unwrap().text];
    said.sort();
    assert!(said == ["1", "2"] || said == ["2", "2"], "{said:?}");
    // Each message has its answer right after it.
    assert_eq!(setup.history("main").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_too_long_is_summed_up_and_goes_on() {
    let setup = Setup::answering("", |request| {
        let asked = request.body.to_string();
        if asked.contains("Sum up the conversation") {
            return Reply::text("THE SUMMARY");
        }
        if asked.len() > 400_000 {
            return Reply::error(
                400,
                "invalid_request_error",
                "context_length_exceeded: too many tokens",
            );
        }
        Reply::text("noted")
    })
    .await;
    let long = "x".repeat(150_000);
    for n in 0..4 {
        let text = format!("part {n} {long}");
        setup.say(&text).await;
    }
    setup.say("and now?").await;
    let said = setup.last_request();
    assert!(said.contains("THE SUMMARY") && said.contains("and now?"));
    assert!(!said.contains("part 0"));
    // Nothing of what was said is lost.
    let all = format!("{:?}", setup.history("main").await);
    assert!(all.contains("part 0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_or_a_session_that_cannot_be_is_refused_and_leaves_nothing() {
    let setup = Setup::configured("", vec![]).await;
    for (agent, session, expected) in [
        ("mian", "main", "there is no agent `mian`; did you mean `main`?"),
        ("main", "", "`` cannot be the name of a session: it is empty"),
        ("main", "a b", "only letters, digits and `._:@/+-` can be in it"),
        ("main", "subagent:x", "there is no session `agent:main:subagent:x`"),
    ] {
        let caller = toolgate::Caller { session: session.into(), ..owner(agent) };
        let error = setup.run(&caller, Input::text("x")).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let db = setup.gate.db().await.unwrap();
    let filter = store::SessionFilter { limit: 10, ..store::SessionFilter::default() };
    assert!(db.sessions(&filter).await.unwrap().is_empty());
}
