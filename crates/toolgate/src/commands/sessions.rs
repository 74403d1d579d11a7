//! `toolgate sessions`.

use std::{process::ExitCode, time::Duration};

use agent::Agents;
use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use store::{Db, Session, SessionFilter, SessionKey, SessionKind};
use tool::{MessageCall, MessageInfo, SessionInfo, WithTools, nearest};

use crate::{
    cli::{Global, duration},
    context, output,
    visible::{readable, visible},
};

/// How many sessions are looked through for one with a similar name.
const LOOKED_THROUGH: u32 = 1_000;

/// List, show and remove conversations of agents.
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List conversations, those first in which something happened last.
    List(List),
    /// Show how a conversation stands and what was said in it, without secrets, as it is kept.
    Show(Show),
    /// Forget a conversation. The journal keeps its calls.
    Remove {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Debug, Args)]
struct List {
    /// Only of this user.
    #[arg(long, value_name = "U")]
    user: Option<String>,
    /// Only with this agent.
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Only of this kind.
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// Only those that did something in this time.
    #[arg(long, value_name = "1h", value_parser = duration)]
    active: Option<Duration>,
    /// Only those whose name or label contains this.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Print a list as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    which: Which,
    /// At most so many of the last messages.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// Calls of tools and what they returned, too.
    #[arg(long)]
    tools: bool,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Which {
    /// The conversation, as `list` shows it: `agent:AGENT:NAME`; a name alone is one of `main`.
    key: String,
    /// Whose it is.
    #[arg(long, value_name = "U", default_value = "owner")]
    user: String,
}

/// Where a session comes from.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// A conversation that goes on.
    Chat,
    /// One request that named no session.
    Request,
    /// Started by another agent.
    Child,
}

impl From<Kind> for SessionKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Chat => Self::Chat,
            Kind::Request => Self::Request,
            Kind::Child => Self::Child,
        }
    }
}

impl Sessions {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        match self.action {
            Action::List(list) => list.run(global).await?,
            Action::Show(show) => show.run(global).await?,
            Action::Remove { which } => remove(global, &which).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Those who know what stands in a session.
fn agents(global: &Global) -> Result<Agents> {
    let gate = context::idle_gate(global, context::configuration(global)?)?;
    Ok(gate.agents().clone())
}

impl List {
    async fn run(self, global: &Global) -> Result<()> {
        let Self { user, agent, kind, active, search, limit, json } = self;
        let agents = agents(global)?;
        let filter = SessionFilter {
            user,
            agents: agent.into_iter().collect(),
            kinds: kind.map(SessionKind::from).into_iter().collect(),
            active_since: active.and_then(|time| context::now().checked_sub(time)),
            search,
            limit,
            ..SessionFilter::default()
        };
        let mut found = Vec::new();
        for session in agents.db().await?.sessions(&filter).await? {
            let info = agents.info(&session).await?;
            found.push((session, info));
        }
        if json {
            let all: Result<Vec<_>> =
                found.iter().map(|(one, info)| with_user(one, info)).collect();
            return output::json(&all?);
        }
        let head = ["session", "user", "kind", "state", "messages", "calls", "cost", "active"];
        output::table(&head, found.iter().map(|(session, info)| row(session, info)).collect());
        Ok(())
    }
}

/// What is known about a session, and whose it is: here that may be anybody.
fn with_user(session: &Session, info: &SessionInfo) -> Result<Value> {
    let mut shown = serde_json::to_value(info)?;
    if let Some(fields) = shown.as_object_mut() {
        fields.insert("user".to_owned(), json!(session.key.user));
    }
    Ok(shown)
}

fn row(session: &Session, info: &SessionInfo) -> Vec<String> {
    vec![
        visible(&info.session_key),
        visible(&session.key.user),
        info.kind.clone(),
        info.state.clone(),
        info.messages.to_string(),
        info.calls.to_string(),
        format!("${:.2}", info.cost),
        output::time(session.active_at),
    ]
}

impl Which {
    fn key(&self) -> Result<SessionKey> {
        if self.key.contains(':') {
            return SessionKey::parse(&self.user, &self.key).map_err(|problem| anyhow!(problem));
        }
        Ok(SessionKey::new(&self.user, agent::MAIN, &self.key))
    }

    async fn find(&self, db: &Db) -> Result<Session> {
        let key = self.key()?;
        if let Some(session) = db.session(&key).await? {
            return Ok(session);
        }
        let user = Some(self.user.clone());
        let filter = SessionFilter { user, limit: LOOKED_THROUGH, ..SessionFilter::default() };
        let known: Vec<_> =
            db.sessions(&filter).await?.iter().map(|one| one.key.to_string()).collect();
        let near = nearest(&key.to_string(), known.iter().map(String::as_str));
        let hint = near.map(|near| format!("; did you mean `{}`?", visible(near)));
        let hint = hint.unwrap_or_else(|| "; `toolgate sessions list` shows them".to_owned());
        let (key, user) = (visible(&key.to_string()), visible(&self.user));
        bail!("`{user}` has no session `{key}`{hint}")
    }
}

impl Show {
    async fn run(self, global: &Global) -> Result<()> {
        let Self { which, limit, tools, json } = self;
        let agents = agents(global)?;
        let session = which.find(agents.db().await?).await?;
        let info = agents.info(&session).await?;
        let tools = if tools { WithTools::Yes } else { WithTools::No };
        let messages = agents.messages(&session, limit as usize, tools).await?;
        if json {
            let mut shown = with_user(&session, &info)?;
            let fields = shown.as_object_mut().context("a session is an object")?;
            // How many there are stands here as a number.
            fields.insert("last_messages".to_owned(), json!(messages));
            return output::json(&shown);
        }
        print(&session, &info);
        messages.iter().for_each(print_message);
        Ok(())
    }
}

fn print(session: &Session, info: &SessionInfo) {
    output::line(output::bold(&visible(&info.session_key)));
    let facts = [
        ("user", Some(session.key.user.clone())),
        ("label", info.label.clone()),
        ("kind", Some(info.kind.clone())),
        ("state", Some(info.state.clone())),
        ("model", info.model.clone()),
        ("parent", info.parent.clone()),
        ("messages", Some(info.messages.to_string())),
        ("calls", Some(info.calls.to_string())),
        ("tokens", Some(format!("{} in, {} out", info.input_tokens, info.output_tokens))),
        ("cost", Some(format!("${:.2}", info.cost))),
        ("asked", info.approvals_waiting.filter(|open| *open > 0).map(|open| open.to_string())),
        ("begun", Some(output::time(session.created_at))),
        ("active", Some(output::time(session.active_at))),
    ];
    for (name, text) in facts {
        if let Some(text) = text {
            output::line(format_args!("  {name:<9} {}", visible(&text)));
        }
    }
}

fn print_message(message: &MessageInfo) {
    let MessageInfo { id: _, role, text, at, calls, call_id: _ } = message;
    output::line(format_args!("\n{} {}", output::bold(role), output::dim(at)));
    if !text.is_empty() {
        output::line(readable(text));
    }
    for call in calls {
        let MessageCall { call_id, tool, arguments, status, duration_ms } = call;
        let status = status.as_deref().map(|status| format!(" → {status}")).unwrap_or_default();
        let took = duration_ms.map(|took| format!(", {took} ms")).unwrap_or_default();
        let id = call_id.as_deref().map(|id| format!(" ({id})")).unwrap_or_default();
        output::line(format_args!(
            "→ {}{status}{took}{id}",
            visible(&format!("{tool} {arguments}"))
        ));
    }
}

async fn remove(global: &Global, which: &Which) -> Result<()> {
    context::person()?;
    let db = context::db(global).await?;
    let session = which.find(&db).await?;
    let key = &session.key;
    // Ours from here on: nobody speaks in it while it goes.
    let journal = context::journal(global)?;
    if !db.claim_session(key, &journal, context::now()).await? {
        bail!(
            "`{key}` is at work in another process; stop it first: `POST /v1/sessions/{key}/stop`, \
             or end that process"
        );
    }
    db.remove_session(key, context::now()).await?;
    output::note(format_args!("Session `{}` is forgotten.", visible(&key.to_string())));
    Ok(())
}
