//! An answer that is read piece by piece, or not to its end.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{client::Request, helper::PATIENCE};

pub(crate) struct Stream {
    pub(crate) stream: TcpStream,
    read: String,
}

impl Stream {
    pub(crate) async fn new(request: &Request) -> Self {
        let mut stream = TcpStream::connect(request.address).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        Self { stream, read: String::new() }
    }

    /// Reads until `text` has come, and gives everything so far.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        while !self.read.contains(text) {
            assert!(self.piece(4_096).await, "ended without `{text}`: {}", self.read);
        }
        self.read.clone()
    }

    /// Reads so many bytes at a time, at most; whether something came.
    pub(crate) async fn piece(&mut self, most: usize) -> bool {
        let mut bytes = vec![0; most];
        let count = timeout(PATIENCE, self.stream.read(&mut bytes)).await;
        let count = count.unwrap_or_else(|_| panic!("nothing more after `{}`", self.read)).unwrap();
        self.read.push_str(&String::from_utf8_lossy(&bytes[..count]));
        count > 0
    }

    /// Sends one more request on the same connection.
    pub(crate) async fn send(&mut self, request: &Request) {
        self.stream.write_all(&request.bytes()).await.unwrap();
    }

    /// Reads one answer that says how long it is, and leaves the connection open; gives its head and its body.
    pub(crate) async fn answer(&mut self) -> (String, String) {
        self.until("\r\n\r\n").await;
        let (head, mut body) = self.read.split_once("\r\n\r\n").unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let (head, length) = (head.to_owned(), length.unwrap().parse::<usize>().unwrap());
        while body.len() < length {
            assert!(self.piece(4_096).await, "half an answer: {}", self.read);
            body = self.read.split_once("\r\n\r\n").unwrap().1;
        }
        let body = body.to_owned();
        self.read.clear();
        (head, body)
    }

    /// Reads until the server ends it, and gives everything.
    pub(crate) async fn end(mut self) -> String {
        while self.piece(64 * 1024).await {}
        self.read
    }
}
