//! What is said when a provider does not answer.

use provider::Format;
use scripted::{Reply, ScriptedModel};

use crate::helper::{FORMATS, KEY, Setup, outcome};

async fn kind(format: Format, reply: Reply) -> (&'static str, String) {
    let server = ScriptedModel::new([reply]).await;
    let (answer, _) = Setup::new(&server, format, "retries = 0").ask().await;
    let error = answer.unwrap_err();
    (error.facts().0, error.to_string())
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_known_from_every_vendor() {
    for (format, status, body) in [
        (
            Format::OpenAi,
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            Format::OpenAiResponses,
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        ),
        (
            // vLLM, before it had an object around it.
            Format::OpenAi,
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
        ),
        (
            // llama.cpp.
            Format::OpenAi,
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        ),
        (
            // A reseller that passes on what Anthropic says.
            Format::OpenAi,
            400,
            r#"{"error":{"message":"prompt is too long: 208310 tokens > 200000 maximum","code":400}}"#,
        ),
        (
            Format::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
        ),
        (
            Format::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}"#,
        ),
        (
            Format::Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        (
            Format::Gemini,
            400,
            r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        ),
    ] {
        let (found, said) = kind(format, Reply::body(status, body)).await;
        assert_eq!(found, "context_too_long", "{said}");
        assert!(said.starts_with("the conversation is too long for `mine/some-model`: "), "{said}");
    }
    let other =
        r#"{"error":{"message":"`max_tokens` must be positive","type":"invalid_request_error"}}"#;
    for format in FORMATS {
        assert_eq!(kind(format, Reply::body(400, other)).await.0, "refused");
    }
}

#[tokio::test]
async fn a_key_that_is_wrong_is_named_and_not_shown() {
    let echoed = format!("Incorrect API key provided: {KEY}. You can find yours elsewhere.");
    let invalid = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    for (format, reply) in [
        (Format::OpenAi, Reply::error(401, "invalid_api_key", &echoed)),
        (Format::OpenAiResponses, Reply::error(401, "invalid_api_key", &echoed)),
        (Format::Anthropic, Reply::error(401, "authentication_error", &echoed)),
        (Format::Gemini, Reply::error(401, "UNAUTHENTICATED", &echoed)),
        (Format::Gemini, Reply::body(400, invalid)),
    ] {
        let (found, said) = kind(format, reply).await;
        assert_eq!(found, "bad_key", "{said}");
        assert!(said.starts_with("`mine` does not accept its key, which is the secret `mine`: "));
        assert!(!said.contains(KEY), "{said}");
    }
}

#[tokio::test]
async fn what_a_provider_says_is_short_and_without_the_key() {
    let server = ScriptedModel::new([]).await;
    let debug = format!("{:?}", Setup::new(&server, Format::OpenAi, "").models);
    assert!(!debug.contains("hunter2"), "{debug}");
    let long = format!("{KEY} \u{1b}[31m\n\n{}{KEY}", "long ".repeat(10_000));
    for format in FORMATS {
        for reply in [
            Reply::error(400, "invalid_request_error", &long),
            Reply::body(400, &long),
            Reply::error(400, KEY, "no"),
        ] {
            let (_, said) = kind(format, reply).await;
            assert!(said.len() < 500, "{said}");
            assert!(!said.contains("hunter2") && !said.contains('\u{1b}'), "{said}");
        }
        let page = Reply::body(502, "<html><body>Bad gateway</body></html>");
        assert_eq!(kind(format, page).await.1, "`mine` is in trouble (502)");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_an_error() {
    // After 200 has been said, only the words are left to say what it is.
    for (format, event, expected) in [
        (
            Format::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "overloaded",
        ),
        (
            Format::OpenAi,
            r#"{"error":{"message":"Rate limit reached for requests","type":"requests","code":"rate_limit_exceeded"}}"#,
            "rate_limited",
        ),
        (
            Format::OpenAiResponses,
            r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"An internal error occurred"}}}"#,
            "overloaded",
        ),
        (
            Format::OpenAi,
            r#"{"error":{"message":"maximum context length is 4096 tokens","code":400}}"#,
            "context_too_long",
        ),
        (Format::Gemini, r#"{"error":{"code":499,"message":"who knows"}}"#, "broken_answer"),
    ] {
        let reply = Reply::body(200, &format!("data: {event}\n\n"));
        assert_eq!(kind(format, reply).await.0, expected, "{event}");
    }
    for format in FORMATS {
        for nonsense in ["", "hello", "data: {\n\n", "[]", "{}"] {
            let (found, said) = kind(format, Reply::body(200, nonsense)).await;
            assert_eq!(found, "broken_answer", "{format} {nonsense}: {said}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    for format in FORMATS {
        let elsewhere = ScriptedModel::new([Reply::text("Hello.")]).await;
        let location = format!("{}/v1/messages", elsewhere.base_url(Format::Anthropic));
        let reply = Reply::body(307, "").header("location", &location);
        let (said, _) = outcome(format, [reply], "").await;
        assert!(said.contains("307, a redirect"), "{said}");
        assert!(elsewhere.requests().is_empty());
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_names_the_nearest() {
    let missing = Reply::error(404, "not_found_error", "model: claude-sonet-5-5");
    let server = ScriptedModel::new([missing]).await;
    let mut setup = Setup::new(&server, Format::Anthropic, "");
    let text =
        format!("[providers.anthropic]\nbase_url = '{}'", server.base_url(Format::Anthropic));
    setup.models = crate::helper::models(&text, &[]);
    setup.choice = setup.models.pick(None, Some("anthropic/claude-sonet-5-5")).unwrap();
    let error = setup.ask().await.0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`anthropic` refuses the request (404): model: claude-sonet-5-5; did you mean \
         `claude-sonnet-5-5`?"
    );
}
