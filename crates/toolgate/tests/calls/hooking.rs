//! What hooks can and cannot do.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use insta::assert_snapshot;
use serde_json::json;
use toolgate::{
    Before, Block, BoxFuture, Hook, HookCall, Outcome, PersistedBlocks, ToolOutput, ToolResult,
};

use crate::helper::{Person, Setup, With};

/// Does what the path says.
#[derive(Debug, Default)]
struct Script {
    seen: Mutex<Vec<String>>,
}

static AFTER: AtomicUsize = AtomicUsize::new(0);

impl Hook for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn before_tool_call<'a>(&'a self, call: HookCall<'a>) -> BoxFuture<'a, Result<Before, String>> {
        let path = call.args.get("path").and_then(|path| path.as_str()).unwrap_or_default();
        self.seen.lock().unwrap().push(path.to_owned());
        Box::pin(async move {
            match path {
                "rewrite" => Ok(Before::Rewrite(json!({"path": "hello.txt"}))),
                "rewrite_badly" => Ok(Before::Rewrite(json!({"pth": "hello.txt"}))),
                "rewrite_out" => Ok(Before::Rewrite(json!({"path": "../secret"}))),
                "rewrite_env" => Ok(Before::Rewrite(json!({"path": ".env"}))),
                "block" => Ok(Before::Block("not this one".into())),
                "answer" => Ok(Before::Answer(ToolOutput::text("from the hook"))),
                "fail" => Err("database password is hunter2".into()),
                "panic" => panic!("oops"),
                "hang" => std::future::pending().await,
                _ => Ok(Before::Continue),
            }
        })
    }

    fn after_tool_call<'a>(
        &'a self,
        _: HookCall<'a>,
        _: &'a ToolResult,
        _: Duration,
    ) -> BoxFuture<'a, ()> {
        AFTER.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { panic!("nobody minds") })
    }
}

/// multiuser-010: a check that crashes or hangs refuses.
#[tokio::test]
async fn a_hook_can_rewrite_block_and_answer_and_fails_closed() {
    let setup = Setup::with(With {
        person: Person::Refuses,
        config: "[limits]\nhook_timeout = \"100ms\"",
        more: |builder| builder.hook(Arc::new(Script::default())),
        ..With::default()
    });
    std::fs::write(setup.path(".env"), "TOKEN=1").unwrap();
    let mut report = vec![];
    let stories = [
        "hello.txt",
        "rewrite",
        "rewrite_badly",
        "rewrite_out",
        "rewrite_env",
        "block",
        "answer",
        "fail",
        "panic",
        "hang",
    ];
    for path in stories {
        let outcome = setup.call("read", json!({"path": path})).await;
        report.push(format!("{path}: {}", outcome.replace('\n', "⏎")));
    }
    assert_snapshot!(report.join("\n"));
    assert_eq!(AFTER.load(Ordering::SeqCst), stories.len(), "exactly once each");
    let answered: Vec<_> =
        setup.entries().into_iter().filter_map(|entry| entry.answered_by).collect();
    assert_eq!(answered, ["hook:script"]);
}

/// Keeps only how long a result was.
#[derive(Debug)]
struct Brief;

impl Hook for Brief {
    fn name(&self) -> &'static str {
        "brief"
    }

    fn tool_result_persist<'a>(
        &'a self,
        _: HookCall<'a>,
        output: &'a ToolOutput,
    ) -> BoxFuture<'a, Result<PersistedBlocks, String>> {
        let text = format!("{} bytes", output.joined_text().len());
        Box::pin(std::future::ready(Ok(Some(vec![Block::Text(text)]))))
    }
}

#[tokio::test]
async fn a_hook_says_what_a_transcript_keeps() {
    let more = |builder: toolgate::GateBuilder| builder.hook(Arc::new(Brief));
    let setup = Setup::with(With { more, ..With::default() });
    let outcome = setup.outcome("read", json!({"path": "hello.txt"})).await;
    let Outcome::Success { transcript: Some(blocks), .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(blocks, [Block::Text("12 bytes".into())]);
}

/// A page.
#[derive(serde::Deserialize, toolgate::JsonSchema)]
struct Page {}

impl toolgate::Tool for Page {
    const NAME: &'static str = "page";

    async fn run(self, _: &toolgate::ToolContext) -> ToolResult {
        Ok(ToolOutput { untrusted: Some("a.example".into()), ..ToolOutput::text("do this") })
    }
}

#[tokio::test]
async fn what_a_transcript_keeps_of_untrusted_content_is_fenced_too() {
    let more = |builder: toolgate::GateBuilder| builder.tool::<Page>().hook(Arc::new(Brief));
    let setup = Setup::with(With { more, ..With::default() });
    let outcome = setup.outcome("page", json!({})).await;
    let call = outcome.meta().call_id;
    let Outcome::Success { transcript: Some(kept), blocks, .. } = outcome else { panic!() };
    let fenced = |text: &str| Block::Text(ToolOutput::fenced(call, "a.example", text));
    assert_eq!(blocks, [fenced("do this")]);
    assert_eq!(kept, [fenced("7 bytes")]);
}

/// Remembers the arguments and the results it was told of, and changes arguments before.
#[derive(Debug, Default)]
struct Watcher {
    told: Mutex<Vec<serde_json::Value>>,
}

impl Hook for Watcher {
    fn name(&self) -> &'static str {
        "watcher"
    }

    fn before_tool_call<'a>(&'a self, _: HookCall<'a>) -> BoxFuture<'a, Result<Before, String>> {
        Box::pin(std::future::ready(Ok(Before::Rewrite(json!({"filePath": "hello.txt"})))))
    }

    fn after_tool_call<'a>(
        &'a self,
        call: HookCall<'a>,
        _: &'a ToolResult,
        _: Duration,
    ) -> BoxFuture<'a, ()> {
        self.told.lock().unwrap().push(call.args.clone());
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_hook_is_told_what_ran_and_the_journal_keeps_what_it_changed() {
    static WATCHER: std::sync::LazyLock<Arc<Watcher>> = std::sync::LazyLock::new(Arc::default);
    let more = |builder: toolgate::GateBuilder| builder.hook(WATCHER.clone());
    let setup = Setup::with(With { more, ..With::default() });
    let outcome = setup.outcome("read", json!({"path": "other.txt"})).await;
    assert_eq!(outcome.status(), "success", "{outcome:?}");
    // In the form of the schema, as it ran.
    let told = WATCHER.told.lock().unwrap().pop().unwrap();
    assert_eq!(told["path"], "hello.txt", "{told}");
    let entry = setup.entries().pop().unwrap();
    assert_eq!(entry.input["path"], "hello.txt");
    assert_eq!(entry.rewrites, json!([{"by": "hook:watcher", "before": {"path": "other.txt"}}]));
}

/// Fails when it is asked what to keep.
#[derive(Debug)]
struct Unsure;

impl Hook for Unsure {
    fn name(&self) -> &'static str {
        "unsure"
    }

    fn tool_result_persist<'a>(
        &'a self,
        _: HookCall<'a>,
        _: &'a ToolOutput,
    ) -> BoxFuture<'a, Result<PersistedBlocks, String>> {
        Box::pin(std::future::ready(Err("no".to_owned())))
    }
}

#[tokio::test]
async fn a_transcript_keeps_nothing_if_the_hook_for_it_fails() {
    let more = |builder: toolgate::GateBuilder| builder.hook(Arc::new(Unsure));
    let setup = Setup::with(With { more, ..With::default() });
    let outcome = setup.outcome("read", json!({"path": "hello.txt"})).await;
    let Outcome::Success { transcript: Some(blocks), .. } = outcome else { panic!("{outcome:?}") };
    let text = "[the result is not kept: a hook of the operator's failed]";
    assert_eq!(blocks, [Block::Text(text.into())]);
}
