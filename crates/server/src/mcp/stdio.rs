//! The protocol over standard input and output: one client, which started this process.

use std::{
    collections::{HashMap, hash_map},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tool::{Caller, Clock, Digest};

use super::{
    client::{Ask, Client, Out, ProgressToken},
    desk::{self, Back, Described, Desk, over_mcp},
    driven::{Driven, Step},
    listen,
    offer::{Answered, Context, Offer},
    pending::Pending,
    request::{ClientInfo, RequestMeta},
    revision::Revision,
    waiting::{Bound, Patience, Resumed, Taken},
};
use crate::{
    ServerError,
    events::fields,
    rpc::{self, Call, Message, RpcError},
};

/// The longest message.
const MOST_BYTES: usize = 12_000_000;
/// So much is under way at once.
const MOST_REQUESTS: usize = 64;
/// So many messages wait to be written.
const MOST_WAITING: usize = 64;
/// So long calls may go on once nothing comes in any more: who writes a few messages and closes wants the answers,
/// and who is gone wants nothing to go on.
const LAST_CALLS: Duration = Duration::from_secs(1);
/// The same for what is no call: it never takes that long.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// One client on standard input and output.
#[derive(Debug)]
struct Stdio {
    desk: Desk,
    caller: Caller,
    clock: Arc<dyn Clock>,
    patience: HowPatient,
    session: Mutex<Option<Begun>>,
    pending: Pending,
    requests: Mutex<HashMap<String, CancellationToken>>,
    /// Whether it is told of changes.
    listens: AtomicBool,
    /// What is written.
    out: mpsc::Sender<String>,
}

/// How long requests wait for their client to come back, and how many; as configuration says at the moment.
pub struct HowPatient(pub Box<dyn Fn() -> Patience + Send + Sync>);

impl fmt::Debug for HowPatient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HowPatient")
    }
}

/// What is under way.
#[derive(Debug, Default)]
struct Tasks {
    calls: JoinSet<()>,
    /// Whatever tells of changes until it is stopped.
    listening: JoinSet<()>,
    others: JoinSet<()>,
}

impl Tasks {
    /// The ones that a request of this kind belongs to.
    fn of(&mut self, method: &str) -> &mut JoinSet<()> {
        match method {
            "tools/call" => &mut self.calls,
            "subscriptions/listen" => &mut self.listening,
            _ => &mut self.others,
        }
    }

    /// Forgets those that have ended.
    fn tidy(&mut self) {
        for tasks in [&mut self.calls, &mut self.listening, &mut self.others] {
            while tasks.try_join_next().is_some() {}
        }
    }

    /// Lets what is nearly done come to its end, and stops the rest.
    async fn end(mut self) {
        self.listening.shutdown().await;
        for (tasks, time) in [(&mut self.others, LAST_WORDS), (&mut self.calls, LAST_CALLS)] {
            let ended = async { while tasks.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(time, ended).await;
            tasks.shutdown().await;
        }
    }
}

/// A request that is under way.
struct Asked<'a> {
    id: &'a Value,
    /// Cancelled when the client wants it no more: then it is told and asked nothing about it.
    unwanted: &'a CancellationToken,
    /// The same, and cancelled also when it is over.
    cancel: CancellationToken,
}

/// What a client said that begins with `initialize`.
#[derive(Debug, Clone)]
struct Begun {
    revision: Revision,
    client: Arc<ClientInfo>,
    log_level: Option<String>,
}

/// Serves `offer` to whoever is at the other end of `input` and `output`, as `caller`, until the input
/// ends. What is still under way a moment later is stopped.
pub async fn serve_stdio(
    offer: Arc<dyn Offer>,
    (caller, clock): (Caller, Arc<dyn Clock>),
    patience: HowPatient,
    (input, output): (impl AsyncBufRead + Unpin, impl AsyncWrite + Unpin + Send + 'static),
) -> Result<(), ServerError> {
    let (out, waiting) = mpsc::channel(MOST_WAITING);
    let writing = tokio::spawn(write(output, waiting));
    let stdio = Arc::new(Stdio {
        desk: Desk::new(offer)?,
        caller: over_mcp(caller),
        clock,
        patience,
        session: Mutex::default(),
        pending: Pending::default(),
        requests: Mutex::default(),
        listens: AtomicBool::new(false),
        out,
    });
    stdio.read(input).await;
    drop(stdio);
    // What was answered before the end is still written.
    let _ = writing.await;
    Ok(())
}

async fn write(mut output: impl AsyncWrite + Unpin, mut waiting: mpsc::Receiver<String>) {
    while let Some(mut text) = waiting.recv().await {
        text.push('\n');
        let written = output.write_all(text.as_bytes()).await;
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

impl Stdio {
    async fn read(self: &Arc<Self>, mut lines: impl AsyncBufRead + Unpin) {
        let mut tasks = Tasks::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            tasks.tidy();
            let read = tokio::select! {
                read = read_line(&mut lines, &mut line) => read,
                () = self.out.closed() => break,
            };
            match read {
                Ok(Line::Whole) => self.take(&line, &mut tasks).await,
                Ok(Line::TooLong) => {
                    let error = format!("a message is longer than {MOST_BYTES} bytes");
                    self.answer(None, Err(RpcError::wrong_params(error))).await;
                }
                Ok(Line::End) | Err(_) => break,
            }
        }
        tasks.end().await;
    }

    /// Takes one message.
    async fn take(self: &Arc<Self>, line: &[u8], tasks: &mut Tasks) {
        let Ok(text) = std::str::from_utf8(line) else {
            return self.answer(None, Err(RpcError::new(-32700, "a message must be UTF-8"))).await;
        };
        if text.trim().is_empty() {
            return;
        }
        match rpc::try_read(text) {
            Err(Some((id, error))) => self.answer(id.as_ref(), Err(error)).await,
            Err(None) => {}
            Ok(Message::Answer(answer)) => self.pending.answered(&answer.id, answer.result),
            Ok(Message::Call(Call { id: None, method, params })) => {
                self.notified(&method, &params, tasks);
            }
            Ok(Message::Call(Call { id: Some(id), method, params })) => {
                self.request(id, method, fields(params), tasks).await;
            }
        }
    }

    fn notified(self: &Arc<Self>, method: &str, params: &Value, tasks: &mut Tasks) {
        match method {
            "notifications/cancelled" => {
                let id = params.get("requestId").map(Value::to_string).unwrap_or_default();
                if let Some(cancel) = self.requests().get(&id) {
                    cancel.cancel();
                }
            }
            "notifications/initialized" if !self.listens.swap(true, Ordering::Relaxed) => {
                let stdio = self.clone();
                tasks.listening.spawn(async move {
                    let mut told = listen::in_session(&stdio.desk, &stdio.caller);
                    while let Some(text) = told.next().await {
                        if stdio.out.send(text).await.is_err() {
                            return;
                        }
                    }
                });
            }
            _ => {}
        }
    }

    async fn request(
        self: &Arc<Self>,
        id: Value,
        method: String,
        params: Map<String, Value>,
        tasks: &mut Tasks,
    ) {
        if let Some(answered) = self.at_once(&method, &params) {
            return self.answer(Some(&id), answered).await;
        }
        if self.requests().len() >= MOST_REQUESTS {
            let error =
                RpcError::busy(format!("{MOST_REQUESTS} requests are under way; wait for one"));
            return self.answer(Some(&id), Err(error)).await;
        }
        let cancel = CancellationToken::new();
        // Noted before the next message is read, which may cancel it.
        let free = match self.requests().entry(id.to_string()) {
            hash_map::Entry::Occupied(_) => false,
            hash_map::Entry::Vacant(free) => {
                free.insert(cancel.clone());
                true
            }
        };
        if !free {
            return self.answer(Some(&id), Err(RpcError::under_way())).await;
        }
        let stdio = self.clone();
        tasks.of(&method).spawn(async move {
            // One of its own: a call that is over cancels what is left of it.
            let asked = Asked { id: &id, unwanted: &cancel, cancel: cancel.child_token() };
            let answered = stdio.carry_out(asked, (method, params)).await;
            stdio.requests().remove(&id.to_string());
            // Who has cancelled it does not wait for an answer.
            if !cancel.is_cancelled() {
                stdio.answer(Some(&id), answered).await;
            }
        });
    }

    /// What is answered by the session itself.
    fn at_once(&self, method: &str, params: &Map<String, Value>) -> Option<Answered> {
        if RequestMeta::names_version(params.get("_meta")) {
            return None;
        }
        match method {
            "initialize" => Some(self.initialize(params)),
            "ping" => Some(Ok(Map::new())),
            "logging/setLevel" if self.desk.logs() => {
                let level = desk::level(params).map(str::to_owned);
                Some(level.map(|level| {
                    if let Some(begun) = self.session().as_mut() {
                        begun.log_level = Some(level);
                    }
                    Map::new()
                }))
            }
            _ if self.session().is_none() => Some(Err(super::request::no_meta())),
            _ => None,
        }
    }

    fn initialize(&self, params: &Map<String, Value>) -> Answered {
        let (revision, client) = desk::begun(params)?;
        *self.session() = Some(Begun { revision, client: Arc::new(client), log_level: None });
        Ok(self.desk.initialize(revision))
    }

    /// Carries a request out.
    async fn carry_out(
        &self,
        asked: Asked<'_>,
        (method, mut params): (String, Map<String, Value>),
    ) -> Answered {
        let begun = self.session().clone();
        if let Some(begun) = begun
            && !RequestMeta::names_version(params.get("_meta"))
        {
            let meta = RequestMeta::take(&mut params).unwrap_or_default();
            let (client, outs) = Client::new(begun.client);
            let context = Context {
                caller: self.caller.clone(),
                revision: begun.revision,
                client,
                given: Map::new(),
                log_level: begun.log_level,
                cancel: asked.cancel,
                progress_token: ProgressToken::new(meta.progress_token().cloned()),
                tool: None,
                signed: None,
            };
            let driven = self.desk.begin(context, (method, params), outs);
            return self.in_session(driven, asked.unwanted).await;
        }
        desk::complete(self.stateless(asked, (method, params)).await)
    }

    async fn in_session(&self, mut driven: Driven, unwanted: &CancellationToken) -> Answered {
        loop {
            let texts = match driven.step().await {
                Step::Done(answered) => return answered,
                Step::Out(Out::Tell(text)) => vec![text],
                // Dropped, so that nobody waits for an answer.
                Step::Out(Out::Ask(_)) if unwanted.is_cancelled() => Vec::new(),
                Step::Out(Out::Ask(ask)) => self.pending.begin(ask),
                Step::Out(Out::Withdraw(ask)) => {
                    // About a request of ours, which is still shown whatever became of theirs.
                    for text in self.pending.withdraw(ask) {
                        self.send(text).await;
                    }
                    continue;
                }
            };
            for text in texts {
                self.send_unless(unwanted, text).await;
            }
        }
    }

    async fn stateless(
        &self,
        asked: Asked<'_>,
        (method, mut params): (String, Map<String, Value>),
    ) -> Answered {
        let meta = RequestMeta::take(&mut params);
        let revision = desk::stateless(meta.as_ref())?;
        let said = Described::read(&meta.unwrap_or_default(), &method, &mut params)?;
        if desk::is_gone(&method) {
            return Err(RpcError::method_not_found(&method));
        }
        match method.as_str() {
            "server/discover" => return Ok(self.desk.discover()),
            "subscriptions/listen" => return self.tell(&params, &asked).await,
            _ => {}
        }
        let here = Digest::of("stdio");
        let bound = Bound { who: here, place: here, what: said.what };
        let most = || (self.patience.0)().questions;
        if let Some(taken) = self.desk.waiting.find(&said, bound, self.clock.now(), most).await? {
            let back = said.back.unwrap_or_else(|| Back::empty(said.progress_token));
            return self.go_on((taken, back), bound, &asked).await;
        }
        let (client, outs) = Client::new(Arc::new(said.client));
        let context = Context {
            caller: self.caller.clone(),
            revision,
            client,
            given: said.given,
            log_level: said.log_level,
            cancel: asked.cancel.clone(),
            progress_token: ProgressToken::new(said.progress_token),
            tool: None,
            signed: None,
        };
        let driven = self.desk.begin(context, (method, params), outs);
        self.drive(driven, bound, &asked).await
    }

    async fn drive(&self, mut driven: Driven, bound: Bound, asked: &Asked<'_>) -> Answered {
        loop {
            match driven.step_unless(&asked.cancel).await {
                Step::Done(answered) => return answered,
                Step::Out(Out::Tell(text)) => self.send_unless(asked.unwanted, text).await,
                Step::Out(Out::Ask(_)) if asked.unwanted.is_cancelled() => {}
                Step::Out(Out::Ask(ask)) => match self.park(driven, ask, bound) {
                    Ok(told) => return Ok(told),
                    Err(back) => driven = back,
                },
                Step::Out(Out::Withdraw(_)) => {}
            }
        }
    }

    /// Goes on with a request whose client comes back, with answers or without.
    async fn go_on(
        &self,
        (taken, back): (Taken, Back),
        bound: Bound,
        asked: &Asked<'_>,
    ) -> Answered {
        match taken.resume(back) {
            Resumed::Done(answered) => answered,
            Resumed::GoesOn(driven) => self.drive(driven, bound, asked).await,
            Resumed::Again(driven, ask) => match self.park(driven, ask, bound) {
                Ok(told) => Ok(told),
                Err(driven) => self.drive(driven, bound, asked).await,
            },
        }
    }

    /// Tells of changes until it is cancelled.
    async fn tell(&self, params: &Map<String, Value>, asked: &Asked<'_>) -> Answered {
        let mut told = listen::subscribed(&self.desk, &self.caller, (asked.id, params))?;
        loop {
            tokio::select! {
                Some(text) = told.next() => self.send_unless(asked.unwanted, text).await,
                () = asked.unwanted.cancelled() => return Ok(listen::ended(asked.id)),
            }
        }
    }

    fn park(&self, driven: Driven, ask: Ask, bound: Bound) -> Result<Map<String, Value>, Driven> {
        let time = (self.clock.now(), (self.patience.0)().time);
        self.desk.waiting.park((driven, ask), (bound, None), time)
    }

    async fn answer(&self, id: Option<&Value>, answered: Answered) {
        self.send(rpc::answer_without_null(id, answered.map(Value::Object))).await;
    }

    /// Sends something about a request, unless its client wants it no more.
    async fn send_unless(&self, unwanted: &CancellationToken, text: String) {
        tokio::select! {
            biased;
            () = unwanted.cancelled() => {}
            () = self.send(text) => {}
        }
    }

    async fn send(&self, text: String) {
        // Who reads no more has ended it all.
        let _ = self.out.send(text).await;
    }

    fn session(&self) -> MutexGuard<'_, Option<Begun>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was read.
enum Line {
    Whole,
    /// It was passed over.
    TooLong,
    End,
}

/// Reads a line into `line`. What is too long is read to its end and dropped.
async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<Line> {
    let mut too_long = false;
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(if line.is_empty() || too_long { Line::End } else { Line::Whole });
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        if line.len() + taken > MOST_BYTES {
            too_long = true;
            line.clear();
        }
        if !too_long {
            line.extend(bytes.iter().take(taken));
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Whole });
        }
    }
}

#[cfg(test)]
mod tests;
