//! The way out of the sandbox: a proxy that leads where a command may go, and nowhere else.
//!
//! A command in the sandbox has no network, only a socket where this proxy answers: requests for
//! `http:` in the clear, and `CONNECT` for everything else. Each of them is judged as a fetch is
//! ([`policy::url`], then every address of the host) by the hosts the command was given and by what
//! the door denies at that moment. There is no way around it by the wording of a request: hyper
//! reads them, [`heads`] refuses what could be read in two ways, and what goes on is written anew.
//!
//! What it cannot see is inside of tunnels. They must begin with TLS for the host they were opened
//! to, as far as that is said in the clear ([`hello`]).

mod body;
mod client;
mod failure;
mod heads;
mod hello;
mod hops;
mod meter;
mod tally;
mod task;
mod tunnel;
mod wanted;

use std::{io, net, sync::Arc, time::Duration};

use config::HostPattern;
use policy::url::{CheckedUrl, check};
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Handle,
    task::JoinSet,
    time::sleep,
};

pub use self::tally::Traffic;
use self::{client::Client, failure::Failure, tally::Tally, task::Task, wanted::Wanted};
use super::{Door, problem};

/// Connections at once. Package managers open some tens; each costs two descriptors and some
/// buffers here. More wait in the backlog of the socket.
const MOST_CONNECTIONS: usize = 64;
/// How long to wait when this process cannot take a connection: usually because it has too many
/// files open, which passes.
const BREATHER: Duration = Duration::from_millis(100);

/// A proxy on the network door. Dropping it stops it and closes every connection through it.
#[derive(Debug)]
pub struct Proxy {
    relay: Arc<Relay>,
    _task: Task,
}

/// What every connection needs.
#[derive(Debug)]
struct Relay {
    door: Arc<Door>,
    hosts: Vec<HostPattern>,
    tally: Arc<Tally>,
}

impl Door {
    /// Lets those who connect to `listener` reach `hosts`, as far as the door itself does not deny
    /// them: on the usual ports or those that a pattern names, at public addresses or those that a
    /// pattern names. Needs a runtime.
    pub fn proxy(
        self: &Arc<Self>,
        listener: net::TcpListener,
        hosts: &[HostPattern],
    ) -> io::Result<Proxy> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let relay =
            Arc::new(Relay { door: self.clone(), hosts: hosts.to_vec(), tally: Arc::default() });
        let task = Task::new(runtime.spawn(accept(listener, relay.clone())));
        Ok(Proxy { relay, _task: task })
    }
}

impl Proxy {
    /// What has passed so far.
    pub fn counted(&self) -> Traffic {
        self.relay.tally.counted()
    }

    /// What was asked for and refused, as `host:port`, each once; the first hundred.
    pub fn refused(&self) -> Vec<String> {
        self.relay.tally.refused()
    }
}

impl Relay {
    /// A connection to what is wanted, if that may be reached.
    async fn admit(&self, wanted: &Wanted) -> Result<(CheckedUrl, TcpStream), Failure> {
        // Read again, so that what was denied meanwhile is denied.
        let rules = self.door.settings().rules.for_command(&self.hosts, wanted.passage);
        let reached = async {
            let url = check(&wanted.url, &rules).map_err(problem::refused)?;
            let stream = self.door.reach(&url, &rules).await?;
            Ok((url, stream))
        };
        reached.await.map_err(|error| {
            let failure = Failure::of(&error, &wanted.target);
            if failure.is_refusal() {
                self.tally.refuse(Some(&wanted.target));
            }
            failure
        })
    }
}

/// Takes connections for as long as it runs. Those it has taken end with it.
async fn accept(listener: TcpListener, relay: Arc<Relay>) {
    let mut clients = JoinSet::new();
    loop {
        if clients.len() >= MOST_CONNECTIONS {
            clients.join_next().await;
            continue;
        }
        tokio::select! {
            Some(_) = clients.join_next() => {}
            taken = listener.accept() => match taken {
                Ok((stream, _)) => {
                    relay.tally.connected();
                    clients.spawn(Client::serve(relay.clone(), stream));
                }
                Err(_) => sleep(BREATHER).await,
            },
        }
    }
}
