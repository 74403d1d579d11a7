//! Who speaks in which session: one run at a time, and what is told to it while it goes on.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use store::SessionKey;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::budget::Budget;

/// So many runs wait for a session; one more is refused.
const MAX_WAITING: usize = 16;
/// So many messages wait for a run to read them.
const MAX_STEERING: usize = 64;

/// The sessions in which something goes on in this process.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: Mutex<HashMap<SessionKey, Arc<Lane>>>,
}

/// One session in which something goes on.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    turn: Arc<AsyncMutex<()>>,
    users: AtomicUsize,
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Ends the run that goes on.
    cancel: Option<CancellationToken>,
    /// What it may use up, together with those it sets to work.
    budget: Option<Arc<Budget>>,
    /// What it is told meanwhile.
    steering: VecDeque<String>,
    /// Agents it started that have not reported yet.
    children: HashSet<SessionKey>,
    /// What they reported.
    reports: VecDeque<String>,
}

impl State {
    fn unread(&mut self) -> Vec<String> {
        self.steering.drain(..).chain(self.reports.drain(..)).collect()
    }
}

/// Whether a run may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// It has ended.
    Closed,
    /// There is something it has not read.
    News,
    /// Agents it started still work.
    Children,
}

/// A run's place in its session; the next one's turn comes when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    lanes: Arc<Lanes>,
    key: SessionKey,
    pub(crate) lane: Arc<Lane>,
    _held: OwnedMutexGuard<()>,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of a run. Nothing if too many wait already.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        key: &SessionKey,
        cancel: &CancellationToken,
    ) -> Option<Turn> {
        let lane = {
            let mut lanes = self.lock();
            let lane = lanes.entry(key.clone()).or_default().clone();
            if lane.users.load(Ordering::Relaxed) > MAX_WAITING {
                return None;
            }
            lane.users.fetch_add(1, Ordering::Relaxed);
            lane
        };
        // From here on somebody must count it off again, whatever happens.
        let place = Place { lanes: self.clone(), key: key.clone(), lane };
        let turn = place.lane.turn.clone().lock_owned().await;
        place.lane.state().cancel = Some(cancel.clone());
        let lane = place.into_lane();
        Some(Turn { lanes: self.clone(), key: key.clone(), lane, _held: turn })
    }

    /// Keeps a place for a run that will come, so that what is told meanwhile is not lost.
    pub(crate) fn reserve(self: &Arc<Self>, key: &SessionKey) -> Place {
        let mut lanes = self.lock();
        let lane = lanes.entry(key.clone()).or_default().clone();
        lane.users.fetch_add(1, Ordering::Relaxed);
        drop(lanes);
        Place { lanes: self.clone(), key: key.clone(), lane }
    }

    /// The session, if something goes on in it.
    pub(crate) fn find(&self, key: &SessionKey) -> Option<Arc<Lane>> {
        self.lock().get(key).cloned()
    }

    /// The sessions of a user in which something goes on.
    pub(crate) fn of_user(&self, user: &str) -> Vec<Arc<Lane>> {
        let lanes = self.lock();
        let own = lanes.iter().filter(|(key, _)| key.user == user);
        own.map(|(_, lane)| lane.clone()).collect()
    }

    fn leave(&self, key: &SessionKey, lane: &Lane) {
        let mut lanes = self.lock();
        if lane.users.fetch_sub(1, Ordering::Relaxed) == 1 {
            lanes.remove(key);
        }
    }
}

/// Somebody who waits for their turn.
#[derive(Debug)]
pub(crate) struct Place {
    lanes: Arc<Lanes>,
    key: SessionKey,
    pub(crate) lane: Arc<Lane>,
}

impl Place {
    /// Whoever has the turn counts it off instead.
    fn into_lane(self) -> Arc<Lane> {
        let lane = self.lane.clone();
        lane.users.fetch_add(1, Ordering::Relaxed);
        lane
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lanes.leave(&self.key, &self.lane);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.lane.finish();
        self.lanes.leave(&self.key, &self.lane);
    }
}

impl Lane {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run that goes on; whether there was one.
    pub(crate) fn stop(&self) -> bool {
        let cancel = self.state().cancel.clone();
        cancel.inspect(CancellationToken::cancel).is_some()
    }

    /// Ends what belongs to the run that goes on, if there is one.
    pub(crate) fn cancellation(&self) -> Option<CancellationToken> {
        self.state().cancel.clone()
    }

    /// From now on those it sets to work use up this budget, too.
    pub(crate) fn set_budget(&self, budget: Arc<Budget>) {
        self.state().budget = Some(budget);
    }

    /// What the run that goes on may use up, if there is one.
    pub(crate) fn budget(&self) -> Option<Arc<Budget>> {
        self.state().budget.clone()
    }

    /// How many agents it started still work.
    pub(crate) fn children(&self) -> usize {
        self.state().children.len()
    }

    /// Tells the run that goes on something; gives it back if there is none, or too much waits.
    pub(crate) fn steer(&self, text: String) -> Result<(), String> {
        let mut state = self.state();
        if state.cancel.is_none() || state.steering.len() >= MAX_STEERING {
            return Err(text);
        }
        state.steering.push_back(text);
        self.news.notify_one();
        Ok(())
    }

    /// What the run was told since it last looked: what agents it started reported, too.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.state().unread()
    }

    /// The run is over, however it came to that: it hears nothing more. Gives what it was told and has
    /// not read.
    pub(crate) fn finish(&self) -> Vec<String> {
        let mut state = self.state();
        (state.cancel, state.budget) = (None, None);
        state.unread()
    }

    /// An agent was started that will report.
    pub(crate) fn expect(&self, child: SessionKey) {
        self.state().children.insert(child);
    }

    /// An agent that was started is done. Gives the report back if nobody is there to read it.
    pub(crate) fn report(&self, child: &SessionKey, text: String) -> Result<(), String> {
        let mut state = self.state();
        state.children.remove(child);
        self.news.notify_one();
        if state.cancel.is_none() {
            return Err(text);
        }
        state.reports.push_back(text);
        Ok(())
    }

    /// Whether the run may end: nobody told it anything since it last looked, and no agent that it
    /// started still works. From then on it hears nothing more.
    pub(crate) fn close(&self) -> Closing {
        let mut state = self.state();
        if !state.steering.is_empty() || !state.reports.is_empty() {
            return Closing::News;
        }
        if !state.children.is_empty() {
            return Closing::Children;
        }
        state.cancel = None;
        Closing::Closed
    }

    /// Waits for news.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> SessionKey {
        SessionKey { user: "owner".into(), agent: "main".into(), name: name.into() }
    }

    #[tokio::test]
    async fn runs_of_a_session_take_turns_and_nothing_stays_behind() {
        let (lanes, cancel) = (Arc::<Lanes>::default(), CancellationToken::new());
        let first = lanes.enter(&key("a"), &cancel).await.unwrap();
        let other = lanes.enter(&key("b"), &cancel).await.unwrap();
        let waiting = tokio::spawn({
            let (lanes, cancel) = (lanes.clone(), cancel.clone());
            async move { lanes.enter(&key("a"), &cancel).await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop((first, other));
        assert!(waiting.await.unwrap());
        assert!(lanes.lock().is_empty());
    }

    #[tokio::test]
    async fn who_gives_up_waiting_is_not_counted_any_more() {
        let (lanes, cancel) = (Arc::<Lanes>::default(), CancellationToken::new());
        let first = lanes.enter(&key("a"), &cancel).await.unwrap();
        for _ in 0..100 {
            let (key, wait) = (key("a"), std::time::Duration::from_millis(1));
            assert!(tokio::time::timeout(wait, lanes.enter(&key, &cancel)).await.is_err());
        }
        drop(first);
        assert!(lanes.lock().is_empty());
    }

    #[tokio::test]
    async fn what_a_run_is_told_is_never_lost_when_it_ends() {
        let (lanes, cancel) = (Arc::<Lanes>::default(), CancellationToken::new());
        let turn = lanes.enter(&key("a"), &cancel).await.unwrap();
        turn.lane.steer("faster".into()).unwrap();
        turn.lane.expect(key("child"));
        assert_eq!(turn.lane.close(), Closing::News);
        assert_eq!(turn.lane.heard(), ["faster"]);
        assert_eq!(turn.lane.close(), Closing::Children);
        // Somebody else's, from before, is not taken for it.
        turn.lane.report(&key("other"), "late".into()).unwrap();
        assert_eq!(turn.lane.heard(), ["late"]);
        assert_eq!(turn.lane.close(), Closing::Children);
        turn.lane.report(&key("child"), "done".into()).unwrap();
        assert_eq!(turn.lane.heard(), ["done"]);
        assert_eq!(turn.lane.close(), Closing::Closed);
        assert_eq!(turn.lane.steer("late".into()), Err("late".to_owned()));
        drop(turn);
        // Nor when it ends in another way.
        let turn = lanes.enter(&key("a"), &cancel).await.unwrap();
        turn.lane.steer("slower".into()).unwrap();
        assert_eq!(turn.lane.finish(), ["slower"]);
        assert_eq!(turn.lane.steer("late".into()), Err("late".to_owned()));
    }
}
