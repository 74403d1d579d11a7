//! Conversations and answers of every kind.

use std::sync::Arc;

use provider::{
    CallNote, DefinitionList, Definitions, Effort, Finish, Format, Message, ModelMessage, Options,
    Parallel, Raw, Reply, ReplyHead, Shape, ToolChoice, Usage, WireCall, WireResult,
};
use serde_json::{Value, json};
use tool::{Block, ToolInfo};

use crate::fixtures::PIXEL;

/// The formats that have conversations.
pub(crate) const FORMATS: [Format; 4] =
    [Format::OpenAi, Format::OpenAiResponses, Format::Anthropic, Format::Gemini];

pub(crate) fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

pub(crate) fn image() -> Block {
    Block::Image { mime: "image/png".to_owned(), data: PIXEL.to_vec() }
}

pub(crate) fn call(id: &str, name: &str, args: Value) -> WireCall {
    WireCall { id: Some(id.to_owned()), name: name.to_owned(), args: Ok(args) }
}

pub(crate) fn result(id: &str, name: &str, blocks: Vec<Block>) -> WireResult {
    WireResult {
        id: Some(id.to_owned()),
        name: Some(name.to_owned()),
        blocks,
        structured: None,
        is_error: false,
    }
}

pub(crate) fn model(text: &str, calls: Vec<WireCall>) -> Message {
    Message::Model(ModelMessage { text: text.to_owned(), calls, raw: None })
}

/// Two tools, one with a name that no provider takes.
pub(crate) fn definitions(format: Format) -> Arc<DefinitionList> {
    let parameters = json!({
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Where."}},
        "required": ["city"],
    });
    let tools = [
        ToolInfo::new("get_weather", "What the weather is like.", parameters),
        ToolInfo::new("shop.items", "What there is.", json!({"type": "object", "properties": {}})),
    ];
    Definitions::default().list(format, &tools.map(Arc::new))
}

/// Conversations that each format can say, more or less.
pub(crate) fn conversations() -> Vec<(&'static str, Vec<Message>)> {
    let weather = |id: &str, city: &str| call(id, "get_weather", json!({"city": city}));
    let failed = WireResult {
        is_error: true,
        ..result("call_2", "get_weather", vec![text("timeout: took too long")])
    };
    let value = json!({"items": [{"name": "Tee", "price": 3.5}]});
    let structured = WireResult {
        structured: Some(value.clone()),
        ..result("call_3", "get_weather", vec![text(&value.to_string())])
    };
    vec![
        (
            "text",
            vec![
                Message::user("Hello,\nwho are you? „ß“ \u{1f600}"),
                model("I am a model.", vec![]),
                Message::user("Good."),
            ],
        ),
        ("image", vec![Message::User(vec![text("What is this?"), image(), text("And why?")])]),
        (
            "parallel calls",
            vec![
                Message::user("Weather in Oslo and Rome?"),
                model("Let me look.", vec![weather("call_1", "Oslo"), weather("call_2", "Rome")]),
                Message::Results(vec![
                    result("call_1", "get_weather", vec![text("rain")]),
                    failed.clone(),
                ]),
                model("", vec![weather("call_3", "Rome")]),
                Message::Results(vec![structured]),
                model("Rain in Oslo.", vec![]),
                Message::user("Thanks."),
            ],
        ),
        (
            "after an error",
            vec![
                Message::user("Rome?"),
                model("", vec![weather("call_2", "Rome")]),
                Message::Results(vec![failed]),
                Message::user("Try again."),
            ],
        ),
        (
            "image in a result",
            vec![
                Message::user("Show me."),
                model("", vec![weather("call_1", "Oslo")]),
                Message::Results(vec![result(
                    "call_1",
                    "get_weather",
                    vec![text("here"), image()],
                )]),
            ],
        ),
    ]
}

/// Conversations as they should not be, and what only one provider understands.
pub(crate) fn odd_conversations(format: Format) -> Vec<(&'static str, Vec<Message>)> {
    let weather = |id: Option<&str>| WireCall {
        id: id.map(str::to_owned),
        ..call("", "get_weather", json!({"city": "Oslo"}))
    };
    let unnamed = |blocks| WireResult { id: None, ..result("", "get_weather", blocks) };
    let told = |answer: &str| result("call_0", "get_weather", vec![text(answer)]);
    let own = |provider: &str| {
        let raw = Raw { provider: provider.to_owned(), format, message: own_message(format) };
        Message::Model(ModelMessage {
            text: "Let me think.".to_owned(),
            calls: vec![weather(Some("call_0"))],
            raw: Some(raw),
        })
    };
    vec![
        (
            "its own words",
            vec![Message::user("Hi"), own("acme"), Message::Results(vec![told("rain")])],
        ),
        (
            "the words of another",
            vec![Message::user("Hi"), own("other"), Message::Results(vec![told("rain")])],
        ),
        (
            "a call without a result",
            vec![
                Message::user("Hi"),
                model("", vec![weather(Some("call_0"))]),
                Message::user("Well?"),
            ],
        ),
        (
            "a result without a call",
            vec![Message::Results(vec![told("rain")]), Message::user("And now?")],
        ),
        (
            "calls without ids",
            vec![
                Message::user("Hi"),
                model("", vec![weather(None), weather(None)]),
                Message::Results(vec![unnamed(vec![text("one")]), unnamed(vec![text("two")])]),
            ],
        ),
        (
            "the same id twice, and one that is too odd",
            vec![
                Message::user("Hi"),
                model("", vec![weather(Some("call_0"))]),
                Message::Results(vec![told("one")]),
                model("", vec![weather(Some("call_0")), weather(Some("functions.x:1"))]),
                Message::Results(vec![
                    result("functions.x:1", "get_weather", vec![text("three")]),
                    told("two"),
                ]),
            ],
        ),
        (
            "an odd name and arguments that are none",
            vec![
                Message::user("Hi"),
                model(
                    "",
                    vec![WireCall {
                        args: Err("the arguments cannot be read".to_owned()),
                        ..call("call_0", "shop.items", Value::Null)
                    }],
                ),
                Message::Results(vec![result("call_0", "shop.items", vec![text("none")])]),
            ],
        ),
        (
            "nothing said, and twice in a row",
            vec![
                Message::user("One."),
                model(" ", vec![]),
                Message::user(""),
                Message::User(vec![text("Two."), image()]),
            ],
        ),
    ]
}

/// An answer with thoughts.
fn own_message(format: Format) -> Value {
    let args = json!({"city": "Oslo"});
    match format {
        Format::OpenAi => json!({
            "role": "assistant",
            "content": "Let me think.",
            "reasoning_content": "Hm.",
            "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "get_weather", "arguments": args.to_string()}}],
        }),
        Format::OpenAiResponses => json!([
            {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2VjcmV0"},
            {"id": "rs_2", "type": "reasoning", "summary": []},
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Let me think.", "annotations": []}]},
            {"id": "fc_1", "type": "function_call", "call_id": "call_0", "name": "get_weather", "arguments": args.to_string(), "status": "completed"},
        ]),
        Format::Anthropic => json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
            {"type": "text", "text": ""},
            {"type": "text", "text": "Let me think."},
            {"type": "tool_use", "id": "call_0", "name": "get_weather", "input": args},
        ]}),
        Format::Gemini => json!({"role": "model", "parts": [
            {"text": "Hm.", "thought": true},
            {"text": "Let me think."},
            {"functionCall": {"id": "call_0", "name": "get_weather", "args": args}, "thoughtSignature": "c2lnbmVk"},
        ]}),
        Format::Mcp => Value::Null,
    }
}

/// Every option there is.
pub(crate) fn options() -> Options {
    Options {
        max_tokens: Some(1_000),
        temperature: Some(0.5),
        top_p: Some(0.9),
        stop: vec!["END".to_owned(), "STOP".to_owned()],
        tool_choice: ToolChoice::Named("shop.items".to_owned()),
        parallel: Parallel::No,
        effort: Some(Effort::Low),
        shape: Shape::Schema {
            name: "answer".to_owned(),
            schema: json!({"type": "object", "properties": {"ok": {"type": "boolean"}}}),
            strict: true,
        },
    }
}

pub(crate) fn head() -> ReplyHead {
    ReplyHead { id: "0123abcd".to_owned(), model: "helper".to_owned(), created: 1_767_225_600 }
}

/// Answers of every kind.
pub(crate) fn replies() -> Vec<(&'static str, Reply)> {
    let usage = Usage { input: 120, output: 7, cache_read: 100, cache_write: 15 };
    let reply = |text: &str, calls: Vec<WireCall>, finish| Reply {
        text: text.to_owned(),
        calls,
        finish,
        usage,
        tool_calls: vec![],
    };
    let note = CallNote {
        id: "019a8000-0000-7000-8000-000000000000".to_owned(),
        tool: "read".to_owned(),
        input: json!({"path": "notes.txt"}),
        status: "success".to_owned(),
        duration_ms: 3,
    };
    // In the order of the names, in which JSON is written unless it keeps another.
    let odd = json!({"deep": {"a": {}}, "n": [1, 2.5, null], "q": "ß „ “ \u{2028} \u{85}\n{\"}"});
    let two = || vec![call("call_1", "find", odd.clone()), call("call_2", "list", json!({}))];
    vec![
        ("text", reply("Hello. ß \u{1f600}\r\n\n\u{2028}data: x\u{85}", vec![], Finish::Stop)),
        (
            "text after calls of ours",
            Reply { tool_calls: vec![note.clone(), note], ..reply("Done.", vec![], Finish::Stop) },
        ),
        ("calls", reply("", two(), Finish::Calls)),
        ("text and calls", reply("Let me look.", two(), Finish::Calls)),
        ("cut by length", reply("Once upon", vec![], Finish::Length)),
        ("held back", reply("", vec![], Finish::Filtered)),
        ("nothing", reply("", vec![], Finish::Stop)),
    ]
}
