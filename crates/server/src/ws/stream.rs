//! A connection of which little is read before it is known who is at its other end.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// So much, and what one read brings besides, is read of somebody unknown.
const UNKNOWN_BYTES: usize = 8 * 1024;

/// A connection that stops reading when it has read much, until it is trusted.
#[derive(Debug)]
pub(super) struct Metered<S> {
    inner: S,
    read: Option<usize>,
}

impl<S> Metered<S> {
    pub(super) const fn new(inner: S) -> Self {
        Self { inner, read: Some(0) }
    }

    /// Reads on without counting. Whoever calls this reads next, so nobody has to be woken.
    pub(super) const fn trust(&mut self) {
        self.read = None;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read.is_some_and(|read| read >= UNKNOWN_BYTES) {
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buf);
        let now = buf.filled().len() - before;
        self.read = self.read.map(|read| read.saturating_add(now));
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
