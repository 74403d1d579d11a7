use std::{sync::atomic::AtomicU64, time::SystemTime};

use futures_util::stream::{self, BoxStream};
use serde_json::json;
use tokio::{
    io::{BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split},
    sync::Notify,
    time::{sleep, timeout},
};
use tool::{BoxFuture, ToolInfo};

use super::*;
use crate::mcp::offer::Change;

/// Longer than anything takes, also on a machine that does much else.
const LONG: Duration = Duration::from_mins(1);

/// Offers one thing that asks at once, one that asks until it is cancelled, and one that goes on speaking then.
#[derive(Debug, Default)]
struct Talkative {
    spoken: Notify,
}

impl Offer for Talkative {
    fn capabilities(&self) -> Value {
        json!({})
    }

    fn handle<'a>(
        &'a self,
        context: &'a Context,
        method: &'a str,
        _: Map<String, Value>,
    ) -> BoxFuture<'a, Answered> {
        Box::pin(async move {
            if method == "speak" {
                context.cancel.cancelled().await;
                context.progress(1, Map::new()).await;
            }
            let form = json!({"method": "elicitation/create", "params": {}});
            let asked = context.client.ask([("form".to_owned(), form)].into_iter().collect());
            let answers = tokio::select! {
                answers = asked => answers,
                () = context.cancel.cancelled(), if method == "ask until cancelled" => None,
            };
            self.spoken.notify_one();
            Ok(fields(json!({"answers": answers})))
        })
    }

    fn changes(&self, _: &Caller) -> BoxStream<'static, Change> {
        stream::empty().boxed()
    }

    fn tool(&self, _: &Caller, _: &str) -> Option<Arc<ToolInfo>> {
        None
    }
}

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// A client at the other end.
struct Other {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Other {
    fn new(offer: Arc<Talkative>, time: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let (ours, theirs) = duplex(1 << 16);
        let (from, to) = split(theirs);
        let who = (Caller::owner("main"), Arc::new(Stopped) as Arc<dyn Clock>);
        let patience = HowPatient(Box::new(move || Patience { time: time(), questions: 5 }));
        tokio::spawn(serve_stdio(offer, who, patience, (BufReader::new(from), to)));
        let (from, to) = split(ours);
        Self { to, from: BufReader::new(from).lines() }
    }

    async fn send(&mut self, message: Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = timeout(LONG, self.from.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }
}

#[tokio::test]
async fn nothing_is_said_about_a_request_that_was_cancelled() {
    let offer = Arc::new(Talkative::default());
    let mut client = Other::new(offer.clone(), || LONG);
    let begin = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
    client.ask(1, "initialize", begin).await;
    let stateless = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "progressToken": 7,
    });
    for meta in [json!({"progressToken": 7}), stateless] {
        let params = json!({"_meta": meta});
        client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "speak", "params": params})).await;
        let params = json!({"requestId": 2});
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        timeout(LONG, offer.spoken.notified()).await.unwrap();
        assert_eq!(client.ask(3, "ping", json!({})).await["result"], json!({}));
    }
}

/// The form is still shown when the request it was for is wanted no more.
#[tokio::test]
async fn a_form_is_taken_back_when_its_request_is_cancelled() {
    let mut client = Other::new(Arc::default(), || LONG);
    let begin = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
    client.ask(1, "initialize", begin).await;
    let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "ask until cancelled", "params": {}});
    client.send(ask).await;
    let form = client.next().await;
    assert_eq!(form["method"], "elicitation/create", "{form}");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 2}});
    client.send(cancel).await;
    let taken_back = client.next().await;
    assert_eq!(taken_back["method"], "notifications/cancelled", "{taken_back}");
    assert_eq!(taken_back["params"]["requestId"], form["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_as_long_as_configuration_says_when_it_begins_to() {
    let seconds = Arc::new(AtomicU64::new(3_600));
    let read = seconds.clone();
    let time = move || Duration::from_secs(read.load(Ordering::Relaxed));
    let mut client = Other::new(Arc::default(), time);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let asked = json!({"_meta": meta});
    let long = client.ask(1, "ask", asked.clone()).await["result"]["requestState"].clone();
    seconds.store(1, Ordering::Relaxed);
    let short = client.ask(2, "ask", asked).await["result"]["requestState"].clone();
    sleep(Duration::from_mins(5)).await;
    let answers = json!({"form": {"action": "decline"}});
    let back =
        |state: Value| json!({"_meta": meta, "requestState": state, "inputResponses": answers});
    assert_eq!(client.ask(3, "ask", back(short)).await["error"]["code"], -32602);
    let answered = client.ask(4, "ask", back(long)).await;
    assert_eq!(answered["result"]["answers"], answers, "{answered}");
}
