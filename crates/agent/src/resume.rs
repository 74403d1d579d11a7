//! Goes on after a restart.

use std::sync::Arc;

use store::{Session, SessionChange, SessionState};
use tokio_util::sync::CancellationToken;
use tool::{Caller, Cleanup};

use crate::{
    AgentError, Agents, Input, Sink,
    agents::{Attached, Inner, Start, new_id},
    run::Standing,
};

impl Agents {
    /// Looks for sessions whose process died. Those that worked by themselves go on; the others wait
    /// for the next message, which finds what became of their calls. Gives how many go on.
    pub async fn resume(&self) -> Result<usize, AgentError> {
        let inner = &self.0;
        let db = inner.gate.db().await?;
        let mut going_on = 0;
        for session in db.abandoned_sessions(inner.gate.journal()).await? {
            let run = session.run.clone().unwrap_or_default();
            let standing: Standing = serde_json::from_value(run).unwrap_or_default();
            // Who waits for the tools of whoever asked waits on.
            let state = if standing.parked.is_some() {
                SessionState::Waiting
            } else {
                SessionState::Interrupted
            };
            let change = SessionChange { state: Some(state), ..SessionChange::default() };
            db.change_session(&session.key, change, inner.clock.now()).await?;
            tracing::info!(session = %session.key, "a session was interrupted");
            if let Some(caller) = standing.by_itself {
                inner.go_on(session, caller);
                going_on += 1;
            }
        }
        Ok(going_on)
    }
}

impl Inner {
    fn go_on(self: &Arc<Self>, session: Session, caller: Caller) {
        let start = Start {
            id: new_id(),
            input: Input::default(),
            sink: Sink::default(),
            cancel: CancellationToken::new(),
            attached: Attached::No,
            time: None,
        };
        let inner = self.clone();
        tokio::spawn(async move {
            let answer = Box::pin(inner.start(&caller, start)).await;
            if let Some(above) = &session.parent {
                inner.over(&caller, above, Cleanup::Keep, answer).await;
            }
        });
    }
}
