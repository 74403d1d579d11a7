//! `process`.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{
    Effect, Info, Plan, SameResult, Tool, ToolContext, ToolError, ToolOutput, ToolResult, nearest,
    schema_of,
};

use super::{
    ALL, INFO,
    answers::{Delivered, Forgotten, Listed, Looked},
    input::Input,
    request::{Look, Request},
    schema,
    seen::{Part, State},
    time_left, wait,
};

/// So long a process may take to end when it is told to, or to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// Work with the processes that `exec` started with `background` or `yieldMs`: see what they write
/// and whether they still run, send them input, end them. Output is counted in bytes from its
/// beginning; give the `nextOffset` of one answer as `offset` to see what came after it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Process {
    /// `list` your processes. `poll` one: wait for news and see its output from `offset` on. `log`:
    /// its output, without waiting. `write` it `data`. `send-keys`: type `literal`, then `hex`, then
    /// `keys`. `submit`: type `text` and Enter. `paste` `text`. `kill` it. `clear`: forget all that
    /// have ended. `remove`: end one if it runs, and forget it.
    pub(super) action: Action,
    /// Which process; all actions but `list` and `clear` need it.
    #[serde(rename = "processId")]
    pub(super) id: Option<String>,
    /// For `write`: what to send, exactly as it is; end a line with a newline.
    pub(super) data: Option<String>,
    /// For `write`: nothing more will be sent.
    #[serde(default)]
    pub(super) eof: bool,
    /// For `send-keys`: names such as `Enter`, `Tab`, `Escape`, `Up`, `F1`, `C-c`, `M-x`, or single
    /// characters.
    #[serde(default)]
    pub(super) keys: Vec<String>,
    /// For `send-keys`: bytes in hexadecimal, such as `1b`.
    #[serde(default)]
    pub(super) hex: Vec<String>,
    /// For `send-keys`: text to type as it is.
    pub(super) literal: Option<String>,
    /// For `submit` and `paste`: the text.
    pub(super) text: Option<String>,
    /// For `paste`: whether the program is told that it is a paste. Left out, it is if the process
    /// has a terminal.
    pub(super) bracketed: Option<bool>,
    /// For `poll` and `log`: the first byte to return. Left out, the end of the output is returned.
    pub(super) offset: Option<u64>,
    /// For `poll` and `log`: how many bytes to return at most; left out, 10000.
    #[schemars(range(min = 1, max = 40_000))]
    pub(super) limit: Option<usize>,
    /// For `poll`: wait up to so many milliseconds until there is more than `offset`, or the process
    /// ends.
    #[serde(default)]
    #[schemars(range(max = 30_000))]
    pub(super) timeout: u64,
}

/// What to do.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Action {
    List,
    Poll,
    Log,
    Write,
    SendKeys,
    Submit,
    Paste,
    Kill,
    Clear,
    Remove,
}

impl Action {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Poll => "poll",
            Self::Log => "log",
            Self::Write => "write",
            Self::SendKeys => "send-keys",
            Self::Submit => "submit",
            Self::Paste => "paste",
            Self::Kill => "kill",
            Self::Clear => "clear",
            Self::Remove => "remove",
        }
    }
}

impl Tool for Process {
    const NAME: &'static str = "process";
    const EFFECTS: &'static [Effect] = &[Effect::Read, Effect::Act];
    const INFO: Info = Info {
        parameter_aliases: &[("sessionId", "processId")],
        same_result: SameResult::Waiting,
        ..INFO
    };

    fn output_schema() -> Option<Value> {
        Some(schema::any_of(&[
            schema_of::<Listed>(),
            schema_of::<Looked>(),
            schema_of::<Delivered>(),
            schema_of::<Forgotten>(),
        ]))
    }

    /// A call that lacks something needs nothing: `run` says what it lacks.
    fn plan(&self) -> Plan {
        Request::try_from(self).map(|request| request.plan()).unwrap_or_default()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let request = Request::try_from(&self).map_err(|problem| ToolError::Invalid {
            tool: Self::NAME.to_owned(),
            problems: vec![problem],
        })?;
        ctx.live().check()?;
        match request {
            Request::List => Ok(Listed::output(&ctx.exec().processes()?, ctx.redact().as_ref())),
            Request::Look(look) => looked(ctx, look).await,
            Request::Send { id, input } => send(ctx, &id, &input).await,
            Request::Kill { id } => {
                let state = end(ctx, &id).await?;
                let text = state.words();
                Ok(ToolOutput::json(state).with_text(text))
            }
            Request::Clear => clear(ctx),
            Request::Remove { id } => {
                end(ctx, &id).await?;
                if !ctx.exec().forget(&id)? {
                    let message =
                        format!("process `{id}` has ended, but is still known; try again");
                    return Err(ToolError::failed(message));
                }
                Ok(Forgotten::output(vec![id]))
            }
        }
    }
}

/// The process with this id.
fn find(ctx: &ToolContext, id: &str) -> Result<Arc<dyn tool::Process>, ToolError> {
    let mut all = ctx.exec().processes()?;
    if let Some(index) = all.iter().position(|process| process.id() == id) {
        return Ok(all.swap_remove(index));
    }
    let ids: Vec<_> = all.iter().map(|process| process.id()).collect();
    let hint = match nearest(id, ids.iter().copied()) {
        _ if ids.is_empty() => "there are none; `exec` with `background` starts one".to_owned(),
        Some(near) if ids.len() > 1 => {
            format!("did you mean `{near}`? There are `{}`", ids.join("`, `"))
        }
        _ => format!("there are `{}`", ids.join("`, `")),
    };
    Err(ToolError::invalid(Process::NAME, "processId", format!("no process `{id}`; {hint}")))
}

async fn looked(ctx: &ToolContext, look: Look) -> ToolResult {
    let Look { id, wait: at_most, offset, limit } = look;
    let process = find(ctx, &id)?;
    let seen = offset.unwrap_or_else(|| process.status().written);
    wait(&*process, seen, at_most.min(time_left(ctx))).await;
    let status = process.status();
    let redact = ctx.redact().as_ref();
    let part = match offset {
        Some(from) => Part::new(&*process, from.min(status.written), limit, redact),
        None => Part::tail(&*process, limit, redact),
    };
    let looked = Looked { state: State::new(&*process, &status), part };
    Ok(looked.output(offset))
}

async fn send(ctx: &ToolContext, id: &str, input: &Input) -> ToolResult {
    let process = find(ctx, id)?;
    let status = process.status();
    if status.ended.is_some() {
        let words = State::new(&*process, &status).words();
        let message = format!("{words}; it takes no input any more; `log` shows what it wrote");
        return Err(ToolError::failed(message));
    }
    let bytes = input.bytes(status.terminal);
    if !bytes.is_empty() {
        let written = process.write(&bytes);
        let in_time = tokio::time::timeout(PATIENCE.min(time_left(ctx)), written).await;
        in_time.map_err(|_| {
            ToolError::failed(format!(
                "process `{id}` does not read its input; it may have got a part of it"
            ))
        })??;
    }
    if input.is_last() {
        process.close_input()?;
    }
    let sent = Delivered {
        state: State::new(&*process, &process.status()),
        sent_bytes: bytes.len(),
        next_offset: status.written,
    };
    Ok(sent.output(input, status.terminal))
}

/// Ends a process, if it still runs.
async fn end(ctx: &ToolContext, id: &str) -> Result<State, ToolError> {
    let process = find(ctx, id)?;
    if process.status().ended.is_none() {
        process.kill()?;
        wait(&*process, ALL, PATIENCE.min(time_left(ctx))).await;
    }
    let status = process.status();
    if status.ended.is_none() {
        let message = format!("process `{id}` was told to end, but has not yet; `poll` it");
        return Err(ToolError::failed(message));
    }
    Ok(State::new(&*process, &status))
}

fn clear(ctx: &ToolContext) -> ToolResult {
    let all = ctx.exec().processes()?;
    let mut gone = Vec::new();
    for process in all.iter().filter(|process| process.status().ended.is_some()) {
        if ctx.exec().forget(process.id())? {
            gone.push(process.id().to_owned());
        }
    }
    Ok(Forgotten::output(gone))
}
