//! What was asked of a client over a connection that goes both ways, until it answers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value, json};

use super::client::{Ask, AskId};

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
        if asked.waiting.len() + ask.requests.len() > MOST {
            // Who asked may have given up without a word.
            asked.waiting.retain(|_, (_, collected)| !is_over(collected));
        }
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

    /// Takes back what was asked; gives what the client is told about the requests it has not answered.
    pub(super) fn withdraw(&self, ask: AskId) -> Vec<String> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |collected: &Mutex<Collected>| {
            let collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.ask.as_ref().is_some_and(|open| open.id == ask)
        };
        let taken = asked.waiting.extract_if(|_, (_, collected)| is_meant(collected));
        let mut ids: Vec<_> = taken.map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids.into_iter().map(cancelled).collect()
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

fn cancelled(id: u64) -> String {
    let params = json!({"requestId": id, "reason": "an answer is needed no more"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

fn is_over(collected: &Mutex<Collected>) -> bool {
    let collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
    collected.ask.as_ref().is_none_or(|ask| ask.answers.is_closed())
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn ask(names: &[&str]) -> (Ask, oneshot::Receiver<Map<String, Value>>) {
        let (answers, answered) = oneshot::channel();
        let request = json!({"method": "roots/list", "params": {}});
        let requests = names.iter().map(|&name| (name.to_owned(), request.clone())).collect();
        (Ask { id: AskId::next(), requests, answers }, answered)
    }

    #[test]
    fn what_is_withdrawn_is_cancelled_at_the_client_unless_it_has_answered() {
        let pending = Pending::default();
        let (one, mut answered) = ask(&["a", "b"]);
        let (other, _other) = ask(&["c"]);
        let (first, second) = (one.id, other.id);
        assert_eq!(pending.begin(one).len() + pending.begin(other).len(), 3);
        pending.answered(&json!(1), Some(json!({})));
        let told = pending.withdraw(first);
        let told: Vec<Value> =
            told.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0]["method"], "notifications/cancelled");
        assert_eq!(told[0]["params"]["requestId"], 2);
        // Nothing comes of an answer that is too late.
        pending.answered(&json!(2), Some(json!({})));
        assert!(answered.try_recv().is_err());
        assert!(pending.withdraw(first).is_empty());
        assert_eq!(pending.withdraw(second).len(), 1);
    }
}
