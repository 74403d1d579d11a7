//! Whole conversations: out to a model, in from a client, and stored.

use provider::{
    Effort, Format, Message, Options, Parallel, Prompt, ProviderError, Shape, ToolChoice,
    parse_request, request,
};
use serde_json::{Value, json};

use crate::{
    fixtures,
    talks::{self, FORMATS},
};

/// What goes out to the provider `acme`.
fn sent(format: Format, messages: &[Message], options: &Options) -> Result<Value, ProviderError> {
    let definitions = talks::definitions(format);
    request(
        format,
        &Prompt {
            provider: "acme",
            model: "model-1",
            system: Some("Be brief."),
            messages,
            tools: Some(&definitions),
            options,
        },
    )
}

#[test]
fn requests_are_what_each_provider_takes() {
    for format in FORMATS {
        let mut written = Vec::new();
        let options = Options::default();
        let odd = talks::odd_conversations(format);
        for (name, messages) in talks::conversations().into_iter().chain(odd) {
            let body = sent(format, &messages, &options).unwrap();
            assert_eq!(body, sent(format, &messages, &options).unwrap());
            written.push(json!({"case": name, "wire": body}));
        }
        let hello = [Message::user("Hello")];
        let body = sent(format, &hello, &talks::options()).unwrap();
        written.push(json!({"case": "every option", "wire": body}));
        fixtures::compare(format, "requests", &Value::Array(written));
    }
}

#[test]
fn a_request_without_tools_has_no_field_for_them() {
    for format in FORMATS {
        let empty = provider::Definitions::default().list(format, &[]);
        for tools in [None, Some(&*empty)] {
            let options = talks::options();
            let messages = [Message::user("Hello")];
            let prompt = Prompt {
                provider: "acme",
                model: "m",
                system: None,
                messages: &messages,
                tools,
                options: &options,
            };
            let body = request(format, &prompt).unwrap();
            for key in ["tools", "tool_choice", "toolConfig", "parallel_tool_calls"] {
                assert!(body.get(key).is_none(), "{format}: {body}");
            }
        }
    }
}

#[test]
fn a_longer_conversation_begins_with_the_same_bytes() {
    let (_, messages) =
        talks::conversations().into_iter().find(|(name, _)| *name == "parallel calls").unwrap();
    for format in FORMATS {
        let said = |count: usize| {
            let body = sent(format, &messages[..count], &Options::default()).unwrap();
            let key =
                ["messages", "input", "contents"].into_iter().find(|key| body.get(key).is_some());
            let mut list = body[key.unwrap()].clone();
            // The end of what is cached moves along; all before it stays.
            without_marks(&mut list);
            list.as_array().unwrap().clone()
        };
        // After the first results, and after all.
        let (one, other) = (said(3), said(messages.len()));
        assert_eq!(one[..], other[..one.len()], "{format}");
    }
}

fn without_marks(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_marks),
        Value::Object(object) => {
            object.remove("cache_control");
            object.values_mut().for_each(without_marks);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn requests_of_clients_are_read_or_refused_with_the_place() {
    for format in FORMATS {
        fixtures::compare_cases(format, "requests_in", |case| read(format, &case["body"]));
    }
}

/// What a request says, or what is wrong with it.
fn read(format: Format, body: &Value) -> Value {
    let request = match parse_request(format, body) {
        Ok(request) => request,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| json!([tool.name, tool.description, tool.parameters]))
        .collect();
    let options = Some(&request.options).filter(|options| **options != Options::default());
    json!({
        "model": request.model,
        "system": request.system,
        "messages": request.messages,
        "tools": tools,
        "options": options.map(shown),
        "stream": format!("{:?}", request.stream),
        "include_usage": format!("{:?}", request.include_usage),
        "previous": request.previous,
    })
}

fn shown(options: &Options) -> Value {
    let shape = match &options.shape {
        Shape::Text => json!("Text"),
        Shape::Json => json!("Json"),
        Shape::Schema { name, schema, strict } => json!([name, schema, strict]),
    };
    json!({
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "stop": options.stop,
        "tool_choice": format!("{:?}", options.tool_choice),
        "parallel": format!("{:?}", options.parallel),
        "effort": options.effort.map(Effort::name),
        "shape": shape,
    })
}

#[test]
fn what_goes_out_is_read_back_as_far_as_the_format_says_it() {
    for format in FORMATS {
        for (name, messages) in talks::conversations() {
            let body = sent(format, &messages, &Options::default()).unwrap();
            let read = parse_request(format, &body).unwrap();
            assert_eq!(read.system.as_deref(), Some("Be brief."), "{format} {name}");
            assert_eq!(read.model, if format == Format::Gemini { "" } else { "model-1" });
            // Chat completions put images of results into a message of the user.
            if (format, name) == (Format::OpenAi, "image in a result") {
                continue;
            }
            assert_eq!(
                as_said(format, &read.messages),
                as_said(format, &messages),
                "{format} {name}"
            );
            // And it goes out again as it did.
            let again = sent(format, &read.messages, &Options::default()).unwrap();
            assert_eq!(again, body, "{format} {name}");
        }
    }
}

/// What a format can say of a conversation.
fn as_said(format: Format, messages: &[Message]) -> Vec<Message> {
    let mut messages = messages.to_vec();
    for message in &mut messages {
        let Message::Results(results) = message else { continue };
        for result in results.iter_mut().filter(|_| format != Format::Gemini) {
            (result.name, result.structured) = (None, None);
        }
    }
    messages
}

#[test]
fn options_are_read_back_as_far_as_the_format_says_them() {
    for format in FORMATS {
        let given = talks::options();
        let body = sent(format, &[Message::user("Hello")], &given).unwrap();
        let read = parse_request(format, &body).unwrap();
        let names = talks::definitions(format).names.clone();
        let mut expected = given;
        expected.tool_choice = ToolChoice::Named(names.outward("shop.items").into_owned());
        match format {
            Format::OpenAi | Format::Mcp => {}
            Format::OpenAiResponses => expected.stop = vec![],
            Format::Anthropic => expected.top_p = None,
            Format::Gemini => expected.parallel = Parallel::Yes,
        }
        if let (Format::Anthropic | Format::Gemini, Shape::Schema { strict, .. }) =
            (format, &mut expected.shape)
        {
            *strict = false;
        }
        assert_eq!(read.options, expected, "{format}");
        let tools: Vec<_> = read.tools.iter().map(|tool| names.inward(&tool.name)).collect();
        assert_eq!(tools, ["get_weather", "shop.items"]);
    }
}

#[test]
fn each_choice_and_effort_is_read_back() {
    for format in FORMATS {
        for tool_choice in [ToolChoice::Auto, ToolChoice::Never, ToolChoice::Required] {
            let options = Options { tool_choice: tool_choice.clone(), ..Options::default() };
            let body = sent(format, &[Message::user("Hello")], &options).unwrap();
            assert_eq!(parse_request(format, &body).unwrap().options.tool_choice, tool_choice);
        }
        for effort in Effort::ALL {
            let options = Options { effort: Some(effort), ..Options::default() };
            let body = sent(format, &[Message::user("Hello")], &options).unwrap();
            let read = parse_request(format, &body).unwrap().options.effort;
            let expected = match (format, effort) {
                (Format::Anthropic, Effort::Minimal) => Effort::Low,
                (Format::Gemini, Effort::None) => Effort::Minimal,
                (Format::Gemini, Effort::XHigh | Effort::Max) => Effort::High,
                (_, effort) => effort,
            };
            assert_eq!(read, Some(expected), "{format}");
        }
        let options = Options { shape: Shape::Json, ..Options::default() };
        let body = sent(format, &[Message::user("Hello")], &options).unwrap();
        let expected = if format == Format::Anthropic { Shape::Text } else { Shape::Json };
        assert_eq!(parse_request(format, &body).unwrap().options.shape, expected, "{format}");
    }
}

#[test]
fn an_empty_conversation_is_not_sent_and_mcp_has_none() {
    for format in FORMATS {
        let empty = sent(format, &[Message::user(" \n")], &Options::default());
        assert_eq!(empty, Err(ProviderError::NothingSaid));
    }
    let hello = [Message::user("Hello")];
    let refused = sent(Format::Mcp, &hello, &Options::default());
    assert_eq!(refused, Err(ProviderError::NoConversation));
    let refused = parse_request(Format::Mcp, &json!({"messages": []})).unwrap_err();
    assert_eq!(refused, ProviderError::NoConversation);
}

#[test]
fn a_stored_conversation_is_read_again() {
    let mut stored = Vec::new();
    let odd = FORMATS.into_iter().flat_map(talks::odd_conversations);
    for (name, messages) in talks::conversations().into_iter().chain(odd) {
        let json = serde_json::to_value(&messages).unwrap();
        assert_eq!(serde_json::from_value::<Vec<Message>>(json.clone()).unwrap(), messages);
        stored.push(json!({"case": name, "stored": json}));
    }
    // Conversations of people are stored so: this file may grow, and nothing else.
    fixtures::compare_file("stored.json", &Value::Array(stored));
}
