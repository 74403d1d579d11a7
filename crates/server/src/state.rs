//! What every request works with.

use std::{
    fmt,
    net::SocketAddr,
    sync::Arc,
    time::{Instant, SystemTime},
};

use agent::Agents;
use services::Runner;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tool::Clock;
use world::World;

use crate::{
    api::Table,
    auth::{Failures, TokenCache},
    connections::Connections,
    events::Events,
    leaving,
    mcp::Mcp,
    per_user::PerUser,
    speaking::Conversations,
};

/// Takes over the agents that were made here, beside the configuration that holds. May block.
#[derive(Clone)]
pub struct Reload(pub Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reload")
    }
}

/// One for all requests.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) gate: gate::Gate,
    pub(crate) agents: Agents,
    pub(crate) world: Arc<World>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) events: Arc<Events>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tokens: TokenCache,
    pub(crate) failures: Failures,
    pub(crate) connections: Connections,
    /// The tokens that something goes on with.
    pub(crate) held: leaving::Tokens,
    /// What agents are spoken to, or speak among themselves.
    pub(crate) speaking: Arc<Conversations>,
    /// Connections and requests that are open.
    pub(crate) open: PerUser,
    /// What MCP clients speak to.
    pub(crate) mcp: Mcp,
    /// Every operation there is.
    pub(crate) table: Table,
    /// Where it listens.
    pub(crate) local: SocketAddr,
    pub(crate) started: Instant,
    /// Cancelled when nothing new is to be begun.
    pub(crate) ending: CancellationToken,
    /// Cancelled when what agents do is waited for no more.
    pub(crate) runs: CancellationToken,
    /// Takes over the agents that were made here.
    pub(crate) reload: Reload,
    /// Cancelled when nothing is waited for any more.
    pub(crate) ended: CancellationToken,
    /// Connections that are open, of either kind.
    pub(crate) tasks: TaskTracker,
}

pub(crate) type State = Arc<Inner>;

impl Inner {
    pub(crate) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// Takes over the agents that were made here.
    pub(crate) async fn reload(&self) -> Result<(), String> {
        let reload = self.reload.0.clone();
        let done = tokio::task::spawn_blocking(move || reload()).await;
        done.map_err(|error| error.to_string())?
    }
}
