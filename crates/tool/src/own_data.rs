//! Toolgate's own data: what belongs to a user here, and not to the world.

use std::{fmt, sync::Arc};

use tokio::{runtime::Handle, task::spawn_blocking};

use crate::{CallId, Caller, Gateway, Live, Need, Notes, Plan, Sessions, Tasks, ToolError};

/// What Toolgate keeps for its users, as far as this deployment does. Handles are made from it when a
/// tool asks for one, so that a call which needs none pays nothing.
pub trait OwnData: fmt::Debug + Send + Sync {
    /// The notes of the user of `caller`.
    fn notes(&self, _: &Caller) -> Result<Arc<dyn Notes>, ToolError> {
        Err(none("notes"))
    }

    /// The tasks of the user of `caller`.
    fn tasks(&self, _: &Caller) -> Result<Arc<dyn Tasks>, ToolError> {
        Err(none("tasks"))
    }

    /// The conversations of agents, if there are any.
    fn sessions(&self) -> Option<Arc<dyn Sessions>> {
        None
    }

    /// The configuration, if it can be seen or changed here.
    fn gateway(&self) -> Option<Arc<dyn Gateway>> {
        None
    }
}

fn none(what: &str) -> ToolError {
    ToolError::failed(format!("no {what} are kept here"))
}

/// What every handle to own data does first: nothing that was not planned, and nothing after the end.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub(crate) call: CallId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) live: Arc<Live>,
}

impl Desk {
    /// Looks something up, unless the call is stopped before.
    pub(crate) async fn recall<T>(
        &self,
        need: &Need,
        look: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        self.plan.require(need)?;
        self.live.check()?;
        tokio::select! {
            biased;
            () = self.live.cancellation().cancelled() => {
                self.live.check()?;
                Err(ToolError::Cancelled)
            }
            found = look => found,
        }
    }

    /// Makes a change. Once it has begun it goes on to its end, and the call does not end before.
    pub(crate) async fn keep<T: Send + 'static>(
        &self,
        need: &Need,
        change: impl Future<Output = Result<T, ToolError>> + Send + 'static,
    ) -> Result<T, ToolError> {
        self.plan.require(need)?;
        let (live, runtime) = (self.live.clone(), Handle::current());
        // On a thread of its own, because a call is held by whoever may block.
        let made = spawn_blocking(move || {
            let _held = live.hold()?;
            runtime.block_on(change)
        });
        made.await.map_err(ToolError::internal)?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::{BoxFuture, Clock, NewNote, Note, NoteSearch, Notebook};

    /// Counts what reaches it.
    #[derive(Debug, Default)]
    struct Counts {
        saved: AtomicUsize,
        searched: AtomicUsize,
        begun: Notify,
        go_on: Notify,
    }

    impl Notes for Counts {
        fn save(&self, _: CallId, _: NewNote) -> BoxFuture<'_, Result<Note, ToolError>> {
            Box::pin(async {
                self.begun.notify_one();
                self.go_on.notified().await;
                self.saved.fetch_add(1, Ordering::SeqCst);
                Err(ToolError::failed("counted"))
            })
        }

        fn search(&self, _: NoteSearch) -> BoxFuture<'_, Result<Vec<Note>, ToolError>> {
            self.searched.fetch_add(1, Ordering::SeqCst);
            Box::pin(async { Ok(Vec::new()) })
        }
    }

    #[derive(Debug)]
    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> std::time::SystemTime {
            std::time::SystemTime::UNIX_EPOCH
        }
    }

    fn notebook(plan: Plan) -> (Notebook, Arc<Counts>) {
        let (notes, call) = (Arc::new(Counts::default()), crate::CallIds::new(Arc::new(Noon)));
        let desk = Desk { call: call.next(), plan: Arc::new(plan), live: Arc::default() };
        (Notebook { desk, notes: notes.clone() }, notes)
    }

    fn note(title: &str) -> NewNote {
        NewNote { title: title.into(), ..NewNote::default() }
    }

    #[tokio::test]
    async fn only_what_was_planned_is_looked_at_or_changed() {
        let (book, notes) = notebook([note("a").need()].into());
        let refused = book.search(NoteSearch::default()).await.unwrap_err();
        assert_eq!(refused.to_string(), "this call did not plan to look at notes");
        let refused = book.save(note("b")).await.unwrap_err();
        assert_eq!(refused.to_string(), "this call did not plan to save the note `b`");
        notes.go_on.notify_one();
        assert_eq!(book.save(note("a")).await.unwrap_err().to_string(), "counted");
        let counts = (notes.saved.load(Ordering::SeqCst), notes.searched.load(Ordering::SeqCst));
        assert_eq!(counts, (1, 0));
    }

    #[tokio::test]
    async fn nothing_happens_after_the_end_of_a_call() {
        let (book, notes) = notebook([note("a").need(), NoteSearch::need()].into());
        book.desk.live.end();
        assert_eq!(book.save(note("a")).await.unwrap_err().kind(), "cancelled");
        assert_eq!(book.search(NoteSearch::default()).await.unwrap_err().kind(), "cancelled");
        assert_eq!(notes.saved.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn a_change_that_has_begun_ends_before_its_call() {
        let (book, notes) = notebook([note("a").need()].into());
        let live = book.desk.live.clone();
        tokio::select! {
            saved = book.save(note("a")) => panic!("{saved:?}"),
            () = notes.begun.notified() => {}
        }
        // Whoever waited for it is gone, and the call is to end.
        assert!(!live.try_end());
        let end = spawn_blocking(move || live.end());
        notes.go_on.notify_one();
        end.await.unwrap();
        assert_eq!(notes.saved.load(Ordering::SeqCst), 1);
    }
}
