//! The server, the people who use it, and what is counted.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    process::ExitStatus,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use provider::Format;
use scripted::ScriptedModel;
use serde_json::Value;

use crate::{
    client::{Answer, Request, send},
    reload::File,
    script,
    served::Served,
};

/// Longer than anything takes, also on a machine that does much else.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// What every worker may read, and nobody changes.
pub(crate) const SHARED: &str = "shared.txt";
pub(crate) const SHARED_TEXT: &str = "what everybody reads\n";
/// What somebody must agree to that it is read.
pub(crate) const SECRET_TEXT: &str = "NAME=value\n";
/// The one whose question nobody comes back with.
pub(crate) const LEFT: &str = ".env.left";
/// A command that goes on until it is ended. The last words of what it says are held back.
pub(crate) const SLEEPS: &str = "echo it has started and goes on; sleep 600";
/// Beyond those that clients have who do not choose: 127.1.0.1.
const FIRST_ADDRESS: u32 = 0x0001_0001;
/// More than there are workers.
const FILES: u64 = 16;

/// Limits that an hour in five minutes does not reach, and a shell over HTTP.
const CONFIG: &str = r#"
[agents.main]
model = "script/m"
[limits]
rate_per_user = "1000000/min"
open_questions = 1000
open_questions_per_user = 1000
questions_per_minute = 1000000
timeout = "10m"
rates.add_task = "1000000/min"
rates.list_tasks = "1000000/min"
rates.save_note = "1000000/min"
[tools]
profile = "coding"
also_allow = ["save_note", "search_notes", "add_task", "list_tasks", "complete_task", "get_current_time"]
approvers = ["grace"]
[tools.by_channel.http]
also_allow = ["exec"]
"#;

/// Somebody who makes calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) token: String,
}

pub(crate) struct Site {
    served: Mutex<Served>,
    _model: ScriptedModel,
    pub(crate) address: SocketAddr,
    /// The owner's first token, with which everything is managed.
    pub(crate) owner: String,
    pub(crate) callers: Vec<Caller>,
    /// Tokens with which nobody makes calls, only answers.
    pub(crate) approvers: Vec<String>,
    /// Of clients that put questions to their person.
    pub(crate) elicit: Vec<Caller>,
    /// Of one that puts questions, and does not come back.
    pub(crate) leaver: Caller,
    /// The id of that token.
    pub(crate) leaving: String,
    pub(crate) left: AtomicU32,
    /// The configuration file, for one who changes it at a time.
    pub(crate) file: tokio::sync::Mutex<File>,
    addresses: AtomicU32,
    made: Mutex<BTreeMap<String, u64>>,
    sent: Mutex<BTreeMap<&'static str, u64>>,
}

impl Site {
    pub(crate) async fn start() -> Arc<Self> {
        let model = ScriptedModel::answering(script::next).await;
        let config = format!(
            "{CONFIG}[providers.script]\nformat = \"openai\"\nbase_url = \"{}\"\nmodel = \"m\"\nretries = 0\n",
            model.base_url(Format::OpenAi)
        );
        let served = Served::new(&config);
        let run = |args: &[&str]| {
            let done = served.command().args(args).output().unwrap();
            assert!(done.status.success(), "{args:?}: {done:?}");
            String::from_utf8(done.stdout).unwrap()
        };
        let make = |args: &[&str]| -> (String, String) {
            let all = [&["tokens", "add", "--json", "--name", "soak"], args].concat();
            let made: Value = serde_json::from_str(&run(&all)).unwrap();
            let text =
                |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
            (text("token"), text("id"))
        };
        let token = |args: &[&str]| make(args).0;
        for user in ["ada", "bob", "grace"] {
            // `Served::new` has added the approver.
            if user != "grace" {
                run(&["users", "add", user]);
            }
            for capability in ["files", "exec"] {
                run(&["permissions", "grant", capability, "--user", user]);
            }
        }
        run(&["permissions", "grant", "exec"]);
        let elicit = || make(&["--scope", "call", "--scope", "elicit"]);
        let callers = vec![
            Caller { token: token(&[]) },
            Caller { token: token(&["--user", "ada"]) },
            Caller { token: token(&["--user", "ada"]) },
            Caller { token: token(&["--user", "bob"]) },
        ];
        let approvers = vec![token(&[]), token(&["--user", "grace"])];
        let elicits = (0..3).map(|_| Caller { token: elicit().0 }).collect();
        let (leaver, leaving) = elicit();
        let workspace = served.workspace();
        fs::write(workspace.join(SHARED), SHARED_TEXT).unwrap();
        fs::write(workspace.join(LEFT), SECRET_TEXT).unwrap();
        for number in 0..FILES {
            fs::write(workspace.join(format!(".env.w{number}")), SECRET_TEXT).unwrap();
        }
        let site = Self {
            address: served.base.trim_start_matches("http://").parse().unwrap(),
            owner: served.token.clone(),
            file: tokio::sync::Mutex::new(File::new(served.data().join("toolgate.toml"))),
            served: Mutex::new(served),
            _model: model,
            callers,
            approvers,
            elicit: elicits,
            leaver: Caller { token: leaver },
            leaving,
            left: AtomicU32::new(0),
            addresses: AtomicU32::new(FIRST_ADDRESS),
            made: Mutex::default(),
            sent: Mutex::default(),
        };
        Arc::new(site)
    }

    pub(crate) fn id(&self) -> u32 {
        self.served.lock().unwrap().id()
    }

    /// Runs a command of the owner's.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let done = self.served.lock().unwrap().command().args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// What it has logged last.
    pub(crate) fn log(&self) -> String {
        self.served.lock().unwrap().log()
    }

    /// All it has logged.
    pub(crate) fn whole_log(&self) -> String {
        fs::read_to_string(self.served.lock().unwrap().data().join("log")).unwrap()
    }

    /// Asks the process to end, and waits until it has.
    pub(crate) fn terminate(&self) -> ExitStatus {
        self.served.lock().unwrap().terminate()
    }

    pub(crate) fn request_as(&self, token: &str, method: &str, path: &str) -> Request {
        let request = Request::new(self.address, method, path);
        request.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request_as(&self.owner, "GET", path)).await
    }

    /// An address of this machine that nobody has come from yet.
    pub(crate) fn new_address(&self) -> [u8; 4] {
        let [_, high, middle, low] = self.addresses.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        [127, high, middle, low]
    }

    /// Counts a call that is in the journal at the end.
    pub(crate) fn made(&self, tool: &str) {
        *self.made.lock().unwrap().entry(tool.to_owned()).or_default() += 1;
    }

    /// The calls that were made.
    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        self.made.lock().unwrap().clone()
    }

    /// Counts a request, or a message of a socket.
    pub(crate) fn sent(&self, kind: &'static str) {
        *self.sent.lock().unwrap().entry(kind).or_default() += 1;
    }

    /// Says what was counted.
    pub(crate) fn counted(&self) {
        let sent = self.sent.lock().unwrap();
        for (kind, count) in &*sent {
            eprintln!("{count:7} {kind}");
        }
        eprintln!("{:7} requests", sent.values().sum::<u64>());
    }
}

/// Waits until `holds`.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
