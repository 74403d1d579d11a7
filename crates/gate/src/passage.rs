//! A call on its way, that gets its outcome whether or not anybody still waits for it.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::runtime::Handle;
use tool::{BoxFuture, Live, ToolError, ToolResult};

/// Runs in the task of whoever waits, which costs nothing. If they go away, the call is stopped, and
/// what is left of it, above all its record, runs on in a task of its own.
pub(crate) struct Passage {
    live: Arc<Live>,
    rest: Option<BoxFuture<'static, ToolResult>>,
}

impl Passage {
    pub(crate) fn new(
        live: Arc<Live>,
        call: impl Future<Output = ToolResult> + Send + 'static,
    ) -> Self {
        Self { live, rest: Some(Box::pin(call)) }
    }
}

impl Future for Passage {
    type Output = ToolResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ToolResult> {
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(Err(ToolError::internal("the call was polled after its end")));
        };
        // A stage that panics is our fault, and must not become the caller's panic.
        let polled = catch_unwind(AssertUnwindSafe(|| rest.as_mut().poll(cx)));
        let polled =
            polled.unwrap_or_else(|_| Poll::Ready(Err(ToolError::internal("a stage crashed"))));
        if polled.is_ready() {
            self.rest = None;
        }
        polled
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        let Some(rest) = self.rest.take() else { return };
        self.live.cancellation().cancel();
        // Without a runtime there is nobody to run it; its record is then closed as it is dropped.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(rest);
        }
    }
}
