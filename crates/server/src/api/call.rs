//! Calls a tool.

use std::{pin::Pin, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    response::Response,
};
use futures_util::stream;
use gate::Request;
use serde_json::{Value, json};
use store::Scope;
use tokio::sync::mpsc;
use tool::{CallId, Caller, Outcome};

use super::{
    endpoint::{Asked, Endpoint, Given},
    input::{Arguments, Empty},
    openapi::Described,
    output::{Answer, OfCall},
    tools::from_problem,
};
use crate::{calling, parsing::parse_for, problem::refusals};

/// Names the call in every answer.
pub(crate) const CALL_ID: HeaderName = HeaderName::from_static("toolgate-call-id");
/// What a client accepts that wants partial results.
const EVENTS: &str = "text/event-stream";
/// So often something is sent while nothing happens, so that who is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

refusals! {
    /// Why no call is made.
    NoCall { Forbidden, Invalid, NotFound }
}

from_problem!(NoCall);

/// `POST /v1/tools/{name}`.
pub(crate) struct Call;

impl Endpoint for Call {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/tools/{name}";
    const SUMMARY: &'static str = "Call a tool; the body is its arguments. With `accept: text/event-stream` partial results come as events `update`, and the outcome as the last event, `outcome`.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = String;
    type Query = Empty;
    type Body = Arguments;
    type Answer = Called;
    type Refusal = NoCall;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Called, NoCall> {
        let caller = asked.caller()?;
        let Arguments(text) = given.body;
        let (name, bytes) = (given.path.clone(), text.len());
        let read = move || Request::from_text(&name, &text);
        let request = parse_for(asked.signed.user(), bytes, read).await;
        let ending = || Request::with(&given.path, Err("the server ends".to_owned()));
        let mut request = request.unwrap_or_else(ending);
        let id = asked.state.gate.next_id();
        request.id = Some(id);
        if !accepts(&asked.headers, &[EVENTS]) {
            let outcome = calling::call(&asked.state, &asked.signed, &caller, request).await;
            return Ok(Called::Whole(Box::new(OfCall(outcome))));
        }
        Ok(Called::Events(events(asked, caller, (request, id))))
    }
}

/// Whether a client names one of these kinds of answers.
pub(crate) fn accepts(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|named| {
        let named = named.split(';').next().unwrap_or_default().trim();
        kinds.iter().any(|kind| named.eq_ignore_ascii_case(kind))
    })
}

/// The outcome, or a stream that ends with it.
#[derive(Debug)]
pub(crate) enum Called {
    Whole(Box<OfCall>),
    Events(Response),
}

impl Answer for Called {
    fn describe(described: &mut Described<'_>) {
        described.outcome();
        described.text(200, EVENTS, "Events, if they were asked for.");
    }

    fn respond(self) -> Response {
        match self {
            Self::Whole(outcome) => outcome.respond(),
            Self::Events(response) => response,
        }
    }
}

/// A call whose partial results are sent as they come. Whoever stops reading stops the call, because it is
/// the body that drives it.
struct Streamed {
    call: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    updates: mpsc::Receiver<String>,
    outcome: Option<Outcome>,
    over: bool,
}

fn events(asked: Asked, caller: Caller, (mut request, id): (Request, CallId)) -> Response {
    let (sink, updates) = calling::updates();
    request.updates = sink;
    let call = async move { calling::call(&asked.state, &asked.signed, &caller, request).await };
    let streamed = Streamed { call: Box::pin(call), updates, outcome: None, over: false };
    let stream = stream::unfold(streamed, |mut streamed| async move {
        let event = streamed.next().await?;
        Some((Ok::<_, std::convert::Infallible>(event), streamed))
    });
    let mut response = Response::new(Body::from_stream(stream));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.extend(HeaderValue::from_str(&id.to_string()).map(|id| (CALL_ID, id)));
    response
}

impl Streamed {
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if self.outcome.is_none() {
            tokio::select! {
                biased;
                Some(text) = self.updates.recv() => return Some(update(&text)),
                outcome = &mut self.call => self.outcome = Some(outcome),
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b":\n\n")),
            }
        }
        // What was sent before the end comes before it.
        if let Ok(text) = self.updates.try_recv() {
            return Some(update(&text));
        }
        self.over = true;
        self.outcome.take().map(|outcome| event("outcome", &json!(outcome)))
    }
}

fn update(text: &str) -> Bytes {
    event("update", &json!({"text": text}))
}

/// JSON has no line breaks, so the data is one line.
fn event(name: &str, data: &Value) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}
