//! The built-in model: no network, no key, and no language model either. It understands plain requests and
//! turns them into calls, so that everything else can be tried.
//!
//! A pure function from the conversation and the tools to an answer: the request is read anew each time
//! (`words.rs`, `wish.rs`), what has been called since says how far it got (`steps.rs`), and what came of it
//! is put into sentences (`speech.rs`).

mod speech;
mod steps;
mod tasks;
mod wish;
mod words;
mod zone;

use provider::{Assembled, DefinitionList, Finish, Message, Prompt, WireCall};
use serde_json::{Value, json};
use tool::Block;

use self::steps::Next;

/// The answer, word by word and then whole.
pub(super) async fn stream(
    prompt: &Prompt<'_>,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Assembled {
    let answer = answer(prompt.messages, &names(prompt.tools));
    for word in answer.text.split_inclusive(' ') {
        on_text(word);
        // So that nobody has to wait for a talkative answer, and it can be cancelled.
        tokio::task::yield_now().await;
    }
    answer
}

/// What the model says next, with tools of these names.
fn answer(messages: &[Message], tools: &[String]) -> Assembled {
    let asked = messages.iter().rposition(|message| matches!(message, Message::User(_)));
    let (request, since) = asked.map_or((String::new(), &[][..]), |at| {
        let text = messages.get(at).map(said).unwrap_or_default();
        (text, messages.get(at + 1..).unwrap_or_default())
    });
    let next = match words::understood(&request) {
        Ok(groups) => steps::next(&groups, since, tools),
        Err(unclear) => Next::Say(speech::unclear(&unclear, tools)),
    };
    match next {
        Next::Say(text) => assembled(text, Vec::new()),
        Next::Call(calls) => {
            let at = messages.len();
            let calls = calls.into_iter().enumerate().map(|(index, (name, args))| WireCall {
                id: Some(format!("call_{at}_{index}")),
                name,
                args: Ok(args),
            });
            assembled(String::new(), calls.collect())
        }
    }
}

/// What a person said.
fn said(message: &Message) -> String {
    let Message::User(blocks) = message else { return String::new() };
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The names of the tools, as calls must name them.
fn names(tools: Option<&DefinitionList>) -> Vec<String> {
    let list = tools.and_then(|tools| tools.value.as_array()).into_iter().flatten();
    let name = |tool: &Value| tool.pointer("/function/name").or_else(|| tool.get("name")).cloned();
    list.filter_map(name).filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// An answer in the form that `OpenAI` chat has.
fn assembled(text: String, calls: Vec<WireCall>) -> Assembled {
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::Calls };
    let call = |call: &WireCall| {
        let args = call.args.as_ref().map(ToString::to_string).unwrap_or_default();
        let function = json!({"name": call.name, "arguments": args});
        json!({"id": call.id, "type": "function", "function": function})
    };
    let mut message = json!({"role": "assistant", "content": text});
    if let (Value::Object(message), false) = (&mut message, calls.is_empty()) {
        message.insert("content".to_owned(), Value::Null);
        message.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    Assembled { text, calls, finish, usage: None, message }
}

#[cfg(test)]
mod tests;
