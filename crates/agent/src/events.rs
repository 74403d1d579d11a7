//! What is told about a run while it goes on.

use std::fmt;

use provider::CallNote;
use serde::Serialize;
use serde_json::Value;
use store::SessionKey;
use tokio::sync::mpsc;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    Started {
        /// Names the run.
        run: String,
        /// `provider/model`.
        model: String,
    },
    /// The model went on talking.
    Text {
        /// What it said since.
        text: String,
    },
    /// A call of ours begins.
    Call {
        /// Names it within the run.
        handle: String,
        /// As the model called it.
        tool: String,
        /// Its arguments.
        input: Value,
    },
    /// A call has news.
    Update {
        /// Which.
        handle: String,
        /// What it said.
        text: String,
    },
    /// A call ended.
    Called {
        /// Which.
        handle: String,
        /// What is kept about it.
        note: CallNote,
        /// The beginning of what the model is told.
        shown: String,
    },
    /// A message was added to the session.
    Message {
        /// `user`, `assistant` or `tool`.
        role: &'static str,
        /// What it says.
        text: String,
    },
    /// The run ended.
    Ended {
        /// Names the run.
        run: String,
        /// `done`, `calls`, `stopped`, `cancelled` or `failed`.
        how: &'static str,
    },
}

/// Hears of everything but the pieces of text.
pub trait Listener: fmt::Debug + Send + Sync {
    /// Must not block.
    fn heard(&self, session: &SessionKey, event: &Event);
}

/// Where the events of one run go.
#[derive(Debug, Clone, Default)]
pub struct Sink(Option<mpsc::Sender<Event>>);

impl Sink {
    /// To `sender`; whoever reads slowly slows the run down.
    pub const fn to(sender: mpsc::Sender<Event>) -> Self {
        Self(Some(sender))
    }

    pub(crate) async fn send(&self, event: Event) {
        if let Some(sender) = &self.0 {
            // Nobody listens any more: whoever started the run will end it.
            let _ = sender.send(event).await;
        }
    }

    /// Gives back what does not fit at present.
    pub(crate) fn offer(&self, text: String) -> Option<String> {
        let sender = self.0.as_ref()?;
        match sender.try_send(Event::Text { text }) {
            Err(mpsc::error::TrySendError::Full(Event::Text { text })) => Some(text),
            Ok(()) | Err(_) => None,
        }
    }
}
