//! The client of one request: what it is told and asked while the request is under way.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::request::ClientInfo;

/// So many messages wait to be sent; one more makes whoever sends it wait.
const MOST_WAITING: usize = 16;

/// What goes out while a request is under way.
#[derive(Debug)]
pub(super) enum Out {
    /// A notification, as it is sent.
    Tell(String),
    /// Something is wanted of the client.
    Ask(Ask),
}

/// What is wanted of a client: requests by name, and where the answers go.
#[derive(Debug)]
pub(super) struct Ask {
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
    out: Option<mpsc::Sender<Out>>,
}

impl Client {
    /// And what comes out for it.
    pub(super) fn new(info: Arc<ClientInfo>) -> (Self, Option<mpsc::Receiver<Out>>) {
        let (out, outs) = mpsc::channel(MOST_WAITING);
        (Self { info, out: Some(out) }, Some(outs))
    }

    /// One that wants to be told nothing and can be asked nothing.
    pub(super) const fn silent(info: Arc<ClientInfo>) -> (Self, Option<mpsc::Receiver<Out>>) {
        (Self { info, out: None }, None)
    }

    /// Tells it something. Waits while it has much to read.
    pub async fn tell(&self, method: &str, params: Value) {
        let Some(out) = &self.out else { return };
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        // Who is gone needs to be told nothing.
        let _ = out.send(Out::Tell(message)).await;
    }

    /// Asks it for something: each of `requests` has a `method` and `params`. `None` if nothing can be
    /// asked of it, or not any more.
    pub async fn ask(&self, requests: Map<String, Value>) -> Option<Map<String, Value>> {
        let (answers, answered) = oneshot::channel();
        self.out.as_ref()?.send(Out::Ask(Ask { requests, answers })).await.ok()?;
        answered.await.ok()
    }
}
