//! A client that costs little: HTTP/1.1 by hand, one connection, one request at a time.

use std::{collections::HashMap, str, time::Duration};

use anyhow::{Context as _, Result, ensure};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::message::{Call, Endpoint, Request, Revision, initialized};

/// A server that does not answer for so long does not answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection that is kept.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    request: Request,
    call: Call,
}

/// What came back.
#[derive(Debug)]
struct Response {
    head: Head,
    body: Vec<u8>,
}

impl Client {
    /// Connects, and says hello where the revision wants that.
    pub(crate) async fn connect(endpoint: &Endpoint, call: &Call) -> Result<Self> {
        let stream = TcpStream::connect(&endpoint.address).await?;
        stream.set_nodelay(true)?;
        let request = call.request(endpoint, None);
        let mut client = Self { stream, received: Vec::new(), request, call: call.clone() };
        if call.revision == Revision::Initialized {
            let hello = client.send(Request::initialize(endpoint).bytes(0)).await?;
            hello.expect(200)?;
            let session = hello.head.headers.get("mcp-session-id").map(String::as_str);
            client.send(&initialized(endpoint, session)).await?.expect(202)?;
            client.request = call.request(endpoint, session);
        }
        Ok(client)
    }

    /// Calls the tool once, and returns what it said and how long the answer was.
    pub(crate) async fn call(&mut self, id: u64) -> Result<(String, usize)> {
        let bytes = self.request.bytes(id).to_vec();
        let response = timeout(PATIENCE, self.send(&bytes)).await.context("no answer came")??;
        response.expect(200)?;
        let text = self.call.check(id, &response.body).with_context(|| response.describe())?;
        Ok((text, response.body.len()))
    }

    async fn send(&mut self, request: &[u8]) -> Result<Response> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let head = loop {
            if let Some(head) = Head::parse(&self.received)? {
                break head;
            }
            self.receive().await?;
        };
        while self.received.len() < head.length + head.body {
            self.receive().await?;
        }
        ensure!(self.received.len() == head.length + head.body, "more than one answer came");
        Ok(Response { body: self.received.split_off(head.length), head })
    }

    async fn receive(&mut self) -> Result<()> {
        let count = self.stream.read_buf(&mut self.received).await?;
        ensure!(count > 0, "the server closed the connection");
        Ok(())
    }
}

impl Response {
    fn expect(&self, status: u16) -> Result<()> {
        ensure!(self.head.status == status, "{status} was expected: {}", self.describe());
        Ok(())
    }

    fn describe(&self) -> String {
        format!("the answer was {}: {}", self.head.status, String::from_utf8_lossy(&self.body))
    }
}

/// The head of an answer.
#[derive(Debug)]
struct Head {
    status: u16,
    headers: HashMap<String, String>,
    /// Of the head itself.
    length: usize,
    /// Of what follows it.
    body: usize,
}

impl Head {
    /// Nothing if it is not all there yet.
    fn parse(received: &[u8]) -> Result<Option<Self>> {
        let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = str::from_utf8(received.get(..end).unwrap_or_default())?;
        let (first, rest) = text.split_once("\r\n").unwrap_or((text, ""));
        let status = first.split(' ').nth(1).context("there is no status")?.parse()?;
        let headers: HashMap<_, _> = rest
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let body = match headers.get("content-length") {
            Some(length) => length.parse()?,
            None if [202, 204].contains(&status) => 0,
            None => {
                anyhow::bail!("the answer is streamed, which this client does not read: {text}")
            }
        };
        Ok(Some(Self { status, headers, length: end + 4, body }))
    }
}
