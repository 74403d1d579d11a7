//! Goes on after a restart.

use std::sync::Arc;

use store::{Session, SessionChange, SessionState};
use tool::{Caller, Cleanup};

use crate::{
    AgentError, Agents,
    agents::{Inner, Start},
    taking::Standing,
};

impl Agents {
    /// Looks for sessions whose process died. Those that worked by themselves go on; the others wait
    /// for the next message, which finds what became of their calls. Gives how many go on.
    pub async fn resume(&self) -> Result<usize, AgentError> {
        let db = self.0.gate.db().await?;
        let mut going_on = 0;
        for session in db.abandoned_sessions(self.0.gate.journal()).await? {
            if self.0.take_up(session).await? {
                going_on += 1;
            }
        }
        Ok(going_on)
    }
}

impl Inner {
    /// Takes up a session whose process died; whether it goes on by itself.
    async fn take_up(self: &Arc<Self>, session: Session) -> Result<bool, AgentError> {
        let (db, journal) = (self.gate.db().await?, self.gate.journal());
        // Another process may look at the same time.
        if !db.claim_session(&session.key, journal, session.active_at).await? {
            return Ok(false);
        }
        let run = session.run.clone().unwrap_or_default();
        let standing: Standing = serde_json::from_value(run).unwrap_or_default();
        // Who waits for the tools of whoever asked waits on.
        let waits = standing.parked.is_some();
        let state = if waits { SessionState::Waiting } else { SessionState::Interrupted };
        let change = SessionChange { state: Some(state), ..SessionChange::default() };
        db.change_session(&session.key, change, session.active_at).await?;
        let Some(caller) = standing.by_itself else {
            db.release_session(&session.key, journal).await?;
            return Ok(false);
        };
        tracing::info!(session = %session.key, "a session that was interrupted goes on");
        self.go_on(session, caller, standing.cleanup);
        Ok(true)
    }

    fn go_on(self: &Arc<Self>, session: Session, caller: Caller, cleanup: Cleanup) {
        let start = Start::by_itself(cleanup);
        let inner = self.clone();
        tokio::spawn(async move {
            let answer = Box::pin(inner.start(&caller, start)).await;
            if let Some(above) = &session.parent {
                inner.over(&caller, above, cleanup, answer).await;
            }
        });
    }
}
