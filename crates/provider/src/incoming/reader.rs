//! A conversation, read message by message.

use tool::Block;

use crate::{Message, ModelMessage, ProviderError, WireResult};

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    system: Vec<String>,
    messages: Vec<Message>,
}

impl Reader {
    /// What the model is told first, wherever it stands.
    pub(super) fn system(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.system.push(text);
        }
    }

    pub(super) fn user(&mut self, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.messages.push(Message::User(blocks));
        }
    }

    pub(super) fn model(&mut self, message: ModelMessage) {
        self.messages.push(Message::Model(message));
    }

    /// A part of what the model said in one go, with what stands between its texts.
    pub(super) fn more(&mut self, part: ModelMessage, between: &str) {
        let Some(Message::Model(message)) = self.messages.last_mut() else {
            return self.model(part);
        };
        if !message.text.is_empty() && !part.text.is_empty() {
            message.text.push_str(between);
        }
        message.text.push_str(&part.text);
        message.calls.extend(part.calls);
    }

    /// Results that follow each other belong to one turn.
    pub(super) fn results(&mut self, results: Vec<WireResult>) {
        if let Some(Message::Results(before)) = self.messages.last_mut() {
            before.extend(results);
        } else if !results.is_empty() {
            self.messages.push(Message::Results(results));
        }
    }

    /// What was said first, and the conversation. Where there is nothing else, what the model is told
    /// first is what it answers.
    pub(super) fn end(self) -> Result<(Option<String>, Vec<Message>), ProviderError> {
        let system = Some(self.system.join("\n\n")).filter(|system| !system.is_empty());
        match (system, self.messages) {
            (None, messages) if messages.is_empty() => Err(ProviderError::NothingSaid),
            (Some(system), messages) if messages.is_empty() => {
                Ok((None, vec![Message::user(system)]))
            }
            (system, messages) => Ok((system, messages)),
        }
    }
}
