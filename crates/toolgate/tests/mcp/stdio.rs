//! The same over standard input and output, which the suite does not speak.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use serde_json::{Value, json};
use server::mcp::{HowPatient, Patience, serve_stdio};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex, split},
    io::{ReadHalf, WriteHalf},
    time::timeout,
};
use toolgate::Caller;
use world::SystemClock;

use crate::site::{PATIENCE, Site};

/// A client at the other end.
struct Client {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// What the server said while something else was waited for.
    told: VecDeque<Value>,
}

impl Client {
    fn new(site: &Site) -> Self {
        let (ours, theirs) = duplex(1 << 16);
        let (from, to) = split(theirs);
        let who = (Caller::owner("main"), Arc::new(SystemClock) as Arc<_>);
        let offer = site.offer.clone();
        let patience = || Patience { time: Duration::from_secs(20), questions: 5 };
        let patience = HowPatient(Box::new(patience));
        tokio::spawn(serve_stdio(offer, who, patience, (BufReader::new(from), to)));
        let (from, to) = split(ours);
        Self { to, from: BufReader::new(from).lines(), told: VecDeque::new() }
    }

    async fn send(&mut self, message: Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.from.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// What is answered to a request.
    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.told.push_back(message);
        }
    }

    fn told(&mut self) -> Vec<Value> {
        self.told.drain(..).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_told_asked_and_cancelled() {
    let site = Site::new().await;
    let mut client = Client::new(&site);
    let begin = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"}});
    let begun = client.ask(1, "initialize", begin).await;
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    for (level, code) in [(json!("loud"), json!(-32602)), (json!("debug"), Value::Null)] {
        let set = client.ask(2, "logging/setLevel", json!({"level": level})).await;
        assert_eq!(set["error"]["code"], code);
    }
    client.ask(3, "tools/call", json!({"name": "test_tool_with_logging"})).await;
    let told = client.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0]["params"]["data"], "Tool execution started");

    let call = json!({"name": "test_elicitation", "arguments": {"message": "Who are you?"}});
    client.send(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": call})).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create");
    // What is cancelled is not answered, whatever comes of it.
    let params = json!({"requestId": 4});
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    let answer = json!({"action": "decline"});
    client.send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer})).await;
    client.ask(5, "tools/call", json!({"name": "test_simple_text"})).await;
    assert_eq!(client.told(), Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_stands_for_itself_comes_back_with_answers() {
    let site = Site::new().await;
    let mut client = Client::new(&site);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let name = "test_input_required_result_multi_round";
    let first = client.ask(1, "tools/call", json!({"name": name, "_meta": meta})).await;
    let first = &first["result"];
    assert_eq!(first["resultType"], "input_required");
    let answers = json!({"step1": {"action": "accept", "content": {"name": "Ada"}}});
    let back = |state: &Value, answers: &Value| json!({"name": name, "_meta": meta, "requestState": state, "inputResponses": answers});
    let second = client.ask(2, "tools/call", back(&first["requestState"], &answers)).await;
    let second = &second["result"];
    assert!(second["inputRequests"]["step2"].is_object(), "{second}");
    let again = client.ask(3, "tools/call", back(&first["requestState"], &answers)).await;
    assert_eq!(again["error"]["code"], -32602);
    let answers = json!({"step2": {"action": "accept", "content": {"color": "blue"}}});
    let third = client.ask(4, "tools/call", back(&second["requestState"], &answers)).await;
    let text = third["result"]["content"].to_string();
    assert!(text.contains("Ada") && text.contains("blue"), "{text}");
    let named = json!({"_meta": meta, "notifications": {"promptsListChanged": true}});
    let listen =
        json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": named});
    client.send(listen).await;
    assert_eq!(client.next().await["method"], "notifications/subscriptions/acknowledged");
    let change = json!({"name": "test_trigger_prompt_change", "_meta": meta});
    client.ask(6, "tools/call", change).await;
    if client.told.is_empty() {
        let message = client.next().await;
        client.told.push_back(message);
    }
    let told = client.told();
    assert_eq!(told[0]["method"], "notifications/prompts/list_changed");
    assert_eq!(told[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
}
