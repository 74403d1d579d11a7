//! How a call is made, whatever surface it came by.

use std::sync::Arc;

use gate::Request;
use tokio::sync::mpsc;
use tool::{BoxFuture, Caller, Outcome, ToolError, UpdateSink, Updates};

use crate::{auth::Signed, problem::in_full, state::State};

/// Makes a call for somebody. Dropping the future stops it.
pub(crate) async fn call(
    state: &State,
    signed: &Signed,
    caller: &Caller,
    request: Request,
) -> Outcome {
    let id = *request.id.as_ref().unwrap_or(&state.gate.next_id());
    // Who asks with a token must not answer with it.
    let running = &state.events.running;
    let _noted = running.note_token(id, signed);
    // Nor about what an agent does that is spawned or spoken to by the call.
    if let Err(error) = note_caller(state, signed, caller).await {
        // It is remembered here; and where nothing can be stored, nobody can be asked.
        tracing::error!(error = in_full(&error), "who makes a call was not stored");
    }
    state.gate.run(caller, Request { id: Some(id), ..request }).await
}

async fn note_caller(state: &State, signed: &Signed, caller: &Caller) -> Result<(), ToolError> {
    let db = state.gate.db().await?;
    Ok(state.events.running.note_caller(db, caller, signed).await?)
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
