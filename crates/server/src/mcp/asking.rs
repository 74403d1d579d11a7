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

    /// Whether the call that a question is about came from a client that can show it to its person.
    pub fn reaches(&self, question: &Question) -> bool {
        self.client(question).is_some()
    }

    /// What the person at the client answers; `None` if they cannot be asked, or did not answer.
    pub async fn ask(&self, question: &Question) -> Option<Answer> {
        let client = self.client(question)?;
        let message = (self.words.question)(question);
        if message.len() > MOST_SHOWN {
            return None;
        }
        let choices = self.choices(question);
        let form = json!({
            "method": "elicitation/create",
            "params": {"message": message, "requestedSchema": schema(&choices)},
        });
        let answers = client.ask([(FORM.to_owned(), form)].into_iter().collect()).await?;
        let (decision, message) = read(answers.get(FORM)?, choices)?;
        let by = format!("owner (through {})", client.info.name);
        Some(Answer { decision, by, message })
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

/// What a person said. Not to choose is to say no; what is no answer at all is `None`.
fn read(answer: &Value, choices: Vec<(String, Decision)>) -> Option<(Decision, Option<String>)> {
    let content = answer.get("content").and_then(Value::as_object);
    match answer.get("action")?.as_str()? {
        "accept" => {
            let chosen = content?.get("decision")?.as_str()?;
            let found = choices.into_iter().find(|(words, _)| words == chosen);
            Some((found?.1, said(content)))
        }
        "decline" => Some((Decision::Deny, said(content))),
        "cancel" => Some((Decision::Deny, Some("the question was dismissed".to_owned()))),
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
        for (answer, expected) in [
            (accept("Allow once"), Some((Decision::AllowOnce, None))),
            (accept("Deny"), Some((Decision::Deny, None))),
            (accept("allow once"), None),
            (accept("Allow everything"), None),
            (json!({"action": "accept"}), None),
            (json!({"action": "accept", "content": {"decision": true}}), None),
            (json!({"action": "decline"}), Some((Decision::Deny, None))),
            (
                json!({"action": "decline", "content": {"message": " not now "}}),
                Some((Decision::Deny, Some("not now".to_owned()))),
            ),
            (
                json!({"action": "cancel"}),
                Some((Decision::Deny, Some("the question was dismissed".to_owned()))),
            ),
            (json!({"action": "yes"}), None),
            (json!("accept"), None),
            (Value::Null, None),
        ] {
            let choices = vec![
                ("Allow once".to_owned(), Decision::AllowOnce),
                ("Deny".to_owned(), Decision::Deny),
            ];
            assert_eq!(read(&answer, choices), expected, "{answer}");
        }
    }
}
