//! What is left when everybody is gone.

use std::{collections::BTreeMap, fs, sync::Arc};

use serde_json::{Value, json};

use crate::{
    client,
    helper::{PATIENCE, Site, until},
    reload::STAYS,
};

/// Open files that may stay: connections to the database, and processes that wait for a command.
const KEPT_FILES: usize = 16;
/// Processes that wait for a command, beyond those at the start.
const KEPT_CHILDREN: usize = 8;
/// Sessions of MCP clients that three users may have.
const MOST_SESSIONS: u64 = 3 * 64;
/// The tool of which nobody knows whether the call was made.
const PERHAPS: &str = "grep";

/// So many warnings are shown.
const WARNINGS: usize = 5;
/// What the journal calls a configuration file that was taken over.
const RELOAD: &str = "reload";
/// One that was not.
const BROKEN: &str = "reload, refused";

/// What a process holds.
#[derive(Debug)]
pub(crate) struct Figures {
    files: usize,
    children: Vec<u32>,
}

impl Figures {
    /// After something of everything was done: what is made when it is first needed stays.
    pub(crate) async fn of(site: &Arc<Site>) -> Self {
        for _ in 0..3 {
            site.made("exec");
            let request = site.request_as(&site.owner, "POST", "/v1/tools/exec");
            let ran = client::send(request.json(&json!({"command": "true"}))).await;
            assert_eq!(ran.status, 200, "{ran:?}");
        }
        Self::now(site.id())
    }

    fn now(process: u32) -> Self {
        let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
        Self { files, children: below(process) }
    }
}

/// The processes below one.
fn below(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")));
    let children: Vec<u32> = lists
        .filter_map(Result::ok)
        .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
        .collect();
    let deeper: Vec<_> = children.iter().flat_map(|child| below(*child)).collect();
    [children, deeper].concat()
}

/// Waits until nothing is left of what went on.
pub(crate) async fn is_calm(site: &Arc<Site>, start: &Figures) {
    // Questions that nobody came back with end with the token of who asked.
    let token = format!("/v1/tokens/{}", site.leaving);
    let revoked = client::send(site.request_as(&site.owner, "DELETE", &token)).await;
    assert_eq!(revoked.status, 200, "{revoked:?}");
    for (name, most) in [
        ("toolgate_ws_connections", 0),
        // The one that asks.
        ("toolgate_http_connections", 1),
        ("toolgate_calls_running", 0),
        ("toolgate_calls_waiting", 0),
        ("toolgate_sandbox_running", 0),
        ("toolgate_processes", 0),
        ("toolgate_runs_open", 0),
        ("toolgate_mcp_waiting", 0),
        ("toolgate_approvals_open", 0),
        // Those who left without a word have as many as they may.
        ("toolgate_mcp_sessions", MOST_SESSIONS),
        ("toolgate_connections_refused_total", 0),
    ] {
        until(&format!("{name} is {most}"), async || site.metric(name).await <= most).await;
    }
    let most = start.files + KEPT_FILES;
    until("open files are as at the start", async || Figures::now(site.id()).files <= most).await;
    let most = start.children.len() + KEPT_CHILDREN;
    until("no process is left", async || below(site.id()).len() <= most).await;
    let end = Figures::now(site.id());
    eprintln!(
        "at the start {} files and {} processes, at the end {} and {}; {} sessions of MCP clients",
        start.files,
        start.children.len(),
        end.files,
        end.children.len(),
        site.metric("toolgate_mcp_sessions").await,
    );
}

/// It ends as it should, and the journal has everything.
pub(crate) async fn is_in_order(site: Arc<Site>) {
    ends(&site).await;
    let (told, broken) = {
        let file = site.file.lock().await;
        (file.told(), file.broken)
    };
    has_logged(&site.whole_log(), broken);
    eprint!("{}", site.run(&["audit", "verify"]));
    let (mut found, mut made) = (in_journal(&site), BTreeMap::<String, u64>::new());
    for (tool, count) in site.calls() {
        *made.entry(plain(&tool)).or_default() += count;
    }
    eprintln!("the journal has {found:?}");
    let [perhaps, at_most] = [&mut found, &mut made].map(|all| all.remove(PERHAPS).unwrap_or(0));
    assert!(perhaps <= at_most, "{perhaps} calls of {PERHAPS}, of {at_most}");
    let [reloads, refused] = [RELOAD, BROKEN].map(|name| found.remove(name).unwrap_or(0));
    assert!(told.contains(&reloads), "{reloads} files were taken over, and not {told:?}");
    assert_eq!(refused, broken as u64, "files that were not taken over");
    assert_eq!(found, made, "what the journal has, and what was called");
}

/// The process ends when it is told to, and with it all it has started.
async fn ends(site: &Arc<Site>) {
    let children = below(site.id());
    let ending = site.clone();
    let ended = tokio::task::spawn_blocking(move || ending.terminate());
    let ended = tokio::time::timeout(PATIENCE, ended).await.expect("it ends").unwrap();
    assert!(ended.success(), "{ended:?}\n{}", site.log());
    until("processes end with it", async || {
        children.iter().all(|child| fs::metadata(format!("/proc/{child}")).is_err())
    })
    .await;
}

/// No errors but those of files that were broken on purpose, and nothing that was not written down.
fn has_logged(log: &str, broken: usize) {
    for bad in ["panicked at", "lines of the log were lost"] {
        let found: Vec<_> = log.lines().filter(|line| line.contains(bad)).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
    let errors: Vec<_> = log.lines().filter(|line| line.contains(" ERROR ")).collect();
    let unasked: Vec<_> = errors.iter().filter(|line| !line.contains(STAYS)).collect();
    assert!(unasked.is_empty(), "{unasked:#?}");
    assert_eq!(errors.len(), broken, "files that were not taken over");
    let warnings: Vec<_> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    eprintln!("{broken} broken files were noticed; {} lines of the log warn", warnings.len());
    for line in warnings.iter().take(WARNINGS) {
        eprintln!("{line}");
    }
}

/// What no call may end with: nothing here takes long, fails by itself or is killed.
const NEVER: [&str; 4] = ["internal_error", "timeout", "interrupted", "network_error"];

/// How many calls of each tool the journal has; none is still under way, and none failed by itself.
fn in_journal(site: &Site) -> BTreeMap<String, u64> {
    let all = site.run(&["history", "--limit", "10000000", "--json"]);
    let all: Vec<Value> = serde_json::from_str(&all).unwrap();
    let (mut found, mut errors) = (BTreeMap::new(), BTreeMap::<String, u64>::new());
    for entry in &all {
        let (tool, status) = (entry["tool_name"].as_str().unwrap(), &entry["status"]);
        assert_ne!(status, "running", "{entry}");
        if let Some(kind) = entry["error_type"].as_str() {
            assert!(!NEVER.contains(&kind), "{entry}");
            *errors.entry(format!("{} {kind}", plain(tool))).or_default() += 1;
        }
        let name = if tool == RELOAD && status == "error" { BROKEN } else { tool };
        *found.entry(plain(name)).or_default() += 1;
    }
    eprintln!("what calls were refused or failed with: {errors:?}");
    found
}

/// One name for all that are unknown.
fn plain(tool: &str) -> String {
    if tool.starts_with("unknown_") { "unknown".to_owned() } else { tool.to_owned() }
}
