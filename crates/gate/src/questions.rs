//! How many questions are open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tool::Caller;

/// Open questions by user, agent and session.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Mutex<HashMap<Key, usize>>,
}

/// Names a session.
pub(crate) type Key = (Arc<str>, Arc<str>, Arc<str>);

pub(crate) fn key(caller: &Caller) -> Key {
    (caller.user.clone(), caller.agent.clone(), caller.session.clone())
}

impl Questions {
    /// How many the session of `caller` has.
    pub(crate) fn open(&self, caller: &Caller) -> usize {
        self.lock().get(&key(caller)).copied().unwrap_or_default()
    }

    /// How many there are in all.
    pub(crate) fn all(&self) -> usize {
        self.lock().values().sum()
    }

    /// Counts one more until the guard is dropped.
    pub(crate) fn ask<'a>(&'a self, caller: &Caller) -> OpenQuestion<'a> {
        let key = key(caller);
        *self.lock().entry(key.clone()).or_default() += 1;
        OpenQuestion { questions: self, key }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'a> {
    questions: &'a Questions,
    key: Key,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut open = self.questions.lock();
        match open.get_mut(&self.key) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&self.key)),
        }
    }
}
