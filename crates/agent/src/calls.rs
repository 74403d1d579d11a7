//! The calls of one turn, through the gate.

use std::{sync::Arc, time::Duration};

use gate::{Found, Gate, Request};
use provider::{CallNote, WireCall, WireResult, arguments};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool::{BoxFuture, Caller, Effect, Outcome, SameResult, UpdateSink, Updates};

use crate::{
    Event,
    events::Sink,
    repetition::{CallCourse, Changed},
    run::{Run, took},
    transcript::failed,
};

/// How much of a result is shown to whoever watches.
const SHOWN_CHARS: usize = 300;

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Called {
    /// What the model is told now.
    pub(crate) result: WireResult,
    /// What the transcript keeps.
    pub(crate) kept: WireResult,
    /// Nothing if it never came to the gate.
    pub(crate) note: Option<CallNote>,
    pub(crate) course: CallCourse,
}

impl Called {
    pub(crate) fn refused(call: &WireCall, why: &str) -> Self {
        let result = failed(call, why);
        let course = CallCourse { took: Duration::ZERO, changed: Changed::No, polls: false };
        Self { kept: result.clone(), result, note: None, course }
    }

    /// One that was stopped because the process ends was stopped by nobody who knows what it is for.
    pub(crate) fn cut_off(&mut self, call: &WireCall) {
        if self.note.as_ref().is_some_and(|note| note.status == "cancelled") {
            let why =
                "interrupted: the process ended while this call ran; look before you do it again";
            self.result = failed(call, why);
            self.kept = self.result.clone();
        }
    }

    fn new(call: &WireCall, tool: &str, outcome: &Outcome) -> Self {
        let result = WireResult::new(call, outcome);
        let mut kept = result.clone();
        if let Outcome::Success { transcript: Some(blocks), .. } = outcome {
            kept.blocks.clone_from(blocks);
        }
        let note = note(call, tool, outcome);
        let changes = |effect| matches!(effect, Effect::Write | Effect::Act);
        let changed = matches!(outcome, Outcome::Success { .. })
            && outcome.meta().effects.iter().any(changes);
        let changed = if changed { Changed::Yes } else { Changed::No };
        let course = CallCourse { took: took(&note), changed, polls: false };
        Self { result, kept, note: Some(note), course }
    }
}

fn note(call: &WireCall, tool: &str, outcome: &Outcome) -> CallNote {
    CallNote {
        id: outcome.meta().call_id.to_string(),
        tool: tool.to_owned(),
        input: call.args.clone().unwrap_or_default(),
        status: outcome.status().to_owned(),
        duration_ms: outcome.meta().duration_ms,
    }
}

/// What tells a call from the others of its message in the journal: the id that its provider gave it, or which one of
/// its name it is. The second form begins with `#`.
pub(crate) fn recorded_id(calls: &[WireCall], number: usize) -> Option<String> {
    let call = calls.get(number)?;
    Some(call.id.clone().unwrap_or_else(|| ordinal(calls, number, &call.name)))
}

/// The id of the message as earlier versions recorded it for a call: with the ordinal behind it where the provider gave
/// no id.
pub(crate) fn recorded_in_before(message: &str, calls: &[WireCall], number: usize) -> String {
    match calls.get(number) {
        Some(WireCall { id: None, name, .. }) => {
            format!("{message}{}", ordinal(calls, number, name))
        }
        Some(_) | None => message.to_owned(),
    }
}

fn ordinal(calls: &[WireCall], number: usize, name: &str) -> String {
    let before = calls.iter().take(number).filter(|other| other.name == name).count();
    format!("#{name}.{before}")
}

/// Runs the calls of a message: together while they change nothing, in order where they do.
pub(crate) async fn call_all(
    run: &Run<'_>,
    stop: &CancellationToken,
    message: &str,
    calls: &[WireCall],
) -> Vec<Called> {
    let (gate, caller) = (&run.agents.gate, &run.caller);
    let mut requests = Vec::with_capacity(calls.len());
    let mut names = Vec::with_capacity(calls.len());
    for (number, call) in calls.iter().enumerate() {
        let handle = format!("{}.{}", run.notes.len(), number);
        let request = request(gate, caller, call);
        let input = call.args.clone().unwrap_or_else(Value::String);
        let event = Event::Call { handle: handle.clone(), tool: request.name.clone(), input };
        run.emit(event).await;
        let told = Told { sink: run.sink.clone(), handle: handle.clone(), run: run.cancel.clone() };
        let updates = Updates::to(Arc::new(told));
        names.push((handle, request.name.clone()));
        let message_id = Some(message.to_owned());
        let provider_call_id = recorded_id(calls, number);
        let cancel = stop.child_token();
        requests.push(Request { cancel, updates, message_id, provider_call_id, ..request });
    }
    // Whoever watches hears of each call as it ends.
    let (done, mut ended) = mpsc::channel(calls.len().max(1));
    let outcomes = gate.run_all_telling(caller, requests, move |number, outcome: &Outcome| {
        let _ = done.try_send((number, outcome.clone()));
    });
    let watching = async {
        while let Some((number, outcome)) = ended.recv().await {
            let (Some(call), Some((handle, tool))) = (calls.get(number), names.get(number)) else {
                continue;
            };
            let called = Called::new(call, tool, &outcome);
            let shown = called.result.text().chars().take(SHOWN_CHARS).collect();
            let note = note(call, tool, &outcome);
            run.emit(Event::Called { handle: handle.clone(), note, shown }).await;
        }
    };
    let (outcomes, ()) = tokio::join!(outcomes, watching);
    let answered = calls.iter().zip(names).zip(&outcomes);
    let view = gate.view(caller);
    let answered = answered.map(|((call, (_, tool)), outcome)| {
        let mut called = Called::new(call, &tool, outcome);
        if let Found::Tool(entry) = view.find(&tool) {
            called.course.polls = entry.info().same_result == SameResult::Waiting;
        }
        called
    });
    answered.collect()
}

/// A call by our name of the tool, with the names we gave its parameters before they went out.
pub fn request(gate: &Gate, caller: &Caller, call: &WireCall) -> Request {
    let args = call.args.clone().map(|args| match gate.view(caller).find(&call.name) {
        Found::Tool(entry) => arguments(entry.info(), args),
        Found::Withheld(..) | Found::Unavailable(..) | Found::Unknown => args,
    });
    Request { provider_call_id: call.id.clone(), ..Request::with(&call.name, args) }
}

/// Partial results, told to whoever watches.
#[derive(Debug)]
struct Told {
    sink: Sink,
    handle: String,
    /// Ends the run if nobody reads.
    run: CancellationToken,
}

impl UpdateSink for Told {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        let event = Event::Update { handle: self.handle.clone(), text: text.to_owned() };
        Box::pin(self.sink.send(event, &self.run))
    }
}
