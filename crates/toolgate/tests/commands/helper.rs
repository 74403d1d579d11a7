//! The only file of these tests that knows how to build a gate.

use std::{
    collections::BTreeMap,
    fs,
    future::Future,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use store::{Permission, PermissionState};
use tempfile::TempDir;
use toolgate::{
    Approver, BoxFuture, CallId, Caller, Capability, Gate, GateBuilder, Question, Reply, Request,
    UpdateSink, Updates, builtin,
};

/// Longer than anything takes, also on a machine that does much else.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Says that the command runs. Of what is streamed the last two words wait for more.
pub(crate) const STARTED: &str = "echo started it has";

/// Nobody is asked.
pub(crate) const AUTO: &str = "[tools]\nask = \"auto\"\n";

/// A gate before a fresh workspace.
pub(crate) struct Setup {
    pub(crate) gate: Gate,
    pub(crate) caller: Caller,
    folder: TempDir,
}

impl Setup {
    pub(crate) async fn new() -> Self {
        Self::with(AUTO).await
    }

    /// Somebody is there, who answers as another process would.
    pub(crate) async fn asking(config: &str) -> Self {
        Self::built(config, |gate| gate.approver(Arc::new(Silent))).await
    }

    /// In the configuration, `BESIDE` is the folder beside the workspace.
    pub(crate) async fn with(config: &str) -> Self {
        Self::built(config, |builder| builder).await
    }

    pub(crate) async fn built(config: &str, more: impl FnOnce(GateBuilder) -> GateBuilder) -> Self {
        // Not in `/tmp`, which is another one inside.
        let folder = tempfile::Builder::new().prefix("commands-test-").tempdir_in("/var/tmp");
        let folder = folder.unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        let config = config.replace("BESIDE", &folder.path().display().to_string());
        let gate = Gate::builder()
            .config(config::parse(&config, "toolgate.toml").unwrap())
            .data(folder.path().join("data"))
            .workspace(folder.path().join("ws"))
            .tools(builtin());
        let gate = more(gate).build();
        let setup = Self { gate: gate.unwrap(), caller: Caller::owner("main"), folder };
        setup.agent("main").await;
        setup
    }

    /// An agent of the owner's that may run commands.
    pub(crate) async fn agent(&self, name: &str) -> Caller {
        let caller = Caller { session: name.into(), ..Caller::owner(name) };
        let granted = Permission {
            user: caller.user.to_string(),
            agent: name.to_owned(),
            capability: Capability::Exec,
            state: PermissionState::Granted,
            by: "ada".to_owned(),
            at: SystemTime::UNIX_EPOCH,
        };
        self.gate.db().await.unwrap().set_permission(granted).await.unwrap();
        caller
    }

    /// Something beside the workspace.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// A file in the temp folder of a caller's session, which is `/tmp` to commands.
    pub(crate) fn temp(&self, caller: &Caller, name: &str) -> PathBuf {
        self.gate.world().temp_folder(caller).unwrap().join(name)
    }

    /// The outcome of a call.
    pub(crate) async fn call(&self, name: &str, args: Value) -> Value {
        self.call_as(&self.caller, name, args).await
    }

    pub(crate) async fn call_as(&self, caller: &Caller, name: &str, args: Value) -> Value {
        let called = self.gate.call(caller, name, args);
        let outcome = tokio::time::timeout(PATIENCE, called).await.unwrap();
        serde_json::to_value(outcome).unwrap()
    }

    /// The outcome of a command.
    pub(crate) async fn sh(&self, command: &str) -> Value {
        self.call("exec", json!({"command": command})).await
    }

    /// What a command that succeeds prints.
    pub(crate) async fn printed(&self, command: &str) -> String {
        let outcome = self.sh(command).await;
        assert_eq!(outcome["result"]["exitCode"], 0, "`{command}`: {outcome}");
        outcome["result"]["stdout"].as_str().unwrap().to_owned()
    }

    /// Takes back what the call with this outcome changed, and gives the outcome of that.
    pub(crate) async fn undo(&self, outcome: &Value) -> Value {
        let undone = self.gate.undo(&self.caller, id(outcome)).await;
        serde_json::to_value(undone).unwrap()
    }

    /// Starts a command, and comes back when it has done [`STARTED`].
    pub(crate) async fn begin(&self, caller: &Caller, args: Value) -> Begun {
        let heard = Arc::new(Heard::default());
        let mut request = Request::new("exec", args);
        request.updates = Updates::to(heard.clone());
        let (gate, caller) = (self.gate.clone(), caller.clone());
        let call =
            tokio::spawn(
                async move { serde_json::to_value(gate.run(&caller, request).await).unwrap() },
            );
        until("the command has started", || {
            assert!(!call.is_finished(), "it ended before it started");
            heard.0.lock().unwrap().contains("started")
        })
        .await;
        Begun(call)
    }
}

/// Is there, and says nothing.
#[derive(Debug)]
struct Silent;

impl Approver for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(std::future::pending())
    }
}

/// A call that runs.
pub(crate) struct Begun(tokio::task::JoinHandle<Value>);

impl Begun {
    pub(crate) async fn outcome(self) -> Value {
        tokio::time::timeout(PATIENCE, self.0).await.unwrap().unwrap()
    }

    /// Nobody waits for it any more.
    pub(crate) fn drop_it(self) {
        self.0.abort();
    }
}

#[derive(Debug, Default)]
struct Heard(Mutex<String>);

impl UpdateSink for Heard {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        self.0.lock().unwrap().push_str(text);
        Box::pin(std::future::ready(()))
    }
}

/// The id of the call with this outcome.
pub(crate) fn id(outcome: &Value) -> CallId {
    outcome["meta"]["call_id"].as_str().unwrap().parse().unwrap()
}

/// The error in one line, or that there is none.
pub(crate) fn error(outcome: &Value) -> String {
    match (&outcome["error_type"], &outcome["message"]) {
        (Value::String(kind), Value::String(message)) => format!("{kind}: {message}"),
        _ => format!("no error: {outcome}"),
    }
}

/// A trial from a future.
pub(crate) fn trial<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || {
        block_on(test());
        Ok(())
    })
}

/// A trial from a function.
pub(crate) fn plain(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(future)
}

/// Waits until `holds`.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a program is there; if not, says so where somebody reads it.
pub(crate) fn has(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    if !there {
        println!("skipped: there is no `{program}` on this machine");
    }
    there
}

/// How many, unless the environment asks for another number.
pub(crate) fn count(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Everything beneath a folder: path, and kind, mode and content.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    grow(folder, folder, &mut found);
    found
}

fn grow(top: &Path, path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let known = fs::symlink_metadata(path).unwrap();
    let mode = known.permissions().mode() & 0o7777;
    let what = if known.is_symlink() {
        format!("link to {}", fs::read_link(path).unwrap().display())
    } else if known.is_dir() {
        format!("folder {mode:o}")
    } else if known.is_file() {
        format!("file {mode:o} {:?}", String::from_utf8_lossy(&fs::read(path).unwrap()))
    } else {
        format!("special {:o}", known.mode())
    };
    found.insert(path.strip_prefix(top).unwrap().to_owned(), what);
    if known.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            grow(top, &entry.unwrap().path(), found);
        }
    }
}
