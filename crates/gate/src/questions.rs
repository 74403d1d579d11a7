//! How many questions are open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Open questions by session.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Mutex<HashMap<Arc<str>, usize>>,
}

impl Questions {
    /// How many a session has.
    pub(crate) fn open(&self, session: &str) -> usize {
        self.lock().get(session).copied().unwrap_or_default()
    }

    /// Counts one more until the guard is dropped.
    pub(crate) fn ask<'a>(&'a self, session: &Arc<str>) -> OpenQuestion<'a> {
        *self.lock().entry(session.clone()).or_default() += 1;
        OpenQuestion { questions: self, session: session.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'a> {
    questions: &'a Questions,
    session: Arc<str>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut open = self.questions.lock();
        match open.get_mut(&self.session) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&self.session)),
        }
    }
}
