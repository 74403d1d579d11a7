//! Messages of the Model Context Protocol, which come whole.

use serde_json::Value;

use super::{Answer, Finish, MAX_PARTS, Said};
use crate::{ProviderError, json::field, mcp};

/// The messages so far.
#[derive(Debug, Default)]
pub(super) struct Messages {
    messages: Vec<Value>,
}

impl Answer for Messages {
    fn event(&mut self, event: &Value, said: &mut Said) -> Result<(), ProviderError> {
        if self.messages.len() >= MAX_PARTS {
            return Err(ProviderError::TooLarge { max: MAX_PARTS, what: "messages" });
        }
        if field(event, "method")?.is_some_and(|method| method == "tools/call") {
            said.finish = Some(Finish::Calls);
            self.messages.push(event.clone());
        } else if field(event, "result")?.or(field(event, "error")?).is_some() {
            for result in mcp::parse_results(event)? {
                said.text.push_str(&result.text());
            }
            said.finish = said.finish.take().or(Some(Finish::Stop));
            self.messages.push(event.clone());
        }
        // A notification says nothing that lasts.
        Ok(())
    }

    fn message(self: Box<Self>, _: &str) -> Value {
        Value::Array(self.messages)
    }
}
