//! Answers that arrive.

use std::time::Duration;

use provider::{Finish, Format, Usage};
use scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::helper::{FORMATS, KEY, Setup};

fn reply() -> Reply {
    Reply::text("It says so. ")
        .and_calls([("read", json!({"path": "ü.txt"})), ("read", json!({}))])
        .usage(120, 80, 17)
}

#[tokio::test]
async fn every_vendor_is_spoken_to_in_its_own_way() {
    let headers = [
        ("authorization", "Bearer sk-hunter2-hunter2", "/v1/chat/completions"),
        ("authorization", "Bearer sk-hunter2-hunter2", "/v1/responses"),
        ("x-api-key", KEY, "/v1/messages"),
        ("x-goog-api-key", KEY, "/v1beta/models/some-model:streamGenerateContent?alt=sse"),
    ];
    for (format, (header, value, path)) in FORMATS.into_iter().zip(headers) {
        let server = ScriptedModel::new([reply()]).await;
        let setup = Setup::new(&server, format, "headers.X-Team = 'a'");
        let (answer, pieces) = setup.ask().await;
        let answer = answer.unwrap();
        assert_eq!(pieces, ["It ", "says ", "so. "], "{format}");
        assert_eq!(answer.text, "It says so. ");
        let calls: Vec<_> = answer.calls.iter().map(|call| call.args.clone().unwrap()).collect();
        assert_eq!(calls, [json!({"path": "ü.txt"}), json!({})], "{format}");
        assert_eq!(answer.finish, Finish::Calls);
        let usage = Usage { input: 120, output: 17, cache_read: 80, cache_write: 0 };
        assert_eq!(answer.usage, Some(usage), "{format}");
        let seen = server.requests().pop().unwrap();
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", path));
        assert_eq!(seen.header(header), Some(value));
        assert_eq!(seen.header("x-team"), Some("a"));
        assert_eq!(seen.header("accept"), Some("text/event-stream"));
        assert_eq!(
            seen.header("anthropic-version"),
            (header == "x-api-key").then_some("2023-06-01")
        );
        assert_eq!(seen.model(), "some-model");
        assert!(seen.body.to_string().contains("hello"), "{}", seen.body);
        assert!(!seen.body.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn an_answer_is_the_same_wherever_it_is_cut() {
    for format in FORMATS {
        for size in [2, 7, 64, 4_096] {
            let server = ScriptedModel::new([reply().cut(size)]).await;
            let (answer, pieces) = Setup::new(&server, format, "").ask().await;
            let answer = answer.unwrap();
            assert_eq!((pieces.concat(), answer.calls.len()), ("It says so. ".to_owned(), 2));
            assert_eq!(answer.text, "It says so. ", "{format} {size}");
        }
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    for format in FORMATS {
        let server = ScriptedModel::new([reply(), Reply::text("Again.")]).await;
        let setup = Setup::new(&server, format, "");
        for _ in 0..2 {
            setup.ask().await.0.unwrap();
        }
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn every_reason_to_stop_is_known() {
    for format in FORMATS {
        for (given, expected) in [
            (scripted::Finish::Stop, Finish::Stop),
            (scripted::Finish::Length, Finish::Length),
            (scripted::Finish::Filtered, Finish::Filtered),
        ] {
            let server = ScriptedModel::new([Reply::text("Hm.").finish(given)]).await;
            let (answer, _) = Setup::new(&server, format, "").ask().await;
            assert_eq!(answer.unwrap().finish, expected, "{format}");
        }
    }
}

#[tokio::test]
async fn a_slow_answer_is_no_silent_one() {
    // Longer than it may send nothing, but never nothing for so long.
    let reply = Reply::text(&"word ".repeat(20)).pausing(Duration::from_millis(75));
    let server = ScriptedModel::new([reply]).await;
    let (answer, pieces) = Setup::new(&server, Format::Anthropic, "timeout = '1s'").ask().await;
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(pieces.len(), 20);
}

#[tokio::test]
async fn what_nobody_wants_any_more_is_left() {
    for format in FORMATS {
        let server = ScriptedModel::new([reply().stall_after(300)]).await;
        let setup = Setup::new(&server, format, "");
        let (outcome, ()) = tokio::join!(setup.ask(), async {
            server.requested(1).await;
            setup.cancel.cancel();
        });
        assert_eq!(outcome.0.unwrap_err().to_string(), "cancelled");
        // The provider notices, and need not go on.
        server.abandoned().await;
        let (answer, _) = setup.ask().await;
        assert!(answer.is_err(), "what is cancelled stays so");
        assert_eq!(server.requests().len(), 1);
    }
}
