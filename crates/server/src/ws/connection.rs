//! One WebSocket connection.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::HeaderMap;
use config::Config;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval_at, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error as WsError, Message, Utf8Bytes,
        error::CapacityError,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};
use tokio_util::sync::CancellationToken;
use tool::CallId;

use super::{
    methods::{self, Context},
    rpc::{self, Call, RpcError},
    stream::Metered,
};
use crate::{
    api::may_answer,
    auth::{self, By, CallerNames, Signed},
    events::{Answers, Event, Hears, Queue, Seen, Subscription, Who, kind},
    parsing::parse_for,
    problem::{Kind, Problem},
    state::State,
};

/// So long somebody may take to say who they are.
const UNKNOWN_TIME: Duration = Duration::from_secs(5);
/// So long a message may take to be sent.
const SEND_TIME: Duration = Duration::from_secs(10);
/// So long the last message may take.
const CLOSE_TIME: Duration = Duration::from_secs(1);
/// So many events wait for a connection that does not read; one more, and it is closed.
const MOST_WAITING: usize = 1_024;
/// What stands in a close frame must be short.
const MOST_REASON: usize = 120;

/// Closes a connection whose token does not work, or no longer.
const UNAUTHENTICATED: CloseCode = CloseCode::Library(4401);

type Socket = WebSocketStream<Metered<TokioIo<Upgraded>>>;

/// What a connection is for, unless a request says otherwise.
#[derive(Debug, Default)]
pub(super) struct Names {
    agent: Option<String>,
    session: Option<String>,
    sender: Option<String>,
    channel: Option<String>,
}

impl Names {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let CallerNames { agent, session, sender, channel } = auth::names(headers)?;
        let owned = |name: Option<&str>| name.map(str::to_owned);
        Ok(Self {
            agent: owned(agent),
            session: owned(session),
            sender: owned(sender),
            channel: owned(channel),
        })
    }

    /// Refuses names that the token may not use.
    pub(super) fn check(&self, signed: &Signed, config: &Config) -> Result<(), Problem> {
        let Self { agent, session, sender, channel } = self;
        if [agent, session, sender, channel].into_iter().all(Option::is_none) {
            return Ok(());
        }
        signed.speaker(config, self.or(CallerNames::default())).map(|_| ())
    }

    /// What a request says, and these where it says nothing.
    pub(super) fn or<'a>(&'a self, given: CallerNames<'a>) -> CallerNames<'a> {
        let CallerNames { agent, session, sender, channel } = given;
        CallerNames {
            agent: agent.or(self.agent.as_deref()),
            session: session.or(self.session.as_deref()),
            sender: sender.or(self.sender.as_deref()),
            channel: channel.or(self.channel.as_deref()),
        }
    }
}

/// The calls a connection has made and waits for, by the id of the request.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashMap<String, CallId>>);

impl InFlight {
    /// Notes a call until the guard is dropped.
    pub(super) fn note(self: &Arc<Self>, request: Option<Value>, call: CallId) -> Noted {
        let request = request.map(|request| request.to_string());
        if let Some(request) = &request {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(request.clone(), call);
        }
        Noted { calls: self.clone(), request }
    }

    pub(super) fn call(&self, request: &Value) -> Option<CallId> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(&request.to_string()).copied()
    }
}

/// While this is there, a call is found by the request that made it.
#[derive(Debug)]
pub(super) struct Noted {
    calls: Arc<InFlight>,
    request: Option<String>,
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(request) = &self.request {
            self.calls.0.lock().unwrap_or_else(PoisonError::into_inner).remove(request);
        }
    }
}

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// The other side is gone.
    Gone,
    /// We close it, and say why.
    Close(CloseCode, String),
}

impl End {
    fn close(code: CloseCode, reason: impl Into<String>) -> Self {
        Self::Close(code, reason.into())
    }

    fn ends() -> Self {
        Self::close(CloseCode::Away, "the server ends")
    }

    /// The token does not work any more.
    fn gone() -> Self {
        Self::close(UNAUTHENTICATED, "the token does not work any more")
    }

    fn slow() -> Self {
        Self::close(CloseCode::Policy, "too slow; connect again and subscribe with `since`")
    }
}

/// A connection. It is one task: requests that take a while have tasks of their own while they run.
pub(super) struct Connection {
    state: State,
    socket: Socket,
    signed: Option<Signed>,
    names: Arc<Names>,
    peer: IpAddr,
    queue: Queue,
    waiting: mpsc::Receiver<Arc<Event>>,
    subscription: Option<Subscription>,
    requests: JoinSet<Option<String>>,
    in_flight: Arc<InFlight>,
    /// Whether anything was heard since it was asked last.
    heard: bool,
    /// Cancelled when the token works no more.
    revoked: CancellationToken,
}

impl Connection {
    pub(super) fn new(
        state: State,
        socket: Socket,
        (signed, names): (Option<Signed>, Names),
        peer: IpAddr,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        Self {
            state,
            socket,
            signed,
            names: Arc::new(names),
            peer,
            queue,
            waiting,
            subscription: None,
            requests: JoinSet::new(),
            in_flight: Arc::default(),
            heard: true,
            revoked: CancellationToken::new(),
        }
    }

    /// Until one side has had enough. Calls that still run then are cancelled, because their tasks go with
    /// the connection.
    pub(super) async fn run(mut self) {
        let end = match self.introduce().await {
            Ok(()) => self.serve().await,
            Err(end) => end,
        };
        self.requests.abort_all();
        let (code, reason) = match end {
            End::Gone => return,
            End::Close(code, reason) => (code, reason),
        };
        if code == CloseCode::Policy {
            self.state.events.metrics.slow_reader();
        }
        let reason: String = reason.chars().take(MOST_REASON).collect();
        tracing::debug!(peer = %self.peer, ?code, reason, "a WebSocket is closed");
        let frame = CloseFrame { code, reason: reason.into() };
        let closing = async {
            // What they sent meanwhile is read and dropped, so that the close frame gets through.
            if self.socket.close(Some(frame)).await.is_ok() {
                while let Some(Ok(_)) = self.socket.next().await {}
            }
        };
        // Who does not read it does not need it.
        let _ = timeout(CLOSE_TIME, closing).await;
    }

    /// Waits until it is known who is there.
    async fn introduce(&mut self) -> Result<(), End> {
        if self.signed.is_none() {
            let ending = self.state.ending.clone();
            let first = tokio::select! {
                first = timeout(UNKNOWN_TIME, self.first_message()) => first,
                () = ending.cancelled() => return Err(End::ends()),
            };
            let late = |_| End::close(UNAUTHENTICATED, "no `authenticate` came in time");
            let call = first.map_err(late)??;
            let answered = self.authenticate(&call).await;
            let ok = answered.is_ok();
            let message = rpc::answer(call.id.as_ref(), answered);
            self.send(message.into()).await?;
            if !ok {
                return Err(End::close(UNAUTHENTICATED, "the token does not work"));
            }
        }
        self.socket.get_mut().trust();
        Ok(())
    }

    async fn first_message(&mut self) -> Result<Call, End> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let call = match rpc::read(&text) {
                        Ok(rpc::Message::Call(call)) if call.method == "authenticate" => Some(call),
                        Ok(rpc::Message::Call(_) | rpc::Message::Answer(_)) | Err(_) => None,
                    };
                    let wrong = "the first message must be `authenticate`";
                    return call.ok_or_else(|| End::close(UNAUTHENTICATED, wrong));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Err(End::Gone),
                Some(Ok(Message::Binary(_) | Message::Frame(_))) => return Err(no_binary()),
                Some(Err(error)) => return Err(failed(&error)),
            }
        }
    }

    async fn authenticate(&mut self, call: &Call) -> Result<Value, RpcError> {
        let Token { token } = methods::read(call.params.clone())?;
        let signed = auth::check_secret(&self.state, self.peer, &token, By::Header).await?;
        self.names.check(&signed, &self.state.gate.config())?;
        let said = json!({"user": signed.user(), "role": signed.token.new.role});
        self.signed = Some(signed);
        Ok(said)
    }

    async fn serve(&mut self) -> End {
        let every = self.state.gate.config().server.ws_ping.value.max(Duration::from_millis(10));
        let mut ping = interval_at(Instant::now() + every, every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (ending, ended) = (self.state.ending.clone(), self.state.ended.clone());
        let Some(signed) = &self.signed else { return End::gone() };
        let held = match signed.admit(&self.state) {
            Ok(counted) => self.state.held.hold(signed).with(counted),
            Err(problem) => return End::close(CloseCode::Again, problem.message()),
        };
        self.revoked = held.end();
        loop {
            if ending.is_cancelled() && self.requests.is_empty() {
                return End::ends();
            }
            let done = tokio::select! {
                biased;
                () = ended.cancelled() => return End::ends(),
                () = held.ended() => return End::gone(),
                () = ending.cancelled(), if !ending.is_cancelled() => Ok(()),
                message = self.socket.next() => self.hear(message).await,
                Some(event) = self.waiting.recv() => self.tell(&event).await,
                Some(answered) = self.requests.join_next() => self.reply(answered.ok().flatten()).await,
                _ = ping.tick() => self.look().await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// Takes what the other side says.
    async fn hear(&mut self, message: Option<Result<Message, WsError>>) -> Result<(), End> {
        self.heard = true;
        match message {
            Some(Ok(Message::Text(text))) => {
                let user = self.signed.as_ref().map_or("", |signed| signed.user()).to_owned();
                let read = parse_for(&user, text.len(), move || rpc::read(&text)).await;
                match read.ok_or(End::Gone)? {
                    Ok(rpc::Message::Call(call)) => self.begin(call).await,
                    // Nothing is ever asked of a client here.
                    Ok(rpc::Message::Answer(_)) => Ok(()),
                    Err(answer) => self.reply(answer).await,
                }
            }
            // Pings are answered by the protocol, with the next message or flush.
            Some(Ok(Message::Ping(_))) => self.flush().await,
            Some(Ok(Message::Pong(_))) => Ok(()),
            Some(Ok(Message::Close(_))) | None => Err(End::Gone),
            Some(Ok(Message::Binary(_) | Message::Frame(_))) => Err(no_binary()),
            Some(Err(error)) => Err(failed(&error)),
        }
    }

    /// Begins what a request asks for.
    async fn begin(&mut self, call: Call) -> Result<(), End> {
        let signed = self.still_signed().await?;
        let most = self.state.gate.config().server.ws_requests.value.get();
        let Call { id, method, params } = call;
        let refused = if self.state.ending.is_cancelled() {
            Some(Problem::ending())
        } else if self.requests.len() >= most {
            let message = format!("{most} requests of this connection run already; wait for one");
            Some(Problem::new(Kind::TooMany, message).after(Duration::from_secs(1)))
        } else {
            None
        };
        if let Some(problem) = refused {
            return self.answer(id, Err(problem.into())).await;
        }
        match method.as_str() {
            "authenticate" => {
                let message = "this connection is authenticated already; open another one";
                self.answer(id, Err(RpcError::invalid_params(message))).await
            }
            "events.subscribe" => self.subscribe(id, params, &signed).await,
            _ => {
                let context = Context {
                    state: self.state.clone(),
                    signed,
                    names: self.names.clone(),
                    queue: self.queue.clone(),
                    id: id.clone(),
                    in_flight: self.in_flight.clone(),
                };
                self.requests.spawn(async move {
                    let answered = methods::handle(context, &method, params).await;
                    id.map(|id| rpc::answer(Some(&id), answered))
                });
                Ok(())
            }
        }
    }

    /// A token that was revoked meanwhile ends the connection.
    async fn still_signed(&mut self) -> Result<Signed, End> {
        let signed = self.signed.as_ref().ok_or_else(End::gone)?;
        let (hash, by) = (signed.hash, signed.by);
        let found = auth::find(&self.state, hash, by).await;
        let found = found.map_err(|_| End::close(CloseCode::Error, "the server failed"))?;
        let found = found.ok_or_else(End::gone)?;
        self.signed = Some(found.clone());
        Ok(found)
    }

    async fn subscribe(
        &mut self,
        id: Option<Value>,
        params: Value,
        signed: &Signed,
    ) -> Result<(), End> {
        let seen = match read_seen(params) {
            Ok(seen) => seen,
            Err(error) => return self.answer(id, Err(error)).await,
        };
        let since = seen.since;
        // The old one first: an event must not come twice. What still waits because of it comes with what
        // was missed, if it is said what is known; else now.
        self.subscription = None;
        while let Ok(event) = self.waiting.try_recv() {
            if since.is_none() || event.is_for_one() {
                self.tell(&event).await?;
            }
        }
        let answers = if may_answer(&self.state, signed) { Answers::All } else { Answers::Own };
        let hears = Hears { sees: signed.sees(), answers };
        let mut subscription = self.state.events.subscribe(hears, self.queue.clone(), seen);
        let (missed, lost) = (std::mem::take(&mut subscription.missed), subscription.lost);
        let last = subscription.last;
        self.subscription = Some(subscription);
        self.answer(id, Ok(json!({"event_id": last, "missed": missed.len(), "lost": lost})))
            .await?;
        if lost {
            let params = json!({"since": since, "event_id": last});
            let lost = json!({"jsonrpc": "2.0", "method": "events.lost", "params": params});
            self.send(lost.to_string().into()).await?;
        }
        for event in missed {
            self.tell(&event).await?;
        }
        Ok(())
    }

    /// Passes an event on, if it is theirs to see.
    async fn tell(&mut self, event: &Event) -> Result<(), End> {
        self.still_signed().await?;
        if self.may_see(event) {
            self.send(event.text()).await?;
        }
        match &self.subscription {
            Some(subscription) if !subscription.is_told() => Err(End::slow()),
            _ => Ok(()),
        }
    }

    /// Questions come to those who could answer them when they subscribed; whether they still can is known
    /// here.
    fn may_see(&self, event: &Event) -> bool {
        let Some(signed) = &self.signed else { return false };
        let Who { user, agent } = &event.who;
        let own = event.is_for_one() || signed.sees().covers(user, agent);
        own || may_answer(&self.state, signed)
    }

    async fn reply(&mut self, message: Option<String>) -> Result<(), End> {
        match message {
            Some(message) => self.send(message.into()).await,
            None => Ok(()),
        }
    }

    async fn answer(
        &mut self,
        id: Option<Value>,
        answered: Result<Value, RpcError>,
    ) -> Result<(), End> {
        match id {
            Some(id) => self.send(rpc::answer(Some(&id), answered).into()).await,
            None => Ok(()),
        }
    }

    /// Looks whether somebody is there, and whether they still may be.
    async fn look(&mut self) -> Result<(), End> {
        if !self.heard {
            return Err(End::close(CloseCode::Away, "nobody answers"));
        }
        self.still_signed().await?;
        self.heard = false;
        self.deliver(Message::Ping(Vec::new().into())).await
    }

    async fn send(&mut self, text: Utf8Bytes) -> Result<(), End> {
        self.deliver(Message::Text(text)).await
    }

    async fn deliver(&mut self, message: Message) -> Result<(), End> {
        in_time(&self.revoked, self.socket.send(message)).await
    }

    async fn flush(&mut self) -> Result<(), End> {
        in_time(&self.revoked, self.socket.flush()).await
    }
}

/// Sends something, and waits neither for whoever does not read nor for whoever is no longer let in.
async fn in_time(
    revoked: &CancellationToken,
    sent: impl Future<Output = Result<(), WsError>>,
) -> Result<(), End> {
    tokio::select! {
        biased;
        sent = timeout(SEND_TIME, sent) => match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => Err(End::slow()),
        },
        () = revoked.cancelled() => Err(End::gone()),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Token {
    token: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The `event_id` of the last event that is known.
    since: Option<u64>,
    /// Only events of these kinds.
    kinds: Option<Vec<String>>,
}

fn read_seen(params: Value) -> Result<Seen, RpcError> {
    let Wanted { since, kinds } = methods::read(params)?;
    for named in kinds.iter().flatten() {
        if !kind::ALL.contains(&named.as_str()) {
            let near = tool::nearest(named, kind::ALL.iter().copied());
            let hint = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            let message = format!("there are no events of kind `{}`{hint}", named.escape_debug());
            return Err(RpcError::invalid_params(message));
        }
    }
    Ok(Seen { since, kinds })
}

fn no_binary() -> End {
    End::close(CloseCode::Unsupported, "messages are text")
}

fn failed(error: &WsError) -> End {
    match error {
        WsError::Capacity(CapacityError::MessageTooLong { .. }) => {
            End::close(CloseCode::Size, "the message is too long")
        }
        WsError::Utf8(_) => End::close(CloseCode::Invalid, "the message is not UTF-8"),
        WsError::Protocol(_) => End::close(CloseCode::Protocol, "that is not WebSocket"),
        WsError::ConnectionClosed
        | WsError::AlreadyClosed
        | WsError::Io(_)
        | WsError::Tls(_)
        | WsError::Capacity(_)
        | WsError::WriteBufferFull(_)
        | WsError::AttackAttempt
        | WsError::Url(_)
        | WsError::Http(_)
        | WsError::HttpFormat(_) => End::Gone,
    }
}
