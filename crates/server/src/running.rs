//! The calls that run now, and how they are stopped.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent::key_of;
use store::{Db, NewApproval, SessionKey, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tool::{CallId, Caller, ItemId};

use crate::{
    auth::{Sees, Signed},
    spoken::{Spoken, Stored},
};

/// The calls that run in this process, whatever surface they came by.
#[derive(Debug, Default)]
pub(crate) struct Running {
    calls: Mutex<HashMap<CallId, Call>>,
    /// With a token of which family a call was made, while it runs.
    made_with: Mutex<HashMap<CallId, ItemId>>,
    /// Which tokens spoke to agents or made calls, and where.
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

    /// Stops every call of a user. Says how many there were.
    pub(crate) fn cancel_all_of(&self, user: &str) -> usize {
        let calls = self.calls();
        let own = calls.values().filter(|call| *call.caller.user == *user);
        own.inspect(|call| call.cancel.cancel()).count()
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
    pub(crate) fn note_token(&self, call: CallId, signed: &Signed) -> MadeWith<'_> {
        self.tokens().insert(call, signed.token.family.clone());
        MadeWith { running: self, call }
    }

    /// Notes that somebody speaks as `caller`. The store is asked each time whether it knows, because others
    /// may have removed the session.
    pub(crate) async fn note_speaker(
        &self,
        db: &Db,
        caller: &Caller,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        if !signed.is_for_programs() {
            return Ok(());
        }
        let (session, family) = (key_of(caller), &signed.token.family);
        let noted = db.note_speaker(&session, family).await;
        let stored = if noted.is_ok() { Stored::Yes } else { Stored::No };
        self.spoken().note(session, family, stored);
        noted
    }

    /// The same of somebody who makes a call as `caller`, of which there are many.
    pub(crate) async fn note_caller(
        &self,
        db: &Db,
        caller: &Caller,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let known = self.spoken().is_stored(key_of(caller), &signed.token.family);
        if known { Ok(()) } else { self.note_speaker(db, caller, signed).await }
    }

    /// Notes that a session is removed, and with it what the store knew of it.
    pub(crate) fn removed(&self, session: &SessionKey) {
        self.spoken().removed(session);
    }

    /// Whether the call that a question is about goes back to a token: it was made with it or one of its
    /// family, or by an agent that was spoken to with one of them, or by one below that.
    pub(crate) async fn goes_back_to(
        &self,
        db: &Db,
        question: &NewApproval,
        signed: &Signed,
    ) -> Result<bool, StoreError> {
        let family = &signed.token.family;
        if let Some(made_with) = self.tokens().get(&question.call) {
            return Ok(made_with == family);
        }
        let caller = self.calls().get(&question.call).map(|call| call.caller.clone());
        let sessions = match &caller {
            Some(caller) => caller.chain().map(key_of).collect(),
            // It ran in another process, or has just ended: its session is all that is known of it.
            None => vec![SessionKey::new(&question.user, &question.agent, &question.session)],
        };
        for session in sessions {
            let remembered = self.spoken().has_spoken(session.clone(), family);
            if remembered || db.has_spoken(&session, family).await? {
                return Ok(true);
            }
        }
        Ok(false)
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
