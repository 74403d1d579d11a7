//! Ada, who has one of everything.

use std::fs;

use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use super::{ASKED, MARK, chance::Chance};
use crate::{
    client::{Answer, send},
    helper::{Site, Who, until},
    socket::Socket,
};

/// Ada, and what names what is hers.
pub(super) struct Ada<'a> {
    site: &'a Site,
    token: String,
    /// The id of her token,
    pub(super) tokens: Vec<String>,
    /// of calls,
    pub(super) calls: Vec<String>,
    /// of the ones that wait for an answer, and of their questions,
    asked: Vec<(String, String)>,
    /// of artifacts,
    pub(super) artifacts: Vec<String>,
    /// of notes and tasks,
    pub(super) items: Vec<String>,
    /// of answers in the form of `/v1/responses`.
    pub(super) responses: Vec<String>,
    /// The names of her sessions.
    pub(super) sessions: Vec<String>,
    /// What names something of hers, and nobody else ever says: whoever has it was told.
    pub(super) unsaid: Vec<String>,
    waiting: Vec<JoinHandle<Answer>>,
    sockets: Vec<Socket>,
    /// Numbers what she does.
    count: u32,
}

impl<'a> Ada<'a> {
    pub(super) async fn new(site: &'a Site) -> Self {
        let token = site.token(Who::member("ada")).await;
        for capability in ["files", "exec"] {
            let body = json!({"capability": capability, "user": "ada"});
            assert_eq!(site.post("/v1/permissions", body).await.status, 200);
        }
        let db = site.gate.db().await.unwrap();
        db.rename_user("ada", &format!("Ada {MARK}")).await.unwrap();
        let tokens = db.tokens(Some("ada")).await.unwrap();
        Self {
            site,
            token,
            tokens: tokens.iter().map(|token| token.id.to_string()).collect(),
            calls: Vec::new(),
            asked: Vec::new(),
            artifacts: Vec::new(),
            items: Vec::new(),
            responses: Vec::new(),
            sessions: Vec::new(),
            unsaid: Vec::new(),
            waiting: Vec::new(),
            sockets: Vec::new(),
            count: 0,
        }
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        let request = self.site.request_as(&self.token, method, path);
        let answer = send(if body.is_null() { request } else { request.json(&body) }).await;
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        answer
    }

    /// Makes a call, and notes what names it and what it left. Of two calls others try one.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let came = self.send("POST", &format!("/v1/tools/{tool}"), arguments.clone()).await.json();
        self.calls.push(call_id(&came));
        let quiet = self.send("POST", "/v1/tools/get_current_time", json!({})).await.json();
        self.unsaid.push(call_id(&quiet));
        for artifact in came["meta"]["artifacts"].as_array().into_iter().flatten() {
            let id = artifact.as_str().or(artifact["id"].as_str()).unwrap().to_owned();
            self.artifacts.push(id.trim_start_matches("artifact:").to_owned());
        }
        came["result"].clone()
    }

    async fn item(&mut self, tool: &str, arguments: Value) {
        let made = self.call(tool, arguments).await;
        let id = ["id", "note_id", "task_id"].into_iter().find_map(|name| made[name].as_str());
        self.items.push(id.unwrap_or_else(|| panic!("no id in {made}")).to_owned());
    }

    async fn speaks(&mut self) {
        self.count += 1;
        let session = format!("hers{:06}", 400_000 + self.count);
        let path = format!("/v1/sessions/agent:main:{session}");
        let say = format!("{path}/messages");
        self.send("POST", &say, json!({"message": format!("hello {MARK}")})).await;
        self.send("PATCH", &path, json!({"label": format!("{MARK} {}", self.count)})).await;
        self.sessions.push(session);
    }

    pub(super) async fn has_one_of_everything(&mut self) {
        self.item("save_note", json!({"title": MARK, "content": format!("{MARK} note")})).await;
        self.item("add_task", json!({"title": format!("{MARK} task")})).await;
        self.call("write", json!({"path": "hers.txt", "content": "hers"})).await;
        let long = format!("{MARK}\n").repeat(2_000);
        self.call("write", json!({"path": "/tmp/long.txt", "content": long})).await;
        self.call("read", json!({"path": "/tmp/long.txt"})).await;
        assert!(!self.artifacts.is_empty(), "something long was left behind");
        self.speaks().await;
        let body = json!({"model": "main", "input": format!("hello {MARK}")});
        let response = self.send("POST", "/v1/responses", body).await.json();
        self.responses.push(response["id"].as_str().unwrap().to_owned());
        self.asks().await;
        self.asks().await;
        // Of the second one others try the question, and not its call.
        self.unsaid.push(self.asked[1].0.clone());
        self.sockets.push(self.site.socket(&self.token).await);
        let request = self.site.request_as(&self.token, "POST", "/v1/tools/talk");
        let talk = request.json(&json!({"pieces": 1, "rest_ms": 600_000}));
        self.waiting.push(tokio::spawn(send(talk)));
        until("a call of hers runs", async || self.site.gate.stats().running == 1).await;
    }

    /// Makes a call that waits for an answer.
    async fn asks(&mut self) {
        let request = self.site.request_as(&self.token, "POST", "/v1/tools/ring");
        let ring = request.json(&json!({"shout": ASKED}));
        self.waiting.push(tokio::spawn(send(ring)));
        let mut asked = Value::Null;
        until("she asks", async || {
            let listed = self.site.get("/v1/approvals").await.json();
            let listed = listed["approvals"].as_array().unwrap().clone();
            asked = listed.first().cloned().unwrap_or_default();
            listed.len() > self.asked.len()
        })
        .await;
        let text = |name: &str| asked[name].as_str().unwrap().to_owned();
        self.asked.push((text("call"), text("id")));
    }

    /// Her questions.
    pub(super) fn questions(&self) -> Vec<String> {
        self.asked.iter().map(|(_, question)| question.clone()).collect()
    }

    /// The call that asks and that others try.
    pub(super) fn asking(&self) -> String {
        self.asked[0].0.clone()
    }

    /// Something more, whatever it is.
    pub(super) async fn does_something(&mut self, chance: &mut Chance) {
        self.count += 1;
        let text = format!("{MARK} {}", self.count);
        match chance.number() % 4 {
            0 => self.item("save_note", json!({"title": text, "content": text})).await,
            1 => self.item("add_task", json!({"title": text})).await,
            2 => drop(self.call("search_notes", json!({"query": MARK})).await),
            _ => self.speaks().await,
        }
    }

    /// Whatever names something of hers, in whole and as people type it.
    pub(super) fn any(&self, chance: &mut Chance) -> String {
        let sessions = self.sessions.iter().map(|name| format!("agent:main:{name}"));
        let artifacts = self.artifacts.iter().map(|id| format!("artifact:{id}"));
        let all = [&self.tokens, &self.calls, &self.artifacts, &self.items, &self.responses];
        let mut all: Vec<String> = all.into_iter().flatten().cloned().collect();
        all.extend(sessions.chain(artifacts));
        all.extend(self.questions().into_iter().chain([self.asking(), "ada".to_owned()]));
        all.extend(self.tokens.iter().chain(&self.items).map(|id| id.chars().take(8).collect()));
        chance.one(&all).clone()
    }

    /// All that was hers before others tried, as she sees it.
    pub(super) async fn everything(&self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        for path in ["/v1/permissions", "/v1/approvals", "/v1/users/ada"] {
            all.push((path.to_owned(), self.send("GET", path, json!(null)).await.json()));
        }
        let mut tokens = self.send("GET", "/v1/tokens", json!(null)).await.json();
        tokens["tokens"][0]["last_used_at"] = json!(null);
        all.push(("tokens".to_owned(), tokens));
        for (tool, arguments) in
            [("search_notes", json!({"query": MARK})), ("list_tasks", json!({"status": "all"}))]
        {
            let came = self.send("POST", &format!("/v1/tools/{tool}"), arguments).await.json();
            let found = Self::first(&self.items, 2).into_iter().map(|id| with_id(&came, &id));
            all.push((tool.to_owned(), found.flatten().cloned().collect()));
        }
        for name in Self::first(&self.sessions, 1) {
            let path = format!("/v1/sessions/agent:main:{name}");
            all.push((path.clone(), self.send("GET", &path, json!(null)).await.json()));
            let path = format!("{path}/messages");
            all.push((path.clone(), self.send("GET", &path, json!(null)).await.json()));
        }
        for id in Self::first(&self.calls, 5) {
            let path = format!("/v1/calls/{id}");
            all.push((path.clone(), self.send("GET", &path, json!(null)).await.json()));
        }
        for id in Self::first(&self.artifacts, 1) {
            let path = format!("/v1/artifacts/{id}");
            all.push((path.clone(), json!(self.send("GET", &path, json!(null)).await.text())));
        }
        let file = fs::read_to_string(self.site.path("hers.txt")).unwrap();
        all.push(("her file".to_owned(), json!(file)));
        all
    }

    /// The first ones, which were there before others tried.
    fn first(all: &[String], count: usize) -> Vec<String> {
        all.iter().take(count).cloned().collect()
    }

    /// Her questions wait, and her call runs; then she has had enough.
    pub(super) async fn still_asks_and_runs(self) {
        assert!(self.waiting.iter().all(|call| !call.is_finished()));
        let path = format!("/v1/calls/{}/cancel", self.asking());
        let request = self.site.request_as(&self.token, "POST", &path);
        assert_eq!(send(request).await.status, 200);
        self.waiting.iter().for_each(JoinHandle::abort);
    }
}

fn call_id(came: &Value) -> String {
    came["meta"]["call_id"].as_str().unwrap().to_owned()
}

/// Whatever in `value` has this id.
fn with_id<'v>(value: &'v Value, id: &str) -> Option<&'v Value> {
    if value["id"] == id {
        return Some(value);
    }
    let (list, fields) = (value.as_array(), value.as_object());
    let below = list.into_iter().flatten().chain(fields.into_iter().flat_map(Map::values));
    below.into_iter().find_map(|below| with_id(below, id))
}
