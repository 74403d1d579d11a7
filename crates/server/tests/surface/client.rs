//! A client that sends exactly what it is told, and reads what comes.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::helper::PATIENCE;

/// What is sent.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) address: SocketAddr,
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        let line = format!("{method} {path} HTTP/1.1");
        Self { address, line, headers: Vec::new(), body: Vec::new() }
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The bytes; a host and a length are added where none are given.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let has =
            |wanted: &str| self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let mut lines = vec![self.line.clone()];
        if !has("host") {
            lines.push(format!("host: {}", self.address));
        }
        if !has("connection") {
            lines.push("connection: close".to_owned());
        }
        if !has("content-length") && !has("transfer-encoding") && !self.body.is_empty() {
            lines.push(format!("content-length: {}", self.body.len()));
        }
        let headers = self.headers.iter().filter(|(_, value)| value != "-");
        lines.extend(headers.map(|(name, value)| format!("{name}: {value}")));
        let head = format!("{}\r\n\r\n", lines.join("\r\n"));
        [head.into_bytes(), self.body.clone()].concat()
    }
}

/// What comes back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Status and type of the error, for tables.
    pub(crate) fn error(&self) -> (u16, String) {
        (self.status, self.json()["error_type"].as_str().unwrap_or_default().to_owned())
    }

    /// What a server sent, up to where it ended.
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer in `{text}`"));
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.trim().to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: BTreeMap<_, _> = lines.map(pair).collect();
        let body = &bytes[end + 4..];
        let chunked = headers.get("transfer-encoding").is_some_and(|kind| kind == "chunked");
        let body = if chunked { unchunked(body) } else { body.to_vec() };
        Self { status, headers, body }
    }
}

/// The pieces of a body put together, as far as they came.
fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        let piece = &bytes[end + 2..];
        if length == 0 || piece.len() < length + 2 {
            break;
        }
        all.extend_from_slice(&piece[..length]);
        bytes = &piece[length + 2..];
    }
    all
}

/// Sends a request and reads until the server ends the connection.
pub(crate) async fn send(request: Request) -> Answer {
    exchange(request.address, &request.bytes()).await
}

/// Sends bytes and reads until the server ends the connection.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has heard enough hangs up while we still speak.
    let _ = stream.write_all(bytes).await;
    Answer::read(&rest(&mut stream).await)
}

/// What a server sends before it hangs up.
pub(crate) async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // An answer may be followed by a reset, if not all was read.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the server hangs up");
    bytes
}
