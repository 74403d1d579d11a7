//! `toolgate approvals`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use store::{Answer, Approval, ApprovalFilter, ApprovalId, Db, Decision, EXACT, Grant, Which};
use toolgate::Caller;

use super::Reader;
use crate::{
    changes::whole,
    cli::{Global, duration},
    context, output,
    question::{expiry, in_words, shown},
    visible::visible,
};

const BY: &str = "owner (toolgate approvals)";

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
        /// Answer as this user instead of the owner.
        #[arg(long, value_name = "U")]
        user: Option<String>,
    },
    /// Take back a remembered answer, or one that was not used yet, so that people are asked again.
    Revoke {
        /// The answer, as `list` shows it.
        id: ApprovalId,
    },
    /// Show one question whole, with every change line by line.
    Show {
        /// The question.
        id: ApprovalId,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
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
    /// Also let calls like it run in any session: `exact` (the same call), or another scope of the
    /// question, whole or up to its colon.
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, default_missing_value = EXACT)]
    always: Option<String>,
    /// Forget the answer after this time.
    #[arg(long, value_name = "30d", value_parser = duration, requires = "always")]
    expires: Option<Duration>,
    /// Answer as this user instead of the owner.
    #[arg(long, value_name = "U")]
    user: Option<String>,
}

impl Approvals {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        // A full disk must not keep anybody from taking a right away.
        if matches!(self.action, Action::Deny { .. } | Action::Revoke { .. }) {
            store::use_reserve();
        }
        match self.action {
            Action::List { .. } | Action::History { .. } | Action::Show { .. } => {}
            Action::Allow(_) | Action::Deny { .. } | Action::Revoke { .. } => context::person()?,
        }
        let db = context::db(global).await?;
        match self.action {
            Action::List { json } => list(&db, json.into()).await?,
            Action::Allow(allow) => allow.run(global, &db).await?,
            Action::Deny { id, message, user } => {
                let by = By { global, db: &db, user: user.as_deref() };
                by.answer(&db.whole_id(&id).await?, Decision::Deny, message).await?;
            }
            Action::Revoke { id } => revoke(&db, &db.whole_id(&id).await?).await?,
            Action::Show { id, json } => show(&db, &db.whole_id(&id).await?, json.into()).await?,
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
    let (id, request) = (approval.id.short(), &approval.request);
    let mut lines = vec![shown(&approval.id, request).trim_end().to_owned()];
    if !approval.waiting {
        lines.push(
            "  The process that asked has ended; a yes counts for the same call, once, when it is made \
             again."
                .to_owned(),
        );
    }
    if !request.changes.is_empty() {
        lines.push(format!("  `toolgate approvals show {id}` shows every change line by line."));
    }
    let until = output::time(request.expires_at);
    lines.push(format!(
        "  Waits until {until}. Answer with `toolgate approvals allow {id}` or `deny {id}`."
    ));
    if !request.scopes.is_empty() {
        lines.push("  With `--always` it can be remembered for:".to_owned());
    }
    let scopes = request.scopes.iter();
    lines.extend(scopes.map(|scope| format!("    {}: {}", visible(scope), in_words(scope))));
    lines.join("\n")
}

/// One question, with everything that belongs to it.
async fn show(db: &Db, id: &ApprovalId, reader: Reader) -> Result<()> {
    let approval = db.approval(id, context::now()).await?.with_context(|| unknown(id))?;
    if let Reader::Program = reader {
        return output::json(&approval);
    }
    output::line(shown(&approval.id, &approval.request));
    let paint = output::paint();
    approval.request.changes.iter().for_each(|one| output::line(whole(one, paint)));
    let by = approval.answered_by.as_deref().map(|by| format!(" by {}", visible(by)));
    let said = approval.message.as_deref().map(|said| format!(": {}", visible(said)));
    let used = approval.used_by.map(|call| format!("; used by call {call}"));
    let [by, said, used] = [by, said, used].map(Option::unwrap_or_default);
    output::line(format_args!("  It is {}{by}{said}{used}.", approval.status));
    Ok(())
}

fn grant_row(grant: &Grant) -> Vec<String> {
    let Grant { id, user, agent, session, tool, scope, granted_by, expires_at, .. } = grant;
    vec![
        id.short().to_owned(),
        visible(user),
        visible(agent),
        session.as_deref().map_or_else(|| "any".to_owned(), visible),
        visible(tool),
        in_words(scope.as_deref().unwrap_or(EXACT)),
        visible(granted_by),
        expires_at.map_or_else(|| "until revoked".to_owned(), output::time),
    ]
}

impl Allow {
    async fn run(self, global: &Global, db: &Db) -> Result<()> {
        let Self { id, session, always, expires, user } = self;
        let id = db.whole_id(&id).await?;
        let decision = match always {
            Some(scope) => Decision::AllowAlways {
                scope: offered(db, &id, &scope).await?,
                expires: expiry(context::now(), expires),
            },
            None if session => Decision::AllowSession,
            None => Decision::AllowOnce,
        };
        By { global, db, user: user.as_deref() }.answer(&id, decision, None).await
    }
}

/// The scope that is meant, if the question offers it: written out, or up to its colon.
async fn offered(db: &Db, id: &ApprovalId, typed: &str) -> Result<String> {
    let approval = db.approval(id, context::now()).await?;
    let approval = approval.with_context(|| unknown(id))?;
    let scopes = &approval.request.scopes;
    if let Some(scope) = scopes.iter().find(|scope| *scope == typed) {
        return Ok(scope.clone());
    }
    let kind = |scope: &&String| scope.split_once(':').is_some_and(|(kind, _)| kind == typed);
    if let [scope] = scopes.iter().filter(kind).collect::<Vec<_>>().as_slice() {
        return Ok((*scope).clone());
    }
    let known: Vec<_> = scopes.iter().map(|scope| format!("`{}`", visible(scope))).collect();
    let id = id.short();
    if known.is_empty() {
        bail!("the answer to question {id} counts once; it cannot be remembered");
    }
    bail!("`{typed}` is none of the scopes question {id} offers: {}", known.join(", "));
}

fn unknown(id: &ApprovalId) -> String {
    format!("there is no question `{id}`; `toolgate approvals list` shows them")
}

/// Who answers.
struct By<'a> {
    global: &'a Global,
    db: &'a Db,
    user: Option<&'a str>,
}

impl By<'_> {
    async fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        message: Option<String>,
    ) -> Result<()> {
        let tools = context::configuration(self.global)?.tools;
        let (approver, by) = match self.user {
            Some(user) => (Caller::member(user, "main"), user.to_owned()),
            None => (Caller::owner("main"), BY.to_owned()),
        };
        let answer = Answer { decision, by, message };
        let approval =
            gate::answer(self.db, &tools, &approver, (id, answer), context::now()).await?;
        let tool = visible(&approval.request.tool);
        let id = id.short();
        output::note(format_args!("Question {id} about `{tool}` is {}.", approval.status));
        Ok(())
    }
}

async fn revoke(db: &Db, id: &ApprovalId) -> Result<()> {
    let now = context::now();
    let unused = db.withdraw_approval(id, &format!("revoked by {BY}"), now).await?;
    if !db.revoke_grant(id, BY, now).await? && !unused {
        bail!("no answer `{id}` is remembered; `toolgate approvals list` shows those that are");
    }
    output::note(format_args!("Answer {} is forgotten.", id.short()));
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
        approval.id.short().to_owned(),
        visible(&request.user),
        visible(&request.agent),
        visible(&request.tool),
        approval.status.to_string(),
        text(&approval.decision),
        text(&approval.answered_by),
        text(&approval.message),
    ]
}
