//! The calls that run now, and how they are stopped.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent::key_of;
use store::{NewApproval, SessionKey};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tool::{CallId, Caller, ItemId};

use crate::{auth::Sees, spoken::Spoken};

/// The calls that run in this process, whatever surface they came by.
#[derive(Debug, Default)]
pub(crate) struct Running {
    calls: Mutex<HashMap<CallId, Call>>,
    /// Which token a call was made with, while it runs.
    made_with: Mutex<HashMap<CallId, ItemId>>,
    /// Which tokens spoke to agents, and where.
    spoken: Mutex<Spoken>,
    ended: Notify,
}

#[derive(Debug)]
struct Call {
    caller: Arc<Caller>,
    cancel: CancellationToken,
}

impl Running {
    pub(crate) fn begin(&self, id: CallId, caller: &Arc<Caller>, cancel: &CancellationToken) {
        let call = Call { caller: caller.clone(), cancel: cancel.clone() };
        self.calls().insert(id, call);
    }

    pub(crate) fn end(&self, id: CallId) {
        let mut calls = self.calls();
        calls.remove(&id);
        if calls.is_empty() {
            self.ended.notify_waiters();
        }
    }

    /// Stops a call that somebody sees. Says whether there was one to stop.
    pub(crate) fn cancel(&self, id: CallId, sees: &Sees) -> bool {
        let calls = self.calls();
        let own = |call: &&Call| sees.covers(&call.caller.user, &call.caller.agent);
        let found = calls.get(&id).filter(own);
        found.inspect(|call| call.cancel.cancel()).is_some()
    }

    /// Stops every call.
    pub(crate) fn cancel_all(&self) {
        self.calls().values().for_each(|call| call.cancel.cancel());
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.calls().len()
    }

    /// Returns when nothing runs.
    pub(crate) async fn none(&self) {
        loop {
            let ended = self.ended.notified();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Notes which token a call is made with, until the guard is dropped.
    pub(crate) fn note_token(&self, call: CallId, token: &ItemId) -> MadeWith<'_> {
        self.tokens().insert(call, token.clone());
        MadeWith { running: self, call }
    }

    /// Notes that somebody speaks as `caller` with a token.
    pub(crate) fn note_speaker(&self, caller: &Caller, token: &ItemId) {
        self.spoken().note(key_of(caller), token);
    }

    /// Whether the call that a question is about goes back to this token: it was made with it, or by an
    /// agent that was spoken to with it, or by one below that.
    pub(crate) fn goes_back_to(&self, question: &NewApproval, token: &ItemId) -> bool {
        if let Some(made_with) = self.tokens().get(&question.call) {
            return made_with == token;
        }
        let caller = self.calls().get(&question.call).map(|call| call.caller.clone());
        let spoken = self.spoken();
        if let Some(caller) = caller {
            return caller.chain().any(|above| spoken.has_spoken(key_of(above), token));
        }
        // It runs elsewhere, or has just ended: its session is all that is known of it.
        let NewApproval { user, agent, session, .. } = question;
        spoken.has_spoken(SessionKey::new(user, agent, session), token)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<CallId, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spoken(&self) -> MutexGuard<'_, Spoken> {
        self.spoken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<CallId, ItemId>> {
        self.made_with.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While this is there, it is known which token a call was made with.
#[derive(Debug)]
pub(crate) struct MadeWith<'a> {
    running: &'a Running,
    call: CallId,
}

impl Drop for MadeWith<'_> {
    fn drop(&mut self) {
        self.running.tokens().remove(&self.call);
    }
}
