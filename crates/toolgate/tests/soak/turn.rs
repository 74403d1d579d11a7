//! One action of one client.

use std::{any::Any, collections::VecDeque, sync::Arc};

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::{
    client::{self, Answer, Request},
    helper::{Caller, Site},
    random::Random,
    stream::Stream,
};

/// So many streams and sockets of one worker stay open without being read.
const KEPT: usize = 3;

/// A worker, in the middle of an action.
pub(crate) struct Turn {
    pub(crate) site: Arc<Site>,
    pub(crate) random: Random,
    /// The worker.
    pub(crate) worker: u64,
    /// Its actions so far.
    pub(crate) number: u64,
    /// What the action is called.
    pub(crate) kind: &'static str,
    kept: VecDeque<Box<dyn Any>>,
}

impl Turn {
    pub(crate) fn new(site: Arc<Site>, worker: u64, random: Random) -> Self {
        Self { site, random, worker, number: 0, kind: "", kept: VecDeque::new() }
    }

    /// A name nobody else has.
    pub(crate) fn name(&self) -> String {
        format!("w{}-{}", self.worker, self.number)
    }

    /// A file that may hold credentials, and that nobody but this worker reads.
    pub(crate) fn secret(&self) -> String {
        format!(".env.w{}", self.worker)
    }

    /// A file of this worker alone.
    pub(crate) fn file(&mut self) -> String {
        format!("w{}/{}.txt", self.worker, self.random.below(5))
    }

    /// Somebody who makes calls.
    pub(crate) fn caller(&mut self) -> Caller {
        self.random.of(&self.site.callers).clone()
    }

    pub(crate) async fn send(&self, request: Request) -> Answer {
        self.site.sent(self.kind);
        client::send(request).await
    }

    /// The answer comes when it comes.
    pub(crate) fn begin(&self, request: Request) -> JoinHandle<Answer> {
        self.site.sent(self.kind);
        tokio::spawn(client::send(request))
    }

    /// The answer is read as the action likes.
    pub(crate) async fn open(&self, request: &Request) -> Stream {
        self.site.sent(self.kind);
        Stream::new(request).await
    }

    /// A call of a tool over HTTP.
    pub(crate) fn calling(&self, caller: &Caller, tool: &str, args: &Value) -> Request {
        self.site.made(tool);
        let session = format!("w{}", self.worker);
        let path = format!("/v1/tools/{tool}");
        let request = self.site.request_as(&caller.token, "POST", &path);
        request.header("toolgate-session", &session).json(args)
    }

    /// The same, with its outcome: its status and error type are these.
    pub(crate) async fn call(
        &self,
        caller: &Caller,
        (tool, args): (&str, Value),
        expected: (u16, &str),
    ) -> Value {
        let answer = self.send(self.calling(caller, tool, &args)).await;
        let outcome = answer.json();
        let error = outcome["error_type"].as_str().unwrap_or_default();
        assert_eq!((answer.status, error), expected, "{tool} {args}: {outcome}");
        outcome
    }

    /// A request with this status for an answer.
    pub(crate) async fn get(
        &self,
        token: &str,
        (method, path): (&str, &str),
        body: Option<Value>,
        status: u16,
    ) -> Value {
        let request = self.site.request_as(token, method, path);
        let request = if let Some(body) = &body { request.json(body) } else { request };
        let answer = self.send(request).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }

    /// Leaves something open and unread, for a while.
    pub(crate) fn keep(&mut self, open: impl Any) {
        self.kept.push_back(Box::new(open));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }
}
