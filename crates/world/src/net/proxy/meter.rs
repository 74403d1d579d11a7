//! Streams to the network that count what passes, and notice when nothing does.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, sleep_until},
};

use super::tally::Tally;

/// How long a connection is kept while nothing passes, one way or the other. As long as most
/// servers and load balancers keep one; a download, which is silent one way, goes on.
const IDLE: Duration = Duration::from_mins(1);

/// When something last happened on behalf of one connection.
#[derive(Debug)]
pub(super) struct Pulse {
    since: Instant,
    /// Milliseconds after `since`.
    last: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { since: Instant::now(), last: AtomicU64::new(0) }
    }
}

impl Pulse {
    /// Something happens.
    pub(super) fn beat(&self) {
        let now = self.since.elapsed().as_millis();
        self.last.store(u64::try_from(now).unwrap_or(u64::MAX), Relaxed);
    }

    /// Waits until nothing has happened for too long.
    pub(super) async fn stopped(&self) {
        loop {
            let until = self.since + Duration::from_millis(self.last.load(Relaxed)) + IDLE;
            if Instant::now() >= until {
                return;
            }
            sleep_until(until).await;
        }
    }
}

/// A stream to the network.
#[derive(Debug)]
pub(super) struct Metered {
    stream: TcpStream,
    tally: Arc<Tally>,
    pulse: Arc<Pulse>,
}

impl Metered {
    pub(super) const fn new(stream: TcpStream, tally: Arc<Tally>, pulse: Arc<Pulse>) -> Self {
        Self { stream, tally, pulse }
    }

    fn went(&self, written: io::Result<usize>) -> io::Result<usize> {
        let bytes = written?;
        self.tally.went(bytes);
        self.pulse.beat();
        Ok(bytes)
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.tally.came(buf.filled().len().saturating_sub(before));
        self.pulse.beat();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, data));
        Poll::Ready(self.went(written))
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
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, data));
        Poll::Ready(self.went(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{sleep, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn stops_after_the_last_beat_and_not_before() {
        let pulse = Pulse::default();
        let nearly = IDLE.saturating_sub(Duration::from_secs(1));
        for _ in 0..5 {
            assert!(timeout(nearly, pulse.stopped()).await.is_err());
            pulse.beat();
        }
        sleep(Duration::from_secs(1)).await;
        let start = Instant::now();
        pulse.stopped().await;
        let took = start.elapsed();
        assert!(took.abs_diff(nearly) < Duration::from_millis(10), "{took:?}");
    }
}
