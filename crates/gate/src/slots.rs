//! How many calls run at once.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;
use tool::ToolError;

/// How many calls may run and wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotLimits {
    pub(crate) per_agent: usize,
    pub(crate) waiting_per_agent: usize,
    pub(crate) total: usize,
}

/// Hands out slots: first come first served for one agent, in turn between agents.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    agents: HashMap<Arc<str>, Agent>,
    // Agents that wait, each once; whoever was served goes to the back.
    ring: VecDeque<Arc<str>>,
}

#[derive(Debug, Default)]
struct Agent {
    running: usize,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// A place among the running calls; given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    agent: Arc<str>,
    limits: SlotLimits,
}

impl Slots {
    /// Waits for a slot. Dropping the wait gives the place in the queue up.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        agent: &Arc<str>,
        limits: SlotLimits,
    ) -> Result<Slot, ToolError> {
        let waiting = self.enter(agent, limits)?;
        // Made before the wait: a slot granted to a call that gave up is handed on by this drop.
        let mut entered =
            Entered { slots: self.clone(), agent: agent.clone(), limits, granted: waiting };
        if let Some(granted) = &mut entered.granted {
            granted.await.map_err(ToolError::internal)?;
        }
        entered.granted = None;
        Ok(entered.into_slot())
    }

    /// Takes a slot at once, or a place in the queue.
    fn enter(
        &self,
        agent: &Arc<str>,
        limits: SlotLimits,
    ) -> Result<Option<oneshot::Receiver<()>>, ToolError> {
        let mut state = self.lock();
        let free = state.running < limits.total;
        let entry = state.agents.entry(agent.clone()).or_default();
        if free && entry.running < limits.per_agent && entry.waiting.is_empty() {
            entry.running += 1;
            state.running += 1;
            return Ok(None);
        }
        entry.waiting.retain(|waiting| !waiting.is_closed());
        if entry.waiting.len() >= limits.waiting_per_agent {
            return Err(ToolError::RateLimited {
                reason: format!("{} calls of this agent are waiting already", entry.waiting.len()),
                retry_after: Duration::from_secs(1),
            });
        }
        let (grant, granted) = oneshot::channel();
        entry.waiting.push_back(grant);
        if !state.ring.contains(agent) {
            state.ring.push_back(agent.clone());
        }
        state.serve(limits);
        Ok(Some(granted))
    }

    fn leave(&self, agent: &Arc<str>, limits: SlotLimits) {
        let mut state = self.lock();
        state.running = state.running.saturating_sub(1);
        if let Some(entry) = state.agents.get_mut(agent) {
            entry.running = entry.running.saturating_sub(1);
            if entry.running == 0 && entry.waiting.is_empty() {
                state.agents.remove(agent);
            }
        }
        state.serve(limits);
    }

    /// How many calls run, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        let still = |waiting: &&oneshot::Sender<()>| !waiting.is_closed();
        let waiting = state.agents.values().flat_map(|agent| agent.waiting.iter().filter(still));
        (state.running, waiting.count())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Grants what is free, one agent after the other.
    fn serve(&mut self, limits: SlotLimits) {
        let mut passed = 0;
        while self.running < limits.total && passed < self.ring.len() {
            let Some(agent) = self.ring.pop_front() else { return };
            let Some(entry) = self.agents.get_mut(&agent) else { continue };
            let served = entry.running < limits.per_agent && entry.grant();
            self.running += usize::from(served);
            passed = if served { 0 } else { passed + 1 };
            if !entry.waiting.is_empty() {
                self.ring.push_back(agent);
            }
        }
    }
}

impl Agent {
    /// Lets the first one go that still waits.
    fn grant(&mut self) -> bool {
        while let Some(grant) = self.waiting.pop_front() {
            if grant.send(()).is_ok() {
                self.running += 1;
                return true;
            }
        }
        false
    }
}

/// Somebody who has a slot or waits for one.
struct Entered {
    slots: Arc<Slots>,
    agent: Arc<str>,
    limits: SlotLimits,
    granted: Option<oneshot::Receiver<()>>,
}

impl Entered {
    fn into_slot(self) -> Slot {
        Slot { slots: self.slots.clone(), agent: self.agent.clone(), limits: self.limits }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A grant that arrived while nobody looked is a slot that must be given back.
        if let Some(mut granted) = self.granted.take() {
            granted.close();
            if granted.try_recv().is_ok() {
                self.slots.leave(&self.agent, self.limits);
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.leave(&self.agent, self.limits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SlotLimits = SlotLimits { per_agent: 2, waiting_per_agent: 3, total: 3 };

    #[tokio::test]
    async fn is_fair_between_agents_and_bounded() {
        let slots = Arc::new(Slots::default());
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let first = slots.acquire(&a, LIMITS).await.unwrap();
        let _second = slots.acquire(&a, LIMITS).await.unwrap();
        let mut waiting: Vec<_> = (0..3)
            .map(|_| {
                let (slots, a) = (slots.clone(), a.clone());
                tokio::spawn(async move { slots.acquire(&a, LIMITS).await })
            })
            .collect();
        tokio::task::yield_now().await;
        // The queue of `a` is full, and `b` is served at once all the same.
        assert_eq!(slots.acquire(&a, LIMITS).await.unwrap_err().kind(), "rate_limited");
        let _b = slots.acquire(&b, LIMITS).await.unwrap();
        drop(first);
        let third = waiting.remove(0).await.unwrap().unwrap();
        // Whoever gives up waiting frees the place, and a slot that was granted is handed on.
        waiting.remove(0).abort();
        tokio::task::yield_now().await;
        drop(third);
        drop(waiting.remove(0).await.unwrap().unwrap());
        assert_eq!(slots.lock().running, 2);
    }
}
