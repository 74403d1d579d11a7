//! One connection, from its first byte to its last.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use axum::{body::Body, http::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    connections::{Counted, Kind, Most},
    guard::Ends,
    outer,
    patient::Patient,
    problem::{self, Problem},
    state::State,
};

/// Headers must be there within this time; also on a connection that was used before.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// The longest request line and headers together.
const HEADER_BYTES: usize = 32 * 1024;
/// What is held of a body before somebody takes it.
const BUFFER_BYTES: usize = 64 * 1024;
/// So long a peer may be silent on the level of TCP before it is asked whether it is there.
const KEEPALIVE: Duration = Duration::from_mins(1);

/// Serves a connection until it is over, or refuses it at once. Whoever comes while the server ends is
/// answered once.
pub(crate) fn accept(
    state: &State,
    stream: TcpStream,
    peer: SocketAddr,
) -> impl Future<Output = ()> + Send + 'static {
    let config = state.gate.config();
    let server = &config.server;
    let most = Most { all: server.connections.value, per_peer: server.connections_per_peer.value };
    let counted = state.connections.admit(peer.ip(), Kind::Plain, most);
    if counted.is_none() {
        state.events.metrics.refused_connection();
        tracing::debug!(%peer, "too many connections");
    }
    let state = state.clone();
    async move {
        let Some(counted) = counted else { return refuse(stream).await };
        if let Err(error) = serve(&state, stream, (peer, counted)).await {
            // Clients go away and send nonsense all the time.
            tracing::debug!(%peer, %error, "a connection ended early");
        }
    }
}

/// Says so and hangs up, without reading anything.
async fn refuse(mut stream: TcpStream) {
    let problem = Problem::new(problem::Kind::Unavailable, "too many connections; try again later");
    let body = serde_json::to_string(&problem.body()).unwrap_or_default();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n\
         retry-after: 1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    // Fits into the buffer of any socket; who does not read it is not waited for.
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
}

async fn serve(
    state: &State,
    stream: TcpStream,
    (peer, _counted): (SocketAddr, Counted),
) -> Result<(), hyper::Error> {
    prepare(&stream);
    let local = stream.local_addr().unwrap_or(state.local);
    let serving = state.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Ends { local, peer });
        let state = serving.clone();
        async move { Ok::<_, Infallible>(outer::handle(state, request).await) }
    });
    let late = state.ending.is_cancelled();
    let mut builder = http1::Builder::new();
    builder
        .keep_alive(!late)
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_header_size(HEADER_BYTES)
        .max_buf_size(BUFFER_BYTES);
    let patience = state.gate.config().server.answer_timeout.value;
    let stream = TokioIo::new(Patient::new(stream, patience));
    let connection = builder.serve_connection(stream, service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    if !late {
        // One of its own: it is looked at with every request, and all connections would wait for each other there.
        let ending = state.ending.child_token();
        tokio::select! {
            done = connection.as_mut() => return done,
            () = ending.cancelled() => connection.as_mut().graceful_shutdown(),
        }
    }
    tokio::select! {
        done = connection => done,
        () = state.ended.cancelled() => Ok(()),
    }
}

/// Answers are small and awaited, and peers that are gone are to be noticed. A socket for which that cannot
/// be set works all the same.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, KEEPALIVE);
    let _ = sockopt::set_tcp_keepintvl(stream, KEEPALIVE / 4);
}
