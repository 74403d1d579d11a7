//! Anthropic messages.

use serde_json::{Map, Value, json};
use tool::Block;

use super::{Prompt, body::Body, turns::Turn};
use crate::{
    Effort, Options, Parallel, Shape, ToolChoice, WireCall, anthropic,
    image::{self, Seen},
};

/// This format wants a limit. Every model that is still served can write this much.
const MAX_TOKENS: u64 = 8_192;

pub(super) fn body(prompt: &Prompt<'_>, turns: &[Turn<'_>]) -> Value {
    // No `..`: a new option must be decided about here.
    let Options { max_tokens, temperature, top_p, stop, tool_choice, parallel, effort, shape } =
        prompt.options;
    let mut tools = prompt.definitions().cloned();
    mark(tools.as_mut());
    let mut system = prompt.instructions().map(|text| json!([{"type": "text", "text": text}]));
    mark(system.as_mut());
    let choice = choice(prompt, tool_choice, *parallel).filter(|_| tools.is_some());
    Body::default()
        .with("model", prompt.model)
        .with("max_tokens", max_tokens.unwrap_or(MAX_TOKENS))
        .maybe("tools", tools)
        .maybe("tool_choice", choice)
        .maybe("system", system)
        .with("messages", messages(turns))
        // Others go up to 2.
        .maybe("temperature", temperature.map(|temperature| temperature.min(1.0)))
        // Its models take one or the other.
        .maybe("top_p", top_p.filter(|_| temperature.is_none()))
        .list("stop_sequences", stop)
        .maybe("thinking", (*effort == Some(Effort::None)).then(|| json!({"type": "disabled"})))
        .part("output_config", output_config(*effort, shape))
        .with("stream", true)
        .value()
}

/// Puts the end of what is cached after the last item of a list.
fn mark(list: Option<&mut Value>) {
    let last = list.and_then(Value::as_array_mut).and_then(|list| list.last_mut());
    if let Some(last) = last.and_then(Value::as_object_mut) {
        last.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn choice(prompt: &Prompt<'_>, choice: &ToolChoice, parallel: Parallel) -> Option<Value> {
    let choice = match (choice, parallel) {
        (ToolChoice::Auto, Parallel::Yes) => return None,
        (ToolChoice::Never, _) => return Some(json!({"type": "none"})),
        (ToolChoice::Auto, Parallel::No) => Body::default().with("type", "auto"),
        (ToolChoice::Required, _) => Body::default().with("type", "any"),
        (ToolChoice::Named(name), _) => {
            Body::default().with("type", "tool").with("name", &*prompt.wire(name))
        }
    };
    let only_one = (parallel == Parallel::No).then_some(true);
    Some(choice.maybe("disable_parallel_tool_use", only_one).value())
}

fn output_config(effort: Option<Effort>, shape: &Shape) -> Body {
    let effort = effort.and_then(|effort| match effort {
        Effort::None => None,
        Effort::Minimal => Some(Effort::Low.name()),
        Effort::Low | Effort::Medium | Effort::High | Effort::XHigh | Effort::Max => {
            Some(effort.name())
        }
    });
    let format = match shape {
        // Some JSON cannot be asked for.
        Shape::Text | Shape::Json => None,
        Shape::Schema { name: _, schema, strict: _ } => {
            Some(json!({"type": "json_schema", "schema": schema}))
        }
    };
    Body::default().maybe("effort", effort).maybe("format", format)
}

/// Roles take turns: what follows results goes into their message.
fn messages(turns: &[Turn<'_>]) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn {
            Turn::User(blocks) => ("user", user(blocks)),
            Turn::Model { text, calls, own } => ("assistant", model(text, calls, *own)),
            Turn::Results(results) => ("user", anthropic::tool_results(results)),
        };
        match messages.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => messages.push((role, blocks)),
        }
    }
    let last = messages.len();
    let message = |(index, (role, blocks)): (usize, (&str, Vec<Value>))| {
        let mut content = Value::Array(blocks);
        // What the model said may end in a thought, which cannot be marked.
        if index + 1 == last && role == "user" {
            mark(Some(&mut content));
        }
        json!({"role": role, "content": content})
    };
    messages.into_iter().enumerate().map(message).collect()
}

fn user(blocks: &[impl AsRef<Block>]) -> Vec<Value> {
    let blocks = blocks.iter().map(AsRef::as_ref);
    blocks.map(|block| anthropic::part(Seen::of(block, image::COMMON))).collect()
}

fn model(text: &str, calls: &[WireCall], own: Option<&Value>) -> Vec<Value> {
    let blank = |block: &Map<String, Value>| {
        block.get("type").is_some_and(|kind| kind == "text")
            && block.get("text").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
    };
    if let Some(Value::Array(own)) = own.and_then(|own| own.get("content")) {
        let kept = own.iter().filter(|block| !block.as_object().is_some_and(blank));
        return kept.cloned().collect();
    }
    let text = Some(text).filter(|text| !text.trim().is_empty());
    let text = text.map(|text| json!({"type": "text", "text": text}));
    text.into_iter().chain(calls.iter().map(anthropic::tool_use)).collect()
}
