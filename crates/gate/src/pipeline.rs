//! The stages a call passes, outermost first.

use std::{fmt, future::Future, sync::Arc};

use tokio::task::JoinHandle;
use tool::{BoxFuture, Live, ToolError, ToolResult};

use crate::call::Call;

/// One step between the caller and the tool.
///
/// A stage may refuse the call (return without `next`), change it, or change the result.
pub trait Stage: Send + Sync + 'static {
    /// Shown in refusals and in [`Pipeline::names`].
    const NAME: &'static str;

    /// Handles `call`, normally by ending in `next.run(call).await`.
    fn handle(&self, call: Box<Call>, next: Next<'_>) -> impl Future<Output = ToolResult> + Send;
}

/// The stages still ahead. Not `Copy`: a call runs once.
#[derive(Debug)]
pub struct Next<'a> {
    stages: &'a [Box<dyn AnyStage>],
}

impl Next<'_> {
    /// Passes the call on.
    pub async fn run(self, call: Box<Call>) -> ToolResult {
        match self.stages.split_first() {
            Some((stage, stages)) => stage.handle(call, Next { stages }).await,
            None => run_tool(call).await,
        }
    }
}

/// Runs the tool in a task of its own, so that one that never yields cannot keep its own deadline from being
/// noticed. A light one needs none.
async fn run_tool(call: Box<Call>) -> ToolResult {
    let Call { planned: Some(planned), context: Some(context), tool, .. } = *call else {
        return Err(ToolError::denied("gate", "permit", "no stage gave this call its handles"));
    };
    if tool.is_some_and(|tool| tool.info().light) {
        return planned.into_prepared().run(&context).await;
    }
    let live = context.live().clone();
    let task = tokio::spawn(async move { planned.into_prepared().run(&context).await });
    let mut task = Aborting { task: Some(task), live };
    let Some(running) = &mut task.task else { return Err(ToolError::Cancelled) };
    match running.await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(ToolError::Cancelled),
    }
}

/// A task that ends with whoever waits for it. One that never yields cannot be ended: until it does, its
/// call keeps its slot.
struct Aborting {
    task: Option<JoinHandle<ToolResult>>,
    live: Arc<Live>,
}

impl Drop for Aborting {
    fn drop(&mut self) {
        let Some(task) = self.task.take().filter(|task| !task.is_finished()) else { return };
        task.abort();
        let slot = self.live.worker();
        tokio::spawn(async move {
            let _ = task.await;
            drop(slot);
        });
    }
}

/// An ordered list of stages.
#[derive(Debug, Default)]
pub struct Pipeline {
    stages: Vec<Box<dyn AnyStage>>,
}

impl Pipeline {
    /// Adds `stage` inside the stages added so far.
    #[must_use]
    pub fn then(mut self, stage: impl Stage) -> Self {
        self.stages.push(Box::new(stage));
        self
    }

    /// Leaves a stage out, so that a test can show what it is for.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.stages.retain(|stage| stage.name() != name);
        self
    }

    /// The names of the stages in the order they run.
    pub fn names(&self) -> Vec<&'static str> {
        self.stages.iter().map(|stage| stage.name()).collect()
    }

    pub(crate) async fn run(&self, call: Box<Call>) -> ToolResult {
        Next { stages: &self.stages }.run(call).await
    }
}

// `Stage` with its future boxed, so that authors write a plain `async fn`.
trait AnyStage: Send + Sync {
    fn name(&self) -> &'static str;
    fn handle<'a>(&'a self, call: Box<Call>, next: Next<'a>) -> BoxFuture<'a, ToolResult>;
}

impl<S: Stage> AnyStage for S {
    fn name(&self) -> &'static str {
        S::NAME
    }
    fn handle<'a>(&'a self, call: Box<Call>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(Stage::handle(self, call, next))
    }
}

impl fmt::Debug for dyn AnyStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
