//! A proxy to such a network, and those who use it.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};
use world::Proxy;

use crate::helper::{Reply, Seen, Setup, answer};

/// A test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A network, and a proxy to a part of it.
pub(crate) struct Through {
    pub(crate) setup: Setup,
    pub(crate) proxy: Proxy,
    address: SocketAddr,
}

impl Through {
    /// To `hosts`, where every server says "hello".
    pub(crate) async fn to(hosts: &[&str]) -> Self {
        Self::with(hosts, |_| answer(200, &[], b"hello")).await
    }

    pub(crate) async fn with(
        hosts: &[&str],
        script: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let setup = Setup::new(script).await;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hosts: Vec<_> = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let proxy = setup.door.proxy(listener, &hosts).unwrap();
        Self { setup, proxy, address }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the proxy answers to `text` on a connection of its own.
    pub(crate) async fn send(&self, text: impl AsRef<[u8]>) -> Received {
        exchange(&mut self.connect().await, text).await
    }

    /// What the proxy answers to a plain request.
    pub(crate) async fn get(&self, url: &str) -> Received {
        self.send(get(url)).await
    }

    /// A tunnel, or why there is none.
    pub(crate) async fn tunnel(&self, target: &str) -> Result<TcpStream, Received> {
        let mut stream = self.connect().await;
        let head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // Not one byte more: the rest belongs to the tunnel.
        let head = head_of(&mut stream).await;
        if head == "HTTP/1.1 200 OK" || head.starts_with("HTTP/1.1 200 OK\r\n") {
            return Ok(stream);
        }
        Err(body_of(&mut stream, head).await)
    }

    /// TLS for `name` through `stream`.
    pub(crate) async fn secure(
        &self,
        stream: TcpStream,
        name: &str,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.setup.root.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let connected = TlsConnector::from(Arc::new(config)).connect(name, stream);
        timeout(PATIENCE, connected).await.unwrap()
    }
}

/// An answer of the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn has(&self, header: &str) -> bool {
        self.head.lines().any(|line| line == header)
    }
}

/// A plain request for `url`.
pub(crate) fn get(url: &str) -> String {
    let host = url.split('/').nth(2).unwrap();
    format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

/// Sends `text`, and reads one answer.
pub(crate) async fn exchange(stream: &mut TcpStream, text: impl AsRef<[u8]>) -> Received {
    // It may be refused before it is all there.
    let _ = stream.write_all(text.as_ref()).await;
    let head = head_of(stream).await;
    body_of(stream, head).await
}

/// What still comes until the other side closes; a reset is an end too.
pub(crate) async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap();
    bytes
}

async fn head_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match timeout(PATIENCE, stream.read_u8()).await.unwrap() {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap().trim_end().to_owned()
}

async fn body_of(stream: &mut TcpStream, head: String) -> Received {
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    timeout(PATIENCE, stream.read_exact(&mut body)).await.unwrap().unwrap();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Received { status, head, body: String::from_utf8(body).unwrap() }
}
