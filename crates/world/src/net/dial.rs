//! Connections.

use std::{fmt, io, net::SocketAddr};

use tokio::net::TcpStream;
use tool::BoxFuture;

/// Opens a connection to an address that was checked.
pub trait Dial: fmt::Debug + Send + Sync {
    /// Connects to `address`, and to nothing else.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;
}

/// Straight to the address: no proxy, whatever the environment says.
#[derive(Debug)]
pub(super) struct Direct;

impl Dial for Direct {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(address))
    }
}
