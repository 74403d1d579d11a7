//! Questions that wait for a person, and their answers.

use std::{fmt, time::Duration};

use axum::http::Method;
use gate::{Answer as GateAnswer, AnswerDecision, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Approval, ApprovalFilter, ApprovalId, ApprovalStatus, Db, EXACT, Scope, Which};
use tool::{
    BoxFuture, Info, Outcome, Plan, Prepared, ToolContext, ToolError, ToolInfo, ToolOutput,
    ToolResult,
};

use super::{
    endpoint::{Asked, Endpoint, Given},
    input::{Empty, Json as JsonBody},
    output::Json,
    paging,
};
use crate::{
    auth::{Sees, Signed},
    problem::{Problem, refusals},
    state::State,
};

/// Which questions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listing {
    /// `pending`, which is usual, or `all`.
    status: Option<String>,
    /// At most so many, up to 500; 100 unless told otherwise.
    limit: Option<u32>,
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
}

/// Questions, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Approvals {
    pub(crate) approvals: Vec<Approval>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

refusals! {
    /// Why no questions are listed.
    NotListed { Invalid }
}

/// `GET /v1/approvals`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/approvals";
    const SUMMARY: &'static str = "Questions about calls: one's own, and those one may answer.";
    type Path = ();
    type Query = Listing;
    type Body = ();
    type Answer = Json<Approvals>;
    type Refusal = NotListed;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Approvals>, NotListed> {
        list(&asked.state, &asked.signed, given.query).await.map(Json)
    }
}

/// The questions somebody sees.
pub(crate) async fn list(
    state: &State,
    signed: &Signed,
    wanted: Listing,
) -> Result<Approvals, NotListed> {
    let which = match wanted.status.as_deref() {
        None | Some("pending") => Which::Pending,
        Some("all") => Which::All,
        Some(other) => {
            let message = format!("`status` is `pending` or `all`, not `{}`", other.escape_debug());
            return Err(NotListed::Invalid(message));
        }
    };
    let limit = paging::limit(wanted.limit).map_err(NotListed::Invalid)?;
    let db = state.gate.db().await?;
    let before = match wanted.cursor {
        Some(cursor) => Some(place(state, signed, db, &cursor).await?),
        None => None,
    };
    let answers = which == Which::Pending && may_answer(state, signed);
    let sees = if answers { Sees::Everything } else { signed.sees() };
    let filter = ApprovalFilter { which, user: sees.user().map(str::to_owned), limit: limit + 1 };
    let found = db.approvals_before(before.as_ref(), sees.agents(), &filter, state.now()).await?;
    let (approvals, next) = paging::cut(found, limit, |last| last.id.to_string());
    Ok(Approvals { approvals, next })
}

/// The question that a cursor names, if somebody sees it: nobody learns of others.
async fn place(
    state: &State,
    signed: &Signed,
    db: &Db,
    cursor: &str,
) -> Result<ApprovalId, NotListed> {
    let none = || NotListed::Invalid(paging::NO_CURSOR.to_owned());
    let id: ApprovalId = cursor.parse().map_err(|_| none())?;
    let found = db.approval(&id, state.now()).await?;
    // One that was answered since the page before is still a place in the list.
    let seen = |found: &Approval| may_answer(state, signed) || is_seen(state, signed, found);
    found.filter(seen).map(|found| found.id).ok_or_else(none)
}

/// Whether somebody sees a question: one's own, and while they are open, those one may answer.
pub(crate) fn is_seen(state: &State, signed: &Signed, approval: &Approval) -> bool {
    let open = approval.status == ApprovalStatus::Pending;
    let request = &approval.request;
    signed.sees().covers(&request.user, &request.agent) || open && may_answer(state, signed)
}

/// Whether somebody may answer questions of others: the owner, or one of those the owner named.
pub(crate) fn may_answer(state: &State, signed: &Signed) -> bool {
    let config = state.gate.config();
    let named = config.tools.approvers.iter().any(|named| named.value == signed.user());
    signed.may(Scope::Answer) && (named || signed.is_owner())
}

refusals! {
    /// Why a question is not shown.
    NotShown { NotFound }
}

/// `GET /v1/approvals/{id}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/approvals/{id}";
    const SUMMARY: &'static str = "One question, with everything that belongs to it.";
    type Path = ApprovalId;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Approval>;
    type Refusal = NotShown;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Approval>, NotShown> {
        let (state, signed) = (&asked.state, &asked.signed);
        let found = state.gate.db().await?.approval(&given.path, state.now()).await?;
        let seen = |approval: &Approval| is_seen(state, signed, approval);
        found.filter(seen).map(Json).ok_or_else(|| NotShown::NotFound(unknown(&given.path)))
    }
}

fn unknown(id: &ApprovalId) -> String {
    format!("there is no question `{id}`; `GET /v1/approvals` lists them")
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answering {
    decision: Decided,
    /// What `allow_always` covers: one of the scopes the question offers; `exact` unless told otherwise.
    scope: Option<String>,
    /// For how long `allow_always` holds, such as `30d`; without it, until it is revoked.
    expires: Option<String>,
    /// What the agent is told.
    message: Option<String>,
}

/// Yes or no, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decided {
    AllowOnce,
    AllowSession,
    AllowAlways,
    Deny,
}

refusals! {
    /// Why an answer does not count.
    NotAnswered { Invalid, Forbidden, NotFound, Conflict } later { TooMany }
}

/// `POST /v1/approvals/{id}`.
pub(crate) struct Answer;

impl Endpoint for Answer {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/approvals/{id}";
    const SUMMARY: &'static str = "Answer a question: the owner, or whom `tools.approvers` names, and never about a call of one's own.";
    type Path = ApprovalId;
    type Query = Empty;
    type Body = JsonBody<Answering>;
    type Answer = Json<Approval>;
    type Refusal = NotAnswered;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Approval>, NotAnswered> {
        let JsonBody(answering) = given.body;
        answer(&asked.state, &asked.signed, &given.path, answering).await.map(Json)
    }
}

/// Answers a question, or refuses to; either is recorded.
pub(crate) async fn answer(
    state: &State,
    signed: &Signed,
    id: &ApprovalId,
    answering: Answering,
) -> Result<Approval, NotAnswered> {
    let answer = read(state, signed, answering).map_err(NotAnswered::Invalid)?;
    let find =
        async || Ok::<_, NotAnswered>(state.gate.db().await?.approval(id, state.now()).await?);
    // Who answers was told of it while it was open. One that is not seen is from here on as none: what
    // is recorded is read by whoever tried, and must not tell that there is one.
    let seen = |found: &Approval| may_answer(state, signed) || is_seen(state, signed, found);
    let question = find().await?.filter(seen);
    let mut args = json!({"id": id, "decision": answer.decision.name()});
    if let (Some(question), Some(args)) = (&question, args.as_object_mut()) {
        args.insert("call".to_owned(), json!(question.request.call));
    }
    let (there, person) = (question.is_some(), signed.person());
    let (state, signed) = (state.clone(), signed.clone());
    let prepared = Box::new(Answered { state: state.clone(), signed, question, answer });
    let operation = Operation { info: info(), args, prepared };
    let outcome = state.gate.perform(&person, operation).await;
    if !there {
        return Err(NotAnswered::NotFound(unknown(id)));
    }
    match (outcome, find().await?) {
        (Outcome::Success { .. }, Some(approval)) => Ok(approval),
        (Outcome::Error { error_type: "permission_denied", details, .. }, Some(approval))
            if details.get("rule").is_some_and(|rule| rule == TOO_LATE)
                || approval.status != ApprovalStatus::Pending =>
        {
            Err(NotAnswered::Conflict(format!("question `{id}` is {} already", approval.status)))
        }
        (Outcome::Error { error_type: "permission_denied", message, .. }, _) => {
            Err(NotAnswered::Forbidden(message))
        }
        (Outcome::Error { error_type: "rate_limited", message, details, .. }, _) => {
            let wait = details.get("retry_after_ms").and_then(Value::as_u64).unwrap_or_default();
            Err(NotAnswered::TooMany(message, Duration::from_millis(wait)))
        }
        (Outcome::Error { message, .. }, _) => Err(NotAnswered::Internal(message)),
        (_, None) => Err(NotAnswered::NotFound(unknown(id))),
    }
}

const TOO_LATE: &str = "approval.late";

/// The answer as the gate takes it.
fn read(state: &State, signed: &Signed, answering: Answering) -> Result<GateAnswer, String> {
    let Answering { decision, scope, expires, message } = answering;
    if decision != Decided::AllowAlways && (scope.is_some() || expires.is_some()) {
        return Err("`scope` and `expires` belong to `allow_always`".to_owned());
    }
    let expires = expires.map(|text| {
        let after = config::parse_duration(&text).map_err(|error| format!("`expires`: {error}"))?;
        state.now().checked_add(after).ok_or_else(|| "`expires` is too far away".to_owned())
    });
    let decision = match decision {
        Decided::AllowOnce => AnswerDecision::AllowOnce,
        Decided::AllowSession => AnswerDecision::AllowSession,
        Decided::AllowAlways => AnswerDecision::AllowAlways {
            scope: scope.unwrap_or_else(|| EXACT.to_owned()),
            expires: expires.transpose()?,
        },
        Decided::Deny => AnswerDecision::Deny,
    };
    let by = if signed.is_for_programs() {
        format!("{} (token {})", signed.user(), signed.token.new.name)
    } else {
        format!("{} (browser)", signed.user())
    };
    Ok(GateAnswer { decision, by, message })
}

/// What answering is recorded as.
fn info() -> ToolInfo {
    let parameters = json!({"type": "object", "properties": {
        "id": {"type": "string", "description": "The question."},
        "decision": {"type": "string", "description": "Yes or no, and for how long."},
        "call": {"type": "string", "description": "The call it is about."},
    }});
    ToolInfo::with("answer", "Answer a question about a call.", parameters, Info::DEFAULT)
}

/// An answer on its way through the gate, so that it is recorded whether it counts or not.
struct Answered {
    state: State,
    signed: Signed,
    /// Nothing if there is none, or none that they see.
    question: Option<Approval>,
    answer: GateAnswer,
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered").field("question", &self.question).finish_non_exhaustive()
    }
}

impl Prepared for Answered {
    fn plan(&self) -> Plan {
        Plan::default()
    }

    fn run(self: Box<Self>, _: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let Self { state, signed, question, answer } = *self;
            refuse_tokens(&signed)?;
            let Some(question) = question else {
                let reason = "there is no such question";
                return Err(ToolError::denied("approve", "approval.unknown", reason));
            };
            refuse_askers(&state, &signed, &question).await?;
            if question.status != ApprovalStatus::Pending {
                let reason = format!("question `{}` is {} already", question.id, question.status);
                return Err(ToolError::denied("approve", TOO_LATE, reason));
            }
            let (db, config) = (state.gate.db().await?, state.gate.config());
            let given = (&question.id, answer);
            let person = signed.person();
            let done = gate::answer(db, &config.tools, &person, given, state.now()).await?;
            Ok(ToolOutput::json(json!({"id": done.id, "status": done.status})))
        })
    }
}

/// Not every token answers: not one for agents, nor one that is not for it.
fn refuse_tokens(signed: &Signed) -> Result<(), ToolError> {
    if !signed.is_person() {
        let reason = "a token that is for certain agents answers nothing";
        return Err(ToolError::denied("approve", "approval.agent", reason));
    }
    let denied =
        |problem: Problem| ToolError::denied("approve", "approval.scope", problem.message());
    signed.check_scope(Some(Scope::Answer)).map_err(denied)
}

/// Whoever asks does not answer: not with the token the call was made with, not with one that spoke to the
/// agent which makes it, and not with one that was made with these.
async fn refuse_askers(
    state: &State,
    signed: &Signed,
    question: &Approval,
) -> Result<(), ToolError> {
    if !signed.is_for_programs() {
        return Ok(());
    }
    let (db, running) = (state.gate.db().await?, &state.events.running);
    if running.goes_back_to(db, &question.request, signed).await? {
        let reason = "the call was made with this very token, or by an agent that was spoken to with \
                      it, or with one that it was made with or that it made, and therefore it cannot \
                      answer about it; sign in with a browser, use a token that `toolgate tokens add` \
                      made, or `toolgate approvals`";
        return Err(ToolError::denied("approve", "approval.own", reason));
    }
    Ok(())
}
