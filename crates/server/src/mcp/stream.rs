//! Answers that come piece by piece.

use std::{collections::VecDeque, convert::Infallible, pin::pin, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    client::{Ask, Out},
    driven::{Driven, Step},
    exchange::{Exchange, Way},
};
use crate::state::State;

/// So often something is sent while nothing happens, so that who is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What is sent when there is nothing to say.
const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// What a client takes for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Also one that comes piece by piece.
    Pieces,
    /// Only a whole one.
    Whole,
}

/// Answers a request: at once if nothing is to be told before, else piece by piece, if the client takes
/// that.
pub(super) async fn respond(exchange: Exchange, mut driven: Driven, takes: Takes) -> Response {
    let streams = takes == Takes::Pieces;
    let mut quiet = pin!(tokio::time::sleep(KEEP_ALIVE));
    loop {
        tokio::select! {
            biased;
            step = driven.step() => match step {
                Step::Done(answered) => return exchange.whole(answered),
                Step::Out(Out::Ask(ask)) if matches!(exchange.way, Way::Stateless(_)) => {
                    match exchange.park(driven, ask) {
                        Ok(told) => return exchange.whole(Ok(told)),
                        Err(back) => driven = back,
                    }
                }
                // Of what was never shown.
                Step::Out(Out::Withdraw(_)) => {}
                Step::Out(out) if streams => return Streamed::new(exchange, driven).after(out),
                // Nothing can be told or asked.
                Step::Out(_) => {}
            },
            () = &mut quiet, if streams => return Streamed::new(exchange, driven).response(),
        }
    }
}

/// A request whose answer is a stream. It is the body that drives it, so whoever stops reading stops it.
struct Streamed {
    exchange: Exchange,
    driven: Option<Driven>,
    texts: VecDeque<String>,
}

impl Streamed {
    const fn new(exchange: Exchange, driven: Driven) -> Self {
        Self { exchange, driven: Some(driven), texts: VecDeque::new() }
    }

    fn after(mut self, out: Out) -> Response {
        if let Some(driven) = self.driven.take() {
            self.take(driven, out);
        }
        self.response()
    }

    fn response(self) -> Response {
        events(stream::unfold(self, |mut streamed| async move {
            let event = streamed.next().await?;
            Some((event, streamed))
        }))
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(text) = self.texts.pop_front() {
                return Some(event(&text));
            }
            let mut driven = self.driven.take()?;
            tokio::select! {
                biased;
                step = driven.step() => match step {
                    Step::Out(out) => self.take(driven, out),
                    Step::Done(answered) => self.texts.push_back(self.exchange.text(answered)),
                },
                () = tokio::time::sleep(KEEP_ALIVE) => {
                    self.driven = Some(driven);
                    return Some(COMMENT);
                }
            }
        }
    }

    fn take(&mut self, driven: Driven, out: Out) {
        match out {
            Out::Tell(text) => {
                self.texts.push_back(text);
                self.driven = Some(driven);
            }
            Out::Ask(ask) => self.ask(driven, ask),
            Out::Withdraw(ask) => {
                if let Way::Session(session, _) = &self.exchange.way {
                    self.texts.extend(session.pending.withdraw(ask));
                }
                self.driven = Some(driven);
            }
        }
    }

    fn ask(&mut self, driven: Driven, ask: Ask) {
        if let Way::Session(session, _) = &self.exchange.way {
            self.texts.extend(session.pending.begin(ask));
            self.driven = Some(driven);
            return;
        }
        match self.exchange.park(driven, ask) {
            Ok(told) => self.texts.push_back(self.exchange.text(Ok(told))),
            Err(driven) => self.driven = Some(driven),
        }
    }
}

/// What somebody is told for as long as they listen and it is not over.
pub(super) fn told(
    state: &State,
    texts: BoxStream<'static, String>,
    (over, last): (CancellationToken, Option<String>),
) -> Response {
    let (ending, guard) = (state.ending.clone(), over.clone().drop_guard());
    let telling = Telling { ending, texts, over, _over: guard, last };
    events(stream::unfold(Some(telling), |telling| async move {
        let mut telling = telling?;
        match telling.next().await {
            Some(bytes) => Some((bytes, Some(telling))),
            None => telling.last.take().map(|last| (event(&last), None)),
        }
    }))
}

struct Telling {
    /// Cancelled when the server ends.
    ending: CancellationToken,
    texts: BoxStream<'static, String>,
    over: CancellationToken,
    /// Nobody tells any more when this is dropped.
    _over: DropGuard,
    /// What is said at the end.
    last: Option<String>,
}

impl Telling {
    async fn next(&mut self) -> Option<Bytes> {
        tokio::select! {
            biased;
            text = self.texts.next() => text.map(|text| event(&text)),
            () = self.over.cancelled() => None,
            () = self.ending.cancelled() => None,
            () = tokio::time::sleep(KEEP_ALIVE) => Some(COMMENT),
        }
    }
}

fn events(stream: impl stream::Stream<Item = Bytes> + Send + 'static) -> Response {
    let mut response = Response::new(Body::from_stream(stream.map(Ok::<_, Infallible>)));
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    // Proxies that gather what they pass on would hold it back.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// JSON has no line breaks, so the data is one line.
fn event(text: &str) -> Bytes {
    format!("event: message\ndata: {text}\n\n").into()
}
