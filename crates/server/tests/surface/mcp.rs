//! MCP over HTTP, in the revision in which every request stands for itself.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use server::{
    Events,
    mcp::{Change, InWords, Offer as _, Tools},
};
use store::Scope;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use tool::Caller;
use world::SystemClock;

use crate::{
    client::{Answer, Request, send},
    helper::{PATIENCE, Site, Who, until},
};

const REVISION: &str = "2026-07-28";

const WORDS: InWords = InWords { question: |_| String::new(), scope: str::to_owned };

/// The owner, whose client may put questions to its person.
pub(crate) const ASKED: Who = Who { scopes: Some(&[Scope::Call, Scope::Elicit]), ..Who::OWNER };

/// A client that shows forms.
pub(crate) fn shows_forms() -> Value {
    json!({"elicitation": {}})
}

/// What a client brings back.
fn chosen(choice: &str) -> Value {
    json!({"approval": {"action": "accept", "content": {"decision": choice}}})
}

impl Site {
    fn reload(&self, text: &str) {
        self.gate.reload(config::parse(text, "t.toml").unwrap()).unwrap();
    }

    /// A request as clients of the stateless revision send it.
    pub(crate) fn mcp(
        &self,
        token: &str,
        method: &str,
        params: &Value,
        capabilities: &Value,
    ) -> Request {
        let mut params = params.clone();
        let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
        meta["io.modelcontextprotocol/protocolVersion"] = json!(REVISION);
        meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "tester", "version": "1"});
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let name = params["name"].as_str().unwrap_or("-").to_owned();
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.request_as(token, "POST", "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method)
            .header("mcp-name", &name)
            .json(&body)
    }

    /// The same, answered.
    pub(crate) async fn ask_mcp(&self, token: &str, method: &str, params: Value) -> Answer {
        send(self.mcp(token, method, &params, &json!({}))).await
    }

    /// Rings, with a client that shows forms; what it is told.
    async fn ring_mcp(&self, token: &str, more: Value) -> Value {
        let mut params = json!({"name": "ring", "arguments": {"shout": "hey"}});
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        let answer = send(self.mcp(token, "tools/call", &params, &shows_forms())).await.json();
        answer.get("result").unwrap_or(&answer["error"]).clone()
    }
}

/// A connection that stays open.
pub(crate) struct OpenStream {
    stream: TcpStream,
    read: String,
}

impl OpenStream {
    pub(crate) async fn new(request: Request) -> Self {
        let mut stream = TcpStream::connect(request.address).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        Self { stream, read: String::new() }
    }

    /// Reads until `text` has come, and gives everything since the last time.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut bytes = [0; 4_096];
        while !self.read.contains(text) {
            let count = timeout(PATIENCE, self.stream.read(&mut bytes)).await;
            let count = count.unwrap_or_else(|_| panic!("no `{text}` in `{}`", self.read)).unwrap();
            assert_ne!(count, 0, "ended without `{text}`: {}", self.read);
            self.read.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        std::mem::take(&mut self.read)
    }

    /// Reads until the server ends it.
    pub(crate) async fn end(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = timeout(PATIENCE, self.stream.read_to_end(&mut bytes)).await.expect("it ends");
        std::mem::take(&mut self.read) + &String::from_utf8_lossy(&bytes)
    }
}

/// The messages in a stream of events.
pub(crate) fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

const DISCOVER: [(&str, &str); 2] =
    [("mcp-protocol-version", REVISION), ("mcp-method", "server/discover")];

#[tokio::test(flavor = "multi_thread")]
async fn a_request_says_what_it_speaks_or_is_told_what_is_wrong() {
    let site = Site::new().await;
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    let meta =
        |version: &str| json!({key("protocolVersion"): version, key("clientCapabilities"): {}});
    let whole = meta(REVISION);
    for (headers, method, meta, expected) in [
        (&DISCOVER[..], "server/discover", Some(whole.clone()), (200, 0)),
        (&DISCOVER, "server/discover", None, (400, -32602)),
        (
            &DISCOVER,
            "server/discover",
            Some(json!({key("protocolVersion"): REVISION})),
            (400, -32602),
        ),
        (
            &[("mcp-method", "server/discover")],
            "server/discover",
            Some(whole.clone()),
            (400, -32020),
        ),
        (
            &[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "server/discover")],
            "server/discover",
            Some(whole.clone()),
            (400, -32020),
        ),
        (
            &[("mcp-protocol-version", REVISION), ("mcp-method", "tools/list")],
            "server/discover",
            Some(whole.clone()),
            (400, -32020),
        ),
        (
            &[("mcp-protocol-version", REVISION)],
            "server/discover",
            Some(whole.clone()),
            (400, -32020),
        ),
        (
            &[("mcp-protocol-version", "2099-01-01"), ("mcp-method", "server/discover")],
            "server/discover",
            Some(meta("2099-01-01")),
            (400, -32022),
        ),
        (
            &[("mcp-protocol-version", REVISION), ("mcp-method", "ping")],
            "ping",
            Some(whole.clone()),
            (404, -32601),
        ),
        (
            &[("mcp-protocol-version", REVISION), ("mcp-method", "initialize")],
            "initialize",
            Some(whole.clone()),
            (404, -32601),
        ),
        (
            &[("mcp-protocol-version", REVISION), ("mcp-method", "prompts/list")],
            "prompts/list",
            Some(whole.clone()),
            (404, -32601),
        ),
        (&[("mcp-protocol-version", "2025-11-25")], "tools/list", None, (400, -32600)),
        (&[], "tools/list", None, (400, -32602)),
    ] {
        let params = meta.as_ref().map_or_else(|| json!({}), |meta| json!({"_meta": meta}));
        let body = json!({"jsonrpc": "2.0", "id": "x", "method": method, "params": params});
        let request =
            headers.iter().fold(site.request("POST", "/mcp"), |request, (name, value)| {
                request.header(name, value)
            });
        let answer = send(request.json(&body)).await;
        let said = answer.json();
        let code = said["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!((answer.status, code), expected, "{headers:?} {method} {meta:?} {said}");
        assert_eq!(said["id"], "x");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_it_is_and_whether_it_is_json_comes_before_the_protocol() {
    let site = Site::new().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(send(site.anonymous("POST", "/mcp").json(&body)).await.status, 401);
    for (text, status) in [("{", 400), ("[]", 400), (r#"{"id":1,"id":2,"method":"x"}"#, 400)] {
        let request = site.request("POST", "/mcp").header("content-type", "application/json");
        let answer = send(request.body(text)).await;
        assert_eq!(answer.status, status, "{text}");
        // There is no id `null` in this protocol.
        assert_eq!(answer.json().get("id"), None, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_and_called_through_the_gate() {
    let site = Site::new().await;
    let list = site.ask_mcp(&site.owner, "tools/list", json!({})).await.json();
    let tool = |name: &str| {
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap_or(&Value::Null).clone()
    };
    assert_eq!(tool("read")["annotations"]["readOnlyHint"], true);
    assert_eq!(tool("ring")["annotations"]["destructiveHint"], true);
    assert_eq!(tool("list_tasks")["outputSchema"]["type"], "object");
    assert_eq!(
        (&list["result"]["cacheScope"], &list["result"]["resultType"]),
        (&json!("private"), &json!("complete"))
    );

    let called = async |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        site.ask_mcp(&site.owner, "tools/call", params).await.json()
    };
    let read = called("read", json!({"path": "hello.txt"})).await;
    assert_eq!(read["result"]["content"][0]["text"], "hello\nworld\n");
    assert_eq!(read["result"]["isError"], false);
    let tasks = called("list_tasks", json!({})).await;
    assert_eq!(tasks["result"]["structuredContent"]["tasks"], json!([]));
    let missing = called("read", json!({"path": "none.txt"})).await;
    assert_eq!(missing["result"]["isError"], true);
    let text = missing["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("file_not_found"), "{text}");
    let unknown = called("reed", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(unknown["error"]["data"]["error_type"], "tool_not_available");
    let entries: Vec<_> =
        site.entries().into_iter().map(|entry| (entry.tool_name, entry.channel)).collect();
    let expected = ["read", "list_tasks", "read", "reed"];
    assert_eq!(entries, expected.map(|name| (name.to_owned(), Some("mcp".to_owned()))));

    let member = site.token(Who::member("ada")).await;
    let list = site.ask_mcp(&member, "tools/list", json!({})).await.json();
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.contains(&"add_task".to_owned()) && !names.contains(&"exec".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_wants_progress_is_told_of_it_before_the_answer() {
    let site = Site::new().await;
    let params =
        json!({"name": "talk", "arguments": {"pieces": 3}, "_meta": {"progressToken": "p"}});
    let answer = site.ask_mcp(&site.owner, "tools/call", params).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let told = messages(&answer.text());
    let progress: Vec<_> =
        told.iter().map(|message| message["params"]["progress"].clone()).collect();
    assert_eq!(progress, [json!(1), json!(2), json!(3), Value::Null]);
    assert_eq!(told[0]["method"], "notifications/progress");
    assert_eq!(told[0]["params"]["progressToken"], "p");
    assert_eq!(told[3]["result"]["content"][0]["text"], "said");
    // Who does not want it gets the answer alone.
    let params = json!({"name": "talk", "arguments": {"pieces": 3}});
    let answer = site.ask_mcp(&site.owner, "tools/call", params).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "said");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_reaches_the_person_at_the_client_and_the_answer_counts_once() {
    let site = Site::new().await;
    let [token, other] = [site.token(ASKED).await, site.token(ASKED).await];
    let asked = site.ring_mcp(&token, json!({})).await;
    assert_eq!(asked["resultType"], "input_required");
    let form = &asked["inputRequests"]["approval"];
    assert_eq!(form["method"], "elicitation/create");
    assert_eq!(form["params"]["message"], "main wants ring");
    let choices = &form["params"]["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(
        choices,
        &json!(["Allow once", "Allow in this session", "Allow for 30 days: exact", "Deny"])
    );
    let state = asked["requestState"].as_str().unwrap();
    let back = |choice: &str| json!({"inputResponses": chosen(choice), "requestState": state});

    // Nobody else can come back with it, nor for anything else, nor with a changed one.
    let refused = site.ring_mcp(&other, back("Allow once")).await;
    assert_eq!(refused["code"], -32602);
    let mut changed = back("Allow once");
    changed["arguments"] = json!({"shout": "something else"});
    assert_eq!(site.ring_mcp(&token, changed).await["code"], -32602);
    let mut changed = back("Allow once");
    changed["requestState"] = json!(format!("{state}x"));
    assert_eq!(site.ring_mcp(&token, changed).await["code"], -32602);
    // Nor in the name of another session.
    let mut params = back("Allow once");
    params["name"] = json!("ring");
    params["arguments"] = json!({"shout": "hey"});
    let elsewhere = site.mcp(&token, "tools/call", &params, &shows_forms());
    let elsewhere = send(elsewhere.header("toolgate-session", "other")).await.json();
    assert_eq!(elsewhere["error"]["code"], -32602);
    // An answer without the state is an answer to nothing.
    let again = site.ring_mcp(&token, json!({"inputResponses": chosen("Allow once")})).await;
    assert_eq!(again["resultType"], "input_required");

    let rang = site.ring_mcp(&token, back("Allow once")).await;
    assert_eq!(rang["content"][0]["text"], "rang", "{rang}");
    assert_eq!(site.ring_mcp(&token, back("Allow once")).await["code"], -32602);
    let entry = site.entries().into_iter().find(|entry| entry.tool_name == "ring").unwrap();
    let approval = site.get(&format!("/v1/approvals/{}", entry.approval.unwrap())).await.json();
    assert_eq!(approval["answered_by"], "owner (through tester)");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_answer_is_asked_again_and_no_is_no() {
    let site = Site::new().await;
    let token = site.token(ASKED).await;
    let asked = site.ring_mcp(&token, json!({})).await;
    let state = &asked["requestState"];
    for answers in [json!({}), json!({"other": {"action": "accept"}}), json!({"approval": 3})] {
        let first = site.ring_mcp(&token, json!({})).await["requestState"].clone();
        let again = json!({"inputResponses": answers, "requestState": first});
        let again = site.ring_mcp(&token, again).await;
        assert_eq!(again["resultType"], "input_required", "{answers}");
        assert_ne!(again["requestState"], first);
    }
    let answers = json!({"approval": {"action": "decline"}});
    let denied = json!({"inputResponses": answers, "requestState": state});
    let denied = site.ring_mcp(&token, denied).await;
    assert_eq!(denied["isError"], true);
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("denied by owner (through tester)"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_comes_back_without_a_choice_is_shown_again_and_then_taken_as_a_no() {
    let site = Site::new().await;
    let token = site.token(ASKED).await;
    let mut asked = site.ring_mcp(&token, json!({})).await;
    for answer in [json!({"action": "accept"}), chosen("Allow everything")["approval"].clone()] {
        let back =
            json!({"inputResponses": {"approval": answer}, "requestState": asked["requestState"]});
        asked = site.ring_mcp(&token, back).await;
        assert_eq!(asked["resultType"], "input_required", "{answer}");
        let message = asked["inputRequests"]["approval"]["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("None of the answers was chosen"), "{message}");
        assert!(message.ends_with("main wants ring"), "{message}");
    }
    let back =
        json!({"inputResponses": chosen("allow once"), "requestState": asked["requestState"]});
    let denied = site.ring_mcp(&token, back).await;
    assert_eq!(denied["isError"], true, "{denied}");
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("without one of its answers, which counts as no"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_gave_up_on_its_forms_can_send_the_same_request_again() {
    let site = Site::with("[limits]\nopen_questions = 2").await;
    let token = site.token(ASKED).await;
    let first = site.ring_mcp(&token, json!({})).await;
    let second = site.ring_mcp(&token, json!({})).await;
    let third = site.ring_mcp(&token, json!({})).await;
    assert_eq!(third["resultType"], "input_required", "{third}");
    let open = site.get("/v1/approvals").await.json()["approvals"].as_array().unwrap().len();
    assert_eq!(open, 2);
    let back = |asked: &Value| json!({"inputResponses": chosen("Allow once"), "requestState": asked["requestState"]});
    assert_eq!(site.ring_mcp(&token, back(&first)).await["code"], -32602);
    // Something else is still one question too many.
    let other = json!({"arguments": {"shout": "something else"}});
    let refused = site.ring_mcp(&token, other).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().starts_with("rate_limited"));
    for asked in [second, third] {
        let rang = site.ring_mcp(&token, back(&asked)).await;
        assert_eq!(rang["content"][0]["text"], "rang", "{rang}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_is_said_in_the_form_of_the_protocol() {
    let site = Site::new().await;
    let narrow = site.token(Who { agents: Some(&["main"]), ..Who::OWNER }).await;
    for (token, agent, status) in
        [(&site.owner, "nobody", 400), (&narrow, "other", 403), (&site.owner, "a b", 400)]
    {
        let list = site.mcp(token, "tools/list", &json!({}), &json!({}));
        let answer = send(list.header("toolgate-agent", agent)).await;
        assert_eq!(answer.status, status, "{agent}");
        let said = answer.json();
        assert_eq!((&said["id"], &said["error"]["code"]), (&json!(7), &json!(-32600)), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_answers_only_if_the_owner_said_so_and_it_can() {
    let site = Site::new().await;
    let agents = Who { scopes: Some(&[Scope::Call]), ..Who::OWNER };
    let member = Who { scopes: Some(&[Scope::Call, Scope::Elicit]), ..Who::member("ada") };
    let approver = site.token(Who::OWNER).await;
    for (who, capabilities) in [
        (Who::OWNER, shows_forms()),
        (agents, shows_forms()),
        (member, shows_forms()),
        (ASKED, json!({})),
        (ASKED, json!({"elicitation": {"url": {}}})),
        (ASKED, json!({"sampling": {}})),
    ] {
        let token = site.token(who).await;
        let params = json!({"name": "ring", "arguments": {}});
        let call = tokio::spawn(send(site.mcp(&token, "tools/call", &params, &capabilities)));
        let mut question = Value::Null;
        until("it asks", async || {
            let list = site.get("/v1/approvals").await.json();
            question = list["approvals"].get(0).cloned().unwrap_or_default();
            !question.is_null()
        })
        .await;
        assert!(!call.is_finished());
        let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
        let yes =
            site.request_as(&approver, "POST", &path).json(&json!({"decision": "allow_once"}));
        assert_eq!(send(yes).await.status, 200);
        let rang = call.await.unwrap().json();
        assert_eq!(rang["result"]["content"][0]["text"], "rang", "{rang}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_client_has_the_question_somebody_else_may_answer_it() {
    let site = Site::new().await;
    let [token, approver] = [site.token(ASKED).await, site.token(Who::OWNER).await];
    let asked = site.ring_mcp(&token, json!({})).await;
    let question = site.get("/v1/approvals").await.json()["approvals"][0].take();
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let yes = site.request_as(&approver, "POST", &path).json(&json!({"decision": "allow_once"}));
    assert_eq!(send(yes).await.status, 200);
    // What the client says now is too late, and it hears what became of its call.
    let back = json!({"inputResponses": chosen("Deny"), "requestState": asked["requestState"]});
    let rang = site.ring_mcp(&token, back).await;
    assert_eq!(rang["content"][0]["text"], "rang", "{rang}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_comes_back_with_ends_with_its_time() {
    let site = Site::with("[limits]\napproval_timeout = \"1s\"").await;
    let token = site.token(ASKED).await;
    let asked = site.ring_mcp(&token, json!({})).await;
    until("the call is over", async || {
        site.entries().iter().any(|entry| entry.error_type.as_deref() == Some("permission_denied"))
    })
    .await;
    // What the client says now is too late, and it hears what became of its call, once.
    let back =
        json!({"inputResponses": chosen("Allow once"), "requestState": asked["requestState"]});
    let denied = site.ring_mcp(&token, back.clone()).await;
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("nobody answered within 1 s"), "{text}");
    assert_eq!(site.ring_mcp(&token, back).await["code"], -32602);
    until("nothing waits any more", async || {
        site.get("/metrics").await.text().contains("toolgate_mcp_waiting 0")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_listens_is_told_when_their_tools_change_and_until_their_token_ends() {
    let site = Site::new().await;
    let token = site.token(Who::OWNER).await;
    let params = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let request = site.mcp(&token, "subscriptions/listen", &params, &json!({}));
    let mut stream = OpenStream::new(request).await;
    let first = messages(&stream.until("\n\n").await)[0].clone();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);

    site.reload("[tools]\ndeny = [\"ring\"]");
    let told = messages(&stream.until("list_changed").await);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["method"], "notifications/tools/list_changed");
    assert_eq!(told[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);

    let tokens = site.get("/v1/tokens").await.json();
    let newest = tokens["tokens"][0]["id"].as_str().unwrap();
    assert_eq!(send(site.request("DELETE", &format!("/v1/tokens/{newest}"))).await.status, 200);
    stream.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_of_changes_that_leave_their_tools_as_they_are() {
    let site = Site::new().await;
    let tools = Tools::new(site.gate.inner().clone(), Events::new(Arc::new(SystemClock), WORDS));
    let mut changes = tools.changes(&Caller::owner("main"));
    // Each is looked at before the next one comes: together they would be one change.
    for (config, told) in [
        ("[limits]\ncalls_total = 7", None),
        ("[tools]\ndeny = [\"ring\"]", Some(Change::Tools)),
        ("[tools]\ndeny = [\"ring\"]\n[limits]\ncalls_total = 7", None),
        ("", Some(Change::Tools)),
    ] {
        site.reload(config);
        assert_eq!(changes.next().now_or_never().flatten(), told, "{config}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_stops_its_call() {
    let site = Site::new().await;
    let params = json!({"name": "talk", "arguments": {"pieces": 2, "bytes": 20_000, "rest_ms": 600_000},
        "_meta": {"progressToken": 1}});
    let request = site.mcp(&site.owner, "tools/call", &params, &json!({}));
    let mut stream = OpenStream::new(request).await;
    stream.until("notifications/progress").await;
    drop(stream);
    until("the call is cancelled", async || {
        site.entries().iter().any(|entry| entry.error_type.as_deref() == Some("cancelled"))
    })
    .await;
}
