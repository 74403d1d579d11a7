//! What models say, in the formats they say it in.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolgate::Format;

use crate::helper::Setup;

/// A message in which a model calls tools; arguments as the text it wrote.
fn said(format: Format, calls: &[(&str, &str)]) -> Value {
    let id = |n: usize| format!("id_{n}");
    let object = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
    let calls = calls.iter().enumerate();
    match format {
        Format::OpenAi => {
            let calls = calls.map(|(n, (name, args))| {
                json!({"id": id(n), "type": "function", "function": {"name": name, "arguments": args}})
            });
            json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
        }
        Format::OpenAiResponses => calls
            .map(|(n, (name, args))| {
                json!({"type": "function_call", "call_id": id(n), "name": name, "arguments": args})
            })
            .collect(),
        Format::Anthropic => {
            let blocks = calls.map(|(n, (name, args))| {
                json!({"type": "tool_use", "id": id(n), "name": name, "input": object(args)})
            });
            json!({"role": "assistant", "content": blocks.collect::<Vec<_>>()})
        }
        Format::Gemini => {
            let parts = calls.map(|(n, (name, args))| {
                json!({"functionCall": {"id": id(n), "name": name, "args": object(args)}})
            });
            json!({"role": "model", "parts": parts.collect::<Vec<_>>()})
        }
        Format::Mcp => {
            let (n, (name, args)) = calls.into_iter().next().unwrap();
            json!({"jsonrpc": "2.0", "id": n, "method": "tools/call",
                   "params": {"name": name, "arguments": object(args)}})
        }
    }
}

#[tokio::test]
async fn calls_of_every_format_are_answered_in_it() {
    let setup = Setup::new();
    for format in Format::ALL {
        let calls = [("read", r#"{"path":"hello.txt"}"#), ("read", r#"{"path":"gone.txt"}"#)];
        let calls = if format == Format::Mcp { &calls[..1] } else { &calls };
        let message = said(format, calls);
        let cancel = CancellationToken::new();
        let answered = setup.gate.answer(&setup.caller, format, &message, &cancel).await.unwrap();
        let statuses: Vec<_> = answered.outcomes.iter().map(toolgate::Outcome::status).collect();
        assert_eq!(statuses, ["success", "file_not_found"][..calls.len()], "{format}");
        let read = provider::parse_results(format, &answered.results).unwrap();
        assert_eq!(read.len(), calls.len(), "{format}");
        assert_eq!(read[0].text(), "hello\nworld\n", "{format}");
        let errors: Vec<_> = read.iter().map(|result| result.is_error).collect();
        assert_eq!(errors, [false, true][..calls.len()], "{format}: {}", answered.results);
    }
    let ids: Vec<_> =
        setup.entries().into_iter().filter_map(|entry| entry.provider_call_id).collect();
    assert_eq!(ids.len(), 9, "{ids:?}");
}

/// mcp-016: what is wrong with the arguments is wrong in every format, and nothing runs.
#[tokio::test]
async fn odd_arguments_are_refused_alike_in_every_format() {
    let setup = Setup::new();
    for args in [
        r#"{"path":"new.txt","content":"x","extra":1}"#,
        r#"{"path":"new.txt","content":"x","__proto__":{"admin":true}}"#,
        r#"{"path":"new.txt","content":NaN}"#,
        r#"{"path":"new.txt","content":1e400}"#,
        r#"{"path":"new.txt","content":"\ud800"}"#,
        r#"{"path":"new\u0000.txt","content":"x"}"#,
        r#"{"path":"new.txt"}"#,
        "[]",
        "write it",
    ] {
        for format in Format::ALL {
            let message = said(format, &[("write", args)]);
            let cancel = CancellationToken::new();
            let answered =
                setup.gate.answer(&setup.caller, format, &message, &cancel).await.unwrap();
            let outcome = &answered.outcomes[0];
            assert_eq!(outcome.status(), "validation_error", "{format} {args}: {outcome:?}");
            let told = provider::parse_results(format, &answered.results).unwrap();
            assert!(told[0].is_error && told[0].text().contains("validation_error"), "{told:?}");
        }
    }
    assert_eq!(setup.names(), ["hello.txt"]);
}

#[tokio::test]
async fn definitions_are_those_of_the_view() {
    let setup = Setup::new();
    for format in Format::ALL {
        let all = setup.gate.definitions(&setup.caller, format).json.clone();
        assert!(all.contains("\"apply_patch\""), "{format}");
    }
    setup.gate.reload(config::parse("[tools]\nallow = [\"read\"]", "t.toml").unwrap()).unwrap();
    let few = setup.gate.definitions(&setup.caller, Format::Anthropic);
    assert_eq!(few.value.as_array().unwrap().len(), 1);
    assert_eq!(few.value[0]["name"], "read");
}

#[tokio::test]
async fn an_id_that_a_caller_made_up_is_kept_in_short() {
    let setup = Setup::new();
    let id = "i".repeat(1_000_000);
    let message = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": id, "name": "get_current_time", "input": {}}
    ]});
    let (format, cancel) = (Format::Anthropic, CancellationToken::new());
    let answered = setup.gate.answer(&setup.caller, format, &message, &cancel).await.unwrap();
    assert_eq!(answered.outcomes[0].status(), "success");
    // Whoever asked knows the call by the whole of it.
    assert_eq!(
        answered.results["content"][0]["tool_use_id"].as_str().map(str::len),
        Some(id.len())
    );
    let kept = setup.entries().remove(0).provider_call_id.unwrap();
    assert_eq!(kept, format!("{}…", "i".repeat(256)));
}
