//! Chunks of Gemini responses.

use serde_json::{Value, json};

use super::{Answer, Finish, MAX_PARTS, Said, Usage, tokens};
use crate::{
    ProviderError,
    json::{field, list, text},
};

/// The parts of the one candidate we ask for.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Value>,
}

impl Answer for Parts {
    fn event(&mut self, event: &Value, said: &mut Said) -> Result<(), ProviderError> {
        if let Some(usage) = field(event, "usage_metadata")? {
            // Thoughts are counted apart, and paid for all the same.
            let thoughts = tokens(field(usage, "thoughts_token_count")?);
            let spoken = tokens(field(usage, "candidates_token_count")?);
            said.count(Usage {
                input: tokens(field(usage, "prompt_token_count")?),
                cached: tokens(field(usage, "cached_content_token_count")?),
                output: spoken.saturating_add(thoughts),
            });
        }
        let feedback = field(event, "prompt_feedback")?.unwrap_or(&Value::Null);
        if field(feedback, "block_reason")?.is_some() {
            said.finish = Some(Finish::Filtered);
        }
        let Some(candidate) = list(event, "candidates")?.first() else { return Ok(()) };
        let content = field(candidate, "content")?.unwrap_or(&Value::Null);
        for part in list(content, "parts")? {
            self.add(part, said)?;
        }
        if let Some(reason) = text(candidate, "finish_reason")? {
            said.finish = Some(self.finish(reason));
        }
        Ok(())
    }

    fn message(self: Box<Self>, _: &str) -> Value {
        json!({"role": "model", "parts": self.parts})
    }
}

impl Parts {
    /// Text goes on where it stopped; thoughts are not what the model said.
    fn add(&mut self, part: &Value, said: &mut Said) -> Result<(), ProviderError> {
        if let Some(piece) = text(part, "text")? {
            if !is_thought(part) {
                said.text.push_str(piece);
            }
            let last = self.parts.last_mut().filter(|last| {
                is_plain(last) && is_plain(part) && is_thought(last) == is_thought(part)
            });
            if let Some(Value::String(text)) = last.and_then(|last| last.get_mut("text")) {
                text.push_str(piece);
                return Ok(());
            }
        }
        if self.parts.len() >= MAX_PARTS {
            return Err(ProviderError::TooLarge { max: MAX_PARTS, what: "parts" });
        }
        self.parts.push(part.clone());
        Ok(())
    }

    /// A model that calls says `STOP` like one that is done.
    fn finish(&self, reason: &str) -> Finish {
        let calls =
            |part: &Value| part.get("functionCall").or_else(|| part.get("function_call")).is_some();
        match reason {
            "STOP" if self.parts.iter().any(calls) => Finish::Calls,
            "STOP" => Finish::Stop,
            "MAX_TOKENS" => Finish::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                Finish::Filtered
            }
            other => Finish::Other(other.to_owned()),
        }
    }
}

fn is_thought(part: &Value) -> bool {
    part.get("thought").is_some_and(|thought| *thought == true)
}

/// Whether it is text alone; a part that has more, such as a signature, stays as it came.
fn is_plain(part: &Value) -> bool {
    let mut keys = part.as_object().into_iter().flat_map(serde_json::Map::keys);
    keys.all(|key| matches!(key.as_str(), "text" | "thought"))
}
