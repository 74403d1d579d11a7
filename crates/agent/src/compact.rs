//! What stays of a conversation that has become too long for its model.

use provider::Message;
use tool::Block;

/// A token has about so many bytes, in English and in code.
const BYTES_PER_TOKEN: usize = 4;
/// What an image counts.
const IMAGE_TOKENS: usize = 1_600;
/// What every message costs besides its text.
const MESSAGE_TOKENS: usize = 4;

/// What the messages count, roughly.
pub(crate) fn tokens(messages: &[Message]) -> usize {
    messages.iter().map(message_tokens).sum()
}

fn message_tokens(message: &Message) -> usize {
    let content = match message {
        Message::User(blocks) => block_tokens(blocks),
        Message::Model(said) => {
            let args = said.calls.iter().map(|call| {
                let args = call.args.as_ref().map_or(0, |args| args.to_string().len());
                (call.name.len() + args) / BYTES_PER_TOKEN
            });
            said.text.len() / BYTES_PER_TOKEN + args.sum::<usize>()
        }
        Message::Results(results) => {
            results.iter().map(|result| block_tokens(&result.blocks)).sum()
        }
    };
    content + MESSAGE_TOKENS
}

fn block_tokens(blocks: &[Block]) -> usize {
    let one = |block: &Block| match block {
        Block::Text(text) => text.len() / BYTES_PER_TOKEN,
        Block::Image { .. } => IMAGE_TOKENS,
    };
    blocks.iter().map(one).sum()
}

/// Where what stays begins: as much of the end as counts at most `room`, and at least the last
/// exchange. Results stay with their calls. Nothing if there is nothing before it to sum up.
pub(crate) fn cut(messages: &[Message], room: usize) -> Option<usize> {
    let mut left = room;
    let mut at = messages.len();
    for (index, message) in messages.iter().enumerate().rev() {
        let Some(rest) = left.checked_sub(message_tokens(message)) else { break };
        left = rest;
        at = index;
    }
    // At the very least, what was said last is answered.
    let last_start = messages.iter().rposition(|message| !matches!(message, Message::Results(_)));
    at = at.min(last_start.unwrap_or(0));
    while at > 0 && matches!(messages.get(at), Some(Message::Results(_))) {
        at -= 1;
    }
    (at > 0).then_some(at)
}

/// The messages as text, for whoever sums them up; each cut to `max` characters.
pub(crate) fn as_text(messages: &[Message], max: usize) -> String {
    let short = |text: &str| {
        let mut shown: String = text.chars().take(max).collect();
        if shown.len() < text.len() {
            shown.push_str(" […]");
        }
        shown
    };
    let mut all = Vec::new();
    for message in messages {
        match message {
            Message::User(blocks) => all.push(format!("User: {}", short(&text_of(blocks)))),
            Message::Model(said) => {
                if !said.text.is_empty() {
                    all.push(format!("Assistant: {}", short(&said.text)));
                }
                for call in &said.calls {
                    let args = call.args.as_ref().map(ToString::to_string).unwrap_or_default();
                    all.push(format!("Assistant called {}: {}", call.name, short(&args)));
                }
            }
            Message::Results(results) => {
                all.extend(results.iter().map(|result| {
                    let name = result.name.as_deref().unwrap_or("tool");
                    format!("Result of {name}: {}", short(&result.text()))
                }));
            }
        }
    }
    all.join("\n\n")
}

/// The text of blocks; an image is named.
pub(crate) fn text_of(blocks: &[Block]) -> String {
    let one = |block: &Block| match block {
        Block::Text(text) => text.clone(),
        Block::Image { mime, data } => format!("[image: {mime}, {} bytes]", data.len()),
    };
    blocks.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use provider::{ModelMessage, WireCall, WireResult};
    use serde_json::json;

    use super::*;

    fn user(bytes: usize) -> Message {
        Message::User(vec![Block::Text("x".repeat(bytes))])
    }

    fn called() -> [Message; 2] {
        let call = WireCall { id: Some("1".into()), name: "read".into(), args: Ok(json!({})) };
        let result = WireResult {
            id: Some("1".into()),
            name: Some("read".into()),
            blocks: vec![Block::Text("y".repeat(400))],
            structured: None,
            is_error: false,
        };
        let said = ModelMessage { text: String::new(), calls: vec![call], raw: None };
        [Message::Model(said), Message::Results(vec![result])]
    }

    #[test]
    fn keeps_the_end_and_never_parts_a_result_from_its_call() {
        let [call, result] = called();
        let messages = [user(4_000), user(400), call, result, user(40)];
        for (room, expected) in [
            (100_000, None),
            // All but the first, large one.
            (250, Some(1)),
            // The result would fit, its call with it.
            (120, Some(2)),
            // Nothing fits: still the last message.
            (0, Some(4)),
        ] {
            assert_eq!(cut(&messages, room), expected, "{room}");
        }
        let [call, result] = called();
        assert_eq!(cut(&[user(4_000), call, result], 0), Some(1));
        assert_eq!(cut(&[user(4_000)], 0), None);
        assert_eq!(cut(&[], 0), None);
    }
}
