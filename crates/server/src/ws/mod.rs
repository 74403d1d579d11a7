//! JSON-RPC 2.0 over a WebSocket, both ways.

mod connection;
mod methods;
mod sessions;
mod stream;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};

use self::{connection::Connection, stream::Metered};
use crate::{
    api::{Described, Open},
    auth::{self, By, Signed},
    connections::{self, Most},
    guard::{Ends, FromPage},
    problem::{Kind, Problem},
    rpc,
    state::State,
};

/// The longest message, in one frame or several.
const MOST_BYTES: usize = 1_000_000;
/// Memory of a connection that is silent.
const READ_BUFFER: usize = 2 * 1024;

/// `GET /ws`.
pub(crate) struct Upgrade;

impl Open for Upgrade {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/ws";
    const SUMMARY: &'static str = "JSON-RPC 2.0 over a WebSocket. With a token in a header, or in a first message `authenticate`.";

    fn described(described: &mut Described<'_>) {
        described.empty(101, "The connection is a WebSocket now.");
        described.problems(&[Kind::Unauthenticated]);
        described.methods(&methods::all());
    }

    async fn handle(state: State, request: Request) -> Response {
        upgrade(&state, request).await.unwrap_or_else(Problem::into_response)
    }
}

async fn upgrade(state: &State, mut request: Request) -> Result<Response, Problem> {
    let key = key(request.headers())?;
    let missing = || Problem::internal("a request without a connection");
    let ends = request.extensions().get::<Ends>().copied().ok_or_else(missing)?;
    let signed = auth::authenticate(state, ends.peer.ip(), request.headers()).await?;
    check_cookie(signed.as_ref(), request.extensions().get::<FromPage>())?;
    let names = connection::Names::of(request.headers())?;
    if let Some(signed) = &signed {
        names.check(signed, &state.gate.config())?;
    }
    if state.ending.is_cancelled() {
        return Err(Problem::ending());
    }
    let config = state.gate.config();
    let server = &config.server;
    let most =
        Most { all: server.ws_connections.value, per_peer: server.connections_per_peer.value };
    let counted = state.connections.admit(ends.peer.ip(), connections::Kind::Ws, most);
    let counted = counted.ok_or_else(|| {
        state.events.metrics.refused_connection();
        Problem::new(Kind::Unavailable, "too many WebSocket connections; try again later")
    })?;
    let upgraded = hyper::upgrade::on(&mut request);
    let task = state.clone();
    state.tasks.spawn(async move {
        let _counted = counted;
        match upgraded.await {
            Ok(stream) => {
                let stream = Metered::new(TokioIo::new(stream));
                let socket =
                    WebSocketStream::from_raw_socket(stream, Role::Server, Some(settings())).await;
                Connection::new(task, socket, (signed, names), ends.peer.ip()).run().await;
            }
            Err(error) => tracing::debug!(%error, "a connection did not become a WebSocket"),
        }
    });
    Ok(switching(&key))
}

fn settings() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(16 * MOST_BYTES)
        .max_message_size(Some(MOST_BYTES))
        .max_frame_size(Some(MOST_BYTES))
}

/// A page opens a WebSocket to any host it likes, and the browser sends the cookie along.
fn check_cookie(signed: Option<&Signed>, from: Option<&FromPage>) -> Result<(), Problem> {
    let by_cookie = signed.is_some_and(|signed| signed.by == By::Cookie);
    if by_cookie && !matches!(from, Some(FromPage::OurPage { .. })) {
        let message = "a cookie opens a WebSocket for the server's own page only; use a token";
        return Err(Problem::new(Kind::Forbidden, message));
    }
    Ok(())
}

/// What a client sends that wants a WebSocket.
fn key(headers: &HeaderMap) -> Result<String, Problem> {
    let has = |name: header::HeaderName, wanted: &str| {
        let mut words = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        words.any(|words| words.split(',').any(|word| word.trim().eq_ignore_ascii_case(wanted)))
    };
    let key = headers.get(header::SEC_WEBSOCKET_KEY).and_then(|key| key.to_str().ok());
    match key {
        Some(key)
            if has(header::CONNECTION, "upgrade")
                && has(header::UPGRADE, "websocket")
                && has(header::SEC_WEBSOCKET_VERSION, "13") =>
        {
            Ok(key.to_owned())
        }
        _ => {
            Err(Problem::new(Kind::Invalid, "this path is for WebSocket connections (version 13)"))
        }
    }
}

fn switching(key: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
    headers.extend(accept.map(|accept| (header::SEC_WEBSOCKET_ACCEPT, accept)));
    response
}
