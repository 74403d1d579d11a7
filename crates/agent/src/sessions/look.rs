//! Looking at sessions.

use std::time::SystemTime;

use provider::{Message, WireCall};
use store::{
    ApprovalFilter, Entry, Filter, Message as StoredMessage, Session, SessionFilter, SessionKey,
    SessionKind, Which, shown_time,
};
use tool::{
    Caller, History, MessageCall, MessageInfo, SessionInfo, SessionQuery, SessionSettings,
    ToolError, WithTools,
};

use super::parse_key;
use crate::{
    AgentError,
    agents::{Inner, key_of},
    calls::{recorded_id, recorded_in_before},
    compact::text_of,
    transcript,
};

/// What of a message is shown.
const MAX_CHARS: usize = 4_000;
/// Sessions one list may have.
const MAX_LISTED: usize = 200;
/// Questions that are counted.
const MAX_ASKED: u32 = 1_000;
/// Calls of a session that the journal is asked for: those of as many messages as are shown, and more.
const MAX_CALLS: usize = 5_000;
/// Every kind.
const KINDS: [SessionKind; 3] = [SessionKind::Chat, SessionKind::Request, SessionKind::Child];

impl Inner {
    /// Whether `caller` may look at the sessions of `agent`: at its own, and at those that the
    /// operator opened to it and to every agent above it.
    fn may_see(&self, caller: &Caller, agent: &str) -> bool {
        let config = self.gate.config();
        let opened = |seen_by: &str| {
            let own = config.agents.get(seen_by);
            let own = own.and_then(|own| own.sessions.as_ref());
            own.is_some_and(|names| {
                names.iter().any(|name| name.value == agent || name.value == "*")
            })
        };
        caller.agents().all(|caller| *caller.agent == *agent || opened(&caller.agent))
    }

    /// The session with this key, if `caller` may look at it. Otherwise it is not there.
    pub(crate) async fn visible(&self, caller: &Caller, key: &str) -> Result<Session, AgentError> {
        let key = parse_key(caller, key)?;
        let unknown = || AgentError::UnknownSession(key.to_string());
        let session = self.gate.db().await?.session(&key).await?.ok_or_else(unknown)?;
        let own = key_of(caller);
        if self.may_see(caller, &key.agent) || self.is_below(&session, &own).await? {
            return Ok(session);
        }
        Err(unknown())
    }

    /// Whether the session `above` started this one, or one that did.
    async fn is_below(&self, session: &Session, above: &SessionKey) -> Result<bool, AgentError> {
        let db = self.gate.db().await?;
        let mut parent = session.parent.clone();
        for _ in 0..super::MAX_DEPTH {
            let Some(key) = parent else { return Ok(false) };
            if key == *above {
                return Ok(true);
            }
            parent = db.session(&key).await?.and_then(|session| session.parent);
        }
        Ok(false)
    }

    /// The one with this key, or `caller`'s own.
    pub(crate) async fn own_or(
        &self,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<Session, AgentError> {
        match key {
            Some(key) => self.visible(caller, key).await,
            None => Ok(self.open(caller).await?.0),
        }
    }

    /// The same, if `caller` may change it: its own, and those of agents it started.
    pub(crate) async fn changeable(
        &self,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<Session, AgentError> {
        let (session, own) = (self.own_or(caller, key).await?, key_of(caller));
        if session.key == own || self.is_below(&session, &own).await? {
            return Ok(session);
        }
        let key = &session.key;
        Err(AgentError::Invalid(format!("`{key}` is another agent's; it can be read, not changed")))
    }

    /// An agent chooses among the models of its provider: policy is laid down by provider, and a model
    /// does not choose its own policy.
    pub(crate) fn check_provider(
        &self,
        caller: &Caller,
        session: &Session,
        settings: &SessionSettings,
    ) -> Result<(), AgentError> {
        let Some(model) = &settings.model else { return Ok(()) };
        let agent = self.agent(&session.key.agent)?;
        let models = self.models.load();
        let now = match &caller.provider {
            Some(provider) if session.key == key_of(caller) => provider.to_string(),
            Some(_) | None => models.pick(Some(&agent), session.model.as_deref())?.provider,
        };
        let wanted = models.pick(Some(&agent), Some(model))?.provider;
        if wanted == now {
            return Ok(());
        }
        Err(AgentError::Invalid(format!(
            "`{model}` is a model of `{wanted}`, and the session uses `{now}`; only a person can \
             change the provider"
        )))
    }

    pub(crate) async fn list(
        &self,
        caller: &Caller,
        query: SessionQuery,
    ) -> Result<Vec<SessionInfo>, AgentError> {
        let config = self.gate.config();
        let known = config.agents.keys().map(String::as_str).chain([&*caller.agent, "main"]);
        let mut agents: Vec<_> = known
            .filter(|agent| query.agent.as_deref().is_none_or(|wanted| wanted == *agent))
            .filter(|agent| self.may_see(caller, agent))
            .map(str::to_owned)
            .collect();
        agents.sort();
        agents.dedup();
        // Nobody is everybody to the store.
        if agents.is_empty() {
            return Ok(Vec::new());
        }
        let kinds =
            KINDS.into_iter().filter(|kind| query.kinds.iter().any(|name| *name == *kind.name()));
        let filter = SessionFilter {
            user: Some(caller.user.to_string()),
            agents,
            kinds: kinds.collect(),
            active_since: query.active.and_then(|time| self.clock.now().checked_sub(time)),
            label: query.label,
            search: query.search,
            limit: u32::try_from(query.limit.min(MAX_LISTED)).unwrap_or(u32::MAX),
            ..SessionFilter::default()
        };
        let db = self.gate.db().await?;
        let mut infos = Vec::new();
        for session in db.sessions(&filter).await? {
            let mut shown = info(&session);
            if query.messages > 0 {
                let history = self.history(&session, query.messages, WithTools::No).await?;
                shown.last_messages = history.messages;
                shown.untrusted = history.untrusted;
            }
            infos.push(shown);
        }
        Ok(infos)
    }

    pub(crate) async fn history(
        &self,
        session: &Session,
        limit: usize,
        tools: WithTools,
    ) -> Result<History, AgentError> {
        let db = self.gate.db().await?;
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let stored = db.last_messages(&session.key, limit).await?;
        let entries = match (tools, stored.first()) {
            (WithTools::Yes, Some(first)) => self.calls_since(session, first.at).await?,
            (WithTools::Yes, None) | (WithTools::No, _) => Vec::new(),
        };
        let shown = Shown { session, tools, entries: &entries };
        let messages = shown.messages(&stored);
        Ok(History { messages, untrusted: self.untrusted(&session.key).await? })
    }

    /// What the journal has of the calls of a session, newest first.
    async fn calls_since(
        &self,
        session: &Session,
        since: SystemTime,
    ) -> Result<Vec<Entry>, AgentError> {
        let journal = self.gate.journal().clone();
        let filter = Filter {
            user: Some(session.key.user.clone()),
            session: Some(session.key.name.clone()),
            agents: Some(vec![session.key.agent.clone()]),
            since: Some(since),
            limit: MAX_CALLS,
            ..Filter::default()
        };
        let found = tokio::task::spawn_blocking(move || journal.entries(&filter)).await;
        Ok(found.map_err(ToolError::internal)??)
    }

    /// The untrusted content a session has read, in a few words.
    pub(crate) async fn untrusted(&self, key: &SessionKey) -> Result<Option<String>, AgentError> {
        let sources = self.gate.sources(&caller_of(key)).await?;
        let Some(first) = sources.first() else { return Ok(None) };
        let more = sources.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Ok(Some(format!("session `{key}`, which had read {first}{more}")))
    }

    pub(crate) async fn status(&self, session: &Session) -> Result<SessionInfo, AgentError> {
        let db = self.gate.db().await?;
        let filter = ApprovalFilter {
            which: Which::Pending,
            user: Some(session.key.user.clone()),
            limit: MAX_ASKED,
        };
        let open = db.approvals(&filter, self.clock.now()).await?;
        let key = &session.key;
        let waiting = open.iter().filter(|approval| {
            let request = &approval.request;
            (&request.user, &request.agent, &request.session) == (&key.user, &key.agent, &key.name)
        });
        let approvals_waiting = Some(waiting.count() as u64);
        Ok(SessionInfo { approvals_waiting, ..info(session) })
    }
}

/// Enough of a caller to look up what is kept by session.
pub(crate) fn caller_of(key: &SessionKey) -> Caller {
    let member = Caller::member(&key.user, &key.agent);
    Caller { session: key.name.as_str().into(), ..member }
}

/// What is known about a session.
#[expect(clippy::cast_precision_loss, reason = "nobody spends so much that a cent is lost")]
pub(crate) fn info(session: &Session) -> SessionInfo {
    SessionInfo {
        session_key: session.key.to_string(),
        kind: session.kind.to_string(),
        state: session.state.to_string(),
        agent_id: session.key.agent.clone(),
        label: session.label.clone(),
        model: session.model.clone(),
        parent: session.parent.as_ref().map(ToString::to_string),
        metadata: session.metadata.clone(),
        messages: session.messages,
        input_tokens: session.input_tokens,
        output_tokens: session.output_tokens,
        cost: session.cost_micros as f64 / 1_000_000.0,
        calls: session.calls,
        approvals_waiting: None,
        created_at: shown_time(session.created_at),
        active_at: shown_time(session.active_at),
        last_messages: Vec::new(),
        untrusted: None,
    }
}

/// Messages as people and programs look at them.
struct Shown<'a> {
    session: &'a Session,
    tools: WithTools,
    /// What the journal has of the session's calls.
    entries: &'a [Entry],
}

impl Shown<'_> {
    fn messages(&self, stored: &[StoredMessage]) -> Vec<MessageInfo> {
        // Results come right after the message that asked for them.
        let mut asked: Vec<(WireCall, MessageCall)> = Vec::new();
        let mut all = Vec::new();
        for message in stored {
            let id = transcript::message_id(self.session, message.number);
            let one = |role: &str, text: String| MessageInfo {
                id: id.clone(),
                role: role.to_owned(),
                text: short(&text),
                at: shown_time(message.at),
                calls: Vec::new(),
                call_id: None,
            };
            match transcript::read(message) {
                Ok(Some(Message::User(blocks))) => all.push(one("user", text_of(&blocks))),
                Ok(Some(Message::Model(said))) => {
                    asked = self.calls(&id, message.number, &said.calls);
                    let calls: Vec<_> = match self.tools {
                        WithTools::Yes => asked.iter().map(|(_, call)| call.clone()).collect(),
                        WithTools::No => Vec::new(),
                    };
                    if !said.text.is_empty() || !calls.is_empty() {
                        all.push(MessageInfo { calls, ..one("assistant", said.text) });
                    }
                }
                Ok(Some(Message::Results(results))) if self.tools == WithTools::Yes => {
                    all.extend(results.iter().enumerate().map(|(number, result)| {
                        let same = |(call, _): &&(WireCall, MessageCall)| call.id == result.id;
                        let call = match &result.id {
                            Some(_) => asked.iter().find(same),
                            None => asked.get(number),
                        };
                        let call_id = call.and_then(|(_, call)| call.call_id.clone());
                        MessageInfo { call_id, ..one("tool", result.text()) }
                    }));
                }
                Ok(Some(Message::Results(_)) | None) | Err(_) => {}
            }
        }
        all
    }

    /// The calls of the message `id`, which is the session's `number`-th, with what became of them.
    fn calls(&self, id: &str, number: u64, calls: &[WireCall]) -> Vec<(WireCall, MessageCall)> {
        let old_message = transcript::old_message_id(self.session, number);
        let one = |(at, call): (usize, &WireCall)| {
            let recorded = recorded_id(calls, at);
            let before = recorded_in_before(&old_message, calls, at);
            let entry = self.entries.iter().find(|entry| match &entry.message_id {
                Some(found) if found == id => entry.provider_call_id == recorded,
                Some(found) => *found == before && entry.provider_call_id == call.id,
                None => false,
            });
            let arguments = call.args.as_ref().map(ToString::to_string).unwrap_or_default();
            let shown = MessageCall {
                call_id: entry.map(|entry| entry.id.to_string()),
                tool: call.name.clone(),
                arguments: short(&arguments),
                status: entry.map(|entry| entry.status.to_string()),
                duration_ms: entry.and_then(|entry| entry.execution_time_ms),
            };
            (call.clone(), shown)
        };
        calls.iter().enumerate().map(one).collect()
    }
}

fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_CHARS).collect();
    if shown.len() < text.len() {
        shown.push_str(" […]");
    }
    shown
}
