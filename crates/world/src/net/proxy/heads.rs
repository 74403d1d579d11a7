//! Heads of requests that can be read in only one way.
//!
//! hyper reads requests leniently where the standard lets it: it takes a bare line feed for the end of
//! a line, and where a request has two lengths it forgets one. Whoever is told so cannot hide a
//! request inside another one, as everything is written anew; but nobody writes such a request by
//! accident. So this looks at the bytes as they come in and says which heads are not plain.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// How much of a line is kept: more than any name that is looked for.
const KEPT: usize = 64;

/// The heads on one connection, in order. After one that announces a body or a tunnel nothing more
/// is looked at, and so nothing more is good: such a request must be the last one.
#[derive(Debug, Default)]
pub(super) struct Heads {
    reading: Reading,
    /// Those that were read and not yet asked about.
    good: usize,
}

#[derive(Debug)]
enum Reading {
    Head(Head),
    Wrong(&'static str),
    Over,
}

impl Default for Reading {
    fn default() -> Self {
        Self::Head(Head::default())
    }
}

/// One head, as far as it has come.
#[derive(Debug, Default)]
struct Head {
    lines: usize,
    /// The beginning of the line.
    line: Vec<u8>,
    returned: bool,
    connects: bool,
    lengths: usize,
    encodings: usize,
}

impl Heads {
    /// Whether the next head is plain; if not, why.
    pub(super) fn next(&mut self) -> Result<(), &'static str> {
        if let Some(rest) = self.good.checked_sub(1) {
            self.good = rest;
            return Ok(());
        }
        match self.reading {
            Reading::Wrong(reason) => Err(reason),
            Reading::Over => Err("a request after one with a body; open another connection"),
            Reading::Head(_) => Err("a request that does not end as it should"),
        }
    }

    /// Takes what has come in.
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let Reading::Head(head) = &mut self.reading else { return };
            match head.push(byte) {
                Ok(false) => {}
                Ok(true) => {
                    self.good += 1;
                    let last = head.connects || head.lengths + head.encodings > 0;
                    self.reading = if last { Reading::Over } else { Reading::default() };
                }
                Err(reason) => self.reading = Reading::Wrong(reason),
            }
        }
    }
}

impl Head {
    /// Takes a byte; true if it was the last one.
    fn push(&mut self, byte: u8) -> Result<bool, &'static str> {
        match (self.returned, byte) {
            (true, b'\n') => {
                self.returned = false;
                let line = std::mem::take(&mut self.line);
                self.lines += 1;
                return self.end(&line);
            }
            (true, _) => return Err("a carriage return inside of a line"),
            (false, b'\n') => return Err("a line that ends without a carriage return"),
            (false, b'\r') => self.returned = true,
            (false, _) if self.line.len() < KEPT => self.line.push(byte),
            (false, _) => {}
        }
        Ok(false)
    }

    fn end(&mut self, line: &[u8]) -> Result<bool, &'static str> {
        match line {
            [] if self.lines == 1 => Err("an empty line where a request should be"),
            [] => self.whole().map(|()| true),
            _ if self.lines == 1 => {
                self.connects = line.starts_with(b"CONNECT ");
                Ok(false)
            }
            [b' ' | b'\t', ..] => Err("a header that goes on in a second line"),
            _ => {
                let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
                let name = name.trim_ascii_end();
                self.lengths += usize::from(name.eq_ignore_ascii_case(b"content-length"));
                self.encodings += usize::from(name.eq_ignore_ascii_case(b"transfer-encoding"));
                Ok(false)
            }
        }
    }

    const fn whole(&self) -> Result<(), &'static str> {
        match (self.connects, self.lengths, self.encodings) {
            (_, 0, 0) | (false, 1, 0) | (false, 0, 1) => Ok(()),
            (true, ..) => Err("a tunnel has no body"),
            (false, ..) => Err("a request that says twice how long its body is"),
        }
    }
}

/// A stream whose heads are looked at.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    heads: Arc<Mutex<Heads>>,
}

impl Watched {
    pub(super) const fn new(stream: TcpStream, heads: Arc<Mutex<Heads>>) -> Self {
        Self { stream, heads }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let new = buf.filled().get(before..).unwrap_or_default();
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).take(new);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How many heads are good, and why the next one is not.
    fn read(bytes: &[u8], piece: usize) -> (usize, &'static str) {
        let mut heads = Heads::default();
        bytes.chunks(piece).for_each(|bytes| heads.take(bytes));
        let mut good = 0;
        loop {
            match heads.next() {
                Ok(()) => good += 1,
                Err(reason) => return (good, reason),
            }
        }
    }

    #[test]
    fn says_which_heads_are_plain() {
        const UNFINISHED: &str = "a request that does not end as it should";
        const TWICE: &str = "a request that says twice how long its body is";
        const AFTER: &str = "a request after one with a body; open another connection";
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(10_000));
        for (text, good, next) in [
            ("", 0, UNFINISHED),
            ("GET / HTTP/1.1\r\nHost: a\r\n", 0, UNFINISHED),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1, UNFINISHED),
            ("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nA: b\r\n\r\nGET", 2, UNFINISHED),
            (&long, 1, UNFINISHED),
            ("PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 1, AFTER),
            ("PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nx\n\n", 1, AFTER),
            ("CONNECT a:443 HTTP/1.1\r\n\r\n\x16\x03\r", 1, AFTER),
            ("\r\nGET / HTTP/1.1\r\n\r\n", 0, "an empty line where a request should be"),
            ("GET / HTTP/1.1\nHost: a\n\n", 0, "a line that ends without a carriage return"),
            ("GET / HTTP/1.1\r\nA: b\n\r\n", 0, "a line that ends without a carriage return"),
            ("GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n", 0, "a carriage return inside of a line"),
            ("GET / HTTP/1.1\r\nA: b\r\r\n\r\n", 0, "a carriage return inside of a line"),
            ("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 0, "a header that goes on in a second line"),
            ("GET / HTTP/1.1\r\n\tA: b\r\n\r\n", 0, "a header that goes on in a second line"),
            ("PUT / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: x\r\n\r\n", 0, TWICE),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: x\r\nCONTENT-LENGTH: 1\r\n\r\n", 0, TWICE),
            ("PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 0, TWICE),
            ("PUT / HTTP/1.1\r\nContent-Length : 1\r\nContent-Length: 2\r\n\r\n", 0, TWICE),
            ("CONNECT a:443 HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 0, "a tunnel has no body"),
        ] {
            for piece in [1, 2, 3, 7, 100_000] {
                assert_eq!(read(text.as_bytes(), piece), (good, next), "{text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_alike_in_any_pieces(
            bytes in prop::collection::vec(prop::sample::select(&b"GC:\r\n \t\0\xff"[..]), 0..200),
            piece in 1_usize..20,
        ) {
            prop_assert_eq!(read(&bytes, piece), read(&bytes, 1_000));
        }
    }
}
