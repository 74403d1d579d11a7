//! `http_request`, against a network that says what a test wants.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool::{Answer, BoxFuture, Effects, Fetch, Net, ToolError};

use crate::helper::Setup;

/// Answers everything alike, and remembers what was asked.
#[derive(Debug)]
struct Server {
    answer: Answer,
    asked: Mutex<Vec<Fetch>>,
}

impl Net for Server {
    fn fetch(&self, fetch: Fetch) -> BoxFuture<'_, Result<Answer, ToolError>> {
        self.asked.lock().unwrap().push(fetch);
        Box::pin(async { Ok(self.answer.clone()) })
    }
}

fn server(status: u16, kind: &str, body: &[u8]) -> Arc<Server> {
    let headers = [("content-type", kind), ("x-a", "1"), ("x-a", "2")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let url = "https://ok.example/final".to_owned();
    let answer = Answer { url, status, headers, body: body.to_vec(), truncated: false };
    Arc::new(Server { answer, asked: Mutex::default() })
}

async fn ask(server: &Arc<Server>, args: Value) -> tool::ToolOutput {
    Setup::with(&[]).with_net(server.clone()).call("http_request", args).await.unwrap()
}

#[tokio::test]
async fn any_status_is_an_answer_and_nobody_vouches_for_it() {
    for status in [200, 404, 500] {
        let server = server(status, "application/json", b"{\"a\": 1}");
        let output = ask(&server, json!({"url": "https://ok.example/"})).await;
        assert_eq!(
            output.value.clone().unwrap(),
            json!({
                "status": status, "url": "https://ok.example/final", "body": "{\"a\": 1}", "bytes": 8,
                "headers": {"content-type": "application/json", "x-a": "1, 2"}, "truncated": false,
            })
        );
        assert_eq!(output.untrusted.as_deref(), Some("https://ok.example/final"));
        let expected = format!(
            "{status} https://ok.example/final\ncontent-type: application/json\nx-a: 1, 2\n\n{{\"a\": 1}}"
        );
        assert_eq!(output.joined_text(), expected);
    }
}

#[tokio::test]
async fn what_is_not_shown_is_said() {
    let png = server(200, "image/png", b"\x89PNG\r\n\x1a\n\0\0");
    let output = ask(&png, json!({"url": "https://ok.example/"})).await.value.unwrap();
    assert_eq!(output["body"], "");
    assert_eq!(output["note"], "10 bytes that are not text (image/png) are not shown");
    let mut long = Arc::into_inner(server(200, "text/plain", b"hello")).unwrap();
    long.answer.truncated = true;
    let output = ask(&Arc::new(long), json!({"url": "https://ok.example/"})).await.value.unwrap();
    assert_eq!((&output["body"], &output["truncated"]), (&json!("hello"), &json!(true)));
    assert_eq!(output["note"], "truncated after 5 bytes; ask for a part of it");
}

#[tokio::test]
async fn a_body_is_as_long_as_the_door_lets_it_and_a_cut_one_loses_its_edge() {
    let body = "ü".repeat(251_000);
    let url = json!({"url": "https://ok.example/"});
    let whole = server(200, "text/plain", body.as_bytes());
    let output = ask(&whole, url.clone()).await.value.unwrap();
    assert_eq!(output["body"].as_str().unwrap().len(), 502_000);
    let mut long = Arc::into_inner(whole).unwrap();
    long.answer.truncated = true;
    let output = ask(&Arc::new(long), url).await.value.unwrap();
    assert_eq!(output["body"].as_str().unwrap().len(), 502_000 - 4_096);
    assert_eq!(output["note"], "truncated after 497904 bytes; ask for a part of it");
}

#[tokio::test]
async fn goes_out_as_it_was_given() {
    let server = server(201, "text/plain", b"");
    let args = json!({
        "url": "https://ok.example/", "method": "POST", "headers": {"X-A": "b"}, "body": "hello",
    });
    ask(&server, args).await;
    let asked = server.asked.lock().unwrap().pop().unwrap();
    assert_eq!((asked.method.name(), asked.body.as_deref()), ("POST", Some(&b"hello"[..])));
    assert_eq!((asked.headers["X-A"].as_str(), asked.max_bytes), ("b", None));
}

#[test]
fn only_a_plain_question_is_no_act() {
    let tools = tools::builtin();
    let tool = tools.iter().find(|tool| &*tool.info().name == "http_request").unwrap();
    let url = "https://ok.example/";
    for (args, expected) in [
        (json!({"url": url}), "fetch"),
        (json!({"url": url, "method": "HEAD"}), "fetch"),
        (json!({"url": url, "method": "POST"}), "fetch, act"),
        (json!({"url": url, "method": "DELETE"}), "fetch, act"),
        (json!({"url": url, "body": "x"}), "fetch, act"),
    ] {
        let plan = tool.prepare(args.clone()).unwrap().plan();
        let effects: Effects = plan.effects();
        assert_eq!(effects.to_string(), expected, "{args}");
    }
    let plan = tool.prepare(json!({"url": url, "method": "PUT", "body": "hello"})).unwrap().plan();
    let needs: Vec<_> = plan.needs().iter().map(ToString::to_string).collect();
    assert_eq!(
        needs,
        ["fetch `https://ok.example/`", "send a PUT with 5 bytes to `https://ok.example/`"]
    );
}
