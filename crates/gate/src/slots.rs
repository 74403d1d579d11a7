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
    /// Of one agent for one user.
    pub(crate) per_agent: usize,
    pub(crate) waiting_per_agent: usize,
    /// Of one user, whatever the agent.
    pub(crate) per_user: usize,
    pub(crate) total: usize,
}

/// Whose calls stand in one queue: a user's, by one agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) user: Arc<str>,
    pub(crate) agent: Arc<str>,
}

/// Hands out slots: first come first served in one lane, in turn between lanes.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// How many run for each user.
    users: HashMap<Arc<str>, usize>,
    lanes: HashMap<Lane, Queue>,
    // Lanes in which somebody waits, each once; whoever was served goes to the back.
    ring: VecDeque<Lane>,
}

#[derive(Debug)]
struct Queue {
    running: usize,
    /// As they were when somebody came last.
    limits: SlotLimits,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// A place among the running calls; given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    lane: Lane,
    limits: SlotLimits,
}

impl Slots {
    /// Waits for a slot. Dropping the wait gives the place in the queue up.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        lane: Lane,
        limits: SlotLimits,
    ) -> Result<Slot, ToolError> {
        let waiting = self.enter(&lane, limits)?;
        // Made before the wait: a slot granted to a call that gave up is handed on by this drop.
        let mut entered = Entered { slots: self.clone(), lane, limits, granted: waiting };
        if let Some(granted) = &mut entered.granted {
            granted.await.map_err(ToolError::internal)?;
        }
        entered.granted = None;
        Ok(entered.into_slot())
    }

    /// Takes a slot at once, or a place in the queue.
    fn enter(
        &self,
        lane: &Lane,
        limits: SlotLimits,
    ) -> Result<Option<oneshot::Receiver<()>>, ToolError> {
        let mut state = self.lock();
        let free = state.running < limits.total && state.of_user(&lane.user) < limits.per_user;
        let queue = state.lanes.entry(lane.clone()).or_insert_with(|| Queue {
            running: 0,
            limits,
            waiting: VecDeque::new(),
        });
        queue.limits = limits;
        if free && queue.running < limits.per_agent && queue.waiting.is_empty() {
            queue.running += 1;
            state.begin(&lane.user);
            return Ok(None);
        }
        queue.waiting.retain(|waiting| !waiting.is_closed());
        if queue.waiting.len() >= limits.waiting_per_agent {
            return Err(ToolError::RateLimited {
                reason: format!("{} calls of this agent are waiting already", queue.waiting.len()),
                retry_after: Duration::from_secs(1),
            });
        }
        let (grant, granted) = oneshot::channel();
        queue.waiting.push_back(grant);
        if !state.ring.contains(lane) {
            state.ring.push_back(lane.clone());
        }
        state.serve(limits.total);
        Ok(Some(granted))
    }

    fn leave(&self, lane: &Lane, limits: SlotLimits) {
        let mut state = self.lock();
        state.end(&lane.user);
        if let Some(queue) = state.lanes.get_mut(lane) {
            queue.running = queue.running.saturating_sub(1);
            if queue.is_idle() {
                state.lanes.remove(lane);
            }
        }
        state.serve(limits.total);
    }

    /// Somebody who waited does so no more.
    fn give_up(&self, lane: &Lane, limits: SlotLimits) {
        let mut state = self.lock();
        state.tidy(lane);
        state.serve(limits.total);
    }

    /// How many calls run, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        let still = |waiting: &&oneshot::Sender<()>| !waiting.is_closed();
        let waiting = state.lanes.values().flat_map(|queue| queue.waiting.iter().filter(still));
        (state.running, waiting.count())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of_user(&self, user: &str) -> usize {
        self.users.get(user).copied().unwrap_or_default()
    }

    fn begin(&mut self, user: &Arc<str>) {
        self.running += 1;
        *self.users.entry(user.clone()).or_default() += 1;
    }

    fn end(&mut self, user: &Arc<str>) {
        self.running = self.running.saturating_sub(1);
        match self.users.get_mut(user) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.users.remove(user)),
        }
    }

    /// Grants what is free, one lane after the other, until none of them can be served.
    fn serve(&mut self, total: usize) {
        // So many lanes were not looked at since somebody was served.
        let mut unseen = self.ring.len();
        while self.running < total && unseen > 0 {
            let Some(lane) = self.ring.pop_front() else { return };
            unseen -= 1;
            let of_user = self.of_user(&lane.user);
            let Some(queue) = self.lanes.get_mut(&lane) else { continue };
            let SlotLimits { per_agent, per_user, .. } = queue.limits;
            let served = queue.running < per_agent && of_user < per_user && queue.grant();
            let (waits, idle) = (!queue.waiting.is_empty(), queue.is_idle());
            if served {
                self.begin(&lane.user);
            }
            if idle {
                self.lanes.remove(&lane);
            }
            if waits {
                self.ring.push_back(lane);
            }
            if served {
                unseen = self.ring.len();
            }
        }
    }

    /// Forgets those of a lane who wait no more.
    fn tidy(&mut self, lane: &Lane) {
        let Some(queue) = self.lanes.get_mut(lane) else { return };
        queue.waiting.retain(|waiting| !waiting.is_closed());
        if queue.waiting.is_empty() {
            self.ring.retain(|other| other != lane);
        }
        if queue.is_idle() {
            self.lanes.remove(lane);
        }
    }
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

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
    lane: Lane,
    limits: SlotLimits,
    granted: Option<oneshot::Receiver<()>>,
}

impl Entered {
    fn into_slot(self) -> Slot {
        Slot { slots: self.slots.clone(), lane: self.lane.clone(), limits: self.limits }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A grant that arrived while nobody looked is a slot that must be given back.
        if let Some(mut granted) = self.granted.take() {
            granted.close();
            if granted.try_recv().is_ok() {
                self.slots.leave(&self.lane, self.limits);
            } else {
                self.slots.give_up(&self.lane, self.limits);
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.leave(&self.lane, self.limits);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const LIMITS: SlotLimits =
        SlotLimits { per_agent: 2, waiting_per_agent: 3, per_user: 10, total: 3 };

    fn lane(user: &str, agent: &str) -> Lane {
        Lane { user: user.into(), agent: agent.into() }
    }

    #[tokio::test]
    async fn is_fair_between_agents_and_bounded() {
        let slots = Arc::new(Slots::default());
        let (a, b) = (lane("ada", "a"), lane("ada", "b"));
        let first = slots.acquire(a.clone(), LIMITS).await.unwrap();
        let _second = slots.acquire(a.clone(), LIMITS).await.unwrap();
        let mut waiting: Vec<_> = (0..3)
            .map(|_| {
                let (slots, a) = (slots.clone(), a.clone());
                tokio::spawn(async move { slots.acquire(a, LIMITS).await })
            })
            .collect();
        tokio::task::yield_now().await;
        // The queue of `a` is full, and `b` is served at once all the same.
        assert_eq!(slots.acquire(a, LIMITS).await.unwrap_err().kind(), "rate_limited");
        let _b = slots.acquire(b, LIMITS).await.unwrap();
        drop(first);
        let third = waiting.remove(0).await.unwrap().unwrap();
        // Whoever gives up waiting frees the place, and a slot that was granted is handed on.
        waiting.remove(0).abort();
        tokio::task::yield_now().await;
        drop(third);
        drop(waiting.remove(0).await.unwrap().unwrap());
        assert_eq!(slots.lock().running, 2);
    }

    #[tokio::test]
    async fn a_user_who_has_much_to_do_waits_and_nobody_else_does() {
        let limits = SlotLimits { per_user: 2, total: 10, ..LIMITS };
        let slots = Arc::new(Slots::default());
        let one = slots.acquire(lane("ada", "a"), limits).await.unwrap();
        let two = slots.acquire(lane("ada", "b"), limits).await.unwrap();
        let third = slots.clone();
        let third = tokio::spawn(async move { third.acquire(lane("ada", "c"), limits).await });
        tokio::task::yield_now().await;
        assert_eq!(slots.counts(), (2, 1));
        // The same agent of another user has a queue of its own.
        let other = slots.acquire(lane("bo", "a"), limits).await.unwrap();
        drop(one);
        let third = third.await.unwrap().unwrap();
        drop((two, third, other));
        let state = slots.lock();
        assert_eq!((state.running, state.users.len(), state.lanes.len()), (0, 0, 0));
        assert!(state.ring.is_empty());
    }

    #[tokio::test]
    async fn whoever_waits_is_served_also_behind_those_who_left() {
        let limits = SlotLimits { total: 1, ..LIMITS };
        let slots = Arc::new(Slots::default());
        let only = slots.acquire(lane("ada", "a"), limits).await.unwrap();
        // As if it left this very moment: its place in the queue is still there.
        drop(slots.enter(&lane("ada", "gone"), limits).unwrap());
        let mut live = slots.enter(&lane("ada", "live"), limits).unwrap().unwrap();
        drop(only);
        live.try_recv().unwrap();
        let state = slots.lock();
        assert_eq!((state.running, state.lanes.len(), state.ring.len()), (1, 1, 0));
    }

    #[tokio::test]
    async fn whoever_gives_up_leaves_nothing() {
        let limits = SlotLimits { total: 1, ..LIMITS };
        let slots = Arc::new(Slots::default());
        let _only = slots.acquire(lane("ada", "a"), limits).await.unwrap();
        let mut gone = Box::pin(slots.acquire(lane("ada", "gone"), limits));
        assert!((&mut gone).now_or_never().is_none());
        drop(gone);
        let state = slots.lock();
        assert_eq!((state.running, state.lanes.len(), state.ring.len()), (1, 1, 0));
    }
}
