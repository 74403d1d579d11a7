//! What every request works with.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Instant, SystemTime},
};

use services::Runner;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tool::Clock;
use world::World;

use crate::{
    api::Table,
    auth::{Failures, TokenCache},
    connections::Connections,
    events::Events,
};

/// One for all requests.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) gate: gate::Gate,
    pub(crate) world: Arc<World>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) events: Arc<Events>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tokens: TokenCache,
    pub(crate) failures: Failures,
    pub(crate) connections: Connections,
    /// Every operation there is.
    pub(crate) table: Table,
    /// Where it listens.
    pub(crate) local: SocketAddr,
    pub(crate) started: Instant,
    /// Cancelled when nothing new is to be begun.
    pub(crate) ending: CancellationToken,
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
}
