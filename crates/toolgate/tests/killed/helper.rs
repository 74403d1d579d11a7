//! A conversation with a server that dies.

use std::{
    fs,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use provider::Format;
use scripted::{Reply, Request, ScriptedModel};
use serde_json::{Value, json};

use crate::{
    http::{self, Answer},
    served::Served,
};

/// Longer than anything takes, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(2);

/// What is said in every conversation.
pub(crate) const ASKED: &str = "please do it";

/// How a model is told of a call that was under way, in the format of the script.
pub(crate) const INTERRUPTED: &str = "error: interrupted: the process ";

/// A server with a scripted model behind its agent `main`.
pub(crate) struct Talk {
    pub(crate) model: ScriptedModel,
    pub(crate) server: Served,
}

impl Talk {
    /// The model gives these replies.
    pub(crate) async fn new(config: &str, replies: Vec<Reply>) -> Self {
        Self::speaking(Format::OpenAi, config, replies).await
    }

    /// The same in another format.
    pub(crate) async fn speaking(format: Format, config: &str, replies: Vec<Reply>) -> Self {
        Self::with(format, config, ScriptedModel::new(replies).await)
    }

    /// The model replies to what it is told.
    pub(crate) async fn answering(
        config: &str,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::with(Format::OpenAi, config, ScriptedModel::answering(script).await)
    }

    fn with(format: Format, config: &str, model: ScriptedModel) -> Self {
        let url = model.base_url(format);
        let server = Served::new(&format!(
            "[agents.main]\nmodel = \"script/m\"\n[providers.script]\nformat = \"{format}\"\n\
             base_url = \"{url}\"\nmodel = \"m\"\nretries = 0\n{config}"
        ));
        Self { model, server }
    }

    /// Says the one thing, in the one session; the answer comes when it comes.
    pub(crate) fn ask(&self) -> JoinHandle<Option<Answer>> {
        let (base, token) = (self.server.base.clone(), self.server.token.clone());
        thread::spawn(move || {
            let body = json!({"model": "main", "messages": [{"role": "user", "content": ASKED}]});
            let headers = [("toolgate-session", "talk")];
            let path = ("POST", "/v1/chat/completions");
            http::send((&base, &token), path, &headers, &body.to_string()).ok()
        })
    }

    /// The same, and the text of the answer.
    pub(crate) fn answer(&self) -> String {
        let answer = self.ask().join().unwrap().unwrap();
        assert_eq!(answer.status, 200, "{answer:?}\n{}", self.server.log());
        let text = answer.json()["choices"][0]["message"]["content"].clone();
        text.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.send(("GET", path), "").json()
    }

    pub(crate) fn send(&self, request: (&str, &str), body: &str) -> Answer {
        self.try_send(request, body).unwrap()
    }

    /// Nothing if nobody answers.
    pub(crate) fn try_send(&self, request: (&str, &str), body: &str) -> Option<Answer> {
        http::send((&self.server.base, &self.server.token), request, &[], body).ok()
    }

    /// Runs a command of the person whose server it is; gives its exit code, output and errors.
    pub(crate) fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let done = self.server.command().args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    }

    /// What stands in a file of the workspace.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.server.workspace().join(name)).unwrap_or_default()
    }

    /// Waits until `holds`.
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < PATIENCE, "never: {what}\n{}", self.server.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the model was asked so often.
    pub(crate) async fn requested(&self, count: usize) {
        let asked = tokio::time::timeout(PATIENCE, self.model.requested(count)).await;
        assert!(asked.is_ok(), "the model was not asked {count} times\n{}", self.server.log());
    }

    /// The model's last request, after the system's own words: what it was told, as one text each.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let requests = self.model.requests();
        let messages = requests.last().unwrap().body["messages"].clone();
        let one = |message: &Value| {
            let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
            (text("role"), text("content"))
        };
        let all = messages.as_array().unwrap().iter().map(one);
        all.filter(|(role, _)| role != "system").collect()
    }

    /// Calls of the session, oldest first: tool, status, and the id the model gave it.
    pub(crate) fn calls(&self) -> Vec<(String, String, String)> {
        let (code, out, wrong) =
            self.run(&["history", "--session", "talk", "--limit", "1000", "--json"]);
        assert_eq!(code, Some(0), "{wrong}");
        let list: Value = serde_json::from_str(&out).unwrap();
        let one = |entry: &Value| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            (text("tool_name"), text("status"), text("provider_call_id"))
        };
        list.as_array().unwrap().iter().rev().map(one).collect()
    }

    /// The journal is whole, and nothing goes on.
    pub(crate) fn is_in_order(&self) {
        let (code, out, wrong) = self.run(&["audit", "verify"]);
        assert_eq!(code, Some(0), "{out}{wrong}");
        let session = self.get("/v1/sessions/agent:main:talk");
        assert_eq!(session["state"], "idle", "{session}");
        let stats = self.get("/v1/stats");
        assert_eq!((&stats["running"], &stats["waiting"]), (&json!(0), &json!(0)), "{stats}");
    }
}

/// These, as `calls` gives them.
pub(crate) fn calls(expected: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let one = |(tool, status, id): &(&str, &str, &str)| {
        ((*tool).to_owned(), (*status).to_owned(), (*id).to_owned())
    };
    expected.iter().map(one).collect()
}
