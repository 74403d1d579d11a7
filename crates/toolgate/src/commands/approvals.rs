//! `toolgate approvals`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use store::{Answer, Approval, ApprovalFilter, ApprovalId, Db, Decision, Grant, Which};

use super::Reader;
use crate::{
    cli::{Global, duration},
    context, output,
    terminal::{Asked, in_words, visible},
};

const BY: &str = "owner (toolgate approvals)";
/// The scope that is always there.
const EXACT: &str = "exact";

/// Answer the questions that wait for a person, and look at what was answered.
#[derive(Debug, Args)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the questions that wait for an answer, and the answers that are remembered.
    List {
        /// Print both as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a call run, once unless told otherwise.
    Allow(Allow),
    /// Refuse a call.
    Deny {
        /// The question.
        id: ApprovalId,
        /// Tell the agent why.
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Forget a remembered answer, so that people are asked again.
    Revoke {
        /// The answer, as `list` shows it.
        id: ApprovalId,
    },
    /// Show all questions there were, newest first.
    History {
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: u32,
        /// Print a list as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Allow {
    /// The question.
    id: ApprovalId,
    /// Also let the same call run again in this session.
    #[arg(long, conflicts_with = "always")]
    session: bool,
    /// Also let calls like it run in any session: `exact` (the same call), or a scope of the question.
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, default_missing_value = EXACT)]
    always: Option<String>,
    /// Forget the answer after this time.
    #[arg(long, value_name = "30d", value_parser = duration, requires = "always")]
    expires: Option<Duration>,
}

impl Approvals {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        match self.action {
            Action::List { .. } | Action::History { .. } => {}
            Action::Allow(_) | Action::Deny { .. } | Action::Revoke { .. } => context::person()?,
        }
        let db = context::db(global).await?;
        match self.action {
            Action::List { json } => list(&db, json.into()).await?,
            Action::Allow(allow) => allow.run(&db).await?,
            Action::Deny { id, message } => answer(&db, &id, Decision::Deny, message).await?,
            Action::Revoke { id } => revoke(&db, &id).await?,
            Action::History { limit, json } => history(&db, limit, json.into()).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn list(db: &Db, reader: Reader) -> Result<()> {
    let now = context::now();
    let filter = ApprovalFilter { which: Which::Pending, user: None, limit: u32::MAX };
    let pending = db.approvals(&filter, now).await?;
    let grants = db.grants(None, now).await?;
    if let Reader::Program = reader {
        return output::json(&json!({"pending": pending, "grants": grants}));
    }
    if pending.is_empty() {
        output::note("No question waits for an answer.");
    }
    for approval in &pending {
        output::line(question(approval));
    }
    if !grants.is_empty() {
        output::line(format_args!("\n{}", output::bold("Remembered answers")));
        let head = ["id", "user", "agent", "session", "tool", "for", "by", "until"];
        output::table(&head, grants.iter().map(grant_row).collect());
    }
    Ok(())
}

/// The whole question, and how to answer it.
fn question(approval: &Approval) -> String {
    let (id, request) = (&approval.id, &approval.request);
    let asked = Asked {
        id,
        agent: &request.agent,
        user: &request.user,
        tool: &request.tool,
        reason: &request.reason,
        plan: &request.plan,
        input: &request.input,
    };
    let until = output::time(request.expires_at);
    let scopes = std::iter::once((EXACT, in_words(None)))
        .chain(request.scopes.iter().map(|scope| (scope.as_str(), in_words(Some(scope)))));
    let scopes: Vec<_> =
        scopes.map(|(scope, words)| format!("    {}: {words}", visible(scope))).collect();
    format!(
        "{asked}  Waits until {until}. Answer with `toolgate approvals allow {id}` or `deny {id}`.\n  \
         With `--always` it can be remembered for:\n{}",
        scopes.join("\n")
    )
}

fn grant_row(grant: &Grant) -> Vec<String> {
    let Grant { id, user, agent, session, tool, scope, granted_by, expires_at, .. } = grant;
    vec![
        id.to_string(),
        visible(user),
        visible(agent),
        session.as_deref().map_or_else(|| "any".to_owned(), visible),
        visible(tool),
        in_words(scope.as_deref()),
        visible(granted_by),
        expires_at.map_or_else(|| "revoked".to_owned(), output::time),
    ]
}

impl Allow {
    async fn run(self, db: &Db) -> Result<()> {
        let Self { id, session, always, expires } = self;
        let decision = match always {
            Some(scope) => Decision::AllowAlways {
                scope: offered(db, &id, scope).await?,
                expires: expires.and_then(|after| context::now().checked_add(after)),
            },
            None if session => Decision::AllowSession,
            None => Decision::AllowOnce,
        };
        answer(db, &id, decision, None).await
    }
}

/// The scope, if the question offers it.
async fn offered(db: &Db, id: &ApprovalId, scope: String) -> Result<Option<String>> {
    if scope == EXACT {
        return Ok(None);
    }
    let approval = db.approval(id, context::now()).await?;
    let approval = approval.with_context(|| unknown(id))?;
    let scopes = &approval.request.scopes;
    if scopes.contains(&scope) {
        return Ok(Some(scope));
    }
    let scopes = std::iter::once(EXACT).chain(scopes.iter().map(String::as_str));
    let scopes: Vec<_> = scopes.map(|scope| format!("`{}`", visible(scope))).collect();
    bail!("`{scope}` is none of the scopes question {id} offers: {}", scopes.join(", "));
}

fn unknown(id: &ApprovalId) -> String {
    format!("there is no question `{id}`; `toolgate approvals list` shows them")
}

async fn answer(
    db: &Db,
    id: &ApprovalId,
    decision: Decision,
    message: Option<String>,
) -> Result<()> {
    let answer = Answer { decision, by: BY.to_owned(), message };
    let approval = db.answer_approval(id, answer, context::now()).await?;
    let tool = visible(&approval.request.tool);
    output::note(format_args!("Question {id} about `{tool}` is {}.", approval.status));
    Ok(())
}

async fn revoke(db: &Db, id: &ApprovalId) -> Result<()> {
    if !db.revoke_grant(id, BY, context::now()).await? {
        bail!("no answer `{id}` is remembered; `toolgate approvals list` shows those that are");
    }
    output::note(format_args!("Answer {id} is forgotten."));
    Ok(())
}

async fn history(db: &Db, limit: u32, reader: Reader) -> Result<()> {
    let filter = ApprovalFilter { which: Which::All, user: None, limit };
    let all = db.approvals(&filter, context::now()).await?;
    if let Reader::Program = reader {
        return output::json(&all);
    }
    let head = ["asked", "id", "user", "agent", "tool", "status", "answer", "by", "message"];
    output::table(&head, all.iter().map(history_row).collect());
    Ok(())
}

fn history_row(approval: &Approval) -> Vec<String> {
    let request = &approval.request;
    let text = |text: &Option<String>| text.as_deref().map(visible).unwrap_or_default();
    vec![
        output::time(request.asked_at),
        approval.id.to_string(),
        visible(&request.user),
        visible(&request.agent),
        visible(&request.tool),
        approval.status.to_string(),
        text(&approval.decision),
        text(&approval.answered_by),
        text(&approval.message),
    ]
}
