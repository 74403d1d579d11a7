//! `toolgate policy suggest`.

use std::{
    process::ExitCode,
    time::{Duration, SystemTime},
};

use anyhow::{Result, bail};
use clap::Args;
use gate::Operation;
use policy::{Past, Suggestion, Verdict};
use serde_json::{Value, json};
use store::{Approval, ApprovalFilter, ApprovalStatus, Db, EXACT, Grant, LateGrant, Wanted, Which};
use tool::{Effect, Effects, Info, Need, Plan, Prepared, ToolInfo};
use toolgate::{BoxFuture, Caller, Outcome, ToolContext, ToolError, ToolOutput, ToolResult};

use crate::{
    cli::{Global, duration},
    commands::history::short,
    context, output,
    question::{in_words, needs_in_words},
    visible::visible,
};

const BY: &str = "owner (policy suggest)";
/// Habits are of late.
const LOOKED_AT: u32 = 10_000;

/// Propose answers that would spare you questions you always answer with yes.
///
/// Looks at all questions there were. What was allowed at least three times and never denied is
/// proposed, as narrow as it can be, with the questions it would have answered and those it would not.
/// Nothing changes until you accept one; `toolgate approvals revoke` takes it back.
#[derive(Debug, Args)]
pub(super) struct Suggest {
    /// Remember the proposal with this number.
    #[arg(long, value_name = "N")]
    accept: Option<usize>,
    /// Forget it after this time.
    #[arg(long, value_name = "30d", value_parser = duration, requires = "accept")]
    expires: Option<Duration>,
    /// Print a JSON list.
    #[arg(long)]
    json: bool,
}

impl Suggest {
    pub(super) async fn run(self, global: &Global) -> Result<ExitCode> {
        if self.accept.is_some() {
            context::person()?;
        }
        let db = context::db(global).await?;
        let past = answered(&db).await?;
        let found = policy::suggest(&past.iter().map(question).collect::<Vec<_>>());
        let found: Vec<_> = found.iter().filter_map(|found| Proposal::new(found, &past)).collect();
        match self.accept {
            Some(number) => self.accept(global, db, &found, number).await?,
            None if self.json => {
                let all = (1..).zip(&found).map(|(number, proposal)| proposal.json(number));
                output::json(&all.collect::<Vec<_>>())?;
            }
            None => show(&found),
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn accept(
        &self,
        global: &Global,
        db: Db,
        found: &[Proposal<'_>],
        number: usize,
    ) -> Result<()> {
        let Some(proposal) = number.checked_sub(1).and_then(|place| found.get(place)) else {
            bail!("there is no proposal {number}; `toolgate policy suggest` lists them");
        };
        let now = context::now();
        let grant = LateGrant {
            approvals: proposal.covered.iter().map(|approval| approval.id.clone()).collect(),
            scope: proposal.scope.map(str::to_owned),
            by: BY.to_owned(),
            expires: self.expires.and_then(|after| now.checked_add(after)),
        };
        let what = proposal.to_string();
        let args = json!({"action": "accept", "tool": proposal.newest.request.tool,
            "scope": grant.scope, "rests_on": grant.approvals});
        let prepared = Box::new(Accepting { db, grant, what: what.clone(), now });
        let gate = context::gate(global, context::configuration(global)?, None)?;
        let operation = Operation { info: info(), args, prepared };
        match gate.perform(&Caller::owner("main"), operation).await {
            Outcome::Success { result, .. } => {
                let id = result.as_str().unwrap_or_default();
                output::note(format_args!(
                    "Nobody is asked any more about {what}. `toolgate approvals revoke {id}` takes it \
                     back."
                ));
                Ok(())
            }
            Outcome::Error { message, .. } => bail!(message),
        }
    }
}

/// The questions that a person answered, newest first, without those nobody would be asked again.
async fn answered(db: &Db) -> Result<Vec<Approval>> {
    let now = context::now();
    let filter = ApprovalFilter { which: Which::All, user: None, limit: LOOKED_AT };
    let (mut past, grants) = (db.approvals(&filter, now).await?, db.grants(None, now).await?);
    past.retain(|approval| match approval.status {
        // Without a scope the question is asked each time, whatever was answered before.
        ApprovalStatus::Allowed if approval.request.scopes.is_empty() => false,
        ApprovalStatus::Allowed => {
            approval.answered_by.as_deref() != Some(BY) && !is_settled(approval, &grants)
        }
        ApprovalStatus::Denied => true,
        ApprovalStatus::Pending | ApprovalStatus::Expired | ApprovalStatus::Withdrawn => false,
    });
    Ok(past)
}

fn is_settled(approval: &Approval, grants: &[Grant]) -> bool {
    let request = &approval.request;
    let wanted = Wanted {
        user: &request.user,
        agent: &request.agent,
        session: &request.session,
        tool: &request.tool,
        rule: &request.rule,
        fingerprint: request.fingerprint,
        scopes: &request.scopes,
    };
    grants.iter().any(|grant| grant.covers_always(wanted))
}

fn question(approval: &Approval) -> Past<'_> {
    let request = &approval.request;
    Past {
        user: &request.user,
        agent: &request.agent,
        tool: &request.tool,
        rule: &request.rule,
        fingerprint: request.fingerprint,
        // The exact call is a candidate of its own.
        scopes: match request.scopes.split_first() {
            Some((first, wider)) if first == EXACT => wider,
            _ => &request.scopes,
        },
        answer: if is_denied(approval) { Verdict::Deny } else { Verdict::Allow },
    }
}

fn is_denied(approval: &Approval) -> bool {
    approval.status == ApprovalStatus::Denied
}

/// A suggestion with what it is about.
struct Proposal<'a> {
    newest: &'a Approval,
    scope: Option<&'a str>,
    covered: Vec<&'a Approval>,
    others: Vec<&'a Approval>,
}

impl<'a> Proposal<'a> {
    fn new(found: &'a Suggestion, past: &'a [Approval]) -> Option<Self> {
        let Suggestion { scope, covered, others } = found;
        let at = |places: &[usize]| places.iter().filter_map(|place| past.get(*place)).collect();
        let (covered, others): (Vec<&Approval>, _) = (at(covered), at(others));
        Some(Self { newest: covered.first()?, scope: scope.as_deref(), covered, others })
    }

    fn json(&self, number: usize) -> Value {
        let request = &self.newest.request;
        let list = |all: &[&Approval]| all.iter().map(|one| entry(one)).collect::<Vec<_>>();
        json!({
            "number": number,
            "user": request.user,
            "agent": request.agent,
            "tool": request.tool,
            "rule": request.rule,
            "scope": self.scope,
            "words": self.to_string(),
            "covers": list(&self.covered),
            "does_not_cover": list(&self.others),
        })
    }
}

fn entry(approval: &Approval) -> Value {
    let answer = approval.status.name();
    json!({"id": approval.id, "what": what(approval), "rule": approval.request.rule, "answer": answer})
}

/// Reads on after "about": "nobody is asked about calls of `read` …".
impl std::fmt::Display for Proposal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let request = &self.newest.request;
        let (agent, user) = (visible(&request.agent), visible(&request.user));
        let scope = in_words(self.scope.unwrap_or(EXACT));
        let tool = visible(&request.tool);
        write!(f, "calls of `{tool}` by agent `{agent}` of `{user}`: {scope}")?;
        if self.scope.is_none() {
            write!(f, " ({})", what(self.newest))?;
        }
        write!(f, ", where `{}` asks", visible(&request.rule))
    }
}

fn show(found: &[Proposal<'_>]) {
    if found.is_empty() {
        output::note("Nothing was always approved often enough to propose a rule.");
    }
    for (number, proposal) in (1..).zip(found) {
        let head = format!("{number}. Do not ask about {proposal}");
        output::line(output::bold(&head));
        output::line(format_args!(
            "   It would have answered {} questions:",
            proposal.covered.len()
        ));
        proposal.covered.iter().for_each(|approval| output::line(row(approval)));
        if !proposal.others.is_empty() {
            output::line("   It would not have answered these:");
            proposal.others.iter().for_each(|approval| output::line(row(approval)));
        }
        output::line(format_args!(
            "   `toolgate policy suggest --accept {number}` remembers it.\n"
        ));
    }
}

fn row(approval: &Approval) -> String {
    let denied = if is_denied(approval) { "  denied" } else { "" };
    let asked = output::time(approval.request.asked_at);
    format!("     {asked}  {}{denied}", what(approval))
}

fn what(approval: &Approval) -> String {
    short(&needs_in_words(&approval.request.plan).join(", "))
}

fn info() -> ToolInfo {
    let text = |description: &str| json!({"type": "string", "description": description});
    let parameters = json!({"type": "object", "properties": {
        "action": text("accept."),
        "tool": text("The tool nobody is asked about any more."),
        "scope": text("For which calls; exactly the same one if absent."),
    }});
    let about = "Remember an answer that was always given.";
    let info = ToolInfo::with("policy", about, parameters, Info::DEFAULT);
    ToolInfo { effects: Effects::of(&[Effect::Act]), ..info }
}

/// A proposal that is accepted, recorded like a call.
struct Accepting {
    db: Db,
    grant: LateGrant,
    what: String,
    now: SystemTime,
}

impl Prepared for Accepting {
    fn plan(&self) -> Plan {
        [Need::Act(format!("no longer ask about {}", self.what))].into()
    }

    fn run(self: Box<Self>, _: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let Self { db, grant, what: _, now } = *self;
            let id = db.add_grant(grant, now).await.map_err(ToolError::from)?;
            Ok(ToolOutput::text(id.to_string()))
        })
    }
}
