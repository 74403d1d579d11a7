//! Chunks of `OpenAI` chat completions.

use serde_json::{Value, json};

use super::{Answer, Finish, MAX_PARTS, Said, Usage, details, thoughts::Thoughts, tokens};
use crate::{
    ProviderError, call,
    json::{field, list, text, with},
};

/// The one choice we ask for.
#[derive(Debug, Default)]
pub(super) struct Chat {
    calls: Vec<Piece>,
    refusal: String,
    thoughts: Thoughts,
}

/// A call so far.
#[derive(Debug, Default)]
struct Piece {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    args: String,
    /// What else the provider wants to see again, such as a signature.
    extra: Option<Value>,
}

impl Answer for Chat {
    fn event(&mut self, event: &Value, said: &mut Said) -> Result<(), ProviderError> {
        if let Some(usage) = field(event, "usage")? {
            let details = details(usage, "prompt_tokens_details")?;
            said.count(Usage {
                input: tokens(usage, "prompt_tokens")?,
                output: tokens(usage, "completion_tokens")?,
                // One of those that imitate the format has it outside.
                cache_read: tokens(details, "cached_tokens")?
                    .max(tokens(usage, "prompt_cache_hit_tokens")?),
                cache_write: tokens(details, "cache_write_tokens")?,
            });
        }
        for choice in list(event, "choices")? {
            if choice.get("index").and_then(Value::as_u64).unwrap_or(0) != 0 {
                continue;
            }
            // A response that was not streamed has the same under another name.
            if let Some(delta) = field(choice, "delta")?.or(field(choice, "message")?) {
                self.delta(delta, said)?;
            }
            if let Some(reason) = text(choice, "finish_reason")? {
                said.finish = Some(finish(reason));
            }
        }
        Ok(())
    }

    fn message(self: Box<Self>, text: &str) -> Value {
        let text = text.strip_suffix(&self.refusal).unwrap_or(text);
        let content = if text.is_empty() { Value::Null } else { json!(text) };
        let mut message = json!({"role": "assistant", "content": content});
        let calls: Vec<_> = self.calls.into_iter().map(Piece::call).collect();
        if let Some(message) = message.as_object_mut() {
            if !calls.is_empty() {
                message.insert("tool_calls".to_owned(), calls.into());
                message.extend(self.thoughts.repeated());
            }
            if !self.refusal.is_empty() {
                message.insert("refusal".to_owned(), self.refusal.into());
            }
        }
        message
    }
}

impl Chat {
    fn delta(&mut self, delta: &Value, said: &mut Said) -> Result<(), ProviderError> {
        said.text.push_str(text(delta, "content")?.unwrap_or_default());
        // What it says when it will not is for people too.
        let refusal = text(delta, "refusal")?.unwrap_or_default();
        self.refusal.push_str(refusal);
        said.text.push_str(refusal);
        self.thoughts.add(delta)?;
        for part in list(delta, "tool_calls")? {
            let function = field(part, "function")?.unwrap_or(&Value::Null);
            let index = field(part, "index")?.and_then(Value::as_u64);
            let piece = self.piece(index, call::id(field(part, "id")?))?;
            if let Some(extra) = field(part, "extra_content")? {
                piece.extra = Some(extra.clone());
            }
            let name = text(function, "name")?.unwrap_or_default();
            // Some repeat the name in every piece.
            if piece.name != name {
                piece.name.push_str(name);
            }
            match field(function, "arguments")? {
                Some(Value::String(args)) => piece.args.push_str(args),
                Some(args) => piece.args = args.to_string(),
                None => {}
            }
        }
        Ok(())
    }

    /// The call a piece belongs to: by index; where that is missing by id; else the last one.
    fn piece(
        &mut self,
        index: Option<u64>,
        id: Option<String>,
    ) -> Result<&mut Piece, ProviderError> {
        let mine = |piece: &Piece| match (index, &id, &piece.id) {
            // Some number all their calls 0.
            (_, Some(new), Some(old)) if new != old => false,
            (None, Some(_), Some(_)) | (None, None, _) => true,
            (None, Some(_), None) => false,
            (Some(index), _, _) => piece.index == Some(index),
        };
        let found = self.calls.iter().rposition(mine);
        let at = found.unwrap_or(self.calls.len());
        if found.is_none() {
            if at >= MAX_PARTS {
                return Err(ProviderError::TooLarge { max: MAX_PARTS, what: "calls" });
            }
            self.calls.push(Piece { index, ..Piece::default() });
        }
        let piece = self.calls.get_mut(at).ok_or(ProviderError::Incomplete("no call"))?;
        piece.id = piece.id.take().or(id);
        Ok(piece)
    }
}

impl Piece {
    fn call(self) -> Value {
        let function = json!({"name": self.name, "arguments": self.args});
        let call = json!({"id": self.id, "type": "function", "function": function});
        match self.extra {
            Some(extra) => with(call, [("extra_content", extra)]),
            None => call,
        }
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "stop" => Finish::Stop,
        "tool_calls" | "function_call" => Finish::Calls,
        "length" => Finish::Length,
        "content_filter" => Finish::Filtered,
        other => Finish::Other(other.to_owned()),
    }
}
