//! Who may answer a question.

use std::time::SystemTime;

use config::Tools;
use store::{Answer, Approval, ApprovalId, Db, StoreError};
use tool::{Caller, ToolError};

/// Answers a question on behalf of `approver`: the owner, or somebody the owner named, and never about
/// a call of their own.
pub async fn answer(
    db: &Db,
    tools: &Tools,
    approver: &Caller,
    (id, answer): (&ApprovalId, Answer),
    now: SystemTime,
) -> Result<Approval, ToolError> {
    let refuse = |reason: String| ToolError::denied("approve", "approval.approver", reason);
    let approval = db.approval(id, now).await?;
    let approval =
        approval.ok_or_else(|| refuse(StoreError::UnknownApproval(id.clone()).to_string()))?;
    if !approver.is_owner() {
        let user = &*approver.user;
        // By the id that authentication gives, not by anything people can call themselves.
        if !tools.approvers.value.iter().any(|named| named.value == user) {
            return Err(refuse(format!(
                "`{user}` may not answer questions; the owner names who may in `tools.approvers`"
            )));
        }
        if approval.request.user == user {
            return Err(refuse(format!("`{user}` may not answer about a call of their own")));
        }
    }
    db.answer_approval(id, answer, now).await.map_err(|error| {
        if matches!(error, StoreError::NotPending { .. } | StoreError::UnknownScope { .. }) {
            return refuse(error.to_string());
        }
        error.into()
    })
}
