//! Watches what agents do in their sessions.

use agent::{Event, Listener};
use serde_json::json;
use store::SessionKey;

use super::{Events, Who, fields, kind};

/// What of a message is told; all of it is in the session.
const MOST_CHARS: usize = 4_000;

impl Listener for Events {
    fn heard(&self, session: &SessionKey, event: &Event) {
        let (kind, mut params) = match event {
            Event::Started { run, model } => {
                self.metrics.run_started();
                (kind::SESSION_STARTED, fields(json!({"run": run, "model": model})))
            }
            Event::Message { role, text } => {
                let text: String = text.chars().take(MOST_CHARS).collect();
                (kind::SESSION_MESSAGE, fields(json!({"role": role, "text": text})))
            }
            Event::Ended { run, how, usage } => {
                self.metrics.run_ended(how, *usage);
                (kind::SESSION_ENDED, fields(json!({"run": run, "how": how, "usage": usage})))
            }
            // Calls are told by the gate, and pieces of text to whoever asked for them.
            Event::Text { .. }
            | Event::Call { .. }
            | Event::Update { .. }
            | Event::Called { .. } => return,
        };
        params.insert("session".to_owned(), json!(session.to_string()));
        // Sessions of two users may have the same name.
        params.insert("user".to_owned(), json!(session.user));
        let who = Who { user: session.user.as_str().into(), agent: session.agent.as_str().into() };
        self.tell(kind, who, params);
    }
}
