//! Answers that come piece by piece.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    client::{Ask, Out},
    driven::{Driven, Step},
    exchange::{Exchange, Way},
};
use crate::{
    auth::{self, Signed},
    state::State,
};

/// So often something is sent while nothing happens, so that who is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// So often it is looked whether a token still works while its holder waits.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// What is sent when there is nothing to say.
const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// Looks whether a token still works, and when something must be sent again.
struct Watch {
    state: State,
    signed: Signed,
    look: Interval,
    quiet_since: Instant,
}

/// What was seen.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The token works no more.
    Revoked,
    /// Nothing was sent for a while.
    Quiet,
}

impl Watch {
    fn new(state: &State, signed: &Signed) -> Self {
        let now = Instant::now();
        let mut look = interval_at(now + LOOK_EVERY, LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { state: state.clone(), signed: signed.clone(), look, quiet_since: now }
    }

    async fn next(&mut self) -> Seen {
        loop {
            self.look.tick().await;
            let Signed { hash, by, .. } = self.signed;
            if !matches!(auth::find(&self.state, hash, by).await, Ok(Some(_))) {
                return Seen::Revoked;
            }
            if self.quiet_since.elapsed() >= KEEP_ALIVE {
                self.quiet_since = Instant::now();
                return Seen::Quiet;
            }
        }
    }

    fn sent(&mut self) {
        self.quiet_since = Instant::now();
    }
}

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
    let mut watch = Watch::new(&exchange.state, &exchange.signed);
    let streams = takes == Takes::Pieces;
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
                Step::Out(out) if streams => return Streamed::new(exchange, driven).after(out),
                // Nothing can be told or asked.
                Step::Out(_) => {}
            },
            seen = watch.next() => match seen {
                Seen::Revoked => return auth::unknown().into_response(),
                Seen::Quiet if streams => return Streamed::new(exchange, driven).response(),
                Seen::Quiet => {}
            },
        }
    }
}

/// A request whose answer is a stream. It is the body that drives it, so whoever stops reading stops it.
struct Streamed {
    exchange: Exchange,
    driven: Option<Driven>,
    texts: VecDeque<String>,
    watch: Watch,
}

impl Streamed {
    fn new(exchange: Exchange, driven: Driven) -> Self {
        let watch = Watch::new(&exchange.state, &exchange.signed);
        Self { exchange, driven: Some(driven), texts: VecDeque::new(), watch }
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
                self.watch.sent();
                return Some(event(&text));
            }
            let mut driven = self.driven.take()?;
            tokio::select! {
                biased;
                step = driven.step() => match step {
                    Step::Out(out) => self.take(driven, out),
                    Step::Done(answered) => self.texts.push_back(self.exchange.text(answered)),
                },
                seen = self.watch.next() => match seen {
                    Seen::Revoked => return None,
                    Seen::Quiet => {
                        self.driven = Some(driven);
                        return Some(COMMENT);
                    }
                },
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

/// What somebody is told for as long as they listen, their token works and it is not over.
pub(super) fn told(
    state: &State,
    signed: &Signed,
    texts: BoxStream<'static, String>,
    (over, last): (CancellationToken, Option<String>),
) -> Response {
    let watch = Watch::new(state, signed);
    let telling = Telling { watch, texts, _over: over.clone().drop_guard(), over, last };
    events(stream::unfold(Some(telling), |telling| async move {
        let mut telling = telling?;
        match telling.next().await {
            Some(bytes) => Some((bytes, Some(telling))),
            None => telling.last.take().map(|last| (event(&last), None)),
        }
    }))
}

struct Telling {
    watch: Watch,
    texts: BoxStream<'static, String>,
    over: CancellationToken,
    /// Nobody tells any more when this is dropped.
    _over: DropGuard,
    /// What is said at the end, unless the client is not to be told anything any more.
    last: Option<String>,
}

impl Telling {
    async fn next(&mut self) -> Option<Bytes> {
        let ending = self.watch.state.ending.clone();
        tokio::select! {
            biased;
            text = self.texts.next() => {
                self.watch.sent();
                text.map(|text| event(&text))
            }
            () = self.over.cancelled() => None,
            () = ending.cancelled() => None,
            seen = self.watch.next() => match seen {
                Seen::Quiet => Some(COMMENT),
                Seen::Revoked => {
                    self.last = None;
                    None
                }
            },
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
