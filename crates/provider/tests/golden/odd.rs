//! Whatever a model, a client or a server sends: no panic, and one answer.

use proptest::prelude::*;
use provider::{Assembler, Format, ProviderError, Usage, calls, parse_results, write_results};
use serde_json::{Value, json};

use crate::fixtures;

#[test]
fn an_answer_without_ids_gets_them_in_its_message_too() {
    let chunk = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {"tool_calls": [
        {"index": 0, "function": {"name": "read", "arguments": "{}"}},
        {"index": 1, "id": "call_0", "function": {"name": "ls", "arguments": "{}"}},
    ]}}]});
    let mut assembler = Assembler::new(Format::OpenAi);
    assembler.push(format!("data: {chunk}\n\n").as_bytes()).unwrap();
    let answer = assembler.finish().unwrap();
    let ids: Vec<_> = answer.calls.iter().map(|call| call.id.clone().unwrap()).collect();
    assert_eq!(ids, ["call_1", "call_0"]);
    assert_eq!(answer.message["tool_calls"][0]["id"], "call_1");
    assert_eq!(answer.message["tool_calls"][1]["id"], "call_0");
}

#[test]
fn what_is_paid_for_is_counted_wherever_a_provider_puts_it() {
    for (format, answer) in [
        (
            Format::OpenAi,
            json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "hi"}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 9,
                    "prompt_tokens_details": {"cached_tokens": 80}}}),
        ),
        (
            Format::OpenAiResponses,
            json!({"object": "response", "status": "completed", "output": [],
                "usage": {"input_tokens": 100, "output_tokens": 9,
                    "input_tokens_details": {"cached_tokens": 80}}}),
        ),
        (
            Format::Anthropic,
            json!({"type": "message", "content": [], "stop_reason": "end_turn",
                "usage": {"input_tokens": 5, "cache_creation_input_tokens": 15,
                    "cache_read_input_tokens": 80, "output_tokens": 9}}),
        ),
        (
            Format::Gemini,
            json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 80,
                    "candidatesTokenCount": 2, "thoughtsTokenCount": 7}}),
        ),
    ] {
        let mut assembler = Assembler::new(format);
        assembler.push(format!("data: {answer}\n\n").as_bytes()).unwrap();
        let usage = assembler.finish().unwrap().usage;
        assert_eq!(usage, Some(Usage { input: 100, cached: 80, output: 9 }), "{format}");
    }
}

#[test]
fn an_answer_that_does_not_end_is_stopped() {
    for format in Format::ALL {
        let mut assembler = Assembler::with_limit(format, 10_000);
        let error = (0..).find_map(|_| assembler.push(b"data: \"xxxxxxxxxxxxxxxx").err());
        let expected = ProviderError::TooLarge { max: 10_000, what: "bytes" };
        assert_eq!(error, Some(expected));
    }
    let mut assembler = Assembler::new(Format::OpenAi);
    let delta = |n: u64| json!({"choices": [{"delta": {"tool_calls": [{"index": n}]}}]});
    let error =
        (0..).find_map(|n| assembler.push(format!("data: {}\n\n", delta(n)).as_bytes()).err());
    assert_eq!(error, Some(ProviderError::TooLarge { max: 4_096, what: "calls" }));
}

#[test]
fn results_read_in_one_format_can_be_written_in_another() {
    let (_, results) =
        fixtures::results().into_iter().find(|(name, _)| *name == "parallel").unwrap();
    for from in [Format::OpenAiResponses, Format::Anthropic, Format::Gemini] {
        let read = parse_results(from, &write_results(from, &results)).unwrap();
        for to in [Format::OpenAi, Format::OpenAiResponses, Format::Anthropic] {
            assert_eq!(write_results(to, &read), write_results(to, &results), "{from} to {to}");
        }
    }
}

/// JSON with the fields that mean something in one format or another.
fn any_message() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i16>().prop_map(Value::from),
        "tool_use|tool_result|function|function_call|function_call_output|text|image|tool|user|\
         message|message_delta|content_block_delta|tools/call|resource|aGk=|data:image/png;base64,aGk="
            .prop_map(Value::from),
    ];
    let keys = "id|type|role|name|method|params|content|parts|index|input|args|arguments|text|data|\
                tool_calls|toolCalls|choices|message|delta|function|function_call|functionCall|\
                functionResponse|response|output|error|result|source|call_id|candidates|item|usage|\
                tool_use_id|is_error|inlineData|mimeType|media_type|structuredContent|image_url";
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_message_has_calls_and_results_or_one_error(message in any_message()) {
        for format in Format::ALL {
            if let Ok(calls) = calls(format, &message) {
                prop_assert!(calls.iter().all(|call| !call.name.is_empty()));
                let args = calls.iter().filter_map(|call| call.args.as_ref().ok());
                prop_assert!(args.into_iter().all(Value::is_object));
                let mut ids: Vec<_> = calls.iter().filter_map(|call| call.id.as_ref()).collect();
                ids.sort();
                prop_assert!(ids.is_sorted_by(|a, b| a < b));
            }
            if let Ok(results) = parse_results(format, &message) {
                let read = parse_results(format, &write_results(format, &results));
                prop_assert_eq!(read.map(|read| read.len()), Ok(results.len()));
            }
            let mut assembler = Assembler::new(format);
            let pushed = assembler.push(format!("data: {message}\n\n").as_bytes());
            let _ = pushed.and_then(|()| assembler.finish());
        }
    }
}
