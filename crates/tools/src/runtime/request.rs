//! What one call of `process` asks for.

use std::time::Duration;

use tool::{Capability, Need, Plan, Problem};

use super::{
    input::{self, Input, Key},
    problem,
    process::{Action, Process},
    seen::TAIL_BYTES,
};

/// The longest `poll` waits, in milliseconds.
const MAX_WAIT: u64 = 30_000;
/// The most output one call returns; a model gets no more than 50 KB of any result.
const MAX_BYTES: usize = 40_000;

/// What one call asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Which processes are there?
    List,
    /// What does a process do?
    Look(Look),
    /// Send this to a process.
    Send { id: String, input: Input },
    /// End a process.
    Kill { id: String },
    /// Forget the processes that have ended.
    Clear,
    /// End a process if it runs, and forget it.
    Remove { id: String },
}

/// A look at what a process does.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) id: String,
    /// How long to wait for something new.
    pub(crate) wait: Duration,
    /// From where on; left open, the end of it.
    pub(crate) offset: Option<u64>,
    pub(crate) limit: usize,
}

impl Request {
    /// What it needs: looking changes nothing, everything else cannot be undone.
    pub(crate) fn plan(&self) -> Plan {
        let act = match self {
            Self::List | Self::Look(_) => None,
            Self::Send { id, input } => Some(input.words(id)),
            Self::Kill { id } => Some(format!("end process `{id}`")),
            Self::Clear => Some("forget the processes that have ended, with their output".into()),
            Self::Remove { id } => Some(format!("end process `{id}` and forget its output")),
        };
        act.map(Need::Act).into_iter().chain([Need::Use(Capability::Exec)]).collect()
    }
}

impl TryFrom<&Process> for Request {
    type Error = Problem;

    /// What is missing depends on the action.
    fn try_from(call: &Process) -> Result<Self, Problem> {
        Ok(match call.action {
            Action::List => Self::List,
            Action::Poll => Self::Look(look(call, wait(call.timeout)?)?),
            Action::Log => Self::Look(look(call, Duration::ZERO)?),
            Action::Write => Self::Send { id: id(call)?, input: data(call)? },
            Action::SendKeys => Self::Send { id: id(call)?, input: typed(call)? },
            Action::Submit => {
                let text = call.text.clone().unwrap_or_default();
                Self::Send { id: id(call)?, input: Input::Line(text) }
            }
            Action::Paste => Self::Send { id: id(call)?, input: pasted(call)? },
            Action::Kill => Self::Kill { id: id(call)? },
            Action::Clear => Self::Clear,
            Action::Remove => Self::Remove { id: id(call)? },
        })
    }
}

fn id(call: &Process) -> Result<String, Problem> {
    let given = call.id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    given.map(str::to_owned).ok_or_else(|| {
        let action = call.action.name();
        problem("processId", format!("missing, but `{action}` needs it; `list` shows them"))
    })
}

fn wait(millis: u64) -> Result<Duration, Problem> {
    if millis > MAX_WAIT {
        return Err(problem("timeout", format!("is more than {MAX_WAIT} milliseconds")));
    }
    Ok(Duration::from_millis(millis))
}

fn look(call: &Process, wait: Duration) -> Result<Look, Problem> {
    let limit = call.limit.unwrap_or(TAIL_BYTES);
    if !(1..=MAX_BYTES).contains(&limit) {
        return Err(problem("limit", format!("is not between 1 and {MAX_BYTES} bytes")));
    }
    Ok(Look { id: id(call)?, wait, offset: call.offset, limit })
}

fn data(call: &Process) -> Result<Input, Problem> {
    match (&call.data, call.eof) {
        (None, false) => Err(problem("data", "missing, but `write` needs it, or `eof`")),
        (data, eof) => Ok(Input::Data { data: data.clone().unwrap_or_default(), eof }),
    }
}

fn typed(call: &Process) -> Result<Input, Problem> {
    let Process { keys, hex, literal, .. } = call;
    let literal = literal.clone().unwrap_or_default();
    if keys.is_empty() && hex.is_empty() && literal.is_empty() {
        let message = "missing, but `send-keys` needs it, or `hex`, or `literal`";
        return Err(problem("keys", message));
    }
    let read = hex.iter().map(|text| input::hex(text)).collect::<Result<Vec<_>, _>>();
    let hex = read.map_err(|message| problem("hex", message))?.concat();
    let named = keys.iter().map(|name| Key::new(name)).collect::<Result<Vec<_>, _>>();
    let keys = named.map_err(|message| problem("keys", message))?;
    Ok(Input::Keys { literal, hex, keys })
}

fn pasted(call: &Process) -> Result<Input, Problem> {
    let Some(text) = call.text.clone().filter(|text| !text.is_empty()) else {
        return Err(problem("text", "missing, but `paste` needs it"));
    };
    if !input::can_be_pasted(&text) {
        let message = "contains the sequence that ends a paste; take it out, or use `write`";
        return Err(problem("text", message));
    }
    Ok(Input::Paste { text, bracketed: call.bracketed })
}
