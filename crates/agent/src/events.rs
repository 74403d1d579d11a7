//! What is told about a run while it goes on.

use std::{fmt, time::Duration};

use provider::{CallNote, Usage};
use serde::Serialize;
use serde_json::Value;
use store::SessionKey;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

/// Whoever takes nothing for so long is taken for gone, and the run ends.
const PATIENCE: Duration = Duration::from_mins(1);

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
        /// What its models read and wrote.
        usage: Usage,
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

    /// Waits for room, but not for ever: the run that `cancel` ends is held by nobody who does not read.
    pub(crate) async fn send(&self, event: Event, cancel: &CancellationToken) {
        let Some(sender) = &self.0 else { return };
        tokio::select! {
            biased;
            // Nobody listens any more: whoever started the run will end it.
            sent = timeout(PATIENCE, sender.send(event)) => if sent.is_err() {
                cancel.cancel();
            },
            () = cancel.cancelled() => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_ends_the_run_and_who_reads_slowly_does_not() {
        let event = || Event::Text { text: "x".to_owned() };
        let (sender, mut slow) = mpsc::channel(1);
        let (sink, cancel) = (Sink::to(sender), CancellationToken::new());
        sink.send(event(), &cancel).await;
        let reads = async {
            tokio::time::sleep(PATIENCE / 2).await;
            slow.recv().await
        };
        tokio::join!(sink.send(event(), &cancel), reads);
        assert!(!cancel.is_cancelled());
        sink.send(event(), &cancel).await;
        assert!(cancel.is_cancelled());
        // From then on nothing is waited for.
        let began = tokio::time::Instant::now();
        sink.send(event(), &cancel).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
