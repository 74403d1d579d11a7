//! Bounds how many calls run at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tool::{Caller, ToolResult};

use crate::{
    call::Call,
    pipeline::{Next, Stage},
    shared::Shared,
    slots::{Lane, Slot},
};

/// Waits for the call's turn in its request, and for a slot of its agent and user.
#[derive(Debug)]
pub(crate) struct SlotStage(pub(crate) Arc<Shared>);

impl Stage for SlotStage {
    const NAME: &'static str = "slot";

    async fn handle(&self, call: Box<Call>, next: Next<'_>) -> ToolResult {
        if let Some(turn) = &call.turn {
            let effects = call.planned()?.plan().effects();
            Call::unless_stopped(&call.live, turn.wait(effects)).await?;
        }
        let limits = self.0.settings.load().slots(&call.caller);
        let Caller { user, agent, .. } = &*call.caller;
        let lane = Lane { user: user.clone(), agent: agent.clone() };
        let wait = self.0.slots.acquire(lane, limits);
        let slot = Call::unless_stopped(&call.live, wait).await??;
        let held = call.slot.clone();
        let slot = Arc::new(slot);
        // Weak: a thread of the tool that outlives the outcome keeps the slot, everything else lets go.
        let weak: Weak<Slot> = Arc::downgrade(&slot);
        call.live.set_slot(weak);
        *lock(&held) = Some(slot);
        let result = next.run(call).await;
        // Also what still looks at the changes of a command that timed out must not keep it.
        drop(lock(&held).take());
        result
    }
}

fn lock(slot: &Mutex<Option<Arc<Slot>>>) -> MutexGuard<'_, Option<Arc<Slot>>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
