//! The record of a call that another program runs: here it was only decided.

use std::{path::Path, sync::Arc};

use policy::{Decision, Verdict};
use serde_json::{Value, json};
use store::{Durability, Ending, Intent, Record};
use tool::{CallId, Caller, Effects, Plan, ToolError};

use crate::{gate::Gate, shared::Shared, short};

/// The name such a call is recorded under; what it is called there stands in its arguments.
pub const HOOK: &str = "hook";

/// A call of another program, which asked before it.
#[derive(Debug)]
pub struct Foreign<'a> {
    /// The program.
    pub client: &'a str,
    /// What it calls its tool.
    pub name: &'a str,
    /// What we call it, if we have such a tool.
    pub tool: Option<&'a str>,
    /// The arguments, as the program has them.
    pub args: &'a Value,
    /// The id it gave the call.
    pub id: Option<String>,
    /// The folder it works in.
    pub workspace: &'a Path,
    /// What it needs, as far as that is known.
    pub plan: Option<Arc<Plan>>,
    /// What it was told.
    pub decision: &'a Decision,
}

impl Gate {
    /// Records what another program was told about a call of its own. Whether it then ran is not known here.
    pub async fn record_foreign(
        &self,
        caller: &Caller,
        foreign: Foreign<'_>,
    ) -> Result<CallId, ToolError> {
        let call = self.next_id();
        let record = record(self.shared(), call, caller, foreign);
        self.journal().append(vec![record], Durability::Process).await?;
        Ok(call)
    }
}

fn record(shared: &Shared, call: CallId, caller: &Caller, foreign: Foreign<'_>) -> Record {
    let Foreign { client, name, tool, args, id, workspace, plan, decision } = foreign;
    let (settings, now) = (shared.settings.load(), shared.world.clock().now());
    let redactor = &settings.redactor;
    let Decision { verdict, rule, reason } = decision;
    let input = json!({"client": client, "name": name, "tool": tool, "arguments": args});
    let reason = redactor.text(reason).into_owned();
    let effects = plan.as_ref().map_or(Effects::NONE, |plan| plan.effects());
    let intent = Intent {
        call,
        provider_call_id: id.map(short::id),
        message_id: None,
        rewrites: Vec::new(),
        caller: Arc::new(caller.clone()),
        tool: HOOK.into(),
        input: redactor.value(&input),
        workspace: Some(workspace.to_string_lossy().into()),
        plan: plan.map_or(Value::Null, |plan| redactor.value(&json!(plan))),
        effects,
        decision: verdict.name().into(),
        rule: rule.clone(),
        reason: reason.clone(),
        started: now,
    };
    let denied = *verdict == Verdict::Deny;
    let ending = Ending {
        call,
        error_type: denied.then(|| "permission_denied".into()),
        message: denied.then_some(reason),
        detail: None,
        output: json!({"told": client, "decision": verdict.name()}),
        decision: verdict.name().into(),
        rule: rule.clone(),
        approval: None,
        place: None,
        effects: Effects::NONE,
        changed: json!([]),
        duration_ms: 0,
        answered_by: Some(format!("hook:{client}")),
        finished: now,
    };
    Record::Call(Box::new(intent), Box::new(ending))
}
