//! Puts a question about a call to the person at the client that made it.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use gate::Question;
use serde_json::{Map, Value, json};
use store::{Answer, Decision, EXACT};
use tool::{CallId, Clock};

use super::client::Client;

/// So long an answer for always is remembered.
const ALWAYS: Duration = Duration::from_hours(30 * 24);
/// What is longer is not put into a form; people are shown it elsewhere.
const MOST_SHOWN: usize = 20_000;
/// What an agent is told is no longer.
const MOST_SAID: usize = 1_000;

/// The name of the form among what is asked.
const FORM: &str = "approval";
/// So often the form is shown to somebody who sends it off without a choice.
const MOST_TRIES: usize = 3;
/// What stands above the form from the second time on.
const AGAIN: &str = "None of the answers was chosen. Please choose one of them.\n\n";
/// What an agent is told if nothing was ever chosen.
const UNCLEAR: &str =
    "the form came back again and again without one of its answers, which counts as no";

/// A question, and what an answer may be remembered for, as people say it: everything is shown, and
/// nothing can hide in it.
#[derive(Debug, Clone, Copy)]
pub struct InWords {
    /// All of a question.
    pub question: fn(&Question) -> String,
    /// A scope.
    pub scope: fn(&str) -> String,
}

/// Which client a call came from, for the calls whose client may answer questions about them.
pub struct Asking {
    clients: Mutex<HashMap<CallId, Client>>,
    words: InWords,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asking")
    }
}

impl Asking {
    /// Nobody can be asked yet.
    pub fn new(words: InWords, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clients: Mutex::default(), words, clock })
    }

    /// Notes whose client may be asked about a call, until the guard is dropped.
    pub(super) fn note(self: &Arc<Self>, call: CallId, client: Client) -> Noted {
        self.clients().insert(call, client);
        Noted { asking: self.clone(), call }
    }

    /// What the person at the client answers; `None` if they cannot be asked, or did not answer.
    pub async fn ask(&self, question: &Question) -> Option<Answer> {
        let client = self.client(question)?;
        let message = (self.words.question)(question);
        if message.len() > MOST_SHOWN {
            return None;
        }
        let choices = self.choices(question);
        let by = format!("owner (through {})", client.info.name);
        for tries in 0..MOST_TRIES {
            let shown = if tries == 0 { message.clone() } else { format!("{AGAIN}{message}") };
            let form = json!({
                "method": "elicitation/create",
                "params": {"message": shown, "requestedSchema": schema(&choices)},
            });
            let answers = client.ask([(FORM.to_owned(), form)].into_iter().collect()).await?;
            match read(answers.get(FORM)?, &choices)? {
                Said::Clear(decision, message) => return Some(Answer { decision, by, message }),
                Said::Unclear => {}
            }
        }
        Some(Answer { decision: Decision::Deny, by, message: Some(UNCLEAR.to_owned()) })
    }

    fn client(&self, question: &Question) -> Option<Client> {
        let client = self.clients().get(&question.request.call).cloned()?;
        client.info.shows_forms().then_some(client)
    }

    /// What a person can choose, in words.
    fn choices(&self, question: &Question) -> Vec<(String, Decision)> {
        let scopes = &question.request.scopes;
        let mut choices = vec![("Allow once".to_owned(), Decision::AllowOnce)];
        if scopes.iter().any(|scope| scope == EXACT) {
            choices.push(("Allow in this session".to_owned(), Decision::AllowSession));
            let expires = self.clock.now().checked_add(ALWAYS);
            choices.extend(scopes.iter().map(|scope| {
                let words = format!("Allow for 30 days: {}", (self.words.scope)(scope));
                (words, Decision::AllowAlways { scope: scope.clone(), expires })
            }));
        }
        choices.push(("Deny".to_owned(), Decision::Deny));
        choices
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<CallId, Client>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While this is there, the client of a call can be asked about it.
#[derive(Debug)]
pub(super) struct Noted {
    asking: Arc<Asking>,
    call: CallId,
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.asking.clients().remove(&self.call);
    }
}

fn schema(choices: &[(String, Decision)]) -> Value {
    let words: Vec<_> = choices.iter().map(|(words, _)| words).collect();
    json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Your answer", "enum": words},
            "message": {
                "type": "string",
                "title": "What the agent is told",
                "description": "Optional; for a no.",
            },
        },
        "required": ["decision"],
    })
}

/// What a person said.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Clear(Decision, Option<String>),
    /// They sent it off without a choice.
    Unclear,
}

/// What a person said. Not to answer is to say no; what is no answer at all is `None`.
fn read(answer: &Value, choices: &[(String, Decision)]) -> Option<Said> {
    let content = answer.get("content").and_then(Value::as_object);
    let clear = |decision: Decision, message| Some(Said::Clear(decision, message));
    match answer.get("action")?.as_str()? {
        "accept" => {
            let chosen = content.and_then(|content| content.get("decision"));
            let found = choices.iter().find(|(words, _)| chosen.is_some_and(|it| it == words));
            let Some((_, decision)) = found else { return Some(Said::Unclear) };
            clear(decision.clone(), said(content))
        }
        "decline" => clear(Decision::Deny, said(content)),
        "cancel" => clear(Decision::Deny, Some("the question was dismissed".to_owned())),
        _ => None,
    }
}

fn said(content: Option<&Map<String, Value>>) -> Option<String> {
    let said = content?.get("message")?.as_str()?.trim();
    (!said.is_empty()).then(|| said.chars().take(MOST_SAID).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_was_offered_or_none() {
        let accept = |choice: &str| json!({"action": "accept", "content": {"decision": choice}});
        let clear = |decision, message: Option<&str>| {
            Some(Said::Clear(decision, message.map(str::to_owned)))
        };
        let choices =
            [("Allow once".to_owned(), Decision::AllowOnce), ("Deny".to_owned(), Decision::Deny)];
        for (answer, expected) in [
            (accept("Allow once"), clear(Decision::AllowOnce, None)),
            (accept("Deny"), clear(Decision::Deny, None)),
            (accept("allow once"), Some(Said::Unclear)),
            (accept("Allow everything"), Some(Said::Unclear)),
            (json!({"action": "accept"}), Some(Said::Unclear)),
            (json!({"action": "accept", "content": {"decision": true}}), Some(Said::Unclear)),
            (json!({"action": "decline"}), clear(Decision::Deny, None)),
            (
                json!({"action": "decline", "content": {"message": " not now "}}),
                clear(Decision::Deny, Some("not now")),
            ),
            (
                json!({"action": "cancel"}),
                clear(Decision::Deny, Some("the question was dismissed")),
            ),
            (json!({"action": "yes"}), None),
            (json!("accept"), None),
            (Value::Null, None),
        ] {
            assert_eq!(read(&answer, &choices), expected, "{answer}");
        }
    }
}
