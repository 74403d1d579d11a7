//! Reads one request per line as JSON and answers each with one line of JSON.

use std::io::{BufRead, Write, stdin, stdout};

use provider::{
    Assembler, Definitions, Finish, Format, IncludeUsage, Message, Names, Options, Prompt, Reply,
    ReplyHead, ReplyStream, calls, definitions, error, models, parse_request, request, response,
    results,
};
use serde_json::{Value, json};
use tool::{CallId, Meta, Outcome, ToolError, ToolInfo, ToolOutput};

pub(crate) fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = answer(&request).unwrap_or_else(|error| json!({"error": error.to_string()}));
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

fn answer(asked: &Value) -> Result<Value, Box<dyn std::error::Error>> {
    let get = |key: &str| asked.get(key).unwrap_or(&Value::Null);
    let list = |key: &str| get(key).as_array().cloned().unwrap_or_default();
    let format = || get("format").as_str().unwrap_or_default().parse::<Format>();
    Ok(match get("do").as_str().unwrap_or_default() {
        "tools" => {
            let tool = |info: &ToolInfo| {
                json!({
                    "name": info.name,
                    "description": info.description,
                    "parameters": info.parameters,
                    "output": info.output,
                    "effects": info.effects,
                })
            };
            tools::builtin().iter().map(|any| tool(any.info())).collect()
        }
        "definitions" => {
            let tools: Vec<_> = list("tools").iter().map(tool).collect();
            definitions(format()?, tools.iter())
        }
        "names" => {
            let names: Vec<_> = list("names").iter().map(text).collect();
            let mapping = Names::new(names.iter().map(String::as_str));
            let wire = names.iter().map(|name| mapping.outward(name).into_owned());
            let wire: Vec<_> = wire.collect();
            let back: Vec<_> = wire.iter().map(|name| mapping.inward(name)).collect();
            json!({"wire": wire, "back": back})
        }
        "calls" => shown(&calls(format()?, get("message"))?),
        "stream" => {
            let mut assembler = Assembler::new(format()?);
            assembler.push(text(get("text")).as_bytes())?;
            let answer = assembler.finish()?;
            json!({"calls": shown(&answer.calls), "text": answer.text, "message": answer.message})
        }
        "results" => {
            let calls = calls(format()?, get("message"))?;
            let outcomes: Vec<_> =
                list("outcomes").iter().map(outcome).collect::<Result<_, _>>()?;
            results(format()?, &calls.iter().zip(&outcomes).collect::<Vec<_>>())
        }
        "request" => conversation(format()?, asked)?,
        "read" => read(format()?, get("body")),
        "reply" => reply(format()?, get("reply"))?,
        "error" => {
            let status = u16::try_from(get("status").as_u64().unwrap_or(500))?;
            let (kind, message) = (text(get("kind")), text(get("message")));
            let mut stream = ReplyStream::new(format()?, head(), IncludeUsage::Yes);
            let begun = stream.text("Once ");
            let ended = stream.error(status, &kind, &message);
            json!({"body": error(format()?, status, &kind, &message), "stream": begun + &ended})
        }
        "models" => {
            models(format()?, &[("helper".to_owned(), 1_767_225_600), ("writer".to_owned(), 0)])
        }
        other => return Err(format!("unknown request `{other}`").into()),
    })
}

/// The body for a stored conversation and tools.
fn conversation(format: Format, asked: &Value) -> Result<Value, Box<dyn std::error::Error>> {
    let get = |key: &str| asked.get(key).cloned().unwrap_or_default();
    let messages: Vec<Message> = serde_json::from_value(get("messages"))?;
    let tools: Vec<_> = get("tools").as_array().into_iter().flatten().map(tool).collect();
    let tools = Definitions::default().joined(format, &[], &tools);
    let options = Options {
        max_tokens: get("max_tokens").as_u64(),
        temperature: get("temperature").as_f64(),
        ..Options::default()
    };
    let prompt = Prompt {
        provider: "acme",
        model: "m",
        system: Some("Be brief."),
        messages: &messages,
        tools: Some(&tools),
        options: &options,
    };
    Ok(request(format, &prompt)?)
}

/// What we understand of a client's request.
fn read(format: Format, body: &Value) -> Value {
    let request = match parse_request(format, body) {
        Ok(request) => request,
        Err(error) => return json!({"error": error.to_string(), "kind": error.kind()}),
    };
    let tools =
        request.tools.iter().map(|tool| json!([tool.name, tool.description, tool.parameters]));
    json!({
        "model": request.model,
        "system": request.system,
        "messages": request.messages,
        "tools": tools.collect::<Vec<_>>(),
        "options": format!("{:?}", request.options),
        "stream": format!("{:?}", request.stream),
        "previous": request.previous,
    })
}

fn head() -> ReplyHead {
    ReplyHead { id: "0123abcd".to_owned(), model: "helper".to_owned(), created: 1_767_225_600 }
}

/// An answer, whole and as a stream with its text in pieces.
fn reply(format: Format, given: &Value) -> Result<Value, Box<dyn std::error::Error>> {
    let get = |key: &str| given.get(key).cloned().unwrap_or_default();
    let reply = Reply {
        text: text(&get("text")),
        calls: serde_json::from_value(get("calls"))?,
        finish: match text(&get("finish")).as_str() {
            "calls" => Finish::Calls,
            "length" => Finish::Length,
            "filtered" => Finish::Filtered,
            _ => Finish::Stop,
        },
        usage: serde_json::from_value(get("usage"))?,
        tool_calls: serde_json::from_value(get("tool_calls"))?,
    };
    let mut stream = ReplyStream::new(format, head(), IncludeUsage::Yes);
    let mut sent = stream.start() + stream.ping();
    for piece in reply.text.split_inclusive(' ') {
        sent += &stream.text(piece);
        sent += stream.ping();
    }
    for call in &reply.calls {
        sent += &stream.call(call);
    }
    sent += &stream.end(&reply.finish, reply.usage, &reply.tool_calls);
    Ok(json!({"whole": response(format, &head(), &reply), "stream": sent}))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn tool(given: &Value) -> ToolInfo {
    let get = |key: &str| given.get(key).cloned().unwrap_or_default();
    let mut tool =
        ToolInfo::new(&text(&get("name")), &text(&get("description")), get("parameters"));
    tool.output = Some(get("output")).filter(|output| !output.is_null());
    tool.effects = serde_json::from_value(get("effects")).unwrap_or_default();
    tool
}

fn shown(calls: &[provider::WireCall]) -> Value {
    let one = |call: &provider::WireCall| {
        let (args, wrong) = (call.args.as_ref().ok(), call.args.as_ref().err());
        json!({"id": call.id, "name": call.name, "args": args, "wrong": wrong})
    };
    calls.iter().map(one).collect()
}

/// `{"text"}`, `{"value"}` or `{"error"}`, and `{"image": [mime, text]}` after it.
fn outcome(given: &Value) -> Result<Outcome, Box<dyn std::error::Error>> {
    let result = match (given.get("error"), given.get("value")) {
        (Some(error), _) => Err(ToolError::failed(text(error))),
        (None, Some(value)) => Ok(ToolOutput::json(value)),
        (None, None) => Ok(ToolOutput::text(text(given.get("text").unwrap_or(&Value::Null)))),
    };
    let result = result.map(|output| match given.get("image") {
        Some(mime) => output.with_image(text(mime), b"not really an image".to_vec()),
        None => output,
    });
    let call_id: CallId = "019a8000-0000-7000-8000-000000000000".parse()?;
    let meta = Meta { duration_ms: 1, ..Meta::new(call_id) };
    Ok(Outcome::new("example", result, meta))
}
