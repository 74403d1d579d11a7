//! What was said in a session, as it is kept.

use std::time::{SystemTime, UNIX_EPOCH};

use provider::{Message, WireCall, WireResult};
use serde_json::{Value, json};
use store::{Db, Message as StoredMessage, MessageRole, NewMessage, Session, SessionKey};
use tool::{Block, Digest};

use crate::AgentError;

/// The most that goes to a model at once; a session is summed up long before.
const MAX_MESSAGES: u32 = 10_000;

/// Among so many the last message of the model is looked for.
const LAST_MESSAGES: u32 = 500;

/// How the beginning of a conversation that was summed up is told to the model.
const SUMMARY: &str = "Summary of what was said before:";

/// What still goes to the model.
pub(crate) async fn load(db: &Db, session: &Session) -> Result<Vec<Message>, AgentError> {
    let stored = db.messages(&session.key, session.context_from, MAX_MESSAGES).await?;
    let messages = stored.iter().filter_map(|message| read(message).transpose());
    Ok(in_order(messages.collect::<Result<_, _>>()?))
}

/// A message as a model gets it; notes are for people.
pub(crate) fn read(stored: &StoredMessage) -> Result<Option<Message>, AgentError> {
    Ok(match stored.role {
        MessageRole::User | MessageRole::Model | MessageRole::Results => {
            Some(serde_json::from_value(stored.content.clone())?)
        }
        MessageRole::Summary => {
            let text = stored.content.get("text").and_then(Value::as_str).unwrap_or_default();
            Some(Message::User(vec![Block::Text(format!("{SUMMARY}\n{text}"))]))
        }
        MessageRole::Note => None,
    })
}

/// Adds messages, and gives the number of the first.
pub(crate) async fn add(
    db: &Db,
    key: &SessionKey,
    messages: &[Message],
    now: SystemTime,
) -> Result<u64, AgentError> {
    let new: Vec<_> = messages.iter().map(stored).collect::<Result<_, _>>()?;
    Ok(db.add_messages(key, &new, now).await?)
}

/// The UUID of a message: for the journal, and for programs that look at sessions. A session that is removed and
/// made again has other messages.
pub(crate) fn message_id(session: &Session, number: u64) -> String {
    let made = micros_since_1970(session).to_le_bytes();
    let SessionKey { user, agent, name } = &session.key;
    let texts = [user.as_bytes(), agent.as_bytes(), name.as_bytes()];
    let number = number.to_le_bytes();
    Digest::of_parts(texts.into_iter().chain([&made[..], &number[..]])).to_uuid()
}

/// The id that versions before 0.2 gave a message, for calls that they recorded.
pub(crate) fn old_message_id(session: &Session, number: u64) -> String {
    format!("{:x}.{number}", micros_since_1970(session))
}

fn micros_since_1970(session: &Session) -> u128 {
    session.created_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros()
}

/// The number of the last message of the model, if it is not long ago.
pub(crate) async fn last_said(db: &Db, session: &Session) -> Result<Option<u64>, AgentError> {
    let last = db.last_messages(&session.key, LAST_MESSAGES).await?;
    let said = last.iter().filter(|message| message.role == MessageRole::Model);
    Ok(said.map(|message| message.number).max())
}

/// From now on a summary stands for all that came before, followed by `tail`. Gives its number.
pub(crate) async fn replace(
    db: &Db,
    key: &SessionKey,
    (summary, tail): (&str, &[Message]),
    now: SystemTime,
) -> Result<u64, AgentError> {
    let summary = NewMessage { role: MessageRole::Summary, content: json!({"text": summary}) };
    let mut all = vec![summary];
    for message in tail {
        all.push(stored(message)?);
    }
    Ok(db.begin_anew(key, &all, now).await?)
}

/// Whether a message stands for what was said before.
pub(crate) fn is_summary(message: &Message) -> bool {
    let Message::User(blocks) = message else { return false };
    matches!(blocks.as_slice(), [Block::Text(text)] if text.starts_with(SUMMARY))
}

/// As it is kept.
fn stored(message: &Message) -> Result<NewMessage, serde_json::Error> {
    let role = match message {
        Message::User(_) => MessageRole::User,
        Message::Model(_) => MessageRole::Model,
        Message::Results(_) => MessageRole::Results,
    };
    Ok(NewMessage { role, content: serde_json::to_value(message)? })
}

/// What is new in a conversation as whoever asks knows it: all that comes after the model's last
/// words, because those are ours.
pub(crate) fn fresh(incoming: Vec<Message>) -> Vec<Message> {
    let last = incoming.iter().rposition(|message| matches!(message, Message::Model(_)));
    let begin = last.map_or(0, |at| at + 1);
    incoming.into_iter().skip(begin).collect()
}

/// The calls that have no result yet; what was said since does not change that.
pub(crate) fn open_calls(messages: &[Message]) -> &[WireCall] {
    let last = messages.iter().rev().find(|message| !matches!(message, Message::User(_)));
    match last {
        Some(Message::Model(said)) => &said.calls,
        Some(Message::User(_) | Message::Results(_)) | None => &[],
    }
}

/// Results right behind their calls: what somebody said while they were awaited comes after them.
pub(crate) fn in_order(messages: Vec<Message>) -> Vec<Message> {
    let mut ordered: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let said = |other: &Message| !matches!(other, Message::User(_));
        let calls = ordered.iter().rposition(said);
        let at = match (&message, calls.map(|at| (at, ordered.get(at)))) {
            (Message::Results(_), Some((at, Some(Message::Model(_))))) => at + 1,
            _ => ordered.len(),
        };
        ordered.insert(at, message);
    }
    ordered
}

/// Makes sure that every call has its result right after it, and every result its call: models
/// refuse anything else, and what clients send may have been cut.
pub(crate) fn mend(messages: Vec<Message>) -> Vec<Message> {
    let mut mended: Vec<Message> = Vec::with_capacity(messages.len());
    let mut given = messages.into_iter().peekable();
    while let Some(message) = given.next() {
        match message {
            // Results that belong to no call were taken by the one before, if any.
            Message::Results(_) => {}
            Message::User(_) => mended.push(message),
            Message::Model(said) => {
                let calls = said.calls.clone();
                mended.push(Message::Model(said));
                let mut found = Vec::new();
                while let Some(Message::Results(results)) =
                    given.next_if(|next| matches!(next, Message::Results(_)))
                {
                    found.extend(results);
                }
                if !calls.is_empty() && (!found.is_empty() || given.peek().is_some()) {
                    mended.push(Message::Results(matched(&calls, found)));
                }
            }
        }
    }
    mended
}

/// One result for each call, in order.
pub(crate) fn matched(calls: &[WireCall], mut found: Vec<WireResult>) -> Vec<WireResult> {
    let one = |call: &WireCall| {
        let at = found.iter().position(|result| match (&call.id, &result.id) {
            (Some(wanted), Some(id)) => wanted == id,
            _ => result.name.as_deref().is_none_or(|name| name == call.name),
        });
        let Some(result) = at.map(|at| found.remove(at)) else {
            return failed(call, "interrupted: nobody gave a result for this call");
        };
        WireResult { id: call.id.clone(), name: Some(call.name.clone()), ..result }
    };
    calls.iter().map(one).collect()
}

/// A result that says why there is none.
pub(crate) fn failed(call: &WireCall, text: impl Into<String>) -> WireResult {
    WireResult {
        id: call.id.clone(),
        name: Some(call.name.clone()),
        blocks: vec![Block::Text(text.into())],
        structured: None,
        is_error: true,
    }
}

#[cfg(test)]
mod tests {
    use provider::ModelMessage;
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User(vec![Block::Text(text.into())])
    }

    fn call(id: &str) -> WireCall {
        WireCall { id: Some(id.into()), name: "read".into(), args: Ok(json!({})) }
    }

    fn model(text: &str, ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| call(id)).collect();
        Message::Model(ModelMessage { text: text.into(), calls, raw: None })
    }

    fn results(ids: &[&str]) -> Message {
        Message::Results(ids.iter().map(|id| failed(&call(id), format!("r{id}"))).collect())
    }

    #[test]
    fn what_comes_after_the_models_last_words_is_new() {
        let all = vec![user("a"), model("b", &[]), user("c"), user("d")];
        assert_eq!(fresh(all), [user("c"), user("d")]);
        assert_eq!(fresh(vec![user("a")]), [user("a")]);
        assert!(fresh(vec![user("a"), model("b", &[])]).is_empty());
    }

    #[test]
    fn what_is_said_while_results_are_awaited_comes_after_them() {
        let asked = vec![user("a"), model("", &["1"]), user("report")];
        assert_eq!(open_calls(&asked).len(), 1);
        let answered = [asked, vec![results(&["1"]), user("b")]].concat();
        let expected = [user("a"), model("", &["1"]), results(&["1"]), user("report"), user("b")];
        assert_eq!(in_order(answered), expected);
        assert!(open_calls(&expected).is_empty());
        assert_eq!(in_order(expected.to_vec()), expected);
    }

    #[test]
    fn every_call_has_its_result_and_every_result_its_call() {
        let interrupted =
            |id: &str| failed(&call(id), "interrupted: nobody gave a result for this call");
        let Message::Results(one) = results(&["1"]) else { panic!() };
        for (given, expected) in [
            // As it should be.
            (
                vec![user("a"), model("", &["1"]), results(&["1"])],
                vec![user("a"), model("", &["1"]), results(&["1"])],
            ),
            // In two messages, and in another order.
            (
                vec![model("", &["1", "2"]), results(&["2"]), results(&["1"]), user("b")],
                vec![model("", &["1", "2"]), results(&["1", "2"]), user("b")],
            ),
            // One is missing.
            (
                vec![model("", &["1", "2"]), results(&["1"])],
                vec![
                    model("", &["1", "2"]),
                    Message::Results(vec![one[0].clone(), interrupted("2")]),
                ],
            ),
            // All are missing, and the conversation went on.
            (
                vec![model("", &["1"]), user("b")],
                vec![model("", &["1"]), Message::Results(vec![interrupted("1")]), user("b")],
            ),
            // Still open.
            (vec![model("", &["1"])], vec![model("", &["1"])]),
            // Results of nothing.
            (vec![results(&["1"]), user("a")], vec![user("a")]),
            (vec![model("x", &[]), results(&["1"])], vec![model("x", &[])]),
        ] {
            assert_eq!(mend(given), expected);
        }
    }
}
