//! Watches the calls of the gate.

use gate::{Finished, Observer, Started};
use serde_json::json;
use tool::Caller;

use super::{Events, Who, fields, kind};

impl Observer for Events {
    fn started(&self, call: Started<'_>) {
        let Started { call: id, caller, name, cancel } = call;
        self.running.begin(id, caller, cancel);
        let params = json!({
            "call_id": id,
            "tool": name,
            "user": caller.user,
            "agent": caller.agent,
            "session": caller.session,
            "channel": caller.channel,
        });
        self.tell(kind::CALL_STARTED, who(caller), fields(params));
    }

    fn finished(&self, call: Finished<'_>) {
        let Finished { call: id, caller, tool, result, meta, took } = call;
        self.running.end(id);
        let error = result.as_ref().err();
        self.metrics.finished(tool, error, took);
        let params = json!({
            "call_id": id,
            "tool": tool,
            "user": caller.user,
            "agent": caller.agent,
            "session": caller.session,
            "channel": caller.channel,
            "status": if error.is_some() { "error" } else { "success" },
            "error_type": error.map(tool::ToolError::kind),
            "message": error.map(ToString::to_string),
            "duration_ms": meta.duration_ms,
            "effects": meta.effects,
            "changed": meta.changed,
        });
        self.tell(kind::CALL_FINISHED, who(caller), fields(params));
    }
}

fn who(caller: &Caller) -> Who {
    Who { user: caller.user.clone(), agent: caller.agent.clone() }
}
