//! What is somebody's is nobody else's: whatever another one tries, on every surface, with everything that
//! ever named it.
//!
//! Ada has one of everything. Others try every operation of the table, every method of the WebSocket and
//! every tool with what names it, and each time with a name that nothing has. Nothing of Ada's may come
//! back; no answer may tell whether something of hers is there; and hers must be as it was.
//!
//! What is tried differs with a seed, which is printed; `TOOLGATE_SEED` gives another one.

mod ada;
mod chance;
mod tries;

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};
use store::Scope;
use tokio::time::timeout;

use self::{
    ada::Ada,
    chance::Chance,
    tries::{METHODS, OPERATIONS, Try},
};
use crate::{
    client::{Answer, send},
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
                      [tools.by_channel.mcp]\n\
                      also_allow = ['exec', 'process', 'gateway', 'sessions_spawn']\n\
                      [agents.scout]\ndescription = 'looks around'";

/// Tools that may ask, or take long.
const ASKING: [&str; 5] = ["exec", "ring", "sessions_send", "sessions_spawn", "http_request"];
const A_WHILE: Duration = Duration::from_millis(100);

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
}

impl<'a> Other<'a> {
    async fn new(site: &'a Site, (name, who): (&'static str, Who)) -> Self {
        let token = site.token(who).await;
        let body = json!({"capability": "files", "user": who.user});
        assert_eq!(site.post("/v1/permissions", body).await.status, 200);
        let mut socket = site.socket(&token).await;
        socket.get("events.subscribe", json!({})).await;
        Self { site, name, token, socket, answers: name == "an approver" }
    }

    /// Fails if something of Ada's is in what came.
    fn look(&self, what: &str, came: &str) {
        let came = came.to_lowercase();
        assert!(!came.contains(MARK), "{} {what}: {came}", self.name);
        assert!(self.answers || !came.contains(ASKED), "{} {what}: {came}", self.name);
    }

    async fn http(&self, tried: &Try) -> Answer {
        let Try { method, path, headers, body } = tried;
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
    async fn both(&self, tried: &Try, twin: &Try) {
        if self.answers && tried.method == "POST" && tried.path.starts_with("/v1/approvals/") {
            return;
        }
        let (one, other) = (self.http(tried).await, self.http(twin).await);
        let Try { method, path, .. } = tried;
        let question = path.starts_with("/v1/approvals") && self.answers;
        assert!(
            question || said(&one) == said(&other),
            "{} {method} {path}: {} {}\nbut {}: {} {}",
            self.name,
            one.status,
            one.text(),
            twin.path,
            other.status,
            other.text()
        );
    }

    /// The same of a method.
    async fn ask_both(&mut self, name: &str, [params, twin]: [Value; 2]) {
        if self.answers && name.ends_with(".resolve") {
            return;
        }
        let mut said = Vec::new();
        for params in [params.clone(), twin] {
            let answered = self.socket.ask(name, params.clone()).await;
            let text = format!("{answered:?}");
            self.look(&format!("{name} {params}"), &text);
            let kind = |value: &Value| value["data"]["error_type"].clone();
            said.push(match answered {
                Ok(result) => (0, result["error_type"].clone()),
                Err(error) => (error["code"].as_i64().unwrap(), kind(&error)),
            });
        }
        let question = name.starts_with("approvals") && self.answers;
        assert!(question || said[0] == said[1], "{} {name} {params}: {said:?}", self.name);
    }
}

/// What an answer says besides names: its status, and of an error its type.
fn said(answer: &Answer) -> (u16, Option<Value>) {
    let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
    // Over MCP the type of an error is the first word of the text.
    let failed = body.pointer("/result/isError") == Some(&json!(true));
    let text = body.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    let first = failed.then(|| json!(text.split(':').next()));
    (answer.status, body.get("error_type").cloned().or(first))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_user_is_seen_told_or_changed_by_another() {
    let mut chance = Chance::of_the_day();
    let site = Site::with(CONFIG).await;
    let mut others = Vec::new();
    for other in OTHERS {
        others.push(Other::new(&site, other).await);
    }
    let mut ada = Ada::new(&site).await;
    ada.has_one_of_everything().await;
    let before = ada.everything().await;
    let description = site.get("/openapi.json").await.json();
    check_tables(&description);
    for other in &mut others {
        // She goes on meanwhile, so that there is something to be told of.
        ada.does_something(&mut chance).await;
        for operation in OPERATIONS {
            for [tried, twin] in operation.tries(&ada, &mut chance) {
                other.both(&tried, &twin).await;
            }
        }
        for method in METHODS {
            for pair in method.tries(&ada, &mut chance) {
                other.ask_both(method.name, pair).await;
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
    check_that_it_would_be_seen(&site, &ada, &mut chance).await;
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

/// Every tool that others have, with what names something of Ada's in place of every text.
async fn try_tools(other: &Other<'_>, ada: &Ada<'_>, chance: &mut Chance) {
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
            let [one, two] =
                [named, twin].map(|named| tries::arguments(&shown["parameters"], &named, at));
            let call = if chance.number().is_multiple_of(2) { over_http } else { over_mcp };
            let (one, two) = (call(name, &one), call(name, &two));
            let both = other.both(&one, &two);
            // What asks waits for an answer that nobody gives; so it is not waited for.
            if ASKING.contains(&name) {
                let _ = timeout(A_WHILE, both).await;
            } else {
                both.await;
            }
        }
    }
}

fn over_http(tool: &str, arguments: &Value) -> Try {
    Try {
        method: "POST".to_owned(),
        path: format!("/v1/tools/{tool}"),
        headers: vec![("toolgate-session", "tries".to_owned())],
        body: Some(arguments.clone()),
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
