//! How a call is made, whatever surface it came by.

use std::sync::Arc;

use gate::{Gate, Request};
use tokio::sync::mpsc;
use tool::{BoxFuture, Caller, Outcome, ToolError, UpdateSink, Updates};

use crate::{auth::Signed, events::Events, problem::in_full, state::State};

/// Makes a call for somebody with a token. Dropping the future stops it.
pub(crate) async fn call(
    state: &State,
    signed: &Signed,
    caller: &Caller,
    request: Request,
) -> Outcome {
    call_as(&state.gate, (&state.events, Some(signed)), caller, request).await
}

/// The same for somebody who came with a token, or who is the owner on the command line.
pub(crate) async fn call_as(
    gate: &Gate,
    (events, signed): (&Events, Option<&Signed>),
    caller: &Caller,
    request: Request,
) -> Outcome {
    let id = *request.id.as_ref().unwrap_or(&gate.next_id());
    // Who asks with a token must not answer with it.
    let _noted = signed.map(|signed| events.running.note_token(id, signed));
    // Nor about what an agent does that is spawned or spoken to by the call.
    if let Some(signed) = signed
        && let Err(error) = note_caller(gate, events, signed, caller).await
    {
        // It is remembered here; and where nothing can be stored, nobody can be asked.
        tracing::error!(error = in_full(&error), "who makes a call was not stored");
    }
    gate.run(caller, Request { id: Some(id), ..request }).await
}

async fn note_caller(
    gate: &Gate,
    events: &Events,
    signed: &Signed,
    caller: &Caller,
) -> Result<(), ToolError> {
    Ok(events.running.note_caller(gate.db().await?, caller, signed).await?)
}

/// Partial results, in a queue that slows the tool down when it is full.
pub(crate) fn updates() -> (Updates, mpsc::Receiver<String>) {
    let (sender, receiver) = mpsc::channel(16);
    (Updates::to(Arc::new(Queue(sender))), receiver)
}

#[derive(Debug)]
struct Queue(mpsc::Sender<String>);

impl UpdateSink for Queue {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // Who does not listen any more has stopped the call, too.
            let _ = self.0.send(text.to_owned()).await;
        })
    }
}
