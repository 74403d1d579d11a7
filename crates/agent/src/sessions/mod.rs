//! Sessions as tools see them.

mod look;
mod send;
mod spawn;
mod tree;

use std::time::Duration;

use serde_json::json;
use store::{Session, SessionChange, SessionKey};
use tool::{
    AgentInfo, BoxFuture, Caller, History, MessageInfo, SendMessage, Sent, SessionInfo,
    SessionQuery, SessionSettings, Sessions, Spawn, Spawned, ToolError, WithTools,
};

use crate::{AgentError, Agents, agents::key_of};

/// Characters of a label.
const MAX_LABEL: usize = 200;
/// Bytes of what clients keep with a session.
const MAX_METADATA: usize = 16 * 1024;
/// So deep a tree of agents is followed.
const MAX_DEPTH: usize = 32;

impl Sessions for Agents {
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        query: SessionQuery,
    ) -> BoxFuture<'a, Result<Vec<SessionInfo>, ToolError>> {
        Box::pin(async move { Ok(self.0.list(caller, query).await?) })
    }

    fn history<'a>(
        &'a self,
        caller: &'a Caller,
        key: &'a str,
        limit: usize,
        tools: WithTools,
    ) -> BoxFuture<'a, Result<History, ToolError>> {
        Box::pin(async move {
            let session = self.0.visible(caller, key).await?;
            Ok(self.0.history(&session, limit, tools).await?)
        })
    }

    fn send<'a>(
        &'a self,
        caller: &'a Caller,
        message: SendMessage,
    ) -> BoxFuture<'a, Result<Sent, ToolError>> {
        Box::pin(async move { Ok(self.0.send(caller, message).await?) })
    }

    fn spawn<'a>(
        &'a self,
        caller: &'a Caller,
        spawn: Spawn,
    ) -> BoxFuture<'a, Result<Spawned, ToolError>> {
        Box::pin(async move { Ok(self.0.spawn(caller, spawn).await?) })
    }

    fn children<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<SessionInfo>, ToolError>> {
        Box::pin(async move {
            let below = self.0.descendants(&key_of(caller)).await?;
            Ok(below.iter().map(look::info).collect())
        })
    }

    fn kill<'a>(
        &'a self,
        caller: &'a Caller,
        target: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, ToolError>> {
        Box::pin(async move { Ok(self.0.kill(caller, target).await?) })
    }

    fn steer<'a>(
        &'a self,
        caller: &'a Caller,
        target: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<Sent, ToolError>> {
        Box::pin(async move {
            let session = self.0.descendant(caller, target).await?;
            Ok(self.0.say(caller, &session, text.to_owned(), Duration::ZERO).await?)
        })
    }

    fn status<'a>(
        &'a self,
        caller: &'a Caller,
        key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<SessionInfo, ToolError>> {
        Box::pin(async move { Ok(self.0.status(&self.0.own_or(caller, key).await?).await?) })
    }

    fn change<'a>(
        &'a self,
        caller: &'a Caller,
        key: Option<&'a str>,
        settings: SessionSettings,
    ) -> BoxFuture<'a, Result<SessionInfo, ToolError>> {
        Box::pin(async move {
            let session = self.0.changeable(caller, key).await?;
            self.0.check_provider(caller, &session, &settings)?;
            self.set(&session, settings).await?;
            let changed = self.0.own_or(caller, key).await?;
            Ok(self.0.status(&changed).await?)
        })
    }

    fn agents<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<AgentInfo>, ToolError>> {
        Box::pin(async move {
            let ids = self.ids().into_iter().filter(|id| self.0.may_spawn(caller, id));
            let info = |id: String| {
                let agent = self.0.agent(&id).unwrap_or_default();
                let description = agent.description.map(|text| text.value.to_string());
                let model = agent.model.map(|model| model.value);
                AgentInfo { agent_id: id, description, model }
            };
            Ok(ids.map(info).collect())
        })
    }
}

impl Agents {
    /// What is known about a session, for whoever may look at it.
    pub async fn info(&self, session: &Session) -> Result<SessionInfo, AgentError> {
        self.0.status(session).await
    }

    /// The last messages of a session, oldest first, for whoever may look at it.
    pub async fn messages(
        &self,
        session: &Session,
        limit: usize,
        tools: WithTools,
    ) -> Result<Vec<MessageInfo>, AgentError> {
        Ok(self.0.history(session, limit, tools).await?.messages)
    }

    /// Changes what is known about a session.
    pub async fn set(
        &self,
        session: &Session,
        settings: SessionSettings,
    ) -> Result<(), AgentError> {
        let SessionSettings { model, label, metadata } = settings;
        check_label(label.as_deref())?;
        let bytes = metadata.as_ref().map_or(0, |fields| json!(fields).to_string().len());
        if bytes > MAX_METADATA {
            return Err(AgentError::Invalid(format!(
                "the metadata has {bytes} bytes; at most {MAX_METADATA} are kept with a session"
            )));
        }
        if let Some(model) = &model {
            let agent = self.0.agent(&session.key.agent)?;
            self.0.models.load().pick(Some(&agent), Some(model))?;
        }
        let change = SessionChange {
            model,
            label,
            metadata: metadata.map(serde_json::Value::Object),
            ..SessionChange::default()
        };
        let db = self.0.gate.db().await?;
        db.change_session(&session.key, change, self.0.clock.now()).await?;
        Ok(())
    }
}

/// Refuses labels that would not fit into a line.
fn check_label(label: Option<&str>) -> Result<(), AgentError> {
    let Some(label) = label else { return Ok(()) };
    if label.chars().count() <= MAX_LABEL && !label.chars().any(char::is_control) {
        return Ok(());
    }
    let problem = format!("a label is one line of at most {MAX_LABEL} characters");
    Err(AgentError::Invalid(problem))
}

/// The session that `text` names for `caller`'s user.
fn parse_key(caller: &Caller, text: &str) -> Result<SessionKey, AgentError> {
    SessionKey::parse(&caller.user, text).map_err(AgentError::Invalid)
}
