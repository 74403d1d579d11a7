//! Watches the calls of the gate.

use gate::{Finished, Observer, Started};
use tool::Caller;

use super::{
    Events, Who, kind,
    said::{CallFinished, Said},
};

impl Observer for Events {
    fn started(&self, call: Started<'_>) {
        let Started { call: id, caller, name, cancel } = call;
        self.running.begin(id, caller, cancel);
        if !self.hub.is_watched() {
            return;
        }
        let said = Said::CallStarted { call: id, caller: caller.clone(), tool: name.to_owned() };
        self.tell_said(kind::CALL_STARTED, who(caller), said);
    }

    fn finished(&self, call: Finished<'_>) {
        let Finished { call: id, caller, tool, result, meta, took } = call;
        self.running.end(id);
        let error = result.as_ref().err();
        self.metrics.finished(tool.map(|tool| &**tool), error, took);
        if !self.hub.is_watched() {
            return;
        }
        let finished = CallFinished {
            call: id,
            caller: caller.clone(),
            tool: tool.cloned(),
            error: error.map(|error| (error.kind(), error.to_string())),
            duration_ms: meta.duration_ms,
            effects: meta.effects,
            changed: meta.changed.clone(),
        };
        self.tell_said(kind::CALL_FINISHED, who(caller), Said::CallFinished(Box::new(finished)));
    }
}

fn who(caller: &Caller) -> Who {
    Who { user: caller.user.clone(), agent: caller.agent.clone() }
}
