//! The server: what it is made of, and its life.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use agent::Agents;
use services::Runner;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tool::Capabilities as _;
use world::World;

use crate::{
    ServerError,
    api::Table,
    auth::{Failures, TokenCache},
    connection,
    connections::Connections,
    events::Events,
    leaving,
    mcp::{Mcp, Offer},
    per_user::PerUser,
    speaking::Conversations,
    state::{Inner, Reload, State},
};

/// So long after a failure to accept, another attempt is made.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
/// So long cancelled calls may take to tell their clients.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// What a server is made of.
#[derive(Debug)]
pub struct Parts {
    /// Every call passes here. `events` must be one of its approvers and one of its observers.
    pub gate: gate::Gate,
    /// Those who speak to models, through the same gate.
    pub agents: Agents,
    /// For artifacts and the clock.
    pub world: Arc<World>,
    /// For its numbers.
    pub runner: Arc<Runner>,
    /// What the gate tells.
    pub events: Arc<Events>,
    /// What takes over a changed configuration.
    pub reload: Reload,
    /// What MCP clients are offered.
    pub offer: Arc<dyn Offer>,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    state: State,
}

impl Server {
    /// Listens on `listen`, and accepts nobody yet.
    pub async fn bind(parts: Parts, listen: SocketAddr) -> Result<Self, ServerError> {
        let failed = |source: io::Error| {
            if source.kind() == io::ErrorKind::AddrInUse {
                ServerError::InUse(listen)
            } else {
                ServerError::Listen { address: listen, source }
            }
        };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        let Parts { gate, agents, world, runner, events, reload, offer } = parts;
        agents.listen(events.clone());
        let speaking = Arc::new(Conversations::new(gate.clone()));
        agents.bound(speaking.clone());
        let state = Arc::new(Inner {
            gate,
            agents,
            reload,
            runs: CancellationToken::new(),
            clock: world.clock(),
            world,
            runner,
            events,
            tokens: TokenCache::default(),
            failures: Failures::default(),
            connections: Connections::default(),
            held: leaving::Tokens::default(),
            speaking,
            open: PerUser::default(),
            mcp: Mcp::new(offer)?,
            table: Table::default(),
            local,
            started: Instant::now(),
            ending: CancellationToken::new(),
            ended: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        Ok(Self { listener, state })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.state.local
    }

    /// Serves until `shutdown`; then begins nothing new and says so to whoever still comes, lets what runs go
    /// on for a while, cancels the rest, and returns when every call has its outcome.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { listener, state } = self;
        let settle = tokio::spawn(state.events.clone().settle(state.gate.clone()));
        let watch = tokio::spawn(leaving::watch(state.clone()));
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                (stream, peer) = accept(&listener) => {
                    state.tasks.spawn(connection::accept(&state, stream, peer));
                }
            }
        }
        // Nobody waits for these: they go with the listener.
        let mut late = JoinSet::new();
        let mut ending = std::pin::pin!(end(&state));
        loop {
            tokio::select! {
                () = &mut ending => break,
                (stream, peer) = accept(&listener) => {
                    late.spawn(connection::accept(&state, stream, peer));
                }
                Some(_) = late.join_next() => {}
            }
        }
        watch.abort();
        settle.abort();
    }
}

/// The next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                // Out of descriptors, mostly: that passes, and to spin does not help.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
    }
}

async fn end(state: &State) {
    let patience = state.gate.config().server.shutdown_timeout.value;
    tracing::info!(calls = state.events.running.count(), "ending; what runs may go on for a while");
    state.ending.cancel();
    state.tasks.close();
    if tokio::time::timeout(patience, over(state)).await.is_ok() {
        // What goes on by itself begins nothing more.
        state.agents.end();
        let _ = tokio::time::timeout(LAST_WORDS, over(state)).await;
        return;
    }
    stop(state).await;
}

/// Cancels what still runs.
async fn stop(state: &State) {
    tracing::warn!(calls = state.events.running.count(), "cancelling what still runs");
    state.runs.cancel();
    state.agents.end();
    state.events.running.cancel_all();
    if tokio::time::timeout(LAST_WORDS, over(state)).await.is_err() {
        state.ended.cancel();
        state.tasks.wait().await;
    }
}

/// Returns when no call runs and nobody is connected.
async fn over(state: &State) {
    state.events.running.none().await;
    state.tasks.wait().await;
}
