//! Opens connections to addresses that were checked.

use std::{io, net::SocketAddr, time::Duration};

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use policy::url::CheckedUrl;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
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

/// Connects to the first of `addresses` that answers.
pub(super) async fn connect(
    url: &CheckedUrl,
    addresses: &[SocketAddr],
    dialer: &dyn Dial,
    tls: &Tls,
) -> Result<(SocketAddr, Sender), ToolError> {
    let mut failed: Source = "no address".into();
    for address in addresses.iter().take(TRIES) {
        let reached = timeout(PATIENCE, dialer.dial(*address)).await;
        match reached.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => return Ok((*address, speak(url, stream, tls).await?)),
            Err(error) => failed = error.into(),
        }
    }
    let message = format!("cannot connect to `{}`: {failed}", url.authority());
    Err(problem::network(message, failed))
}

async fn speak(url: &CheckedUrl, stream: TcpStream, tls: &Tls) -> Result<Sender, ToolError> {
    let failed = |source: Source| {
        let host = url.authority();
        let message = format!("cannot make a secure connection to `{host}`: {source}");
        problem::network(message, source)
    };
    // Small requests should not wait for more to send; without it they are only slower.
    let _ = stream.set_nodelay(true);
    if !url.is_secure() {
        return handshake(url, stream).await;
    }
    let (connector, name) = tls.connector(url.host()).map_err(failed)?;
    let secured = timeout(PATIENCE, connector.connect(name, stream)).await;
    let secured = secured.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    handshake(url, secured.map_err(|error| failed(error.into()))?).await
}

async fn handshake(
    url: &CheckedUrl,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<Sender, ToolError> {
    let mut builder = http1::Builder::new();
    builder.max_headers(MOST.0).max_header_size(MOST.1);
    let (sender, connection) = builder
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| problem::network(format!("`{}` does not answer", url.host()), error))?;
    // It ends with its sender, or with the server. What went wrong is said to whoever sent.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}
