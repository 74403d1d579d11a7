//! Goes on after a restart.

use std::{sync::Arc, time::Duration};

use store::{Session, SessionChange, SessionState};
use tool::{Caller, Cleanup};

use crate::{
    AgentError, Agents,
    agents::{Inner, Start},
    lanes::Place,
    taking::Standing,
};

/// A session that worked by itself when its process died.
struct GoingOn {
    session: Session,
    caller: Caller,
    cleanup: Cleanup,
    /// What is left of its time.
    time: Option<Duration>,
    /// Kept for it from now on, so that those below it find it.
    place: Place,
}

impl GoingOn {
    /// Whoever waited for another one waits on.
    fn expect(&self, all: &[Self]) {
        let below = |other: &&Self| other.session.parent.as_ref() == Some(&self.session.key);
        for child in all.iter().filter(below) {
            self.place.lane.expect(child.session.key.clone());
        }
    }
}

impl Agents {
    /// Looks for sessions whose process died. Those that worked by themselves go on; the others wait
    /// for the next message, which finds what became of their calls. One that cannot be taken up does
    /// not keep the others from it. Gives how many go on.
    pub async fn resume(&self) -> Result<usize, AgentError> {
        let (inner, mut all) = (&self.0, Vec::new());
        for session in inner.gate.db().await?.abandoned_sessions(inner.gate.journal()).await? {
            let key = session.key.clone();
            match inner.take_up(session).await {
                Ok(going_on) => all.extend(going_on),
                Err(error) => tracing::warn!(%error, session = %key, "a session is not taken up"),
            }
        }
        for one in &all {
            one.expect(&all);
        }
        let count = all.len();
        for one in all {
            inner.go_on(one);
        }
        Ok(count)
    }
}

impl Inner {
    /// Takes up a session whose process died; something if it goes on by itself.
    async fn take_up(self: &Arc<Self>, session: Session) -> Result<Option<GoingOn>, AgentError> {
        let (db, journal) = (self.gate.db().await?, self.gate.journal());
        // Another process may look at the same time.
        if !db.claim_session(&session.key, journal, session.active_at).await? {
            return Ok(None);
        }
        let run = session.run.clone().unwrap_or_default();
        let standing: Standing = serde_json::from_value(run).unwrap_or_default();
        // Who waits for the tools of whoever asked waits on.
        let waits = standing.parked.is_some();
        let state = if waits { SessionState::Waiting } else { SessionState::Interrupted };
        let change = SessionChange { state: Some(state), ..SessionChange::default() };
        db.change_session(&session.key, change, session.active_at).await?;
        let Standing { by_itself, cleanup, until, parked: _ } = standing;
        // Nothing goes on for somebody who was removed meanwhile.
        let user = db.user(&session.key.user).await?;
        let by_itself = by_itself.filter(|_| user.is_none_or(|user| user.is_there()));
        let Some(caller) = by_itself else {
            db.release_session(&session.key, journal).await?;
            return Ok(None);
        };
        let now = self.clock.now();
        let time = until.map(|until| until.duration_since(now).unwrap_or_default());
        let place = self.lanes.reserve(&session.key);
        Ok(Some(GoingOn { session, caller, cleanup, time, place }))
    }

    fn go_on(self: &Arc<Self>, one: GoingOn) {
        let GoingOn { session, caller, cleanup, time, place } = one;
        tracing::info!(session = %session.key, "a session that was interrupted goes on");
        let start = Start { time, ..Start::by_itself(cleanup, &self.ending) };
        let inner = self.clone();
        // It was let in before the restart; agents below one that goes on have bounds of their own.
        let above = session.parent.as_ref().and_then(|parent| self.lanes.find(parent));
        let counted = above.is_none().then(|| self.admit(&caller));
        tokio::spawn(async move {
            let _counted = counted;
            let answer = Box::pin(inner.start(&caller, start)).await;
            drop(place);
            if let Err(error) = &answer {
                tracing::warn!(%error, session = %session.key, "a session that went on failed");
            }
            if let Some(above) = &session.parent {
                inner.over(&caller, above, cleanup, answer).await;
            }
        });
    }
}
