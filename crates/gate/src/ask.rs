//! Puts a question to people and waits for the answer.

use std::time::Duration;

use config::Limits;
use policy::{Decision, Verdict};
use serde_json::json;
use store::{
    Answer, Approval, ApprovalId, ApprovalStatus, AskLimits, Db, Decision as AnswerDecision, EXACT,
    Grant, NewApproval, StoreError,
};
use tool::{Proposed, Role, ToolError, texts};

use crate::{
    approver::{Question, Reply},
    call::{Call, Origin},
    emergency::refuse_if_stopped,
    redactor::Redactor,
    shared::Shared,
    stages::{Considered, consider, find, standing},
    subject::{Exact, Subject},
};

const STAGE: &str = "approve";

/// How often answers that other processes gave are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(150);

/// What is too long to be shown whole is not put to anybody.
const MAX_SHOWN: usize = 100_000;

/// What came of a question that was answered with yes.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The approval, or the remembered one.
    pub(crate) approval: String,
    pub(crate) decision: AnswerDecision,
    pub(crate) by: String,
}

/// What a question says besides what the call is.
#[derive(Debug)]
pub(crate) struct Shown {
    /// What the answer may be remembered for.
    pub(crate) scopes: Vec<String>,
    /// What a command changed, which is held until the answer.
    pub(crate) changes: Vec<Proposed>,
    /// Whether an answer that was given before may be one to this.
    pub(crate) earlier: EarlierAnswers,
}

/// Whether an earlier answer may be one to a new question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlierAnswers {
    Count,
    /// What the call runs may be different by now, so people are asked each time.
    DoNotCount,
}

impl Shown {
    /// A question whose answer may be remembered for `scopes`; without any, it is asked each time.
    pub(crate) const fn scopes(scopes: Vec<String>) -> Self {
        let earlier =
            if scopes.is_empty() { EarlierAnswers::DoNotCount } else { EarlierAnswers::Count };
        Self { scopes, changes: Vec::new(), earlier }
    }
}

/// Looks for an earlier answer, else asks. No answer is no.
pub(crate) async fn ask(
    shared: &Shared,
    subject: &Subject,
    decision: &Decision,
    shown: Shown,
) -> Result<Asked, ToolError> {
    let db = shared.db.get().await?;
    if shown.earlier == EarlierAnswers::Count
        && let Some(earlier) = earlier(shared, db, subject, decision, &shown.scopes).await?
    {
        return Ok(earlier);
    }
    if shared.approvers.is_empty() {
        return Err(nobody(&decision.reason, &[]));
    }
    // Waiting may be long, and a call that is waited for must not be lost with the process.
    if let Some(entry) = &subject.entry {
        entry.begin().await?;
    }
    let question = open_question(shared, db, subject, decision, shown).await?;
    let _open = shared.questions.ask(&subject.exact.caller);
    let waited = Call::unless_stopped(&subject.live, answered(shared, db, &question));
    let answer = match tokio::time::timeout(question.timeout, waited).await {
        Ok(Ok(Ok(answer))) => answer,
        Ok(Ok(Err(error)) | Err(error)) => {
            withdraw(shared, db, &question, why_withdrawn(&error)).await;
            return Err(error);
        }
        Err(_) => {
            withdraw(shared, db, &question, "nobody answered in time").await;
            let reason = format!("nobody answered within {} s", question.timeout.as_secs());
            return Err(ToolError::denied(STAGE, "approval.timeout", reason));
        }
    };
    if answer.decision == AnswerDecision::Deny {
        let said = answer.message.map(|message| format!(": {message}")).unwrap_or_default();
        return Err(ToolError::denied(
            STAGE,
            "approval.denied",
            format!("denied by {}{said}", answer.by),
        ));
    }
    // Much may have been decided while the question waited; the stricter one holds.
    if let Err(error) = decide_again(shared, subject).await {
        let now = shared.world.clock().now();
        db.revoke_grant(&question.id, "toolgate", now).await?;
        return Err(error);
    }
    if !db.use_approval(&question.id, subject.call, shared.world.clock().now()).await? {
        let reason = "the answer was used or taken back already";
        return Err(ToolError::denied(STAGE, "approval.used", reason));
    }
    Ok(Asked { approval: question.id.to_string(), decision: answer.decision, by: answer.by })
}

/// Refuses what may not run any more, whatever the person said: everything was stopped, the tool or a
/// permission was taken away, or policy denies the call now.
async fn decide_again(shared: &Shared, subject: &Subject) -> Result<(), ToolError> {
    let Subject { exact, plan, .. } = subject;
    refuse_if_stopped(shared)?;
    if subject.origin == Origin::Person {
        return Ok(());
    }
    find(shared, &exact.caller, &exact.tool)?;
    for capability in plan.capabilities() {
        standing(shared, &exact.caller, plan, capability).await?;
    }
    let Considered { decision, error, suspects: _ } = consider(shared, &exact.caller, plan).await?;
    match (decision.verdict, error) {
        (Verdict::Allow | Verdict::Ask, None) => Ok(()),
        (_, Some(error)) => Err(error),
        (Verdict::Deny, None) => {
            let Decision { rule, reason, .. } = decision;
            let reason = format!("policy changed while the question waited: {reason}");
            Err(ToolError::denied(STAGE, rule, reason))
        }
    }
}

/// An answer that was remembered; or a yes to the same call, whose process died before it could run.
async fn earlier(
    shared: &Shared,
    db: &Db,
    subject: &Subject,
    decision: &Decision,
    scopes: &[String],
) -> Result<Option<Asked>, ToolError> {
    let exact = &subject.exact;
    if let Some(grant) = remembered(shared, exact, &decision.rule, scopes).await? {
        let (approval, by) = (grant.id.to_string(), grant.granted_by);
        return Ok(Some(Asked { approval, decision: AnswerDecision::AllowOnce, by }));
    }
    let (wanted, now) = (exact.wanted(&decision.rule, scopes), shared.world.clock().now());
    let taken = db.take_approval(wanted, subject.call, now).await?;
    Ok(taken.map(|approval| Asked {
        approval: approval.id.to_string(),
        decision: AnswerDecision::AllowOnce,
        by: approval.answered_by.unwrap_or_default(),
    }))
}

/// An earlier answer that covers this call; for a child there must be one for each agent above it too.
pub(crate) async fn remembered(
    shared: &Shared,
    exact: &Exact,
    rule: &str,
    scopes: &[String],
) -> Result<Option<Grant>, ToolError> {
    let (db, now) = (shared.db.get().await?, shared.world.clock().now());
    let mut own = None;
    for caller in exact.caller.agents() {
        let wanted = exact.wanted_by(caller, rule, scopes);
        let Some(grant) = db.find_grant(wanted, now).await? else { return Ok(None) };
        own.get_or_insert(grant);
    }
    Ok(own)
}

async fn open_question(
    shared: &Shared,
    db: &Db,
    subject: &Subject,
    decision: &Decision,
    shown: Shown,
) -> Result<Question, ToolError> {
    let sources = shared.trust.sources(&shared.db, &subject.exact.caller).await?;
    let settings = shared.settings.load();
    let limits = &settings.config.limits;
    let timeout = limits.approval_timeout.value;
    let asked_at = shared.world.clock().now();
    let Subject { call, exact, args, plan, pinned, .. } = subject;
    let redacted = |text: &str| settings.redactor.text(text).into_owned();
    let request = NewApproval {
        call: *call,
        user: exact.caller.user.to_string(),
        agent: exact.caller.agent.to_string(),
        session: exact.caller.session.to_string(),
        tool: exact.tool.to_string(),
        input: settings.redactor.value(args),
        plan: settings.redactor.value(&json!(plan)),
        effects: plan.effects(),
        place: Some(plan.place()),
        reason: redacted(&decision.reason),
        rule: decision.rule.clone(),
        fingerprint: exact.fingerprint,
        scopes: shown.scopes,
        cwd: pinned.as_ref().map(|pinned| redacted(&pinned.folder)),
        changes: shown.changes,
        untrusted: sources.iter().map(|source| redacted(source)).collect(),
        asked_at,
        expires_at: asked_at + timeout,
    };
    refuse_hidden(subject, &request)?;
    let wanted = exact.wanted(&decision.rule, &request.scopes);
    // The question of a process that died is asked on, not once more.
    let id = if let Some(id) = db.adopt_approval(wanted, *call, asked_at).await? {
        id
    } else {
        let limits = how_many(limits, exact.caller.role);
        db.request_approval(request.clone(), limits).await.map_err(too_many)?
    };
    Ok(Question { id, request, timeout })
}

/// How much may be asked.
fn how_many(limits: &Limits, role: Role) -> AskLimits {
    let most = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
    let of_member = most(limits.open_questions_per_user.value);
    AskLimits {
        open: most(limits.open_questions.value),
        // A member names their sessions, and could begin one for every question.
        open_of_user: (role == Role::Member).then_some(of_member),
        per_minute: most(limits.questions_per_minute.value),
    }
}

/// What people would not see all of is not put to them.
fn refuse_hidden(subject: &Subject, request: &NewApproval) -> Result<(), ToolError> {
    let Subject { args, plan, .. } = subject;
    if request.input.to_string().len() > MAX_SHOWN {
        let reason = "the call is too long to be shown to a person in full; make it smaller";
        return Err(ToolError::denied(STAGE, "approval.too_long", reason));
    }
    if plan.command().is_some() && texts(args).into_iter().any(Redactor::hides_code) {
        let reason = "part of the command looks like a secret, so it cannot be shown to a person; pass \
                      secrets in variables that `tools.exec.env` names";
        return Err(ToolError::denied(STAGE, "approval.hidden", reason));
    }
    Ok(())
}

fn too_many(error: StoreError) -> ToolError {
    let limited = matches!(
        error,
        StoreError::TooManyOpen(_) | StoreError::TooManyOfUser(_) | StoreError::TooManyAsked(_)
    );
    if !limited {
        return error.into();
    }
    ToolError::RateLimited { reason: error.to_string(), retry_after: Duration::from_secs(30) }
}

/// The first answer counts, whether an approver brings it or another process stored it.
async fn answered(shared: &Shared, db: &Db, question: &Question) -> Result<Answer, ToolError> {
    let mut tried = Vec::new();
    for approver in &shared.approvers {
        let reply = tokio::select! {
            stored = stored_answer(shared, db, &question.id) => return stored,
            reply = approver.ask(question) => reply,
        };
        match reply {
            Reply::Answered(answer) => return keep(shared, db, question, answer).await,
            Reply::NobodyHere(why) => tried.push(format!("{}: {why}", approver.name())),
        }
    }
    Err(nobody(&question.request.reason, &tried))
}

/// Stores the answer; if somebody was faster, theirs is the answer.
async fn keep(
    shared: &Shared,
    db: &Db,
    question: &Question,
    answer: Answer,
) -> Result<Answer, ToolError> {
    let now = shared.world.clock().now();
    match db.answer_approval(&question.id, answer.clone(), now).await {
        Ok(_) => Ok(answer),
        Err(StoreError::NotPending { .. }) => stored_answer(shared, db, &question.id).await,
        Err(error) => Err(error.into()),
    }
}

/// Waits until the store has an answer.
async fn stored_answer(shared: &Shared, db: &Db, id: &ApprovalId) -> Result<Answer, ToolError> {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let approval = db.approval(id, shared.world.clock().now()).await?;
        let approval = approval.ok_or_else(|| ToolError::internal("the approval is gone"))?;
        if let Some(answer) = read_answer(approval)? {
            return Ok(answer);
        }
    }
}

fn read_answer(approval: Approval) -> Result<Option<Answer>, ToolError> {
    let by = approval.answered_by.unwrap_or_default();
    let decision = match approval.status {
        ApprovalStatus::Pending => return Ok(None),
        ApprovalStatus::Allowed => match approval.decision.as_deref() {
            // What is to be remembered the store remembers already.
            Some("allow_always") => {
                AnswerDecision::AllowAlways { scope: EXACT.to_owned(), expires: None }
            }
            Some("allow_session") => AnswerDecision::AllowSession,
            _ => AnswerDecision::AllowOnce,
        },
        ApprovalStatus::Denied => AnswerDecision::Deny,
        ApprovalStatus::Expired | ApprovalStatus::Withdrawn => {
            let why = approval.message.map(|why| format!(": {why}")).unwrap_or_default();
            let reason = format!("the question was withdrawn{why}");
            return Err(ToolError::denied(STAGE, "approval.withdrawn", reason));
        }
    };
    Ok(Some(Answer { decision, by, message: approval.message }))
}

const fn why_withdrawn(error: &ToolError) -> &'static str {
    if matches!(error, ToolError::Denied { .. }) {
        return "nobody could be asked";
    }
    "the call ended before anybody answered"
}

async fn withdraw(shared: &Shared, db: &Db, question: &Question, why: &str) {
    let now = shared.world.clock().now();
    if let Err(error) = db.withdraw_approval(&question.id, why, now).await {
        tracing::warn!(approval = %question.id, %error, "the question could not be withdrawn");
    }
}

/// Denied at once: a call that waits for nobody would wait for ever.
fn nobody(reason: &str, tried: &[String]) -> ToolError {
    let tried = if tried.is_empty() { String::new() } else { format!(" ({})", tried.join("; ")) };
    let reason = format!("somebody must agree because {reason}, and nobody can be asked{tried}");
    ToolError::denied(STAGE, "approval.nobody", reason)
}
