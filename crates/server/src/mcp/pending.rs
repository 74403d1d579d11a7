//! What was asked of a client over a connection that goes both ways, until it answers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value, json};

use super::client::Ask;

/// So much is asked of one client at a time.
const MOST: usize = 64;

/// What was asked and is not answered yet, by the id of the request.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    last: u64,
    waiting: HashMap<u64, (String, Arc<Mutex<Collected>>)>,
}

/// The answers to what was asked together.
#[derive(Debug)]
struct Collected {
    missing: usize,
    got: Map<String, Value>,
    ask: Option<Ask>,
}

impl Pending {
    /// The requests to send; none if too much is asked already, and then there are no answers.
    pub(super) fn begin(&self, mut ask: Ask) -> Vec<String> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Who asked may have given up.
        asked.waiting.retain(|_, (_, collected)| !is_over(collected));
        if asked.waiting.len() + ask.requests.len() > MOST {
            return Vec::new();
        }
        let requests = std::mem::take(&mut ask.requests);
        let missing = requests.len();
        let collected =
            Arc::new(Mutex::new(Collected { missing, got: Map::new(), ask: Some(ask) }));
        let mut messages = Vec::with_capacity(missing);
        for (name, request) in requests {
            asked.last += 1;
            let id = asked.last;
            asked.waiting.insert(id, (name, collected.clone()));
            let (method, params) = (request.get("method"), request.get("params"));
            let sent = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            messages.push(sent.to_string());
        }
        messages
    }

    /// Takes an answer; an error is one without anything in it.
    pub(super) fn answered(&self, id: &Value, result: Option<Value>) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = id.as_u64().and_then(|id| asked.waiting.remove(&id));
        let Some((name, collected)) = waiting else { return };
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.got.insert(name, result.unwrap_or(Value::Null));
        collected.missing -= 1;
        if collected.missing == 0
            && let Some(ask) = collected.ask.take()
        {
            // Who asked may have given up.
            let _ = ask.answers.send(std::mem::take(&mut collected.got));
        }
    }
}

fn is_over(collected: &Mutex<Collected>) -> bool {
    let collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
    collected.ask.as_ref().is_none_or(|ask| ask.answers.is_closed())
}
