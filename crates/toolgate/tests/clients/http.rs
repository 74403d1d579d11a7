//! One request and its answer, with no more than the standard library.

use std::{
    fmt::Write as _,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

/// Longer than any answer takes, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(2);

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Sends `method path`, with headers, and with a body if it is not empty.
pub(crate) fn send(
    (base, token): (&str, &str),
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Answer> {
    let address = base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&bytes((address, token), (method, path), headers, body))?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    read(&String::from_utf8_lossy(&answer)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// A request as it is sent.
pub(crate) fn bytes(
    (host, token): (&str, &str),
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> Vec<u8> {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    if !body.is_empty() {
        text += "content-type: application/json\r\n";
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text += "\r\n";
    text += body;
    text.into_bytes()
}

/// `None` if it is not whole.
fn read(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body)? } else { body.to_owned() };
    Some(Answer { status, body })
}

/// The pieces of a body put together, if the last one came.
fn unchunked(mut rest: &str) -> Option<String> {
    let mut all = String::new();
    loop {
        let (length, after) = rest.split_once("\r\n")?;
        let length = usize::from_str_radix(length, 16).ok()?;
        if length == 0 {
            return Some(all);
        }
        let (piece, after) = after.split_at_checked(length)?;
        all.push_str(piece);
        rest = after.strip_prefix("\r\n")?;
    }
}
