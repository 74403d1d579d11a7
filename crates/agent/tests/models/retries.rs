//! What is tried again, and what is not.

use std::time::{Duration, Instant};

use provider::Format;
use scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::helper::{FORMATS, Setup, configuration, models, outcome};

/// An error after which a provider wants to be asked again at once.
fn soon(status: u16) -> Reply {
    Reply::error(status, "some_error", "not now").header("retry-after-ms", "1")
}

fn hello() -> Reply {
    Reply::text("Hello.")
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    for format in FORMATS {
        for status in [408, 429, 500, 502, 503, 504, 529] {
            let replies = [soon(status), soon(status), soon(status), hello()];
            assert_eq!(outcome(format, replies, "").await, ("Hello.".to_owned(), 4), "{status}");
        }
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not() {
    for format in FORMATS {
        for status in [400, 401, 402, 403, 404, 413, 422, 501] {
            let (said, requests) = outcome(format, [soon(status), hello()], "").await;
            assert!(said.contains("not now"), "{said}");
            assert_eq!(requests, 1, "{status}");
        }
        // Nor is it when there is nothing left to pay with.
        let broke = Reply::error(429, "insufficient_quota", "you have no credit");
        let (said, requests) = outcome(format, [broke, hello()], "").await;
        assert_eq!((said.contains("refuses the request (429)"), requests), (true, 1), "{said}");
    }
}

#[tokio::test]
async fn it_ends_after_so_many_times() {
    for (more, requests) in [("", 4), ("retries = 0", 1), ("retries = 1", 2)] {
        let replies = (0..9).map(|_| soon(503));
        let (said, seen) = outcome(Format::OpenAi, replies, more).await;
        assert_eq!(said, "`mine` is in trouble (503): not now");
        assert_eq!(seen, requests, "{more}");
    }
}

#[tokio::test]
async fn a_provider_says_how_long_to_wait() {
    for (name, value) in [("retry-after", "0.15"), ("retry-after-ms", "150")] {
        let error = Reply::error(429, "rate_limit_error", "slowly").header(name, value);
        let begun = Instant::now();
        let (said, requests) = outcome(Format::Anthropic, [error, hello()], "").await;
        assert_eq!((said.as_str(), requests), ("Hello.", 2));
        assert!(begun.elapsed() >= Duration::from_millis(150));
    }
}

#[tokio::test]
async fn who_would_have_to_wait_for_long_is_told_instead() {
    let error = Reply::error(429, "rate_limit_error", "come back").header("retry-after", "3600");
    let server = ScriptedModel::new([error, hello()]).await;
    let (answer, _) = Setup::new(&server, Format::Anthropic, "").ask().await;
    let error = answer.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_hours(1)));
    assert_eq!(error.to_string(), "`mine` has had too many requests: come back");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_wait_can_be_cancelled() {
    let error = Reply::error(429, "rate_limit_error", "slowly").header("retry-after", "50");
    let server = ScriptedModel::new([error, hello()]).await;
    let setup = Setup::new(&server, Format::Anthropic, "");
    let begun = Instant::now();
    let (outcome, ()) = tokio::join!(setup.ask(), async {
        server.requested(1).await;
        setup.cancel.cancel();
    });
    assert_eq!(outcome.0.unwrap_err().to_string(), "cancelled");
    assert!(begun.elapsed() < Duration::from_secs(40));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_before_anything_is_seen_is_tried_again() {
    for format in FORMATS {
        for broken in [hello().vanish_after(0), hello().vanish_after(20), hello().stall_after(20)] {
            let more = "timeout = '300ms'\nretries = 1";
            let (said, requests) = outcome(format, [broken, hello()], more).await;
            assert_eq!((said.as_str(), requests), ("Hello.", 2), "{format}");
        }
        // A call that was not asked for to its end was not asked for.
        let call = Reply::call("read", json!({"path": "x".repeat(2_000)})).vanish_after(1_000);
        let (said, requests) = outcome(format, [call, hello()], "retries = 1").await;
        assert_eq!((said.as_str(), requests), ("Hello.", 2), "{format}");
    }
}

#[tokio::test]
async fn nothing_is_tried_again_once_something_was_seen() {
    for format in FORMATS {
        let long = || Reply::text(&"word ".repeat(500));
        for broken in [long().vanish_after(20_000), long().stall_after(20_000)] {
            let server = ScriptedModel::new([broken, hello()]).await;
            let (answer, pieces) = Setup::new(&server, format, "timeout = '500ms'").ask().await;
            let error = answer.unwrap_err();
            assert_eq!(error.facts(), ("broken_answer", 502), "{format}: {error}");
            assert!(!pieces.is_empty());
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_counts_even_if_its_connection_does_not_end() {
    // All but the end of the body: what follows the reason to stop says nothing new.
    for (format, last) in FORMATS.into_iter().zip([14, 0, 46, 0]) {
        let server = ScriptedModel::new([hello()]).await;
        let length = length(&server, format).await;
        let reply = hello().stall_after(length - last);
        let (said, requests) = outcome(format, [reply], "timeout = '300ms'").await;
        assert_eq!((said.as_str(), requests), ("Hello.", 1), "{format}");
    }
}

/// How many bytes the answer of a server has.
async fn length(server: &ScriptedModel, format: Format) -> usize {
    let base = server.base_url(format);
    let path = match format {
        Format::OpenAi | Format::Mcp => "/chat/completions",
        Format::OpenAiResponses => "/responses",
        Format::Anthropic => "/v1/messages",
        Format::Gemini => "/v1beta/models/some-model:streamGenerateContent",
    };
    let request = world::OutletRequest::post(format!("{base}{path}"), r#"{"model":"some-model"}"#);
    let mut answer = world::Outlet::new().send(request).await.unwrap();
    let mut length = 0;
    while let Some(bytes) = answer.body.chunk().await.unwrap() {
        length += bytes.len();
    }
    length
}

#[tokio::test]
async fn who_cannot_be_reached_is_tried_again_and_named() {
    // Nobody listens there any more.
    let server = ScriptedModel::new([]).await;
    let mut setup = Setup::new(&server, Format::OpenAi, "retries = 1");
    let gone = server.base_url(Format::OpenAi);
    drop(server);
    let (answer, _) = setup.ask().await;
    let error = answer.unwrap_err();
    assert_eq!(error.facts(), ("unreachable", 502));
    assert!(
        error.to_string().starts_with("`mine` cannot be reached: cannot connect to `127.0.0.1:")
    );
    assert!(!error.for_anybody().contains("127.0.0.1"), "{gone}");
    // A choice of a provider that was taken out of the configuration meanwhile.
    setup.models = models("", &[]);
    let (answer, _) = setup.ask().await;
    assert!(answer.unwrap_err().to_string().starts_with("unknown provider `mine`"));
    assert!(configuration("").providers.is_empty());
}

#[tokio::test]
async fn an_answer_without_end_is_not_asked_for_again() {
    let (said, requests) = outcome(Format::OpenAi, [hello().flood(), hello()], "").await;
    assert!(said.contains("more than 33554432 bytes"), "{said}");
    assert_eq!(requests, 1);
}
