//! The only file of these tests that knows how to start a server.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use server::{
    Events, NewSecret, Parts, Reload, Server,
    mcp::{InWords, Tools},
};
use store::{Filter, NewToken, Status, TokenKind};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use toolgate::{Clock as _, Gate, Role};
use world::SystemClock;

use crate::{fixture::Fixture, forward::forward, tools};

/// Longer than anything takes, also on a machine that does much else.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Nobody is asked about these tools.
const WORDS: InWords =
    InWords { question: |question| question.request.tool.clone(), scope: str::to_owned };

/// A server, and whoever signs its clients in.
pub(crate) struct Site {
    gate: Gate,
    pub(crate) offer: Arc<Fixture>,
    token: String,
    server: SocketAddr,
    /// Where clients go.
    forwarder: SocketAddr,
    _tasks: JoinSet<()>,
    _folder: TempDir,
}

impl Site {
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let forwarder = listener.local_addr().unwrap();
        let (gate, offer, parts) = parts(&folder, forwarder);
        let token = token(&gate).await;
        let server = Server::bind(parts, "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = server.address();
        let mut tasks = JoinSet::new();
        tasks.spawn(server.run(CancellationToken::new()));
        tasks.spawn(forward(listener, address, token.clone()));
        Self { gate, offer, token, server: address, forwarder, _tasks: tasks, _folder: folder }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.forwarder)
    }

    /// Waits until no request waits for its client: those that the suite never came back to end by themselves.
    pub(crate) async fn settled(&self) {
        let settled = async {
            while !self.metrics().await.contains("\ntoolgate_mcp_waiting 0\n") {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let settled = tokio::time::timeout(PATIENCE, settled).await;
        assert!(settled.is_ok(), "requests are left waiting");
    }

    /// Every call of the suite stands in the journal, and the journal is whole.
    pub(crate) fn recorded(&self) {
        let journal = self.gate.journal();
        let verified = journal.verify(None).unwrap();
        assert!(verified.ok, "{verified:?}");
        let entries = journal.entries(&Filter { limit: 10_000, ..Filter::default() }).unwrap();
        assert!(entries.len() > 10 && entries.len() == self.offer.calls(), "{}", entries.len());
        for entry in entries {
            assert_eq!(entry.channel.as_deref(), Some("mcp"), "{entry:?}");
            assert!(!matches!(entry.status, Status::Running), "{entry:?}");
        }
    }

    async fn metrics(&self) -> String {
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            self.server, self.token
        );
        let mut stream = TcpStream::connect(self.server).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

/// A gate with the tools of the suite, and a server before it that clients reach through `forwarder`.
fn parts(folder: &TempDir, forwarder: SocketAddr) -> (Gate, Arc<Fixture>, Parts) {
    let port = forwarder.port();
    // The suite asks for the forwarder, and the server is to know that name and no other. What the suite
    // never comes back to waits no longer than a person is waited for.
    let text = format!(
        "server.hosts = [\"127.0.0.1:{port}\", \"localhost:{port}\"]\n\
         limits.approval_timeout = \"20s\"\n"
    );
    let config = config::parse(&text, "toolgate.toml").unwrap();
    let events = Events::new(Arc::new(SystemClock), WORDS);
    std::fs::create_dir(folder.path().join("ws")).unwrap();
    let gate = Gate::builder()
        .config(config.clone())
        .data(folder.path().join("data"))
        .workspace(folder.path().join("ws"))
        .approver(events.clone())
        .observer(events.clone())
        .tools(tools::all())
        .build()
        .unwrap();
    let again = gate.clone();
    let reload = move || again.reload(config.clone()).map_err(|error| error.to_string());
    let inner = gate.inner().clone();
    let offer = Arc::new(Fixture::new(inner.clone(), Tools::new(inner.clone(), events.clone())));
    let parts = Parts {
        offer: offer.clone(),
        gate: inner,
        agents: gate.agents().clone(),
        reload: Reload(Arc::new(reload)),
        world: gate.world().clone(),
        runner: gate.runner().clone(),
        events,
    };
    (gate, offer, parts)
}

/// A token of the owner's.
async fn token(gate: &Gate) -> String {
    let secret = NewSecret::token().unwrap();
    let now = SystemClock.now();
    let new = NewToken {
        kind: TokenKind::Api,
        name: "suite".to_owned(),
        user: "owner".to_owned(),
        role: Role::Owner,
        agents: None,
        scopes: None,
        expires_at: None,
    };
    let db = gate.db().await.unwrap();
    if db.user("owner").await.unwrap().is_none() {
        db.add_user("owner", "owner", now).await.unwrap();
    }
    db.add_token(new, &secret.hash(), now).await.unwrap();
    secret.reveal().to_owned()
}
