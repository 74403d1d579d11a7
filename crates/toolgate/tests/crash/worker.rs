//! What the processes do that are killed.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;
use toolgate::{Caller, Gate, Request, Tool, ToolContext, ToolResult, Updates, builtin};

/// The environment variable that makes a worker of this test program.
pub(crate) const JOB: &str = "TOOLGATE_TEST_CRASH_JOB";

/// The files each patch changes together.
pub(crate) const NAMES: [&str; 3] = ["a.txt", "b.txt", "c.txt"];

/// What a worker is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) root: PathBuf,
    pub(crate) role: String,
    pub(crate) first: usize,
}

impl Job {
    /// The two write to one data folder, but not to the same files.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.join(if self.role == "second" { "ws-second" } else { "ws" })
    }
}

/// Never end.
#[derive(Deserialize, JsonSchema)]
struct Hang {}

impl Tool for Hang {
    const NAME: &'static str = "hang";

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        // The last words are held back until it is certain that no secret begins in them.
        ctx.update(&format!("{} hangs for ever and ever", ctx.call())).await;
        std::future::pending().await
    }
}

#[derive(Debug)]
struct Announce;

static HANGS: Notify = Notify::const_new();
static STOP: AtomicBool = AtomicBool::new(false);

impl toolgate::UpdateSink for Announce {
    fn send<'a>(&'a self, text: &'a str) -> toolgate::BoxFuture<'a, ()> {
        say(text);
        HANGS.notify_one();
        Box::pin(std::future::ready(()))
    }
}

/// Does nothing in an ordinary test run; with a job, makes calls until it is killed or told to stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn makes_calls() {
    let Some(job) = config::environment(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    let gate = Gate::builder()
        .data(job.root.join("data"))
        .workspace(job.workspace())
        .tools(builtin())
        .tool::<Hang>()
        .build()
        .unwrap();
    let caller = Caller::owner("main");
    if job.role == "second" {
        let (gate, caller) = (gate.clone(), caller.clone());
        let mut request = Request::new("hang", json!({}));
        request.updates = Updates::to(std::sync::Arc::new(Announce));
        tokio::spawn(async move { gate.run(&caller, request).await });
        HANGS.notified().await;
    }
    // Standard input closes when the parent has seen enough.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        STOP.store(true, Ordering::SeqCst);
    });
    for number in job.first.. {
        if STOP.load(Ordering::SeqCst) {
            break;
        }
        let (file, request) = request(&job.workspace(), &job.role, number);
        let outcome = gate.run(&caller, request).await;
        assert_eq!(outcome.status(), "success", "{outcome:?}");
        say(&format!("{} {file}", outcome.meta().call_id));
    }
}

/// Half of the calls patch three files together, half write one.
fn request(workspace: &Path, role: &str, number: usize) -> (String, Request) {
    if number.is_multiple_of(2) {
        let file = format!("{role}-{number}.txt");
        let args = json!({"path": file, "content": format!("{number}\n")});
        return (file, Request::new("write", args));
    }
    let folder = format!("{role}-{number}");
    fs::create_dir(workspace.join(&folder)).unwrap();
    for name in NAMES {
        fs::write(workspace.join(&folder).join(name), "old\n").unwrap();
    }
    let updates = NAMES.map(|name| format!("*** Update File: {folder}/{name}\n@@\n-old\n+new\n"));
    let input = format!("*** Begin Patch\n{}*** End Patch\n", updates.concat());
    (folder, Request::new("apply_patch", json!({"input": input})))
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "answered {text}").unwrap();
    out.flush().unwrap();
}
