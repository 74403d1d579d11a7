//! Conversations, as clients of model providers have them. The model is the built-in one.

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::{
    client::{Answer, Request, send},
    helper::{Site, Who, until},
};

/// The formats, each with where it is spoken.
const FORMATS: [Spoken; 5] = [
    Spoken { name: "openai", path: "/v1/chat/completions" },
    Spoken { name: "responses", path: "/v1/responses" },
    Spoken { name: "anthropic", path: "/v1/messages" },
    Spoken { name: "gemini", path: "/v1beta/models/AGENT:generateContent" },
    Spoken { name: "gemini", path: "/v1/models/AGENT:generateContent" },
];

/// How a client of one vendor speaks.
#[derive(Debug, Clone, Copy)]
struct Spoken {
    name: &'static str,
    path: &'static str,
}

impl Spoken {
    /// A request to an agent.
    fn request(self, site: &Site, token: &str, agent: &str, text: &str) -> Request {
        site.request_as(token, "POST", &self.path.replace("AGENT", agent))
            .json(&self.body(agent, text))
    }

    /// The same, whose answer comes piece by piece.
    fn streamed(self, site: &Site, agent: &str, text: &str) -> Request {
        let path = self.path.replace("AGENT", agent).replace(":generate", ":streamGenerate");
        let mut body = self.body(agent, text);
        if self.name == "gemini" {
            return site.request("POST", &format!("{path}?alt=sse")).json(&body);
        }
        body["stream"] = true.into();
        site.request("POST", &path).json(&body)
    }

    fn body(self, agent: &str, text: &str) -> Value {
        let messages = json!([{"role": "user", "content": text}]);
        match self.name {
            "openai" => json!({"model": agent, "messages": messages}),
            "responses" => json!({"model": agent, "input": text}),
            "anthropic" => json!({"model": agent, "max_tokens": 100, "messages": messages}),
            _ => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        }
    }

    /// What was said, of a whole answer.
    fn text(self, answer: &Value) -> String {
        let parts = match self.name {
            "openai" => &answer["choices"][0]["message"]["content"],
            "responses" => &answer["output"][0]["content"][0]["text"],
            "anthropic" => &answer["content"][0]["text"],
            _ => &answer["candidates"][0]["content"]["parts"][0]["text"],
        };
        parts.as_str().unwrap_or_else(|| panic!("{}: {answer}", self.name)).to_owned()
    }

    /// What was said, of events.
    fn said(self, events: &[Value]) -> String {
        let pieces = events.iter().filter_map(|event| match (self.name, event["type"].as_str()) {
            ("openai", _) => event["choices"][0]["delta"]["content"].as_str(),
            ("responses", Some("response.output_text.delta")) => event["delta"].as_str(),
            ("anthropic", Some("content_block_delta")) => event["delta"]["text"].as_str(),
            ("gemini", _) => event["candidates"][0]["content"]["parts"][0]["text"].as_str(),
            _ => None,
        });
        pieces.collect()
    }

    /// The calls of ours, of the last event that has some.
    fn calls(self, events: &[Value]) -> Value {
        let last = events.last().unwrap();
        match self.name {
            "responses" => last["response"]["tool_calls"].clone(),
            _ => last["tool_calls"].clone(),
        }
    }

    /// What an error says: its group and message as the vendor has them.
    fn error(self, answer: &Answer) -> (u16, String, String) {
        let body = answer.json();
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
        let error = &body["error"];
        let group = match self.name {
            "gemini" => {
                assert_eq!(error["code"], answer.status, "{body}");
                &error["status"]
            }
            "anthropic" => {
                assert_eq!(body["type"], "error");
                &error["type"]
            }
            _ => &error["type"],
        };
        assert_eq!(answer.header("content-type"), "application/json");
        (answer.status, text(group), text(&error["message"]))
    }
}

/// The data of server-sent events; how a stream ends is not data.
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/event-stream"),
        "{answer:?}"
    );
    let text = answer.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Tools and statuses of calls of ours.
fn notes(calls: &Value) -> Vec<(&str, &str)> {
    let calls = calls.as_array().unwrap_or_else(|| panic!("{calls}"));
    let text = |value: &'_ Value| value.as_str().is_some_and(|text| !text.is_empty());
    for call in calls {
        assert!(
            text(&call["id"]) && call["input"].is_object() && call["duration_ms"].is_u64(),
            "{call}"
        );
    }
    calls
        .iter()
        .map(|call| (call["tool"].as_str().unwrap(), call["status"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_answers_in_every_form_whole_and_in_pieces() {
    let site = Site::new().await;
    for spoken in FORMATS {
        let answer = send(spoken.request(&site, &site.owner, "main", "read hello.txt")).await;
        assert_eq!(answer.status, 200, "{spoken:?}: {answer:?}");
        let whole = spoken.text(&answer.json());
        assert!(whole.contains("hello") && whole.contains("world"), "{spoken:?}: {whole}");
        assert_eq!(notes(&answer.json()["tool_calls"]), [("read", "success")], "{spoken:?}");
        let pieces = events(&send(spoken.streamed(&site, "main", "read hello.txt")).await);
        assert!(pieces.len() > 2, "{spoken:?}: {pieces:?}");
        assert_eq!(spoken.said(&pieces), whole, "{spoken:?}");
        assert_eq!(notes(&spoken.calls(&pieces)), [("read", "success")], "{spoken:?}");
    }
    let entries = site.entries();
    assert_eq!(entries.len(), 10);
    assert!(entries.iter().all(|entry| entry.channel.is_none()), "not calls that came one by one");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tools_refuse_is_said_and_listed() {
    let site = Site::new().await;
    for spoken in FORMATS {
        let text = "read none.txt and then what time is it in Nowhere";
        let answer = send(spoken.request(&site, &site.owner, "main", text)).await;
        let answer = answer.json();
        let said = notes(&answer["tool_calls"]);
        assert_eq!(said.first(), Some(&("read", "file_not_found")), "{spoken:?}: {answer}");
        assert!(spoken.text(&answer).contains("failed"), "{spoken:?}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_kept_if_it_is_named_and_else_each_request_has_its_own() {
    let site = Site::new().await;
    let messages = async |key: &str| {
        let path = format!("/v1/sessions/{key}/messages");
        site.get(&path).await.json()["messages"].as_array().map_or(0, Vec::len)
    };
    let mut own = Vec::new();
    for spoken in FORMATS {
        for round in 1..=2 {
            let request = spoken.request(&site, &site.owner, "main", "hello");
            let request = request.header("toolgate-session", &format!("talk-{}", own.len() / 2));
            let answer = send(request).await;
            assert_eq!(answer.header("toolgate-session"), format!("talk-{}", own.len() / 2));
            let key = format!("agent:main:talk-{}", own.len() / 2);
            assert_eq!(messages(&key).await, 2 * round, "{spoken:?}");
        }
        for _ in 0..2 {
            let answer = send(spoken.request(&site, &site.owner, "main", "hello")).await;
            let session = answer.header("toolgate-session").to_owned();
            assert_eq!(messages(&format!("agent:main:{session}")).await, 2, "{spoken:?}");
            own.push(session);
        }
    }
    own.sort();
    own.dedup();
    assert_eq!(own.len(), 10, "no two requests share one");
    let name = |name: &str| {
        let request = FORMATS[0].request(&site, &site.owner, "main", "hello");
        send(request.header("toolgate-session", name))
    };
    assert_eq!(FORMATS[0].error(&name("a b").await).0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_models() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let ids = |list: &Value, field: &str| -> Vec<String> {
        let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
        list.iter().map(|one| one[field].as_str().unwrap().to_owned()).collect()
    };
    let all = site.get("/v1/models").await.json();
    assert_eq!(ids(&all["data"], "id"), ["main", "scout"]);
    assert_eq!(
        ids(&site.get("/v1beta/models").await.json()["models"], "name"),
        ["models/main", "models/scout"]
    );
    assert_eq!(site.get("/v1/models/scout").await.json()["id"], "scout");
    assert_eq!(site.get("/v1/models/none").await.status, 404);
    let helper = site.token(Who { agents: Some(&["scout"]), ..Who::OWNER }).await;
    let own = send(site.request_as(&helper, "GET", "/v1/models")).await.json();
    assert_eq!(ids(&own["data"], "id"), ["scout"]);
    for spoken in FORMATS {
        let answer = send(spoken.request(&site, &site.owner, "scout", "what time is it")).await;
        assert_eq!(answer.status, 200, "{spoken:?}");
        let request = spoken.request(&site, &helper, "main", "what time is it");
        assert_eq!(spoken.error(&send(request).await).0, 403, "{spoken:?}");
    }
    assert!(site.entries().iter().all(|entry| entry.agent == "scout"));
    // Names that clients have for whatever is there.
    for model in ["default", "toolgate", "models/main"] {
        let answer = send(FORMATS[0].request(&site, &site.owner, model, "what time is it")).await;
        assert_eq!(answer.status, 200, "`{model}`: {}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_as_the_vendor_says_it() {
    let site = Site::new().await;
    for spoken in FORMATS {
        let path = spoken.path.replace("AGENT", "main");
        let (unauthenticated, missing, invalid) = match spoken.name {
            "gemini" => ("UNAUTHENTICATED", "NOT_FOUND", "INVALID_ARGUMENT"),
            "anthropic" => ("authentication_error", "not_found_error", "invalid_request_error"),
            _ => ("authentication_error", "invalid_request_error", "invalid_request_error"),
        };
        let post = || site.request("POST", &path).header("content-type", "application/json");
        let none = spoken.request(&site, &site.owner, "mian", "hello");
        for (request, status, group, words) in [
            (site.anonymous("POST", &path).json(&json!({})), 401, unauthenticated, "token"),
            (
                site.request_as("tg_wrong", "POST", &path).json(&json!({})),
                401,
                unauthenticated,
                "token",
            ),
            (none.clone(), 404, missing, "`mian`"),
            (post().body("{"), 400, invalid, "JSON"),
            (post().body(r#"{"a":1,"a":2}"#), 400, invalid, "JSON"),
            (post().body("[]"), 400, invalid, ""),
            (post().body("{}"), 400, invalid, ""),
            (post().body(r#"{"messages":5,"input":5,"contents":5}"#), 400, invalid, ""),
            (site.request("POST", &path).body("x"), 415, invalid, "application/json"),
            (post().header("content-length", "1000000000"), 413, "", "body_bytes"),
        ] {
            let error = spoken.error(&send(request).await);
            assert_eq!(error.0, status, "{spoken:?}: {error:?}");
            assert!(
                group.is_empty() || error.1 == group,
                "{spoken:?}: {error:?} instead of {group}"
            );
            assert!(error.2.contains(words), "{spoken:?}: {error:?}");
        }
        let streamed = send(spoken.streamed(&site, "mian", "hello")).await;
        assert_eq!(spoken.error(&streamed).0, 404, "before anything is streamed");
    }
    let odd = send(site.request("POST", "/v1beta/models/main:embedContent").json(&json!({}))).await;
    assert_eq!(FORMATS[3].error(&odd).0, 404);
    assert_eq!(site.entries().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_stops_the_run() {
    let site = Site::new().await;
    let text = r#"/talk {"pieces": 0, "rest_ms": 600000}"#;
    let mut expected = 0;
    for spoken in FORMATS {
        for request in
            [spoken.request(&site, &site.owner, "main", text), spoken.streamed(&site, "main", text)]
        {
            let mut stream = TcpStream::connect(site.address).await.unwrap();
            stream.write_all(&request.bytes()).await.unwrap();
            until("the call runs", async || site.gate.stats().running == 1).await;
            drop(stream);
            until("nothing runs", async || site.gate.stats().running == 0).await;
            expected += 1;
            until("it is recorded", async || {
                let ended = |entry: &store::Entry| entry.error_type.as_deref() == Some("cancelled");
                site.entries().iter().filter(|entry| ended(entry)).count() == expected
            })
            .await;
        }
    }
    until("no session is busy", async || {
        let sessions = site.get("/v1/sessions").await.json();
        sessions["sessions"].as_array().unwrap().iter().all(|one| one["state"] == "interrupted")
    })
    .await;
}

/// What is closed to calls that come one by one is open to agents: policy decides about them, and people
/// are asked.
#[tokio::test(flavor = "multi_thread")]
async fn tools_that_are_closed_over_http_are_open_in_a_conversation() {
    let site = Site::new().await;
    for tool in ["exec", "process", "sessions_spawn", "cron", "gateway", "nodes"] {
        let explain = async |query: &str| {
            let path = format!("/v1/policy/explain?tool={tool}{query}");
            site.get(&path).await.json()["verdict"].take()
        };
        assert_eq!(explain("&channel=http").await, "deny", "{tool}");
        assert_eq!(explain("").await, "allow", "{tool}");
        let answer = site.post(&format!("/v1/tools/{tool}"), json!({})).await;
        assert_eq!(answer.error(), (404, "tool_not_available".to_owned()), "{tool}");
    }
    let task = "/sessions_spawn {\"task\": \"what time is it\"}";
    for spoken in FORMATS {
        let answer = send(spoken.request(&site, &site.owner, "main", task)).await.json();
        assert_eq!(
            notes(&answer["tool_calls"])[0],
            ("sessions_spawn", "success"),
            "{spoken:?}: {answer}"
        );
    }
    // A member's agent has what members have.
    let bo = site.token(Who::member("bo")).await;
    let answer = send(FORMATS[0].request(&site, &bo, "main", task)).await.json();
    assert!(
        site.entries().iter().all(|entry| entry.user_id != "bo" || entry.error_type.is_some()),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_a_conversation_asks_and_whoever_speaks_does_not_answer() {
    let site = Site::new().await;
    let approver = site.token(Who::OWNER).await;
    let spoken = FORMATS[0];
    let request = spoken.streamed(&site, "main", "/ring {\"shout\": \"hey\"}");
    let talk = tokio::spawn(send(request));
    let mut question = Value::Null;
    until("it asks", async || {
        let asked = site.get("/v1/approvals").await.json();
        question = asked["approvals"].get(0).cloned().unwrap_or_default();
        question.is_object()
    })
    .await;
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let yes = json!({"decision": "allow_once"});
    let own = send(site.request("POST", &path).json(&yes)).await;
    assert_eq!(own.error(), (403, "permission_denied".to_owned()));
    assert_eq!(send(site.request_as(&approver, "POST", &path).json(&yes)).await.status, 200);
    let pieces = events(&talk.await.unwrap());
    assert_eq!(notes(&spoken.calls(&pieces)), [("ring", "success")]);
}
