//! The only file of these tests that knows how to start a server.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use config::Config;
use serde_json::Value;
use server::{
    Events, NewSecret, Parts, Reload, Server,
    mcp::{InWords, Tools},
};
use store::{NewToken, Scope, TokenKind};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tool::Role;
use toolgate::{Clock, Gate, builtin};

use crate::{
    client::{Answer, Request, send},
    tools::{Ring, Talk},
};

/// Longer than anything takes, also on a machine that does much else.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Questions in words that tests can compare.
const WORDS: InWords = InWords {
    question: |question| format!("{} wants {}", question.request.agent, question.request.tool),
    scope: str::to_owned,
};

/// A clock that goes on only when it is told to.
#[derive(Debug)]
pub(crate) struct Stopped(Mutex<SystemTime>);

impl Clock for Stopped {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}

/// A server with a workspace that holds `hello.txt`, and the owner's token.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) owner: String,
    pub(crate) gate: Gate,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: Option<JoinHandle<()>>,
    clock: Arc<Stopped>,
    config: String,
    folder: Arc<TempDir>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::with("").await
    }

    /// With a configuration.
    pub(crate) async fn with(config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::write(folder.path().join("ws/hello.txt"), "hello\nworld\n").unwrap();
        let noon = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 50);
        let clock = Arc::new(Stopped(Mutex::new(noon)));
        let mut site = Self::start(Arc::new(folder), clock, config.to_owned()).await;
        site.owner = site.token(Who::OWNER).await;
        site
    }

    /// Ends the server, and starts another one with what it left behind.
    pub(crate) async fn restart(mut self) -> Self {
        self.shutdown.cancel();
        let serving = self.serving.take().unwrap();
        tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap();
        let (folder, clock) = (self.folder.clone(), self.clock.clone());
        let (config, owner) = (self.config.clone(), self.owner.clone());
        let writer = self.gate.journal().writer_id().to_owned();
        drop(self);
        // Tasks of the old server may still be ending, and would keep it from being taken for dead.
        let look = store::Journal::open(&folder.path().join("data"), clock.clone()).unwrap();
        let end = tokio::time::Instant::now() + PATIENCE;
        while look.is_alive(&writer).unwrap() {
            assert!(tokio::time::Instant::now() < end, "the old server does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(look);
        let mut site = Self::start(folder, clock, config).await;
        site.owner = owner;
        site
    }

    async fn start(folder: Arc<TempDir>, clock: Arc<Stopped>, text: String) -> Self {
        let events = Events::new(clock.clone(), WORDS);
        let config = config::parse(&text, "toolgate.toml").unwrap();
        add_named_users(&folder.path().join("data"), &config, clock.now()).await;
        let gate = Gate::builder()
            .config(config.clone())
            .data(folder.path().join("data"))
            .workspace(folder.path().join("ws"))
            .clock(clock.clone())
            .approver(events.clone())
            .observer(events.clone())
            .tools(builtin())
            .tool::<Ring>()
            .tool::<Talk>()
            .build()
            .unwrap();
        let again = gate.clone();
        let reload = move || again.reload(config.clone()).map_err(|error| error.to_string());
        let offer = Tools::new(gate.inner().clone(), events.clone());
        let parts = Parts {
            offer,
            gate: gate.inner().clone(),
            agents: gate.agents().clone(),
            reload: Reload(Arc::new(reload)),
            world: gate.world().clone(),
            runner: gate.runner().clone(),
            events,
        };
        let server = Server::bind(parts, "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, shutdown) = (server.address(), CancellationToken::new());
        let serving = Some(tokio::spawn(server.run(shutdown.clone())));
        let (owner, config) = (String::new(), text);
        Self { address, owner, gate, shutdown, serving, clock, config, folder }
    }

    /// A new token.
    pub(crate) async fn token(&self, who: Who) -> String {
        let Who { user, role, agents, scopes, lasts } = who;
        let secret = NewSecret::token().unwrap();
        let now = self.clock.now();
        let new = NewToken {
            kind: TokenKind::Api,
            name: "test".to_owned(),
            user: user.to_owned(),
            role,
            agents: agents.map(|agents| agents.iter().map(|&agent| agent.to_owned()).collect()),
            scopes: scopes.map(<[Scope]>::to_vec),
            expires_at: lasts.map(|lasts| now + lasts),
        };
        let db = self.gate.db().await.unwrap();
        if db.user(user).await.unwrap().is_none() {
            db.add_user(user, user, now).await.unwrap();
        }
        db.add_token(new, &secret.hash(), now).await.unwrap();
        secret.reveal().to_owned()
    }

    /// The store, as another process sees it.
    pub(crate) async fn another_db(&self) -> store::Db {
        store::Db::open(&self.folder.path().join("data")).await.unwrap()
    }

    /// The secret of a new sign-in link.
    pub(crate) async fn link(&self) -> String {
        let secret = NewSecret::link().unwrap();
        let expires = self.clock.now() + Duration::from_mins(10);
        self.gate.db().await.unwrap().add_link(&secret.hash(), expires).await.unwrap();
        secret.reveal().to_owned()
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        *self.clock.0.lock().unwrap() += time;
    }

    /// Sets the clock back.
    pub(crate) fn set_back(&self, time: Duration) {
        *self.clock.0.lock().unwrap() -= time;
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("ws").join(name)
    }

    /// A request of the owner's.
    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        self.request_as(&self.owner, method, path)
    }

    /// A request of whoever has the token.
    pub(crate) fn request_as(&self, token: &str, method: &str, path: &str) -> Request {
        self.anonymous(method, path).header("authorization", &format!("Bearer {token}"))
    }

    /// A request of nobody.
    pub(crate) fn anonymous(&self, method: &str, path: &str) -> Request {
        Request::new(self.address, method, path)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.request("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        send(self.request("POST", path).json(&body)).await
    }

    /// Starts a call that asks, and gives it with the question it asks.
    pub(crate) async fn start_asking(&self, token: &str) -> (JoinHandle<Answer>, Value) {
        let request = self.request_as(token, "POST", "/v1/tools/ring").json(&serde_json::json!({}));
        let call = tokio::spawn(send(request));
        let mut question = None;
        until("a call asks", async || {
            let list = self.get("/v1/approvals").await.json();
            question = list["approvals"].get(0).cloned();
            question.is_some()
        })
        .await;
        (call, question.unwrap())
    }

    /// The journal, oldest first.
    pub(crate) fn entries(&self) -> Vec<store::Entry> {
        let mut entries = self.gate.journal().entries(&store::Filter::default()).unwrap();
        entries.reverse();
        entries
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

/// Whose token.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    pub(crate) user: &'static str,
    pub(crate) role: Role,
    pub(crate) agents: Option<&'static [&'static str]>,
    pub(crate) scopes: Option<&'static [Scope]>,
    pub(crate) lasts: Option<Duration>,
}

impl Who {
    pub(crate) const OWNER: Self =
        Self { user: "owner", role: Role::Owner, agents: None, scopes: None, lasts: None };

    pub(crate) const fn member(user: &'static str) -> Self {
        Self { user, role: Role::Member, agents: None, scopes: None, lasts: None }
    }
}

/// Waits until `holds`.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Adds the users that `config` names: a configuration that names somebody unknown is refused.
async fn add_named_users(data: &Path, config: &Config, now: SystemTime) {
    let approvers = config.tools.approvers.iter().map(|named| &named.value);
    let named: Vec<_> = approvers.chain(config.users.keys()).filter(|id| *id != "owner").collect();
    if named.is_empty() {
        return;
    }
    let db = store::Db::open(data).await.unwrap();
    for id in named {
        if db.user(id).await.unwrap().is_none() {
            db.add_user(id, id, now).await.unwrap();
        }
    }
}
