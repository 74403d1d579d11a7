//! What a question is about.

use std::sync::Arc;

use policy::{
    ACT_RULE, Decision, UNTRUSTED_RULE,
    shell::{ScriptCoverage, is_plain_shell, script_files},
};
use serde_json::Value;
use store::Wanted;
use tool::{CallId, Caller, Digest, Live, Pinned, Place, Plan, Run, ToolError};

use crate::{
    ask::EarlierAnswers,
    call::{Call, Origin, Planned},
    shared::Shared,
    stages::OpenEntry,
};

/// One exact call, and what it depends on.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) call: CallId,
    pub(crate) origin: Origin,
    pub(crate) exact: Exact,
    pub(crate) args: Arc<Value>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) pinned: Option<Arc<Pinned>>,
    pub(crate) live: Arc<Live>,
    pub(crate) entry: Option<Arc<OpenEntry>>,
}

impl Subject {
    /// Looks at what the call depends on, once: what a person agrees to is what runs.
    pub(crate) async fn of(shared: &Shared, call: &mut Call) -> Result<Self, ToolError> {
        if call.pinned.is_none() {
            call.pinned = pin(shared, &call.caller, call.planned()?.plan()).await?;
        }
        Self::known(call)
    }

    /// With what is known about the call already.
    pub(crate) fn known(call: &Call) -> Result<Self, ToolError> {
        let (planned, tool) = (call.planned()?, call.tool()?.info().name.clone());
        Ok(Self {
            call: call.id,
            origin: call.origin,
            exact: Exact::new(&call.caller, tool, planned, call.pinned.as_deref()),
            args: planned.args().clone(),
            plan: planned.plan().clone(),
            pinned: call.pinned.clone(),
            live: call.live.clone(),
            entry: call.entry.clone(),
        })
    }
}

/// Who wants exactly what.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    pub(crate) caller: Arc<Caller>,
    pub(crate) tool: Arc<str>,
    pub(crate) fingerprint: Digest,
}

impl Exact {
    pub(crate) fn new(
        caller: &Arc<Caller>,
        tool: Arc<str>,
        planned: &Planned,
        pinned: Option<&Pinned>,
    ) -> Self {
        let mut parts = vec![planned.fingerprint()];
        parts.extend(pinned.map(Pinned::digest));
        parts.extend(planned.plan().command().map(circumstances));
        let fingerprint = match parts.as_slice() {
            [call] => *call,
            parts => Digest::of_parts(parts.iter().map(|digest| digest.as_bytes().as_slice())),
        };
        Self { caller: caller.clone(), tool, fingerprint }
    }

    /// What an earlier answer must be about to be one to this.
    pub(crate) fn wanted<'a>(&'a self, rule: &'a str, scopes: &'a [String]) -> Wanted<'a> {
        self.wanted_by(&self.caller, rule, scopes)
    }

    /// The same, had `caller` wanted it.
    pub(crate) fn wanted_by<'a>(
        &'a self,
        caller: &'a Caller,
        rule: &'a str,
        scopes: &'a [String],
    ) -> Wanted<'a> {
        let Self { caller: _, tool, fingerprint } = self;
        Wanted {
            user: &caller.user,
            agent: &caller.agent,
            session: &caller.session,
            tool,
            rule,
            fingerprint: *fingerprint,
            scopes,
        }
    }
}

/// Names how a command runs: an answer is about where it runs and whom it reaches, too.
fn circumstances(run: &Run) -> Digest {
    Digest::of_parts(run.circumstances().iter().map(String::as_bytes))
}

/// What the command of a plan depends on now.
pub(crate) async fn pin(
    shared: &Shared,
    caller: &Caller,
    plan: &Plan,
) -> Result<Option<Arc<Pinned>>, ToolError> {
    let Some(run) = plan.command() else { return Ok(None) };
    let exec = shared.world.exec(caller)?;
    let files = script_files(run).ok_or_else(|| {
        let reason = "it names more files than can be looked at before somebody agrees; name fewer";
        ToolError::denied("approve", "approval.too_long", reason)
    })?;
    Ok(Some(Arc::new(exec.pin(caller, run, &files.named).await?)))
}

/// The question that `decision` asks, for a call with this plan, and whether an earlier answer may be
/// one to it.
pub(crate) fn bound(
    decision: &Decision,
    plan: &Plan,
    pinned: Option<&Pinned>,
) -> (Decision, EarlierAnswers) {
    if let Some(why) = only_once(plan, pinned) {
        let reason = format!("{}; it is asked about each time, because {why}", decision.reason);
        return (Decision { reason, ..decision.clone() }, EarlierAnswers::DoNotCount);
    }
    // Every command on the host may have read something untrusted, so an answer for always would
    // never hold in the session it was given in. Exactly this line with exactly these files is what it
    // was given for.
    let on_host = plan.command().is_some_and(|run| run.place == Some(Place::Host));
    let rule = if on_host {
        decision.rule.replace(UNTRUSTED_RULE, ACT_RULE)
    } else {
        decision.rule.clone()
    };
    (Decision { rule, ..decision.clone() }, EarlierAnswers::Count)
}

/// Why an answer about the command of `plan` holds only once, if that is so; reads on after "because".
///
/// Outside the sandbox an answer is remembered only if every file that the line executes is named by it
/// and was hashed: otherwise an agent could rewrite one and run it with an old answer. In the sandbox
/// the answer is about what the sandbox lets the command do, which does not depend on the files.
pub(crate) fn only_once(plan: &Plan, pinned: Option<&Pinned>) -> Option<String> {
    let run = plan.command()?;
    let in_sandbox = !run.elevated && run.place.is_none_or(|place| place == Place::Sandbox);
    // A harmless line runs without a shell, and executes no file of the workspace.
    if in_sandbox || run.is_harmless() {
        return None;
    }
    let files = match script_files(run)?.coverage {
        ScriptCoverage::Complete(files) => files,
        ScriptCoverage::Incomplete(reason) => return Some(reason),
    };
    let scripts = pinned.map(|pinned| pinned.scripts.as_slice()).unwrap_or_default();
    files.iter().find_map(|file| {
        let Some(script) = scripts.iter().find(|script| script.name == *file) else {
            return Some(format!("`{file}` is no file of the workspace"));
        };
        let other = script.interpreter.as_ref().filter(|name| !is_plain_shell(name))?;
        Some(format!("`{other}`, which runs `{file}`, may load others beside it"))
    })
}
