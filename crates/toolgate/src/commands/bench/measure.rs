//! Times and their order.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Times of one thing.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<u64>);

impl Times {
    /// Adds how long `since` is ago.
    pub(super) fn since(&mut self, since: Instant) {
        self.add(since.elapsed());
    }

    /// Adds one.
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// The median and the 99th percentile.
    pub(super) fn summary(mut self) -> (u64, u64) {
        self.0.sort_unstable();
        let at = |share: usize| self.0.get(self.0.len().saturating_sub(1) * share / 100);
        (at(50).copied().unwrap_or_default(), at(99).copied().unwrap_or_default())
    }
}

/// One median through another.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub(super) fn ratio(median: u64, baseline: u64) -> f64 {
    (median as f64 / baseline.max(1) as f64 * 1000.0).round() / 1000.0
}

/// A time as people read it.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(super) fn shown(nanos: u64) -> String {
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.1} µs", nanos as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        _ => format!("{:.1} s", nanos as f64 / 1e9),
    }
}

/// Memory as people read it.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(super) fn shown_bytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Progress on standard error, if a person looks.
pub(super) fn progress(name: &'static str, rounds: u64) -> ProgressBar {
    let bar = ProgressBar::new(rounds).with_message(name);
    if let Ok(style) = ProgressStyle::with_template("{msg:20} {bar:30} {pos}/{len}") {
        bar.set_style(style);
    }
    bar
}
