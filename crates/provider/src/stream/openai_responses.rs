//! Events of `OpenAI` responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Answer, Finish, MAX_PARTS, Said, Usage, details, remote, tokens};
use crate::{
    ProviderError,
    json::{field, list, text},
};

/// The items of one response.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: BTreeMap<u64, Value>,
}

impl Answer for Items {
    fn event(&mut self, event: &Value, said: &mut Said) -> Result<(), ProviderError> {
        let at = field(event, "output_index")?.and_then(Value::as_u64).unwrap_or(0);
        let response = field(event, "response")?.unwrap_or(&Value::Null);
        match text(event, "type")?.unwrap_or_default() {
            "response.output_item.added" | "response.output_item.done" => {
                self.put(at, field(event, "item")?.unwrap_or(&Value::Null))
            }
            "response.function_call_arguments.delta" => {
                self.append(at, text(event, "delta")?.unwrap_or_default())
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                said.text.push_str(text(event, "delta")?.unwrap_or_default());
                Ok(())
            }
            "response.completed" | "response.incomplete" => self.end(response, said),
            "response.failed" => Err(remote(response.get("error").unwrap_or(response))),
            "error" => Err(remote(event)),
            // A response that was not streamed.
            _ if event.get("object").is_some_and(|object| object == "response") => {
                self.end(event, said)
            }
            _ => Ok(()),
        }
    }

    fn message(self: Box<Self>, _: &str) -> Value {
        self.items.into_values().collect()
    }
}

impl Items {
    fn put(&mut self, at: u64, item: &Value) -> Result<(), ProviderError> {
        if self.items.len() >= MAX_PARTS {
            return Err(ProviderError::TooLarge { max: MAX_PARTS, what: "items" });
        }
        self.items.insert(at, item.clone());
        Ok(())
    }

    fn append(&mut self, at: u64, piece: &str) -> Result<(), ProviderError> {
        let item = self.items.get_mut(&at).and_then(Value::as_object_mut);
        let item = item.ok_or_else(|| ProviderError::OutOfOrder(format!("item {at}")))?;
        match item.get_mut("arguments") {
            Some(Value::String(args)) => args.push_str(piece),
            _ => drop(item.insert("arguments".to_owned(), json!(piece))),
        }
        Ok(())
    }

    /// The last event has everything once more, and it counts.
    fn end(&mut self, response: &Value, said: &mut Said) -> Result<(), ProviderError> {
        let output = list(response, "output")?;
        if !output.is_empty() {
            self.items.clear();
            for (at, item) in (0..).zip(output) {
                self.put(at, item)?;
            }
        }
        if said.text.is_empty() {
            for item in self.items.values() {
                for part in list(item, "content")? {
                    said.text.push_str(match text(part, "type")? {
                        Some("output_text") => text(part, "text")?.unwrap_or_default(),
                        Some("refusal") => text(part, "refusal")?.unwrap_or_default(),
                        Some(_) | None => "",
                    });
                }
            }
        }
        if let Some(usage) = field(response, "usage")? {
            let details = details(usage, "input_tokens_details")?;
            said.count(Usage {
                input: tokens(usage, "input_tokens")?,
                output: tokens(usage, "output_tokens")?,
                cache_read: tokens(details, "cached_tokens")?,
                cache_write: tokens(details, "cache_write_tokens")?,
            });
        }
        said.finish = Some(self.finish(response)?);
        Ok(())
    }

    fn finish(&self, response: &Value) -> Result<Finish, ProviderError> {
        let calls = |item: &Value| item.get("type").is_some_and(|kind| kind == "function_call");
        if text(response, "status")? == Some("incomplete") {
            let details = field(response, "incomplete_details")?.unwrap_or(&Value::Null);
            return Ok(match text(details, "reason")?.unwrap_or("incomplete") {
                "max_output_tokens" => Finish::Length,
                "content_filter" => Finish::Filtered,
                other => Finish::Other(other.to_owned()),
            });
        }
        Ok(if self.items.values().any(calls) { Finish::Calls } else { Finish::Stop })
    }
}
