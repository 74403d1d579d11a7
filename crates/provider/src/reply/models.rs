//! Lists of models, which are our agents.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::Format;

/// The models with these ids, made at these times (seconds since 1970).
///
/// All clients may ask at the same path, so what is not for Gemini alone is for everybody.
pub fn models(format: Format, list: &[(String, u64)]) -> Value {
    let for_gemini: Vec<_> = list.iter().map(|(id, _)| gemini(id)).collect();
    match format {
        Format::Gemini => json!({"models": for_gemini}),
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic | Format::Mcp => {
            let for_others: Vec<_> = list.iter().map(|(id, time)| common(id, *time)).collect();
            json!({
                "object": "list",
                "data": for_others,
                "has_more": false,
                "first_id": list.first().map(|(id, _)| id),
                "last_id": list.last().map(|(id, _)| id),
                "models": for_gemini,
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
