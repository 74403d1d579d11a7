//! Opens connections to addresses that were checked.

use std::{io, net::SocketAddr, time::Duration};

use hyper::{
    body::Body,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use policy::url::CheckedUrl;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
    time::timeout,
};
use tool::{Source, ToolError};

use super::{dial::Dial, pool::Sender, problem, tls::Tls};

/// How long one address may take to answer before the next one is tried.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many addresses of one host are tried.
const TRIES: usize = 4;
/// What the headers of an answer may be: (headers, bytes of all of them).
const MOST: (usize, usize) = (128, 64 * 1024);

/// Whom a connection is for.
pub(super) trait Server: Sync {
    /// The name or address, an IPv6 address in brackets.
    fn host(&self) -> &str;
    /// Host and port, as the server is told.
    fn authority(&self) -> String;
    /// Whether it has to prove who it is.
    fn is_secure(&self) -> bool;
}

impl Server for CheckedUrl {
    fn host(&self) -> &str {
        self.host()
    }

    fn authority(&self) -> String {
        self.authority()
    }

    fn is_secure(&self) -> bool {
        self.is_secure()
    }
}

/// Connects to the first of `addresses` that answers, ready for requests.
pub(super) async fn connect(
    url: &impl Server,
    addresses: &[SocketAddr],
    dialer: &dyn Dial,
    tls: &Tls,
) -> Result<(SocketAddr, Sender), ToolError> {
    let (address, stream) = reach(url, addresses, dialer).await?;
    Ok((address, speak(url, stream, tls).await?))
}

/// Connects to the first of `addresses` that answers.
pub(super) async fn reach(
    url: &impl Server,
    addresses: &[SocketAddr],
    dialer: &dyn Dial,
) -> Result<(SocketAddr, TcpStream), ToolError> {
    let mut failed: Source = "no address".into();
    for address in addresses.iter().take(TRIES) {
        let reached = timeout(PATIENCE, dialer.dial(*address)).await;
        match reached.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => {
                // Small requests should not wait for more to send; without it they are only slower.
                let _ = stream.set_nodelay(true);
                return Ok((*address, stream));
            }
            Err(error) => failed = error.into(),
        }
    }
    let message = format!("cannot connect to `{}`: {failed}", url.authority());
    Err(problem::network(message, failed))
}

async fn speak(url: &impl Server, stream: TcpStream, tls: &Tls) -> Result<Sender, ToolError> {
    let failed = |source: Source| {
        let host = url.authority();
        let message = format!("cannot make a secure connection to `{host}`: {source}");
        problem::network(message, source)
    };
    // A connection ends with its sender, or with the server.
    if !url.is_secure() {
        return Ok(handshake(url, stream).await?.0);
    }
    let (connector, name) = tls.connector(url.host()).map_err(failed)?;
    let secured = timeout(PATIENCE, connector.connect(name, stream)).await;
    let secured = secured.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    Ok(handshake(url, secured.map_err(|error| failed(error.into()))?).await?.0)
}

/// What takes requests, and the task that carries them.
pub(super) async fn handshake<B>(
    url: &impl Server,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<(SendRequest<B>, JoinHandle<()>), ToolError>
where
    B: Body<Data: Send, Error: Into<Source>> + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.max_headers(MOST.0).max_header_size(MOST.1);
    let (sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| problem::network(format!("`{}` does not answer", url.host()), error))?;
    // What went wrong is said to whoever sent.
    Ok((sender, tokio::spawn(async move { drop(connection.await) })))
}
