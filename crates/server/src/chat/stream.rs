//! Answers, piece by piece.

use std::{convert::Infallible, time::Duration};

use agent::{AgentError, Answer, Event, Sink};
use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::Response,
};
use futures_util::stream;
use provider::ReplyStream;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};
use tokio_util::sync::DropGuard;
use tool::Caller;

use super::{
    Turn,
    pieces::{Pieces, Written},
    problem,
};
use crate::speaking::{NoAnswer, Shown, Speaking};

/// Events that wait to be sent; a slow client slows the model down.
const MAX_EVENTS: usize = 64;
/// A connection on which nothing happens for so long is thought dead by some.
const QUIET: Duration = Duration::from_secs(15);

/// A run, and what of it was sent.
struct Sending {
    reply: Option<ReplyStream>,
    written: Written,
    events: mpsc::Receiver<Event>,
    caller: Caller,
    run: JoinHandle<Result<Answer, NoAnswer>>,
    /// Ends the run when the client goes away.
    _stop: DropGuard,
}

/// Waits until the run has begun, so that what is wrong with it can still be said as a status; then
/// sends what comes.
pub(super) async fn answer(speaking: Speaking, turn: Turn, pieces: Pieces) -> Response {
    let (sender, mut events) = mpsc::channel(MAX_EVENTS);
    let cancel = speaking.stop();
    let guard = cancel.clone().drop_guard();
    let Turn { format, caller, head, input, include_usage, .. } = turn;
    let run =
        tokio::spawn(async move { speaking.run_until(&cancel, input, Sink::to(sender)).await });
    if events.recv().await.is_none() {
        return match run.await {
            Ok(Err(error)) => problem(format, &error, &caller),
            Ok(Ok(_)) | Err(_) => problem(format, &AgentError::Cancelled.into(), &caller),
        };
    }
    let mut reply = ReplyStream::new(format, head, include_usage);
    let mut written = Written::new(pieces);
    let first = written.piece(reply.start());
    let sending = Sending { reply: Some(reply), written, events, caller, run, _stop: guard };
    let rest = stream::unfold(sending, |mut sending| async {
        let piece = sending.next().await?;
        let mut piece = sending.written.piece(piece);
        if sending.reply.is_none() {
            piece += sending.written.end();
        }
        Some((piece, sending))
    });
    let all = futures_util::StreamExt::chain(stream::iter([first]), rest);
    let bytes = futures_util::StreamExt::map(all, |text| Ok::<_, Infallible>(Bytes::from(text)));
    let mut response = Response::new(Body::from_stream(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(pieces.content_type()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Sending {
    /// What is sent next; nothing when all is said.
    async fn next(&mut self) -> Option<String> {
        loop {
            let reply = self.reply.as_mut()?;
            match timeout(QUIET, self.events.recv()).await {
                Err(_) => return Some(reply.ping().to_owned()),
                Ok(Some(Event::Text { text })) => return Some(reply.text(&text)),
                Ok(Some(_)) => {}
                Ok(None) => return self.last().await,
            }
        }
    }

    async fn last(&mut self) -> Option<String> {
        let mut reply = self.reply.take()?;
        let answer = (&mut self.run).await.unwrap_or_else(|_| Err(AgentError::Cancelled.into()));
        Some(match answer {
            Ok(answer) => {
                let Answer { calls, finish, usage, tool_calls, .. } = answer;
                let calls: String = calls.iter().map(|call| reply.call(call)).collect();
                calls + &reply.end(&finish, usage, &tool_calls)
            }
            Err(error) => {
                let Shown { status, kind, message, .. } = error.shown_to(&self.caller);
                reply.error(status, kind, &message)
            }
        })
    }
}
