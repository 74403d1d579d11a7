//! Agents that work for other agents.

use std::sync::Arc;

use config::Spanned;
use provider::Message;
use serde_json::json;
use store::{NewSession, SessionKey, SessionKind};
use tool::{Caller, Cleanup, Left, SendStatus, Spawn, SpawnContext, Spawned, ToolOutput};

use super::{check_label, look::caller_of};
use crate::{
    AgentError, Answer, Input,
    agents::{Inner, Start, key_of, new_id},
    transcript,
};

/// So many agents of one session work at once.
const MAX_CHILDREN: usize = 16;

impl Inner {
    /// Whether `caller`, and every agent above it, may start `agent`.
    pub(crate) fn may_spawn(&self, caller: &Caller, agent: &str) -> bool {
        let config = self.gate.config();
        let listed = |by: &str| {
            let own = config.agents.get(by).and_then(|own| own.subagents.as_ref());
            let list = own.or(config.tools.agents.as_ref());
            let named = |name: &Spanned<String>| name.value == agent || name.value == "*";
            list.is_some_and(|names| names.iter().any(named))
        };
        caller.agents().all(|caller| *caller.agent == *agent || listed(&caller.agent))
    }

    /// Starts an agent below `caller`.
    pub(crate) async fn spawn(
        self: &Arc<Self>,
        caller: &Caller,
        spawn: Spawn,
    ) -> Result<Spawned, AgentError> {
        let agent = spawn.agent.clone().unwrap_or_else(|| caller.agent.to_string());
        if let Some(reason) = self.refused(caller, &agent, &spawn)? {
            let (child_session_key, run_id) = (None, None);
            let status = SendStatus::Forbidden;
            return Ok(Spawned { status, child_session_key, run_id, reason: Some(reason) });
        }
        check_label(spawn.label.as_deref())?;
        let id = new_id();
        let child = child(caller, &agent, &id, &spawn);
        let key = key_of(&child);
        let parent = self.lanes.find(&key_of(caller));
        // It ends with the run that started it, or goes on by itself if there is none.
        let above = parent.as_ref().and_then(|lane| lane.cancellation());
        // Then nothing above bounds it, so it counts like a conversation that a person began.
        let admitted = above.is_none().then(|| self.admit(caller)).transpose()?;
        self.make(caller, &child, &spawn).await?;
        let cancel = above.unwrap_or_else(|| self.ending.clone()).child_token();
        if let Some(lane) = &parent {
            lane.expect(key.clone());
        }
        let start = Start {
            id: id.clone(),
            input: Input::text(&spawn.task),
            cancel,
            time: spawn.timeout,
            above: parent.and_then(|lane| lane.budget()),
            ..Start::by_itself(spawn.cleanup, &self.ending)
        };
        let inner = self.clone();
        let (above, cleanup) = (key_of(caller), spawn.cleanup);
        tokio::spawn(async move {
            let _counted = admitted;
            let answer = Box::pin(inner.start(&child, start)).await;
            inner.over(&child, &above, cleanup, answer).await;
        });
        let child_session_key = Some(key.to_string());
        Ok(Spawned {
            status: SendStatus::Accepted,
            child_session_key,
            run_id: Some(id),
            reason: None,
        })
    }

    fn refused(
        &self,
        caller: &Caller,
        agent: &str,
        spawn: &Spawn,
    ) -> Result<Option<String>, AgentError> {
        let settings = self.agent(agent)?;
        if !self.may_spawn(caller, agent) {
            return Ok(Some(format!(
                "`{}` may not start `{agent}`; `agents_list` shows whom it may",
                caller.agent
            )));
        }
        let most = self.gate.config().tools.max_depth.value as usize;
        if caller.depth() >= most {
            return Ok(Some(format!("agents may start agents only {most} deep")));
        }
        let working = self.lanes.find(&key_of(caller)).map_or(0, |lane| lane.children());
        if working >= MAX_CHILDREN {
            return Ok(Some(format!(
                "{working} agents work for this session already; wait for one"
            )));
        }
        self.models.load().pick(Some(&settings), spawn.model.as_deref())?;
        Ok(None)
    }

    /// The session of the child, with what it begins with.
    async fn make(&self, caller: &Caller, child: &Caller, spawn: &Spawn) -> Result<(), AgentError> {
        let (db, now, above) = (self.gate.db().await?, self.clock.now(), key_of(caller));
        let session = NewSession {
            parent: Some(above.clone()),
            label: spawn.label.clone(),
            model: spawn.model.clone(),
            rights: json!(child),
            ..NewSession::new(key_of(child), SessionKind::Child)
        };
        let session = db.open_session(session, now).await?;
        // Its task was written by whoever has read what the parent has read.
        self.gate.inherit_sources(caller, child).await?;
        if spawn.context == SpawnContext::Fork
            && let Some(parent) = db.session(&above).await?
        {
            let mut said = transcript::load(db, &parent).await?;
            // The very call that starts it has no result yet.
            if !transcript::open_calls(&said).is_empty() {
                said.pop();
            }
            transcript::add(db, &session.key, &transcript::mend(said), now).await?;
        }
        Ok(())
    }

    /// A child is done: whoever started it is told.
    pub(crate) async fn over(
        &self,
        child: &Caller,
        above: &SessionKey,
        cleanup: Cleanup,
        answer: Result<Answer, AgentError>,
    ) {
        // It goes on after the next start, and reports then.
        if answer.is_err() && self.ending.is_cancelled() {
            return;
        }
        let key = key_of(child);
        let lost = |error| format!("[Agent `{key}` is done, but its report was lost: {error}]");
        let text = self.report(child, above, answer).await.unwrap_or_else(lost);
        // Whatever happened, nobody waits for it any longer.
        let unread = match self.lanes.find(above) {
            Some(lane) => lane.report(&key, text).err(),
            None => Some(text),
        };
        if let Err(error) = self.leave(&key, (above, unread), cleanup).await {
            tracing::warn!(%error, session = %key, "what an agent left was not put in order");
        }
    }

    /// What those above are told.
    async fn report(
        &self,
        child: &Caller,
        above: &SessionKey,
        answer: Result<Answer, AgentError>,
    ) -> Result<String, AgentError> {
        let key = key_of(child);
        let session = self.gate.db().await?.session(&key).await?;
        let label = session.and_then(|session| session.label).unwrap_or_default();
        // What it has read may stand in the report.
        self.gate.inherit_sources(child, &caller_of(above)).await?;
        let text = match answer {
            Ok(answer) => answer.text,
            Err(error) => return Ok(format!("[Agent `{key}` {label} did not finish: {error}]")),
        };
        let text = match self.untrusted(&key).await? {
            Some(source) => ToolOutput::fenced(self.gate.next_id(), &source, &text),
            None => text,
        };
        Ok(format!("[Agent `{key}` {label} is done. Its report:]\n{text}"))
    }

    /// A report that nobody was there to read waits in the session, and the child's own may go.
    async fn leave(
        &self,
        key: &SessionKey,
        (above, unread): (&SessionKey, Option<String>),
        cleanup: Cleanup,
    ) -> Result<(), AgentError> {
        let db = self.gate.db().await?;
        if let Some(text) = unread
            && db.session(above).await?.is_some()
        {
            transcript::add(db, above, &[Message::user(text)], self.clock.now()).await?;
        }
        if cleanup == Cleanup::Delete {
            db.remove_session(key, self.clock.now()).await?;
        }
        Ok(())
    }
}

/// As whom a new agent acts: below `caller`, with what is left to it.
fn child(caller: &Caller, agent: &str, id: &str, spawn: &Spawn) -> Caller {
    Caller {
        agent: agent.into(),
        session: format!("subagent:{id}").into(),
        provider: None,
        parent: Some(Arc::new(caller.clone())),
        left: Some(Arc::new(Left { allow: spawn.allow.clone(), deny: spawn.deny.clone() })),
        ..caller.clone()
    }
}
