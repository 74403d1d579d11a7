//! A call of Claude Code, in our words, and what policy says about it.

mod contents;
mod own;
mod translate;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use config::Exec;
use gate::{Check, Found};
use policy::{Decision, Verdict};
use serde_json::{Value, json};
use tool::{Capability, Need, Place, Plan, ToolError};
use toolgate::{Caller, Gate};

use self::{
    own::own,
    translate::{Meaning, translate},
};
use super::as_written::doubt;
use crate::{cli::Global, context};

const CLIENT: &str = "claude-code";

/// Tools of ours, as Claude Code names them.
const OWN: &str = "mcp__toolgate__";

/// What Claude Code says about a call.
struct Asked {
    session: String,
    cwd: PathBuf,
    name: String,
    input: Value,
    id: Option<String>,
}

/// Where file tools may work.
struct Workspace {
    root: PathBuf,
    /// Whether nobody named it, and it is more than a project.
    is_too_much: bool,
}

/// What is answered, and what it rests on.
struct Answer {
    decision: Decision,
    tool: Option<&'static str>,
    plan: Option<Arc<Plan>>,
}

/// The answer to the call in `text`, recorded.
pub(super) async fn answer(
    global: &Global,
    agent: &str,
    workspace: Option<PathBuf>,
    text: &str,
) -> Result<Value> {
    let asked = Asked::read(text)?;
    let workspace = Workspace::find(workspace, &asked.cwd)?;
    let root = &workspace.root;
    let mut config = context::configuration(global)?;
    // There is no sandbox around what Claude Code runs, whatever ours would be.
    config.tools.exec.host.value = Place::Host;
    config.workspaces.insert(agent.to_owned(), root.clone());
    let gate = context::gate_as(global, config, agent, None)?;
    let caller =
        Caller { session: format!("{CLIENT}:{}", asked.session).into(), ..Caller::owner(agent) };
    let answer = decide(&gate, &caller, &asked, &workspace).await?;
    let foreign = gate::Foreign {
        client: CLIENT,
        name: &asked.name,
        tool: answer.tool,
        args: &asked.input,
        id: asked.id.clone(),
        workspace: root,
        plan: answer.plan,
        decision: &answer.decision,
    };
    gate.inner().record_foreign(&caller, foreign).await.context("cannot record the call")?;
    Ok(said(&answer.decision))
}

impl Asked {
    fn read(text: &str) -> Result<Self> {
        let call = tool::parse_json(text).map_err(|problem| {
            anyhow::anyhow!("the call on standard input cannot be read as JSON: {problem}")
        })?;
        let text = |name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
        let event = text("hook_event_name");
        if event.as_deref().is_some_and(|event| event != "PreToolUse") {
            bail!("this hook is for `PreToolUse`, and for nothing else");
        }
        let wanted = |name: &str| {
            let value = text(name).filter(|value| !value.is_empty());
            value.with_context(|| format!("the call on standard input has no `{name}`"))
        };
        let cwd = PathBuf::from(wanted("cwd")?);
        if !cwd.is_absolute() {
            bail!("`cwd` of the call is no absolute path");
        }
        let input = call.get("tool_input").filter(|input| input.is_object()).cloned();
        Ok(Self {
            session: wanted("session_id")?,
            cwd,
            name: wanted("tool_name")?,
            input: input.context("the call on standard input has no `tool_input`")?,
            id: text("tool_use_id"),
        })
    }
}

impl Workspace {
    /// The project: what was named, else what Claude Code says to its hooks, else the folder it is in.
    fn find(named: Option<PathBuf>, cwd: &Path) -> Result<Self> {
        let is_named = named.is_some();
        let project = config::environment("CLAUDE_PROJECT_DIR").map(PathBuf::from);
        let project = project.filter(|folder| folder.is_absolute());
        let folder = named.or(project).unwrap_or_else(|| cwd.to_owned());
        let root = fs::canonicalize(&folder)
            .with_context(|| format!("there is no folder `{}`", folder.display()))?;
        let is_too_much = !is_named && context::is_broad(&root);
        Ok(Self { root, is_too_much })
    }
}

async fn decide(
    gate: &Gate,
    caller: &Caller,
    asked: &Asked,
    workspace: &Workspace,
) -> Result<Answer> {
    let root = workspace.root.as_path();
    if let Some(name) = asked.name.strip_prefix(OWN) {
        let is_ours =
            !name.contains("__") && matches!(gate.view(caller).find(name), Found::Tool(_));
        let decision = if is_ours {
            own(&asked.cwd, root)
        } else {
            Decision::new(Verdict::Ask, "hook.own", format!("Toolgate has no tool `{name}`"))
        };
        return Ok(Answer { decision, tool: None, plan: None });
    }
    let (tool, args) = match translate(&asked.name, &asked.input, &asked.cwd, root) {
        Meaning::Call(tool, args) => (tool, args),
        Meaning::Nothing => {
            let reason = "it changes nothing but the list of Claude Code's own tasks";
            let decision = Decision::new(Verdict::Allow, "hook.nothing", reason);
            return Ok(Answer { decision, tool: None, plan: None });
        }
        Meaning::Unknown(why) => {
            let decision = Decision::new(Verdict::Ask, "hook.unknown", why);
            return Ok(Answer { decision, tool: None, plan: None });
        }
    };
    let Check { decision, error, plan } = gate.check_openly(caller, tool, &args).await;
    let decision = weakened(decision, error.as_ref());
    let decision = needing(decision, plan.as_deref());
    let decision = showing(decision, tool, asked, &root.join(text_of(&args, "path")));
    let decision = outside(decision, plan.as_deref(), &gate.inner().config().tools.exec, root);
    let decision = bounded(decision, plan.as_deref(), workspace);
    if decision.verdict != Verdict::Deny
        && let Some(source) = source(asked)
    {
        // What comes from there is not to be trusted, and the next call of the session should know.
        let noted = gate.inner().distrust(caller, source).await;
        noted.context("cannot note that the session reads what nobody vouches for")?;
    }
    Ok(Answer { decision, tool: Some(tool), plan })
}

/// Where what a tool brings comes from, if nobody here vouches for it.
fn source(asked: &Asked) -> Option<&str> {
    match asked.name.as_str() {
        "WebFetch" => asked.input.get("url").and_then(Value::as_str),
        "WebSearch" => Some("a web search"),
        _ => None,
    }
}

/// What Toolgate could not even decide about is for the person at Claude Code to decide.
fn weakened(decision: Decision, error: Option<&ToolError>) -> Decision {
    let undecided = match error.map(ToolError::kind) {
        Some("validation_error" | "internal_error") => true,
        Some("tool_not_available") => !decision.rule.starts_with("policy."),
        Some(_) | None => false,
    };
    if undecided {
        return Decision::new(Verdict::Ask, "hook.unknown", decision.reason);
    }
    decision
}

/// A call that could not run here needs nothing here; there it may run all the same.
fn needing(decision: Decision, plan: Option<&Plan>) -> Decision {
    let needs = plan.is_some_and(|plan| !plan.needs().is_empty());
    if decision.verdict != Verdict::Allow || needs {
        return decision;
    }
    Decision::new(Verdict::Ask, "hook.unknown", "Toolgate cannot tell what it needs")
}

/// A search there leaves no file out.
fn showing(decision: Decision, tool: &str, asked: &Asked, place: &Path) -> Decision {
    if tool != "grep" || decision.verdict != Verdict::Allow {
        return decision;
    }
    match contents::doubt(&asked.input, place) {
        None => decision,
        Some(why) => Decision::new(Verdict::Ask, "hook.credentials", why),
    }
}

fn text_of<'a>(args: &'a Value, name: &str) -> &'a str {
    args.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A command runs there in a shell, as the person, with nothing around it: it is let through if it is
/// harmless just as it is written, or if a person agreed to it on this machine before.
fn outside(decision: Decision, plan: Option<&Plan>, exec: &Exec, root: &Path) -> Decision {
    let Some(run) = plan.and_then(Plan::command) else { return decision };
    if decision.verdict != Verdict::Allow || decision.rule.starts_with("approval:") {
        return decision;
    }
    match doubt(run, exec, root) {
        None => decision,
        Some(why) => Decision::new(
            Verdict::Ask,
            "hook.host",
            format!("Claude Code runs it outside the sandbox: {why}"),
        ),
    }
}

/// A workspace that is all that somebody has lets nothing through.
fn bounded(decision: Decision, plan: Option<&Plan>, workspace: &Workspace) -> Decision {
    let in_it =
        |need: &Need| matches!(need.capability(), Some(Capability::Files | Capability::Exec));
    let works_in_it = plan.is_some_and(|plan| plan.needs().iter().any(in_it));
    if !workspace.is_too_much
        || !works_in_it
        || decision.verdict != Verdict::Allow
        || decision.rule.starts_with("approval:")
    {
        return decision;
    }
    let reason = format!(
        "`{}` is too much for an agent to work in; start Claude Code in a project, or name a folder with \
         `toolgate connect claude-code --hook --workspace DIR`",
        workspace.root.display()
    );
    Decision::new(Verdict::Ask, "hook.workspace", reason)
}

/// As Claude Code reads it.
fn said(decision: &Decision) -> Value {
    let Decision { verdict, rule, reason } = decision;
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": verdict.name(),
        "permissionDecisionReason": format!("Toolgate: {reason} (rule {rule})"),
    }})
}
