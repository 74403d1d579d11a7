//! Whatever a model, a client or a server sends: no panic, and one answer.

use proptest::prelude::*;
use provider::{
    Assembler, Format, Message, ModelMessage, Options, Prompt, ProviderError, Raw, WireCall,
    WireResult, calls, parse_request, parse_results, request, write_results,
};
use serde_json::{Value, json};

use crate::{
    fixtures,
    talks::{self, FORMATS},
};

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

/// A body with a conversation of such messages, wherever a format looks for it.
fn any_body() -> impl Strategy<Value = Value> {
    let tools = prop::collection::vec(any_message(), 0..3);
    (prop::collection::vec(any_turn(), 0..5), tools, any_message()).prop_map(
        |(turns, tools, other)| {
            json!({
                "model": "m", "messages": turns, "input": turns, "contents": turns, "system": other,
                "tools": tools, "tool_choice": other, "generationConfig": other, "text": other,
            })
        },
    )
}

fn any_turn() -> impl Strategy<Value = Value> {
    let role = "user|assistant|model|tool|system|robot";
    (role, any_message(), any_message()).prop_map(|(role, content, parts)| {
        json!({"role": role, "content": content, "parts": parts, "tool_calls": parts, "tool_call_id": "a"})
    })
}

/// Messages in any order, whose calls and results belong together or not.
fn any_conversation() -> impl Strategy<Value = Vec<Message>> {
    let id = || prop::option::of("a|b|c|call_1_0|functions.x:1|");
    let name = || "read|shop.items";
    let call = (id(), name()).prop_map(|(id, name)| WireCall { id, name, args: Ok(json!({})) });
    let result = (id(), prop::option::of(name())).prop_map(|(id, name)| WireResult {
        id,
        name,
        blocks: vec![talks::text("done")],
        structured: None,
        is_error: false,
    });
    let calls = prop::collection::vec(call, 0..4);
    let message = prop_oneof![
        "|hello".prop_map(Message::user),
        ("|hello", calls).prop_map(|(text, calls)| {
            // Of another provider, so that it is never repeated.
            let raw =
                Raw { provider: "other".to_owned(), format: Format::OpenAi, message: json!({}) };
            Message::Model(ModelMessage { text, calls, raw: Some(raw) })
        }),
        prop::collection::vec(result, 0..4).prop_map(Message::Results),
    ];
    prop::collection::vec(message, 0..8)
}

fn sent(format: Format, messages: &[Message]) -> Result<Value, ProviderError> {
    let options = Options::default();
    let (provider, model) = ("acme", "m");
    let prompt = Prompt { provider, model, system: None, messages, tools: None, options: &options };
    request(format, &prompt)
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

    #[test]
    fn any_request_is_read_and_goes_out_again_or_has_one_error(body in any_body()) {
        for format in FORMATS {
            let Ok(read) = parse_request(format, &body) else { continue };
            match sent(format, &read.messages) {
                Ok(body) => prop_assert!(
                    parse_request(format, &with_model(body.clone())).is_ok(), "{format}: {body}"
                ),
                Err(error) => prop_assert_eq!(error, ProviderError::NothingSaid),
            }
        }
    }

    #[test]
    fn every_call_that_goes_out_is_followed_by_its_result(messages in any_conversation()) {
        for format in FORMATS {
            let Ok(body) = sent(format, &messages) else { continue };
            let read = parse_request(format, &with_model(body)).unwrap();
            let mut ids: Vec<String> = Vec::new();
            for (index, message) in read.messages.iter().enumerate() {
                let Message::Model(message) = message else { continue };
                let results = match read.messages.get(index + 1) {
                    Some(Message::Results(results)) => results.as_slice(),
                    _ => &[],
                };
                let asked: Vec<_> = message.calls.iter().map(|call| call.id.clone()).collect();
                let told: Vec<_> = results.iter().map(|result| result.id.clone()).collect();
                prop_assert_eq!(&asked, &told, "{} {:?}", format, read.messages);
                ids.extend(asked.into_iter().flatten());
            }
            let count = ids.len();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), count, "each id is used once");
        }
    }
}

/// As it comes to us: for Gemini the model is in the path.
fn with_model(mut body: Value) -> Value {
    body.as_object_mut().unwrap().insert("model".to_owned(), json!("m"));
    body
}
