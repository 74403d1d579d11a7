//! The agents below a session.

use store::{Session, SessionChange, SessionFilter, SessionKey, SessionState, StoreError};
use tool::Caller;

use super::MAX_DEPTH;
use crate::{
    AgentError,
    agents::{Inner, key_of},
};

/// So many are followed.
const MAX_FOUND: usize = 500;
/// So many of one session.
const MAX_LISTED: u32 = 500;

impl Inner {
    /// The sessions below one, each after the one that started it.
    pub(crate) async fn descendants(&self, key: &SessionKey) -> Result<Vec<Session>, AgentError> {
        let db = self.gate.db().await?;
        let mut found = Vec::new();
        let mut open = vec![(key.clone(), 0)];
        while let Some((parent, depth)) = open.pop() {
            if depth >= MAX_DEPTH || found.len() >= MAX_FOUND {
                break;
            }
            let filter = SessionFilter {
                user: Some(parent.user.clone()),
                parent: Some(parent.clone()),
                limit: MAX_LISTED,
                ..SessionFilter::default()
            };
            let children = db.sessions(&filter).await?;
            open.extend(children.iter().map(|child| (child.key.clone(), depth + 1)));
            let after = found.iter().position(|session: &Session| session.key == parent);
            let at = after.map_or(found.len(), |at| at + 1);
            found.splice(at..at, children);
        }
        Ok(found)
    }

    /// The one below `caller` that `target` names, by key or label.
    pub(crate) async fn descendant(
        &self,
        caller: &Caller,
        target: &str,
    ) -> Result<Session, AgentError> {
        let below = self.descendants(&key_of(caller)).await?;
        let named = |session: &&Session| {
            session.key.to_string() == target || session.label.as_deref() == Some(target)
        };
        let mut found = below.iter().filter(named);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one.clone()),
            (None, _) => Err(AgentError::UnknownSession(target.to_owned())),
            (Some(_), Some(_)) => Err(AgentError::Invalid(format!(
                "more than one agent is called `{target}`; give its session key"
            ))),
        }
    }

    /// Ends one with all below it.
    pub(crate) async fn kill(
        &self,
        caller: &Caller,
        target: &str,
    ) -> Result<Vec<String>, AgentError> {
        let top = self.descendant(caller, target).await?;
        let mut all = vec![top.clone()];
        all.extend(self.descendants(&top.key).await?);
        let db = self.gate.db().await?;
        for session in &all {
            let ended = SessionChange {
                state: Some(SessionState::Ended),
                run: Some(serde_json::Value::Null),
                ..SessionChange::default()
            };
            let changed = db.change_session(&session.key, ended, self.clock.now()).await;
            // After that: a run that begins from now on sees that it has ended.
            if let Some(lane) = self.lanes.find(&session.key) {
                lane.stop();
            }
            // One that is gone by now has ended, too; the rest of the tree must not go on because of it.
            match changed {
                Ok(_) | Err(StoreError::UnknownSession(_)) => {}
                Err(error) => tracing::warn!(%error, session = %session.key, "not marked as ended"),
            }
        }
        Ok(all.iter().map(|session| session.key.to_string()).collect())
    }
}
