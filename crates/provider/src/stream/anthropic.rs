//! Events of Anthropic messages.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Answer, Finish, MAX_PARTS, Said, Usage, tokens};
use crate::{
    ProviderError,
    json::{field, list, text},
};

/// The blocks of one message.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: BTreeMap<u64, Block>,
}

#[derive(Debug, Default)]
struct Block {
    block: Map<String, Value>,
    /// Pieces of `input`, which is JSON only when all are there.
    input: String,
}

impl Answer for Blocks {
    fn event(&mut self, event: &Value, said: &mut Said) -> Result<(), ProviderError> {
        let index = field(event, "index")?.and_then(Value::as_u64).unwrap_or(0);
        match text(event, "type")?.unwrap_or_default() {
            "message_start" => usage(field(event, "message")?.unwrap_or(&Value::Null), said)?,
            "content_block_start" => {
                self.start(index, field(event, "content_block")?.unwrap_or(&Value::Null), said)?;
            }
            "content_block_delta" => {
                self.delta(index, field(event, "delta")?.unwrap_or(&Value::Null), said)?;
            }
            "message_delta" => {
                usage(event, said)?;
                let delta = field(event, "delta")?.unwrap_or(&Value::Null);
                said.finish = text(delta, "stop_reason")?.map(finish).or(said.finish.take());
            }
            // A response that was not streamed.
            "message" => {
                for (index, block) in (0..).zip(list(event, "content")?) {
                    self.start(index, block, said)?;
                }
                usage(event, said)?;
                said.finish = text(event, "stop_reason")?.map(finish);
            }
            _ => {}
        }
        Ok(())
    }

    fn message(self: Box<Self>, _: &str) -> Value {
        let blocks: Vec<_> = self.blocks.into_values().map(Block::whole).collect();
        json!({"role": "assistant", "content": blocks})
    }
}

impl Blocks {
    fn start(&mut self, at: u64, block: &Value, said: &mut Said) -> Result<(), ProviderError> {
        if self.blocks.len() >= MAX_PARTS {
            return Err(ProviderError::TooLarge { max: MAX_PARTS, what: "blocks" });
        }
        if text(block, "type")? == Some("text") {
            said.text.push_str(text(block, "text")?.unwrap_or_default());
        }
        let block = block.as_object().cloned().unwrap_or_default();
        self.blocks.insert(at, Block { block, input: String::new() });
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: &Value, said: &mut Said) -> Result<(), ProviderError> {
        let block = self.blocks.get_mut(&index);
        let block = block.ok_or_else(|| ProviderError::OutOfOrder(format!("block {index}")))?;
        match text(delta, "type")?.unwrap_or_default() {
            "text_delta" => {
                let piece = text(delta, "text")?.unwrap_or_default();
                said.text.push_str(piece);
                block.append("text", piece);
            }
            "input_json_delta" => {
                block.input.push_str(text(delta, "partial_json")?.unwrap_or_default());
            }
            "thinking_delta" => {
                block.append("thinking", text(delta, "thinking")?.unwrap_or_default());
            }
            "signature_delta" => {
                block.append("signature", text(delta, "signature")?.unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }
}

impl Block {
    fn append(&mut self, key: &str, piece: &str) {
        match self.block.get_mut(key) {
            Some(Value::String(text)) => text.push_str(piece),
            _ => drop(self.block.insert(key.to_owned(), json!(piece))),
        }
    }

    /// Input that is not JSON stays text: its call will say so.
    fn whole(mut self) -> Value {
        if !self.input.trim().is_empty() {
            let input = tool::parse_json(&self.input).unwrap_or(Value::String(self.input));
            self.block.insert("input".to_owned(), input);
        }
        Value::Object(self.block)
    }
}

fn usage(at: &Value, said: &mut Said) -> Result<(), ProviderError> {
    if let Some(usage) = field(at, "usage")? {
        // What went through the cache is counted apart.
        let cached = tokens(field(usage, "cache_read_input_tokens")?);
        let kept = tokens(field(usage, "cache_creation_input_tokens")?);
        let new = tokens(field(usage, "input_tokens")?);
        let input = new.saturating_add(kept).saturating_add(cached);
        said.count(Usage { input, cached, output: tokens(field(usage, "output_tokens")?) });
    }
    Ok(())
}

fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::Calls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Filtered,
        other => Finish::Other(other.to_owned()),
    }
}
