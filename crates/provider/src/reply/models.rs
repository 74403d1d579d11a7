//! Lists of models, which are our agents.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::Format;

/// The models with these ids, made at these times (seconds since 1970).
///
/// Clients of `OpenAI` and Anthropic ask at the same path, so their list is both.
pub fn models(format: Format, list: &[(String, u64)]) -> Value {
    match format {
        Format::Gemini => {
            let models: Vec<_> = list.iter().map(|(id, _)| gemini(id)).collect();
            json!({"models": models})
        }
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic | Format::Mcp => {
            let models: Vec<_> = list.iter().map(|(id, created)| common(id, *created)).collect();
            json!({
                "object": "list",
                "data": models,
                "has_more": false,
                "first_id": list.first().map(|(id, _)| id),
                "last_id": list.last().map(|(id, _)| id),
            })
        }
    }
}

fn common(id: &str, created: u64) -> Value {
    let seconds = i64::try_from(created).unwrap_or_default();
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    json!({
        "id": id,
        "object": "model",
        "type": "model",
        "created": created,
        "created_at": time.to_string(),
        "owned_by": "toolgate",
        "display_name": id,
        "lifecycle": "active",
    })
}

fn gemini(id: &str) -> Value {
    json!({
        "name": format!("models/{id}"),
        "baseModelId": id,
        "version": "1",
        "displayName": id,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent"],
    })
}
