//! What an event says. Most events are read by nobody, so they are written down only when somebody reads.

use std::{sync::Arc, time::SystemTime};

use serde_json::{Map, Value, json};
use tool::{CallId, Caller, Changed, Effects};

use super::fields;

/// What an event says, besides its number and its time.
#[derive(Debug)]
pub(crate) enum Said {
    Fields(Map<String, Value>),
    CallStarted { call: CallId, caller: Arc<Caller>, tool: String },
    CallFinished(Box<CallFinished>),
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct CallFinished {
    pub(crate) call: CallId,
    pub(crate) caller: Arc<Caller>,
    pub(crate) tool: Option<Arc<str>>,
    /// Its type and its message.
    pub(crate) error: Option<(&'static str, String)>,
    pub(crate) duration_ms: u64,
    pub(crate) effects: Effects,
    pub(crate) changed: Vec<Changed>,
}

impl Said {
    /// The parameters of the notification.
    pub(super) fn params(&self, id: u64, at: SystemTime) -> Map<String, Value> {
        let mut params = match self {
            Self::Fields(fields) => fields.clone(),
            Self::CallStarted { call, caller, tool } => started(*call, caller, Some(tool)),
            Self::CallFinished(finished) => finished.params(),
        };
        params.insert("time".to_owned(), json!(store::shown_time(at)));
        params.insert("event_id".to_owned(), id.into());
        params
    }

    /// About how many bytes it is, written down.
    pub(super) fn size(&self) -> usize {
        /// Names of fields, ids, and what else is of a fixed length.
        const FRAME: usize = 400;
        match self {
            Self::Fields(fields) => {
                FRAME + serde_json::to_string(fields).map_or(0, |text| text.len())
            }
            Self::CallStarted { tool, .. } => FRAME + tool.len(),
            Self::CallFinished(finished) => {
                let said = finished.error.as_ref().map_or(0, |(_, message)| message.len());
                let changed: usize =
                    finished.changed.iter().map(|one| FRAME + one.path.as_str().len()).sum();
                FRAME + said + changed
            }
        }
    }
}

impl CallFinished {
    fn params(&self) -> Map<String, Value> {
        let Self { call, caller, tool, error, duration_ms, effects, changed } = self;
        let mut params = started(*call, caller, tool.as_deref());
        let (kind, message) = error.as_ref().map(|(kind, message)| (*kind, message)).unzip();
        params.extend(fields(json!({
            "status": if error.is_some() { "error" } else { "success" },
            "error_type": kind,
            "message": message,
            "duration_ms": duration_ms,
            "effects": effects,
            "changed": changed,
        })));
        params
    }
}

fn started(call: CallId, caller: &Caller, tool: Option<&str>) -> Map<String, Value> {
    fields(json!({
        "call_id": call,
        "tool": tool,
        "user": caller.user,
        "agent": caller.agent,
        "session": caller.session,
        "channel": caller.channel,
    }))
}
