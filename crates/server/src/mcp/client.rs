//! The client of one request: what it is told and asked while the request is under way.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::request::ClientInfo;

/// So many messages wait to be sent; one more makes whoever sends it wait.
const MOST_WAITING: usize = 16;
/// So much is asked of it at once; more waits. There is room to ask for each and to take it back.
const MOST_ASKED: usize = MOST_WAITING / 2;

/// What goes out while a request is under way.
#[derive(Debug)]
pub(super) enum Out {
    /// A notification, as it is sent.
    Tell(String),
    /// Something is wanted of the client.
    Ask(Ask),
    /// What was wanted is wanted no more.
    Withdraw(AskId),
}

/// Tells apart what clients are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AskId(u64);

impl AskId {
    pub(super) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// What is wanted of a client: requests by name, and where the answers go.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) id: AskId,
    pub(super) requests: Map<String, Value>,
    pub(super) answers: oneshot::Sender<Map<String, Value>>,
}

/// The name under which a client wants to be told of progress. It is that of the request that is under way: who
/// comes back to one brings another.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgressToken(Option<Arc<Mutex<Option<Value>>>>);

impl ProgressToken {
    /// Nothing is ever told if there is none.
    pub(super) fn new(token: Option<Value>) -> Self {
        Self(token.map(|token| Arc::new(Mutex::new(Some(token)))))
    }

    pub(super) const fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// The one to tell now.
    pub(super) fn now(&self) -> Option<Value> {
        self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Goes on with the one of another request.
    pub(super) fn replace(&self, token: Option<Value>) {
        if let Some(known) = &self.0 {
            *known.lock().unwrap_or_else(PoisonError::into_inner) = token;
        }
    }
}

/// The client of one request.
#[derive(Debug, Clone)]
pub struct Client {
    /// Who it says it is.
    pub info: Arc<ClientInfo>,
    out: Option<(mpsc::Sender<Out>, Arc<Semaphore>)>,
}

impl Client {
    /// And what comes out for it.
    pub(super) fn new(info: Arc<ClientInfo>) -> (Self, Option<mpsc::Receiver<Out>>) {
        let (out, outs) = mpsc::channel(MOST_WAITING);
        let turns = Arc::new(Semaphore::new(MOST_ASKED));
        (Self { info, out: Some((out, turns)) }, Some(outs))
    }

    /// One that wants to be told nothing and can be asked nothing.
    pub(super) const fn silent(info: Arc<ClientInfo>) -> (Self, Option<mpsc::Receiver<Out>>) {
        (Self { info, out: None }, None)
    }

    /// Tells it something. Waits while it has much to read.
    pub async fn tell(&self, method: &str, params: Value) {
        let Some((out, _)) = &self.out else { return };
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        // Who is gone needs to be told nothing.
        let _ = out.send(Out::Tell(message)).await;
    }

    /// Asks it for something: each of `requests` has a `method` and `params`. `None` if nothing can be
    /// asked of it, or not any more. Dropping the future takes the question back.
    pub async fn ask(&self, requests: Map<String, Value>) -> Option<Map<String, Value>> {
        let (out, turns) = self.out.as_ref()?;
        let _turn = turns.acquire().await.ok()?;
        let (answers, answered) = oneshot::channel();
        let id = AskId::next();
        let mut open = OpenAsk { id, out: Some(out.clone().reserve_owned().await.ok()?) };
        out.send(Out::Ask(Ask { id, requests, answers })).await.ok()?;
        let answers = answered.await.ok();
        open.out = None;
        answers
    }
}

/// What a client is asked, until it answers. There is a place for the withdrawal from the beginning: nobody can
/// wait for one when this is dropped.
struct OpenAsk {
    id: AskId,
    out: Option<mpsc::OwnedPermit<Out>>,
}

impl Drop for OpenAsk {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            out.send(Out::Withdraw(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn much_that_is_asked_at_once_is_asked_in_turn() {
        let (client, outs) = Client::new(Arc::default());
        let mut outs = outs.unwrap();
        let asks = (0..4 * MOST_WAITING).map(|_| client.ask(Map::new()));
        let answers = tokio::spawn(async move {
            let mut answered = 0;
            while let Some(out) = outs.recv().await {
                if let Out::Ask(ask) = out {
                    ask.answers.send(Map::new()).unwrap();
                    answered += 1;
                }
            }
            answered
        });
        let answered = timeout(Duration::from_mins(1), join_all(asks)).await.unwrap();
        assert!(answered.into_iter().all(|answer| answer.is_some()));
        drop(client);
        assert_eq!(answers.await.unwrap(), 4 * MOST_WAITING);
    }
}
