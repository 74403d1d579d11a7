//! Thoughts in chat completions. The format has no place for them; those that imitate it do, and
//! some want them back while the model waits for the results of its calls.

use serde_json::{Map, Value};

use super::MAX_PARTS;
use crate::{
    ProviderError,
    json::{list, text},
};

/// What a model thought before it called.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    text: String,
    details: Vec<Value>,
}

impl Thoughts {
    pub(super) fn add(&mut self, delta: &Value) -> Result<(), ProviderError> {
        self.text.push_str(text(delta, "reasoning_content")?.unwrap_or_default());
        for piece in list(delta, "reasoning_details")? {
            self.detail(piece)?;
        }
        Ok(())
    }

    /// The fields of a message that has them.
    pub(super) fn repeated(self) -> Map<String, Value> {
        let mut fields = Map::new();
        if !self.text.is_empty() {
            fields.insert("reasoning_content".to_owned(), self.text.into());
        }
        if !self.details.is_empty() {
            fields.insert("reasoning_details".to_owned(), self.details.into());
        }
        fields
    }

    /// A piece goes on with the last detail, if that is of its type and place.
    fn detail(&mut self, piece: &Value) -> Result<(), ProviderError> {
        let same =
            |last: &&mut Value| ["type", "index"].iter().all(|key| last.get(key) == piece.get(key));
        let last = self.details.last_mut().filter(same).and_then(Value::as_object_mut);
        let (Some(last), Some(piece)) = (last, piece.as_object()) else {
            if self.details.len() >= MAX_PARTS {
                return Err(ProviderError::TooLarge { max: MAX_PARTS, what: "thoughts" });
            }
            self.details.push(piece.clone());
            return Ok(());
        };
        for (key, value) in piece {
            match (last.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(more)) if grows(key) => {
                    text.push_str(more);
                }
                (Some(_), Value::Null) => {}
                _ => drop(last.insert(key.clone(), value.clone())),
            }
        }
        Ok(())
    }
}

fn grows(key: &str) -> bool {
    matches!(key, "text" | "summary" | "data")
}
