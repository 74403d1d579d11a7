//! Turns arguments into an object that knows what it needs.

use std::sync::Arc;

use serde_json::Value;
use tool::{Caller, Capability, Digest, Plan, ToolError, ToolResult};

use super::contain::caught;
use crate::{
    call::{Call, Planned},
    pipeline::{Next, Stage},
    redactor::Redactor,
    registry::Entry,
    shared::Shared,
};

/// Normalises and decodes the arguments and takes the plan, each once.
#[derive(Debug)]
pub(crate) struct Validate(pub(crate) Arc<Shared>);

impl Stage for Validate {
    const NAME: &'static str = "validate";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        let planned = match call.own.take() {
            Some(planned) => planned?,
            None => plan(&self.0, &call.caller, call.tool()?, &call.args)?,
        };
        {
            let mut learnt = call.learnt.now();
            learnt.input = planned.args().clone();
            learnt.workspace = planned.workspace().cloned();
            learnt.plan = Some(planned.plan().clone());
            learnt.effects = planned.plan().effects();
        }
        call.planned = Some(planned);
        next.run(call).await
    }
}

/// Decodes `args` for `entry`.
pub(crate) fn plan(
    shared: &Shared,
    caller: &Caller,
    entry: &Entry,
    args: &Value,
) -> Result<Planned, ToolError> {
    let info = entry.info();
    let compiled = entry.compiled().map_err(|reason| {
        tracing::warn!(tool = %info.name, reason, "set aside");
        ToolError::NotAvailable(info.name.to_string())
    })?;
    let limits = shared.settings.load().arguments;
    let invalid = |problems| ToolError::Invalid { tool: info.name.to_string(), problems };
    let mut args = compiled.arguments(args.clone(), limits).map_err(invalid)?;
    // Any dependency can switch serde_json to insertion order; equal arguments must hash equal.
    args.sort_all_objects();
    // Decoding and planning are the tool's code too, and run outside `contain`.
    let (prepared, plan) = caught(|| {
        let prepared = entry.tool().prepare(args.clone())?;
        let plan = prepared.plan();
        Ok::<_, ToolError>((prepared, plan))
    })??;
    let plan = completed(shared, plan);
    let effects = plan.effects();
    if !effects.is_subset(info.effects) {
        let reason = format!("it planned {effects}, but its tool declares {}", info.effects);
        return Err(ToolError::denied(Validate::NAME, "effects", reason));
    }
    if effects.changes() {
        refuse_marks(&info.name, &args)?;
    }
    let disk = info.uses.contains(&Capability::Files).then(|| shared.world.disk(caller));
    let disk = disk.transpose()?;
    let identity = disk.as_ref().map_or("", |disk| disk.identity());
    let exact = serde_json::to_string(&(&*info.name, &info.version, identity, &args));
    let exact = exact.map_err(ToolError::internal)?;
    let planned = Planned::new(Arc::new(args), Digest::of(exact), Arc::new(plan), prepared);
    Ok(match disk {
        Some(disk) => planned.within(disk.folder()),
        None => planned,
    })
}

/// The plan with what configuration says about commands now.
pub(crate) fn completed(shared: &Shared, plan: Plan) -> Plan {
    let settings = shared.settings.load();
    let find = |name: &str| shared.world.program(name, settings.safe.folders());
    // Asked for a command only: the first time takes a while.
    let isolation = plan.command().and_then(|_| shared.world.isolation());
    let level = isolation.map(|isolation| isolation.level).unwrap_or_default();
    policy::complete(plan, &settings.config.tools, settings.safe.known(&find), level)
}

/// A secret that was taken out on the way to the model cannot come back as its mark.
fn refuse_marks(tool: &str, args: &Value) -> Result<(), ToolError> {
    match args {
        Value::String(text) if Redactor::is_marked(text) => Err(ToolError::invalid(
            tool,
            "",
            "the text carries a mark that stands for a secret you were not shown; writing it would \
             destroy the secret. Change only the parts around it, for example with `edit`",
        )),
        Value::Array(items) => items.iter().try_for_each(|item| refuse_marks(tool, item)),
        Value::Object(map) => map.values().try_for_each(|value| refuse_marks(tool, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}
