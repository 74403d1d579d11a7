//! `OpenAI` chat completions.

use serde_json::{Value, json};
use tool::Block;

use super::{Prompt, body::Body, turns::Turn};
use crate::{
    Effort, Options, Parallel, Shape, ToolChoice, WireCall,
    image::{self, Seen},
    openai,
};

pub(super) fn body(prompt: &Prompt<'_>, turns: &[Turn<'_>]) -> Value {
    // No `..`: a new option must be decided about here.
    let Options { max_tokens, temperature, top_p, stop, tool_choice, parallel, effort, shape } =
        prompt.options;
    let tools = prompt.definitions();
    let one_by_one = (*parallel == Parallel::No).then_some(Value::Bool(false));
    let with_tools = |value: Option<Value>| value.filter(|_| tools.is_some());
    let limit =
        if takes_completion_tokens(prompt) { "max_completion_tokens" } else { "max_tokens" };
    Body::default()
        .with("model", prompt.model)
        .maybe("tools", tools.cloned())
        .maybe("tool_choice", with_tools(choice(prompt, tool_choice)))
        .maybe("parallel_tool_calls", with_tools(one_by_one))
        .with("messages", messages(prompt, turns))
        .maybe(limit, *max_tokens)
        .maybe("temperature", *temperature)
        .maybe("top_p", *top_p)
        .list("stop", stop)
        .maybe("reasoning_effort", effort.map(Effort::name))
        .maybe("response_format", response_format(shape))
        .with("stream", true)
        // Without it a streamed answer does not say what it cost.
        .with("stream_options", json!({"include_usage": true}))
        .value()
}

/// `OpenAI`'s own models want the new name of the limit, others know the old one.
fn takes_completion_tokens(prompt: &Prompt<'_>) -> bool {
    let model = prompt.model.rsplit('/').next().unwrap_or_default();
    let named = ["gpt-", "chatgpt-"].iter().any(|prefix| model.starts_with(prefix));
    let own = (named && !model.starts_with("gpt-oss")) || thinks(model);
    prompt.provider == "openai" || own
}

/// Whether a model of `OpenAI` thinks unless told not to: `o3`, `gpt-5` and what came after.
pub(super) fn thinks(model: &str) -> bool {
    let number = |prefix| {
        let rest = model.strip_prefix(prefix)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let generation = number("gpt-").is_some_and(|generation| generation >= 5);
    (generation && !model.contains("chat")) || number("o").is_some()
}

fn choice(prompt: &Prompt<'_>, choice: &ToolChoice) -> Option<Value> {
    Some(match choice {
        ToolChoice::Auto => return None,
        ToolChoice::Never => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => {
            json!({"type": "function", "function": {"name": prompt.wire(name)}})
        }
    })
}

fn response_format(shape: &Shape) -> Option<Value> {
    match shape {
        Shape::Text => None,
        Shape::Json => Some(json!({"type": "json_object"})),
        Shape::Schema { name, schema, strict } => {
            let schema = json!({"name": name, "schema": schema, "strict": strict});
            Some(json!({"type": "json_schema", "json_schema": schema}))
        }
    }
}

fn messages(prompt: &Prompt<'_>, turns: &[Turn<'_>]) -> Value {
    let system = prompt.instructions().map(|text| json!({"role": "system", "content": text}));
    let mut messages: Vec<_> = system.into_iter().collect();
    for turn in turns {
        match turn {
            Turn::User(blocks) => messages.push(user(blocks)),
            Turn::Model { own: Some(own), .. } => messages.push((*own).clone()),
            Turn::Model { text, calls, own: None } => messages.push(model(text, calls)),
            Turn::Results(results) => {
                if let Value::Array(results) = openai::results(results) {
                    messages.extend(results);
                }
            }
        }
    }
    Value::Array(messages)
}

/// Plain text where it can be: not every imitator takes parts.
fn user(blocks: &[impl AsRef<Block>]) -> Value {
    let blocks = blocks.iter().map(AsRef::as_ref);
    let parts: Vec<_> = blocks.map(|block| part(Seen::of(block, image::COMMON))).collect();
    let content = match parts.as_slice() {
        [only] => only.get("text").cloned(),
        _ => None,
    };
    json!({"role": "user", "content": content.unwrap_or(Value::Array(parts))})
}

fn part(block: Seen<'_>) -> Value {
    match block {
        Seen::Text(text) => json!({"type": "text", "text": text}),
        Seen::Image { mime, data } => {
            json!({"type": "image_url", "image_url": {"url": image::data_url(mime, data)}})
        }
    }
}

fn model(text: &str, calls: &[WireCall]) -> Value {
    let content = Some(text).filter(|text| !text.is_empty());
    let calls: Vec<_> = calls.iter().map(openai::tool_call).collect();
    Body::default()
        .with("role", "assistant")
        .with("content", json!(content))
        .maybe("tool_calls", Some(calls).filter(|calls| !calls.is_empty()))
        .value()
}
