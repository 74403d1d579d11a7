//! A request that is under way.

use std::pin::Pin;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    client::{Out, ProgressToken},
    offer::Answered,
};

/// A request that is under way; dropping it stops it.
pub(super) struct Driven {
    work: Pin<Box<dyn Future<Output = Answered> + Send>>,
    /// Nothing comes out if nothing can be told or asked.
    outs: Option<mpsc::Receiver<Out>>,
    done: Option<Answered>,
    reins: Reins,
}

/// What can be changed about a request while it is under way.
#[derive(Debug, Clone)]
pub(super) struct Reins {
    pub(super) cancel: CancellationToken,
    pub(super) progress_token: ProgressToken,
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
        reins: Reins,
    ) -> Self {
        Self { work: Box::pin(work), outs, done: None, reins }
    }

    /// Goes on for another request of the same client.
    pub(super) fn go_on_for(self, progress_token: Option<Value>) -> Self {
        self.reins.progress_token.replace(progress_token);
        self
    }

    /// What happens next, once it was cancelled if it is to be.
    pub(super) async fn step_unless(&mut self, cancelled: &CancellationToken) -> Step {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => self.reins.cancel.cancel(),
            step = self.step() => return step,
        }
        self.step().await
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
