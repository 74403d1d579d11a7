//! `OpenAI` responses.

use serde_json::{Value, json};
use tool::Block;

use super::{Prompt, body::Body, turns::Turn};
use crate::{
    Effort, Options, Parallel, Shape, ToolChoice, WireCall,
    image::{self, Seen},
    openai_responses,
};

pub(super) fn body(prompt: &Prompt<'_>, turns: &[Turn<'_>]) -> Value {
    // No `..`: a new option must be decided about here. This format has no stop texts.
    let Options { max_tokens, temperature, top_p, stop: _, tool_choice, parallel, effort, shape } =
        prompt.options;
    let tools = prompt.definitions();
    let one_by_one = (*parallel == Parallel::No).then_some(Value::Bool(false));
    let with_tools = |value: Option<Value>| value.filter(|_| tools.is_some());
    let reasoning = effort.map(|effort| json!({"effort": effort.name()}));
    // Thoughts we can repeat; a model that does not think refuses to be asked for them.
    let thinks = effort.map_or(super::openai::thinks(prompt.model), |effort| effort > Effort::None);
    let include = thinks.then(|| json!(["reasoning.encrypted_content"]));
    Body::default()
        .with("model", prompt.model)
        .maybe("instructions", prompt.instructions())
        .maybe("tools", tools.cloned())
        .maybe("tool_choice", with_tools(choice(prompt, tool_choice)))
        .maybe("parallel_tool_calls", with_tools(one_by_one))
        .with("input", input(turns))
        .maybe("max_output_tokens", *max_tokens)
        .maybe("temperature", *temperature)
        .maybe("top_p", *top_p)
        .maybe("reasoning", reasoning)
        .maybe("include", include)
        .maybe("text", format(shape).map(|format| json!({"format": format})))
        // The conversation is kept here, and nowhere else.
        .with("store", false)
        .with("stream", true)
        .value()
}

fn choice(prompt: &Prompt<'_>, choice: &ToolChoice) -> Option<Value> {
    Some(match choice {
        ToolChoice::Auto => return None,
        ToolChoice::Never => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "name": prompt.wire(name)}),
    })
}

fn format(shape: &Shape) -> Option<Value> {
    match shape {
        Shape::Text => None,
        Shape::Json => Some(json!({"type": "json_object"})),
        Shape::Schema { name, schema, strict } => {
            Some(json!({"type": "json_schema", "name": name, "schema": schema, "strict": strict}))
        }
    }
}

fn input(turns: &[Turn<'_>]) -> Value {
    let mut items = Vec::new();
    for turn in turns {
        match turn {
            Turn::User(blocks) => items.push(user(blocks)),
            Turn::Model { own: Some(Value::Array(own)), .. } => items.extend(repeated(own)),
            Turn::Model { text, calls, own: _ } => items.extend(model(text, calls)),
            Turn::Results(results) => {
                if let Value::Array(results) = openai_responses::results(results) {
                    items.extend(results);
                }
            }
        }
    }
    Value::Array(items)
}

/// The items of an answer. A thought that came without its content was left with the provider, who
/// was told not to keep it: it cannot be repeated, nor can the ids of what goes with it.
fn repeated(items: &[Value]) -> Vec<Value> {
    let is = |item: &Value, kind: &str| item.get("type").is_some_and(|found| found == kind);
    let is_lost = |item: &Value| {
        is(item, "reasoning") && item.get("encrypted_content").is_none_or(Value::is_null)
    };
    if !items.iter().any(is_lost) {
        return items.to_vec();
    }
    let kept = items.iter().filter(|item| !is_lost(item));
    kept.map(|item| match item.as_object() {
        Some(_) if is(item, "message") => message(&said(item)),
        Some(fields) if is(item, "function_call") => {
            let fields = fields.iter().filter(|(key, _)| *key != "id");
            fields.map(|(key, value)| (key.clone(), value.clone())).collect()
        }
        Some(_) | None => item.clone(),
    })
    .collect()
}

/// The text of a message.
fn said(item: &Value) -> String {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

fn user(blocks: &[impl AsRef<Block>]) -> Value {
    let blocks = blocks.iter().map(AsRef::as_ref);
    let parts: Vec<_> = blocks.map(|block| part(Seen::of(block, image::COMMON))).collect();
    json!({"type": "message", "role": "user", "content": parts})
}

fn part(block: Seen<'_>) -> Value {
    match block {
        Seen::Text(text) => json!({"type": "input_text", "text": text}),
        Seen::Image { mime, data } => {
            let url = image::data_url(mime, data);
            json!({"type": "input_image", "detail": "auto", "image_url": url})
        }
    }
}

fn model(text: &str, calls: &[WireCall]) -> Vec<Value> {
    let text = Some(text).filter(|text| !text.is_empty()).map(message);
    text.into_iter().chain(calls.iter().map(openai_responses::function_call)).collect()
}

fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": text})
}
