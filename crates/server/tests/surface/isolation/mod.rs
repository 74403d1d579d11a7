//! What is somebody's is nobody else's: whatever another one tries, on every surface, with everything that
//! ever named it.
//!
//! Ada has one of everything. Others see what they saw before she came. They try every operation of the
//! table, every method of the WebSocket and every tool with what names it, and each time with a name that
//! nothing has. Nothing of Ada's may come back; neither an answer nor what is recorded of it may tell
//! whether something of hers is there; and hers must be as it was.
//!
//! What is tried differs with a seed, which is printed; `TOOLGATE_SEED` gives another one.

mod ada;
mod chance;
mod plain;
mod tries;

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};
use store::Scope;
use tokio::task::JoinHandle;

use self::{
    ada::Ada,
    chance::Chance,
    plain::plain,
    tries::{METHODS, OPERATIONS, Try},
};
use crate::{
    client::{Answer, Request, send},
    helper::{Site, Who, until},
    socket::Socket,
};

/// The words that stand in whatever is Ada's; in what she asks others, another one.
pub(super) const MARK: &str = "quagmire";
pub(super) const ASKED: &str = "quizzical";

const CONFIG: &str = "tools.profile = 'full'\ntools.approvers = ['ann']\n\
                      limits.rate_per_user = '100000/min'\nlimits.model_output_bytes = '2KB'\n\
                      [tools.by_channel.http]\n\
                      also_allow = ['exec', 'process', 'gateway', 'sessions_spawn']\n\
                      [agents.scout]\ndescription = 'looks around'";

/// How often somebody looks whether anything is asked.
const LOOK: Duration = Duration::from_millis(10);

/// Everybody who is not Ada, and not the owner.
const OTHERS: [(&str, Who); 5] = [
    ("a member", Who::member("bob")),
    ("a member's agent", Who { agents: Some(&["main"]), ..Who::member("bob") }),
    ("a member who only reads", Who { scopes: Some(&[]), ..Who::member("cy") }),
    ("a member with all scopes", Who { scopes: Some(&Scope::ALL), ..Who::member("cy") }),
    ("an approver", Who::member("ann")),
];

/// Somebody who tries.
struct Other<'a> {
    site: &'a Site,
    name: &'static str,
    token: String,
    socket: Socket,
    /// Whether they may see what Ada asks, and answer.
    answers: bool,
    /// What nobody but Ada says.
    unsaid: Vec<String>,
    /// The newest call that they see.
    newest: Value,
}

impl<'a> Other<'a> {
    async fn new(site: &'a Site, (name, who): (&'static str, Who)) -> Self {
        let token = site.token(who).await;
        let body = json!({"capability": "files", "user": who.user});
        assert_eq!(site.post("/v1/permissions", body).await.status, 200);
        let mut socket = site.socket(&token).await;
        socket.get("events.subscribe", json!({})).await;
        // One of their own, if they may: a list has something in it then.
        let call = site.request_as(&token, "POST", "/v1/tools/get_current_time");
        send(call.json(&json!({}))).await;
        let (answers, unsaid) = (name == "an approver", Vec::new());
        Self { site, name, token, socket, answers, unsaid, newest: Value::Null }
    }

    /// All that they see without naming anything.
    async fn sees(&self) -> Vec<(&'static str, u16, String)> {
        let mut all = Vec::new();
        for path in OPERATIONS.iter().filter_map(tries::Operation::looks) {
            // Questions are shown to whoever may answer them.
            if !(self.answers && path == "/v1/approvals") {
                let answer = send(self.site.request_as(&self.token, "GET", path)).await;
                all.push((path, answer.status, plain(&answer.text(), "ada")));
            }
        }
        all
    }

    /// What was recorded of what they did since this was asked last, as they see it.
    async fn left(&mut self, named: &str) -> Vec<String> {
        let list = send(self.site.request_as(&self.token, "GET", "/v1/calls?limit=20")).await;
        self.look("GET /v1/calls", &list.text());
        let calls = list.json()["calls"].as_array().unwrap().clone();
        let is_new = |call: &&Value| call["id"] != self.newest;
        let new: Vec<_> = calls.iter().take_while(is_new).cloned().collect();
        self.newest = calls.first().map(|call| call["id"].clone()).unwrap_or_default();
        // Agents that they started go on by themselves.
        let own = |call: &&Value| !call["session"].as_str().unwrap().starts_with("subagent:");
        new.iter().filter(own).map(|call| plain(&call.to_string(), named)).collect()
    }

    /// Fails if something of Ada's is in what came.
    fn look(&self, what: &str, came: &str) {
        let came = came.to_lowercase();
        assert!(!came.contains(MARK), "{} {what}: {came}", self.name);
        assert!(self.answers || !came.contains(ASKED), "{} {what}: {came}", self.name);
        let told = self.unsaid.iter().find(|id| came.contains(*id));
        assert!(self.answers || told.is_none(), "{} {what}: {told:?} in {came}", self.name);
    }

    async fn http(&self, tried: &Try) -> Answer {
        let Try { method, path, headers, body, named: _ } = tried;
        let request = self.site.request_as(&self.token, method, path);
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = send(match body {
            Some(body) => request.json(body),
            None => request,
        })
        .await;
        self.look(&format!("{method} {path}"), &format!("{answer:?} {}", answer.text()));
        answer
    }

    /// The same for what names something of Ada's, and for what names nothing.
    async fn both(&mut self, tried: &Try, twin: &Try) {
        if self.answers && tried.method == "POST" && tried.path.starts_with("/v1/approvals/") {
            return;
        }
        let Try { method, path, named, .. } = tried;
        let changes = method != "GET";
        let mut came = Vec::new();
        for one in [tried, twin] {
            let answer = self.http(one).await;
            let left = if changes { self.left(named).await } else { Vec::new() };
            came.push((answer.status, plain(&answer.text(), named), left));
        }
        let question = path.starts_with("/v1/approvals") && self.answers;
        assert!(
            question || came[0] == came[1],
            "{} {method} {path} {:?}:\n{:#?}\nbut {} {:?}:\n{:#?}",
            self.name,
            tried.body,
            came[0],
            twin.path,
            twin.body,
            came[1]
        );
    }

    /// The same of a method.
    async fn ask_both(&mut self, name: &str, (named, both): (String, [Value; 2])) {
        if self.answers && name.ends_with(".resolve") {
            return;
        }
        let mut came = Vec::new();
        for params in &both {
            let answered = self.socket.ask(name, params.clone()).await;
            let answered = answered.unwrap_or_else(|error| json!({"error": error})).to_string();
            self.look(&format!("{name} {params}"), &answered);
            came.push((plain(&answered, &named), self.left(&named).await));
        }
        let question = name.starts_with("approvals") && self.answers;
        assert!(question || came[0] == came[1], "{} {name} {both:?}: {came:#?}", self.name);
    }
}

/// Says no to whatever others ask, so that what they try comes to an end. Ada is left waiting.
async fn say_no(site: &Site) -> JoinHandle<()> {
    let (token, address) = (site.token(Who::OWNER).await, site.address);
    let request = move |method: &str, path: &str| {
        let request = Request::new(address, method, path);
        request.header("authorization", &format!("Bearer {token}"))
    };
    tokio::spawn(async move {
        loop {
            let asked = send(request("GET", "/v1/approvals")).await.json();
            let others = asked["approvals"].as_array().unwrap().iter();
            for question in others.filter(|question| question["user"] != "ada") {
                let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
                send(request("POST", &path).json(&json!({"decision": "deny"}))).await;
            }
            tokio::time::sleep(LOOK).await;
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_user_is_seen_told_or_changed_by_another() {
    let mut chance = Chance::of_the_day();
    let site = Site::with(CONFIG).await;
    let mut others = Vec::new();
    for other in OTHERS {
        others.push(Other::new(&site, other).await);
    }
    let mut owner = site.socket(&site.owner).await;
    owner.get("events.subscribe", json!({})).await;
    let mut without_her = Vec::new();
    for other in &others {
        without_her.push(other.sees().await);
    }
    let mut ada = Ada::new(&site).await;
    ada.has_one_of_everything().await;
    for (other, without_her) in others.iter().zip(without_her) {
        for (with_her, without_her) in other.sees().await.iter().zip(&without_her) {
            assert_eq!(with_her, without_her, "{}", other.name);
        }
    }
    let before = ada.everything().await;
    let says_no = say_no(&site).await;
    let description = site.get("/openapi.json").await.json();
    check_tables(&description);
    for other in &mut others {
        // She goes on meanwhile, so that there is something to be told of.
        ada.does_something(&mut chance).await;
        other.unsaid = ada.unsaid.clone();
        other.left("ada").await;
        for operation in OPERATIONS {
            for [tried, twin] in operation.tries(&ada, &mut chance) {
                other.both(&tried, &twin).await;
            }
        }
        for method in METHODS {
            for both in method.tries(&ada, &mut chance) {
                other.ask_both(method.name, both).await;
            }
        }
        try_tools(other, &ada, &mut chance).await;
        let told = other.socket.all().await;
        other.look("is told", &json!(told).to_string());
        let hers = told.iter().filter(|event| event["params"]["user"] == "ada");
        let kinds: BTreeSet<_> = hers.map(|event| event["method"].to_string()).collect();
        assert!(kinds.is_empty() || other.answers, "{} is told {kinds:?}", other.name);
    }
    let after = ada.everything().await;
    for ((what, before), (_, after)) in before.iter().zip(&after) {
        assert_eq!(before, after, "{what} changed");
    }
    says_no.abort();
    check_that_it_would_be_seen(&site, &ada, &mut chance).await;
    check_that_it_would_be_told(&owner.all().await, &ada);
    ada.still_asks_and_runs().await;
}

/// The owner sees what is Ada's where others do not: or nothing was tried.
async fn check_that_it_would_be_seen(site: &Site, ada: &Ada<'_>, chance: &mut Chance) {
    let mut seen = BTreeSet::new();
    for operation in OPERATIONS.iter().filter(|operation| operation.name.starts_with("GET ")) {
        for [tried, _] in operation.tries(ada, chance) {
            let answer = site.get(&tried.path).await.text();
            if [MARK, ASKED].iter().any(|mark| answer.contains(mark)) {
                seen.insert(operation.name);
            }
        }
    }
    let expected = [
        "GET /v1/approvals",
        "GET /v1/approvals/{id}",
        "GET /v1/artifacts/{id}",
        "GET /v1/calls",
        "GET /v1/calls/{id}",
        "GET /v1/users",
        "GET /v1/users/{id}",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

/// The owner is told what Ada does, with what nobody else says.
fn check_that_it_would_be_told(told: &[Value], ada: &Ada<'_>) {
    let hers = told.iter().filter(|event| event["params"]["user"] == "ada");
    let kinds: BTreeSet<_> = hers.map(|event| event["method"].as_str().unwrap()).collect();
    let expected = [
        "approval.requested",
        "call.finished",
        "call.started",
        "session.ended",
        "session.message",
        "session.started",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
    let told = json!(told).to_string();
    assert!(ada.unsaid.len() > 5 && ada.unsaid.iter().all(|id| told.contains(id)));
}

/// Every tool that others have, with what names something of Ada's in place of every text.
async fn try_tools(other: &mut Other<'_>, ada: &Ada<'_>, chance: &mut Chance) {
    let list = send(other.site.request_as(&other.token, "GET", "/v1/tools")).await.json();
    let tools = list["tools"].as_array().cloned().unwrap_or_default();
    for name in ["read", "sessions_history", "sessions_spawn", "search_notes", "complete_task"] {
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!(name)), "{name} is not tried: {names:?}");
    }
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let shown = send(other.site.request_as(&other.token, "GET", &format!("/v1/tools/{name}")));
        let shown = shown.await.json();
        for _ in 0..2 {
            let named = ada.any(chance);
            let twin = chance::twin(&named);
            let at = chance.number();
            let call = if chance.number().is_multiple_of(2) { over_http } else { over_mcp };
            let [one, two] = [named, twin].map(|named| {
                let arguments = tries::arguments(&shown["parameters"], &named, at);
                Try { named, ..call(name, &arguments) }
            });
            other.both(&one, &two).await;
        }
    }
}

fn over_http(tool: &str, arguments: &Value) -> Try {
    Try {
        method: "POST".to_owned(),
        path: format!("/v1/tools/{tool}"),
        headers: vec![("toolgate-session", "tries".to_owned())],
        body: Some(arguments.clone()),
        named: String::new(),
    }
}

fn over_mcp(tool: &str, arguments: &Value) -> Try {
    let revision = "2026-07-28".to_owned();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    Try {
        method: "POST".to_owned(),
        path: "/mcp".to_owned(),
        headers: vec![
            ("toolgate-session", "tries".to_owned()),
            ("mcp-protocol-version", revision),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", tool.to_owned()),
        ],
        body: Some(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})),
        named: String::new(),
    }
}

/// Fails if there is an operation or a method that nobody tries.
fn check_tables(description: &Value) {
    let mut there = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            there.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    let tried: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.name.to_owned()).collect();
    let elsewhere = tries::ELSEWHERE.iter().map(|operation| (*operation).to_owned()).collect();
    let all: BTreeSet<_> = tried.union(&elsewhere).cloned().collect();
    assert_eq!(there, all, "what is not tried here must be tried elsewhere");
    let methods = description["paths"]["/ws"]["get"]["x-methods"].as_array().unwrap();
    let there: BTreeSet<_> = methods.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let tried: BTreeSet<_> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(there, tried);
}

/// multiuser-001: a session of another user is not there, for people, programs and agents alike.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_finds_no_session_of_another_user() {
    let site = Site::with(CONFIG).await;
    let [ada, bob] = [site.token(Who::member("ada")).await, site.token(Who::member("bob")).await];
    let say = async |token: &str, session: &str, text: &str| {
        let path = format!("/v1/sessions/agent:main:{session}/messages");
        send(site.request_as(token, "POST", &path).json(&json!({"message": text}))).await
    };
    assert_eq!(say(&ada, "secret", &format!("hello {MARK}")).await.status, 200);
    for (tool, arguments) in [
        ("sessions_list", json!({})),
        ("sessions_history", json!({"sessionKey": "agent:main:KEY"})),
        ("sessions_send", json!({"sessionKey": "agent:main:KEY", "message": "hello"})),
        ("session_status", json!({"sessionKey": "agent:main:KEY"})),
        ("subagents", json!({"action": "kill", "target": "agent:main:KEY"})),
    ] {
        // By the tool itself, and by an agent that is told to use it.
        let mut came = Vec::new();
        for name in ["secret", "nosuch"] {
            let arguments: Value =
                serde_json::from_str(&arguments.to_string().replace("KEY", name)).unwrap();
            let path = format!("/v1/tools/{tool}");
            let answer = send(site.request_as(&bob, "POST", &path).json(&arguments)).await;
            assert!(!answer.text().contains(MARK), "{answer:?}");
            let told = say(&bob, "asks", &format!("/{tool} {arguments}")).await;
            assert!(!told.text().contains(MARK), "{told:?}");
            // What was said before is another matter each time.
            let said = |answer: &Answer| (answer.status, answer.json().get("error_type").cloned());
            came.push((said(&answer), said(&told)));
        }
        assert_eq!(came[0], came[1], "{tool}");
    }
    let path = "/v1/sessions/agent:main:secret/messages";
    let hers = send(site.request_as(&ada, "GET", path)).await.json();
    assert_eq!(hers["messages"].as_array().unwrap().len(), 2, "{hers}");
}

/// What is private to a session is private to its user, too, whatever others call theirs.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_the_same_name_has_another_temp_folder() {
    let site = Site::with(CONFIG).await;
    let [ada, bob] = [site.token(Who::member("ada")).await, site.token(Who::member("bob")).await];
    for token in [&ada, &bob] {
        for capability in ["files"] {
            let user = if token == &ada { "ada" } else { "bob" };
            let body = json!({"capability": capability, "user": user});
            assert_eq!(site.post("/v1/permissions", body).await.status, 200);
        }
    }
    let call = async |token: &str, tool: &str, body: Value| {
        let request = site.request_as(token, "POST", &format!("/v1/tools/{tool}")).json(&body);
        send(request.header("toolgate-session", "one")).await
    };
    let write = json!({"path": "/tmp/secret.txt", "content": MARK});
    assert_eq!(call(&ada, "write", write).await.status, 200);
    let read = json!({"path": "/tmp/secret.txt"});
    assert_eq!(call(&ada, "read", read.clone()).await.status, 200);
    assert_eq!(call(&bob, "read", read).await.error(), (404, "file_not_found".to_owned()));
    let found = call(&bob, "ls", json!({"path": "/tmp"})).await;
    assert!(!found.text().contains("secret"), "{found:?}");
    until("nothing runs", async || site.gate.stats().running == 0).await;
}
