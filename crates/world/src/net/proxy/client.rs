//! One connection of a command.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use http_body_util::Either;
use hyper::{
    Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, TRANSFER_ENCODING},
    http::request,
    server::conn::http1,
    service::service_fn,
    upgrade::{self, OnUpgrade},
};
use hyper_util::rt::TokioIo;
use policy::url::{CheckedUrl, Passage};
use tokio::net::TcpStream;
use tool::ToolError;

use super::{
    Relay,
    body::{Body, Relayed},
    failure::Failure,
    heads::{Heads, Watched},
    hops,
    meter::{Metered, Pulse},
    task::Task,
    tunnel::Tunnel,
    wanted::Wanted,
};
use crate::net::connect::handshake;

/// What the head of a request may be: (headers, bytes). Programs send some tens of headers, and no
/// server takes more bytes.
const MOST: (usize, usize) = (128, 64 * 1024);

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// One connection of a command.
pub(super) struct Client {
    relay: Arc<Relay>,
    pulse: Arc<Pulse>,
    heads: Arc<Mutex<Heads>>,
    tunnel: Mutex<Option<Tunnel>>,
}

impl Client {
    /// Answers requests until one side has enough, or nothing happens any more.
    pub(super) async fn serve(relay: Arc<Relay>, stream: TcpStream) {
        let (pulse, heads, tunnel) = (Arc::default(), Arc::default(), Mutex::default());
        let client = Arc::new(Self { relay, pulse, heads, tunnel });
        tokio::select! {
            () = client.talk(stream) => {}
            () = client.pulse.stopped() => {}
        }
    }

    async fn talk(self: &Arc<Self>, stream: TcpStream) {
        // Answers should not wait for more to send; without it they are only slower.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| {
            let client = self.clone();
            async move { Ok::<_, Infallible>(client.answer(request).await) }
        });
        let stream = TokioIo::new(Watched::new(stream, self.heads.clone()));
        let ended = http1::Builder::new()
            .max_headers(MOST.0)
            .max_header_size(MOST.1)
            .max_buf_size(MOST.1)
            .serve_connection(stream, service)
            .with_upgrades()
            .await;
        let tunnel = self.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Ok(()), Some(tunnel)) = (ended, tunnel) {
            // Whoever is at its ends notices that it broke.
            let _ = tunnel.carry().await;
        }
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        // Finding and reaching a host takes its time.
        self.pulse.beat();
        let plain = self.heads.lock().unwrap_or_else(PoisonError::into_inner).next();
        let client = upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        let answered = async {
            let wanted = plain.and_then(|()| Wanted::of(&head)).map_err(Failure::malformed)?;
            let (url, stream) = self.relay.admit(&wanted).await?;
            let stream = Metered::new(stream, self.relay.tally.clone(), self.pulse.clone());
            match wanted.passage {
                Passage::Tunnel => Ok(self.open(url, client, stream)),
                Passage::Request => forward(&url, head, body, stream).await,
            }
        };
        answered.await.unwrap_or_else(Failure::into_response)
    }

    /// Grants a tunnel, which begins when the client has been told.
    fn open(&self, url: CheckedUrl, client: OnUpgrade, server: Metered) -> Response<Body> {
        let tunnel = Tunnel { url, client, server, tally: self.relay.tally.clone() };
        *self.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
        Response::new(Either::Left(http_body_util::Full::default()))
    }
}

/// Sends a request on, and its answer back.
async fn forward(
    url: &CheckedUrl,
    head: request::Parts,
    body: Incoming,
    stream: Metered,
) -> Result<Response<Body>, Failure> {
    let broken = |error: &dyn std::fmt::Display| {
        Failure::gateway(format!("`{}` does not answer as it should: {error}", url.authority()))
    };
    // The next request would begin where this body ends, which only one of us looks for.
    let is_last =
        head.headers.contains_key(CONTENT_LENGTH) || head.headers.contains_key(TRANSFER_ENCODING);
    let request = written_anew(url, head, body).map_err(|error| broken(&error))?;
    let (mut sender, connection) = handshake(url, stream).await.map_err(|error| broken(&error))?;
    let connection = Task::new(connection);
    let answer = sender.send_request(request).await.map_err(|error| broken(&error))?;
    let (mut head, body) = answer.into_parts();
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(broken(&"it switches to a protocol that nobody asked for"));
    }
    hops::remove(&mut head.headers);
    if is_last {
        head.headers.insert(CONNECTION, CLOSE);
    }
    Ok(Response::from_parts(head, Either::Right(Relayed::new(body, connection))))
}

/// The request as it goes on: to the URL that was checked, as the only one on its connection.
fn written_anew(
    url: &CheckedUrl,
    head: request::Parts,
    body: Incoming,
) -> Result<Request<Incoming>, ToolError> {
    let mut request = Request::new(body);
    *request.method_mut() = head.method;
    *request.uri_mut() = Uri::try_from(url.target()).map_err(ToolError::internal)?;
    let headers = request.headers_mut();
    *headers = head.headers;
    hops::remove(headers);
    headers.insert(HOST, HeaderValue::try_from(url.authority()).map_err(ToolError::internal)?);
    headers.insert(CONNECTION, CLOSE);
    Ok(request)
}
