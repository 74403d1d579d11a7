//! What is heard of a command while it runs: kept, and told on.

use std::time::Duration;

use tokio::time::Instant;
use tool::{Captured, Start, Stream};

use super::{
    capture::Capture,
    watch::{Event, Watch},
};

/// Partial results are sent at most this often.
const PACE: Duration = Duration::from_millis(100);
/// And at most so much of them at once, the newest.
const PIECE: usize = 8 * 1024;

/// What a command wrote so far.
pub(super) struct Heard {
    capture: Capture,
    news: News,
}

impl Heard {
    /// Keeps at most `max` bytes.
    pub(super) fn new(max: usize) -> Self {
        Self { capture: Capture::new(max), news: News::default() }
    }

    /// Reads what the command writes until there is nothing more, or it was ended.
    pub(super) async fn listen(&mut self, watch: &mut Watch, start: Start<'_>) {
        let cancelled = start.live.cancellation();
        loop {
            // What waits to be told is told also if nothing more is written. Nothing is lost by giving
            // up on `next`.
            let event = tokio::select! {
                biased;
                () = self.news.due() => {
                    self.news.tell(start).await;
                    continue;
                }
                event = watch.next(cancelled.cancelled()) => event,
            };
            match event {
                Event::Wrote(stream, bytes) => self.add(stream, bytes, start),
                Event::Ending => {}
                Event::Ended => break,
            }
        }
    }

    /// Takes down what was written.
    pub(super) fn add(&mut self, stream: Stream, bytes: &[u8], start: Start<'_>) {
        self.capture.push(stream, bytes);
        self.news.add(bytes, start);
    }

    pub(super) fn done(self) -> Captured {
        self.capture.done()
    }
}

/// What was written since somebody was told.
#[derive(Default)]
struct News {
    text: Vec<u8>,
    told: Option<Instant>,
}

impl News {
    fn add(&mut self, bytes: &[u8], start: Start<'_>) {
        if !start.updates.is_heard() {
            return;
        }
        self.text.extend_from_slice(bytes);
        if self.text.len() > PIECE {
            let excess = self.text.len() - PIECE;
            self.text.drain(..excess);
        }
    }

    /// Returns when something is to be told; never, if there is nothing.
    async fn due(&self) {
        if self.text.is_empty() {
            return std::future::pending().await;
        }
        if let Some(told) = self.told {
            tokio::time::sleep_until(told + PACE).await;
        }
    }

    async fn tell(&mut self, start: Start<'_>) {
        self.told = Some(Instant::now());
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.text)).into_owned();
        start.updates.send(&text).await;
    }
}
