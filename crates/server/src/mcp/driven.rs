//! A request that is under way.

use std::pin::Pin;

use tokio::sync::mpsc;

use super::{client::Out, offer::Answered};

/// A request that is under way; dropping it stops it.
pub(super) struct Driven {
    work: Pin<Box<dyn Future<Output = Answered> + Send>>,
    /// Nothing comes out if nothing can be told or asked.
    outs: Option<mpsc::Receiver<Out>>,
    done: Option<Answered>,
}

/// What happens next with it.
pub(super) enum Step {
    Out(Out),
    Done(Answered),
}

impl Driven {
    pub(super) fn new(
        work: impl Future<Output = Answered> + Send + 'static,
        outs: Option<mpsc::Receiver<Out>>,
    ) -> Self {
        Self { work: Box::pin(work), outs, done: None }
    }

    /// What happens next. Nothing is lost if this is dropped before it is ready.
    pub(super) async fn step(&mut self) -> Step {
        let Some(outs) = &mut self.outs else {
            return Step::Done(self.work.as_mut().await);
        };
        if self.done.is_none() {
            tokio::select! {
                biased;
                Some(out) = outs.recv() => return Step::Out(out),
                done = &mut self.work => self.done = Some(done),
            }
        }
        // What was said before the end comes before it.
        if let Ok(out) = outs.try_recv() {
            return Step::Out(out);
        }
        match self.done.take() {
            Some(done) => Step::Done(done),
            None => std::future::pending().await,
        }
    }
}
