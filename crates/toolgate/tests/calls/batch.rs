//! Several calls of one request.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Barrier;
use toolgate::{Effect, Need, Plan, Request, Tool, ToolContext, ToolOutput, ToolResult};

use crate::helper::{Setup, With, line};

/// Meet the others.
#[derive(Deserialize, JsonSchema)]
struct Meet {}

static TOGETHER: std::sync::LazyLock<Barrier> = std::sync::LazyLock::new(|| Barrier::new(3));

impl Tool for Meet {
    const NAME: &'static str = "meet";

    async fn run(self, _: &ToolContext) -> ToolResult {
        // Ends only if all three run at the same time.
        TOGETHER.wait().await;
        Ok(ToolOutput::text("met"))
    }
}

/// Do something alone.
#[derive(Deserialize, JsonSchema)]
struct Alone {
    /// Which one.
    number: usize,
}

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static ORDER: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Tool for Alone {
    const NAME: &'static str = "alone";
    const EFFECTS: &'static [Effect] = &[Effect::Act];

    fn plan(&self) -> Plan {
        [Need::Act("do it".into())].into()
    }

    async fn run(self, _: &ToolContext) -> ToolResult {
        assert_eq!(RUNNING.fetch_add(1, Ordering::SeqCst), 0, "another one runs");
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        ORDER.lock().unwrap().push(self.number);
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        Ok(ToolOutput::text(self.number.to_string()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_that_change_nothing_run_together_and_the_rest_in_order() {
    let more = |builder: toolgate::GateBuilder| builder.tool::<Meet>().tool::<Alone>();
    let setup = Setup::with(With { more, ..With::default() });
    let requests = vec![
        Request::new("meet", json!({})),
        Request::new("meet", json!({})),
        Request::new("meet", json!({})),
        Request::new("alone", json!({"number": 1})),
        Request::new("no_such", json!({})),
        Request::new("alone", json!({"number": 2})),
        Request::new("alone", json!({"number": 3})),
        Request::new("get_current_time", json!({"timezone": "UTC"})),
    ];
    let outcomes = setup.gate.run_all(&setup.caller, requests).await;
    let lines: Vec<_> = outcomes.iter().map(line).collect();
    let expected =
        ["met", "met", "met", "1", "tool_not_available: Tool `no_such` is not available", "2", "3"];
    assert_eq!(lines[..7], expected);
    assert_eq!(*ORDER.lock().unwrap(), [1, 2, 3]);
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.meta().call_id).collect();
    assert!(ids.is_sorted());
}
