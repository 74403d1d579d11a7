//! What each stage is for: the same story told with and without it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::{Permission, PermissionState};
use tokio::sync::Notify;
use toolgate::{
    Before, BoxFuture, Capability, Effect, Hook, HookCall, Info, Need, Outcome, Plan, Rate, Tool,
    ToolContext, ToolOutput, ToolResult,
};

use crate::helper::{Person, Setup, With};

/// Count how often it ran.
#[derive(Deserialize, JsonSchema)]
struct Counter {}

static RUNS: AtomicUsize = AtomicUsize::new(0);

impl Tool for Counter {
    const NAME: &'static str = "counter";
    const INFO: Info = Info { cache: Some(Duration::from_mins(1)), ..Info::DEFAULT };

    async fn run(self, _: &ToolContext) -> ToolResult {
        Ok(ToolOutput::text(RUNS.fetch_add(1, Ordering::SeqCst).to_string()))
    }
}

/// Stay until somebody says go.
#[derive(Deserialize, JsonSchema)]
struct Stay {}

static INSIDE: Notify = Notify::const_new();
static GO: Notify = Notify::const_new();

impl Tool for Stay {
    const NAME: &'static str = "stay";

    async fn run(self, _: &ToolContext) -> ToolResult {
        INSIDE.notify_one();
        GO.notified().await;
        Ok(ToolOutput::text("stayed"))
    }
}

/// Be called seldom.
#[derive(Deserialize, JsonSchema)]
struct Seldom {}

impl Tool for Seldom {
    const NAME: &'static str = "seldom";
    const INFO: Info =
        Info { rate: Some(Rate { calls: 1, per: Duration::from_hours(1) }), ..Info::DEFAULT };

    async fn run(self, _: &ToolContext) -> ToolResult {
        Ok(ToolOutput::text("ran"))
    }
}

/// Ring a bell.
#[derive(Deserialize, JsonSchema)]
struct Ring {}

impl Tool for Ring {
    const NAME: &'static str = "ring";
    const EFFECTS: &'static [Effect] = &[Effect::Act];

    fn plan(&self) -> Plan {
        [Need::Act("ring a bell".into())].into()
    }

    async fn run(self, _: &ToolContext) -> ToolResult {
        Ok(ToolOutput::text("rang"))
    }
}

#[derive(Debug)]
struct NoTime;

impl Hook for NoTime {
    fn name(&self) -> &'static str {
        "no_time"
    }
    fn before_tool_call<'a>(&'a self, call: HookCall<'a>) -> BoxFuture<'a, Result<Before, String>> {
        let blocked = &*call.tool.name == "get_current_time";
        Box::pin(
            async move { Ok(if blocked { Before::Block("no".into()) } else { Before::Continue }) },
        )
    }
}

const CONFIG: &str = "
[tools]
deny = [\"stat\"]
[limits]
calls_per_agent = 1
waiting_per_agent = 0
[limits.timeouts]
hostile = \"100ms\"
";

fn setup(without: Option<&'static str>) -> Setup {
    Setup::with(With {
        person: Person::Agrees,
        config: CONFIG,
        without,
        more: |builder| {
            let builder = builder.tool::<Counter>().tool::<Stay>().tool::<Seldom>();
            builder.tool::<Ring>().hook(Arc::new(NoTime))
        },
    })
}

/// Whether the promise of a stage holds.
#[expect(clippy::cognitive_complexity, reason = "one short story for each stage")]
async fn holds(stage: &str, setup: &Setup) -> bool {
    let status = async |name: &str, args| setup.outcome(name, args).await.status();
    match stage {
        "record" => {
            setup.call("read", json!({"path": "hello.txt"})).await;
            setup.entries().iter().any(|entry| entry.finished.is_some())
        }
        "shape" => {
            let text = "line of text\n".repeat(10_000);
            std::fs::write(setup.path("long.txt"), &text).unwrap();
            let args = json!({"pattern": "line", "limit": 10_000});
            let outcome = setup.outcome("grep", args).await;
            let Outcome::Success { blocks, meta, .. } = outcome else { return false };
            let toolgate::Block::Text(text) = &blocks[0] else { return false };
            text.len() < 52_000 && meta.artifacts.len() == 1
        }
        "redact" => !setup.call("hostile", json!({"how": "secret"})).await.contains("AKIA"),
        "resolve" => {
            status("stat", json!({"path": "hello.txt"})).await == "tool_not_available"
                && status("Read", json!({"path": "hello.txt"})).await == "success"
        }
        "rate" => {
            status("seldom", json!({})).await == "success"
                && status("seldom", json!({})).await == "rate_limited"
        }
        "hooks" => status("get_current_time", json!({})).await == "permission_denied",
        "validate" => status("read", json!({"limit": "x"})).await == "validation_error",
        "permission" => {
            let denied = Permission {
                user: "owner".into(),
                agent: "main".into(),
                capability: Capability::Files,
                state: PermissionState::Denied,
                by: "owner".into(),
                at: std::time::SystemTime::UNIX_EPOCH,
            };
            setup.gate.db().await.unwrap().set_permission(denied).await.unwrap();
            status("read", json!({"path": "hello.txt"})).await == "permission_denied"
        }
        "approve" => status("ring", json!({})).await == "success",
        "reuse" => {
            let first = setup.call("counter", json!({})).await;
            first.parse::<usize>().is_ok() && setup.call("counter", json!({})).await == first
        }
        "slot" => {
            let second = async {
                INSIDE.notified().await;
                let second = status("read", json!({"path": "hello.txt"})).await;
                GO.notify_one();
                second
            };
            let (_, second) = tokio::join!(setup.outcome("stay", json!({})), second);
            second == "rate_limited"
        }
        "deadline" => {
            let call = setup.outcome("hostile", json!({"how": "hang"}));
            if setup.gate.stages().contains(&stage) {
                return call.await.status() == "timeout";
            }
            // Nothing else ends it, however long one waits.
            tokio::time::timeout(Duration::from_millis(500), call).await.is_ok()
        }
        "contain" => status("hostile", json!({"how": "panic"})).await == "execution_error",
        other => panic!("no story about `{other}`; write one"),
    }
}

#[test]
fn stages_run_in_this_order() {
    assert_snapshot!(setup(None).gate.stages().join(" ▸ "), @"record ▸ shape ▸ redact ▸ resolve ▸ rate ▸ hooks ▸ validate ▸ permission ▸ approve ▸ reuse ▸ slot ▸ deadline ▸ contain");
}

#[tokio::test]
async fn each_stage_is_needed() {
    for stage in setup(None).gate.stages() {
        assert!(holds(stage, &setup(None)).await, "`{stage}` does not keep its promise");
        assert!(!holds(stage, &setup(Some(stage))).await, "nobody misses `{stage}`");
    }
}

#[tokio::test]
async fn a_gate_that_forgets_to_approve_runs_nothing() {
    for stage in ["approve", "record", "contain"] {
        let setup = setup(Some(stage));
        let outcome = setup.outcome("read", json!({"path": "hello.txt"})).await;
        assert_eq!(outcome.status(), "permission_denied", "{stage}");
    }
}
