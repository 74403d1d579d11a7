//! Gives a call its handles and keeps a broken tool from taking anything else down.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use policy::{Decision, Verdict};
use tool::{Capability, ContextParts, Execution, Place, Plan, ToolContext, ToolError, ToolResult};

use super::{Considered, Standing, completed, consider, resolve::find, standing};
use crate::{
    call::{Call, Origin},
    emergency::{OVERRIDE, admit_again},
    pipeline::{Next, Stage},
    review::HoldsChanges,
    shared::Shared,
    subject::Subject,
};

/// A pure call is recorded with its outcome, unless it runs longer than this.
const SHOWN_AFTER: Duration = Duration::from_millis(20);

/// Innermost: what runs was decided now, is recorded, and cannot take the gate down.
#[derive(Debug)]
pub(crate) struct Contain(pub(crate) Arc<Shared>);

impl Stage for Contain {
    const NAME: &'static str = "contain";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        self.decide_again(&call).await?;
        let permit = call.permit.take();
        let permit = permit.ok_or_else(|| {
            ToolError::denied(Self::NAME, "permit", "no stage issued a permit for this call")
        })?;
        permit.redeem(call.planned()?)?;
        let Some(entry) = call.entry.clone() else {
            return Err(ToolError::denied(Self::NAME, "record", "this call would not be recorded"));
        };
        let is_pure = call.planned()?.plan().effects().is_empty();
        if !is_pure {
            // An effect never happens without a record before it; and not after the call was stopped meanwhile.
            entry.begin().await?;
            call.live.check()?;
        }
        let place = call.planned()?.plan().place();
        let in_sandbox = place == Place::Sandbox;
        call.learnt.now().isolation = in_sandbox.then(|| self.0.world.isolation()).flatten();
        call.learnt.now().place = Some(place);
        call.context = Some(self.context(&call)?);
        let mut tool = pin!(contained(next.run(call)));
        if is_pure {
            if let Some(result) = self.0.soon.at_once(tool.as_mut()).await {
                return result;
            }
            // Nothing happens, so nothing is lost; one that takes a while shows as running.
            if let Ok(result) = tokio::time::timeout(SHOWN_AFTER, tool.as_mut()).await {
                return result;
            }
            entry.begin().await?;
        }
        tool.await
    }
}

/// Turns a panic of `tool` into an error.
async fn contained(tool: impl Future<Output = ToolResult>) -> ToolResult {
    let mut tool = pin!(tool);
    poll_fn(|cx| caught(|| tool.as_mut().poll(cx)).unwrap_or_else(|error| Poll::Ready(Err(error))))
        .await
}

impl Contain {
    /// Configuration or tools may have changed while the call waited; the stricter one holds.
    async fn decide_again(&self, call: &Call) -> Result<(), ToolError> {
        if !call.planned()?.plan().effects().is_empty() {
            admit_again(&self.0, call)?;
        }
        if call.origin == Origin::Person {
            return Ok(());
        }
        self.still_overridden(call)?;
        let approved = call.asked || call.learnt.now().approval.is_some();
        let same = call.generation == self.0.generation();
        if same && !approved {
            return Ok(());
        }
        // Boxed, so that calls which did not wait do not carry it along.
        Box::pin(self.permissions_again(call)).await?;
        if same { Ok(()) } else { Box::pin(self.policy_again(call)).await }
    }

    async fn permissions_again(&self, call: &Call) -> Result<(), ToolError> {
        let plan = call.planned()?.plan();
        for capability in plan.capabilities() {
            let standing = standing(&self.0, &call.caller, plan, capability).await?;
            if call.unasked && matches!(standing, Standing::Ask(_)) {
                return Err(changed("people are asked about a permission now"));
            }
        }
        Ok(())
    }

    async fn policy_again(&self, call: &Call) -> Result<(), ToolError> {
        let approved = call.learnt.now().approval.is_some();
        let (entry, _) = find(&self.0, &call.caller, &call.name)?;
        if !Arc::ptr_eq(entry.tool(), call.tool()?.tool()) {
            return Err(changed("the tool was replaced"));
        }
        let planned = call.planned()?;
        // Where commands run, whom they reach and which are harmless was decided with the plan.
        if completed(&self.0, Plan::clone(planned.plan())) != **planned.plan() {
            return Err(changed("commands run in another way now"));
        }
        let Considered { decision, error, suspects: _ } =
            consider(&self.0, &call.caller, planned.plan()).await?;
        match (decision.verdict, error) {
            (_, Some(error)) => Err(error),
            (Verdict::Allow, None) => Ok(()),
            (Verdict::Ask, None) if approved => Ok(()),
            (Verdict::Ask | Verdict::Deny, None) => Err(changed(&decision.reason)),
        }
    }

    /// What only an override let pass does not outlive it.
    fn still_overridden(&self, call: &Call) -> Result<(), ToolError> {
        let decision = {
            let learnt = call.learnt.now();
            learnt.decision.as_ref().filter(|decision| decision.rule == OVERRIDE).cloned()
        };
        let Some(decision) = decision else { return Ok(()) };
        let asked = Decision { verdict: Verdict::Ask, ..decision };
        match self.0.alarm.weigh(asked, || self.0.world.clock().now()).verdict {
            Verdict::Allow => Ok(()),
            Verdict::Ask | Verdict::Deny => Err(changed("the override has ended")),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that builds a context")]
    fn context(&self, call: &Call) -> Result<ToolContext, ToolError> {
        let exec = self.execution(call)?;
        let tool = call.tool()?;
        let uses = |capability| tool.info().uses.contains(&capability);
        let disk = uses(Capability::Files).then(|| self.0.world.disk(&call.caller)).transpose()?;
        let net = uses(Capability::Network).then(|| self.0.world.net(&call.caller)).transpose()?;
        Ok(ToolContext::new(ContextParts {
            call: call.id,
            caller: call.caller.clone(),
            plan: call.planned()?.plan().clone(),
            live: call.live.clone(),
            deadline: call.deadline.unwrap_or_else(Instant::now),
            clock: self.0.world.clock(),
            updates: call.updates.clone(),
            redact: self.0.settings.load_full(),
            disk,
            net,
            exec,
            own: self.0.world.clone(),
            log: Arc::new(self.0.journal.clone()),
        }))
    }
}

impl Contain {
    /// What a tool that runs commands runs them with.
    fn execution(&self, call: &Call) -> Result<Option<Execution>, ToolError> {
        if !call.tool()?.info().uses.contains(&Capability::Exec) {
            return Ok(None);
        }
        let review = HoldsChanges {
            shared: self.0.clone(),
            subject: Subject::known(call)?,
            learnt: call.learnt.clone(),
            slot: call.slot.clone(),
        };
        let exec = self.0.world.exec(&call.caller)?;
        Ok(Some(Execution { exec, review: Arc::new(review), pinned: call.pinned.clone() }))
    }
}

fn changed(why: &str) -> ToolError {
    let reason =
        format!("policy changed while the call waited: {why}; call again if it still makes sense");
    ToolError::denied(Contain::NAME, "changed", reason)
}

/// Runs `code` of a tool. What a panic left half done is the tool's own and is dropped with it,
/// which is why asserting unwind safety is right here.
pub(super) fn caught<T>(code: impl FnOnce() -> T) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(code))
        .map_err(|panic| ToolError::failed_by("the tool crashed", message(panic.as_ref())))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic without a message")
        .to_owned()
}
