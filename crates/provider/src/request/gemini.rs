//! Gemini `generateContent`.

use serde_json::{Value, json};
use tool::Block;

use super::{Prompt, body::Body, turns::Turn};
use crate::{
    Effort, Options, Shape, ToolChoice, WireCall, gemini,
    image::{self, Seen},
};

/// What the service takes for the signature of a call that it did not make itself.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(prompt: &Prompt<'_>, turns: Vec<Turn<'_>>) -> Value {
    // No `..`: a new option must be decided about here. Calls are always in parallel here.
    let Options { max_tokens, temperature, top_p, stop, tool_choice, parallel: _, effort, shape } =
        prompt.options;
    let tools = prompt.definitions();
    let signature = (!is_old(prompt.model)).then_some(NO_SIGNATURE);
    let choice = choice(prompt, tool_choice).filter(|_| tools.is_some());
    let system = prompt.instructions().map(|text| json!({"parts": [{"text": text}]}));
    let generation = shaped(Body::default(), shape)
        .maybe("maxOutputTokens", *max_tokens)
        .maybe("temperature", *temperature)
        .maybe("topP", *top_p)
        .list("stopSequences", stop)
        .maybe("thinkingConfig", effort.map(|effort| thinking(prompt.model, effort)));
    Body::default()
        .maybe("systemInstruction", system)
        .maybe("tools", tools.cloned())
        .maybe("toolConfig", choice)
        .with("contents", turns.into_iter().map(|turn| content(turn, signature)).collect::<Value>())
        .part("generationConfig", generation)
        .value()
}

fn choice(prompt: &Prompt<'_>, choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::Never => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Named(name) => {
            json!({"mode": "ANY", "allowedFunctionNames": [prompt.wire(name)]})
        }
    };
    Some(json!({"functionCallingConfig": config}))
}

fn shaped(generation: Body, shape: &Shape) -> Body {
    match shape {
        Shape::Text => generation,
        Shape::Json => generation.with("responseMimeType", "application/json"),
        Shape::Schema { name: _, schema, strict: _ } => generation
            .with("responseMimeType", "application/json")
            .with("responseJsonSchema", schema.clone()),
    }
}

/// Models up to 2.5, which do not sign their calls.
fn is_old(model: &str) -> bool {
    ["gemini-1", "gemini-2"].iter().any(|old| model.contains(old))
}

/// Old models take a number of tokens, later ones a word.
fn thinking(model: &str, effort: Effort) -> Value {
    if is_old(model) {
        return json!({"thinkingBudget": match effort {
            Effort::None => 0,
            Effort::Minimal => 512,
            Effort::Low => 1_024,
            Effort::Medium => 8_192,
            Effort::High | Effort::XHigh | Effort::Max => 24_576,
        }});
    }
    json!({"thinkingLevel": match effort {
        Effort::None | Effort::Minimal => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium => "MEDIUM",
        Effort::High | Effort::XHigh | Effort::Max => "HIGH",
    }})
}

fn content(turn: Turn<'_>, signature: Option<&str>) -> Value {
    match turn {
        Turn::User(blocks) => user(&blocks),
        Turn::Model { own: Some(own), .. } => own.clone(),
        Turn::Model { text, calls, own: None } => model(text, &calls, signature),
        Turn::Results(results) => gemini::results(results),
    }
}

fn user(blocks: &[impl AsRef<Block>]) -> Value {
    let blocks = blocks.iter().map(AsRef::as_ref);
    let parts: Vec<_> = blocks.map(|block| part(Seen::of(block, gemini::IMAGES))).collect();
    json!({"role": "user", "parts": parts})
}

fn part(block: Seen<'_>) -> Value {
    match block {
        Seen::Text(text) => json!({"text": text}),
        Seen::Image { mime, data } => {
            json!({"inlineData": {"mimeType": mime, "data": image::encode(data)}})
        }
    }
}

/// The first call of a message is the one that is signed.
fn model(text: &str, calls: &[WireCall], signature: Option<&str>) -> Value {
    let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
    let calls = calls.iter().enumerate().map(|(index, call)| {
        let signature = signature.filter(|_| index == 0);
        Body::default()
            .with("functionCall", gemini::function_call(call))
            .maybe("thoughtSignature", signature)
            .value()
    });
    json!({"role": "model", "parts": text.into_iter().chain(calls).collect::<Vec<_>>()})
}
