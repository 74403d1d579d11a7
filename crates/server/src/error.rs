//! Why there is no server.

use std::{io, net::SocketAddr};

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ServerError {
    #[error(
        "`{0}` is in use already; end the program that listens there, or choose another address with \
         `--listen`"
    )]
    InUse(SocketAddr),
    #[error("cannot listen on `{address}`")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("no random numbers can be had: {0}")]
    Random(String),
}
